/* SPDX-License-Identifier: MIT */
/* segment.c - see segment.h. */
#include "shared/segment.h"

#include "shared/kernel.h"
#include "word.h"

#include <errno.h>
#include <string.h>

#define DEFAULT_WAITERS   256
#define DEFAULT_PROCESSES 64

bool fs_segment_attr_valid(const fairsem_shared_attr_t *attr)
{
    bool undo = (attr->flags & FAIRSEM_SHARED_NO_UNDO) == 0;

    for (size_t i = 0; i < sizeof attr->reserved_ / sizeof attr->reserved_[0]; i++) {
        if (attr->reserved_[i] != 0)
            return false;
    }
    if (!fs_count_valid(attr->units) || !fs_count_valid(attr->capacity))
        return false;
    if (attr->capacity != 0 && (undo ? attr->capacity != attr->units
                                     : attr->units > attr->capacity))
        return false;
    if (attr->reserved1_ != 0 || attr->aging_ns < 0)
        return false;
    return attr->max_waiters >= 0 && attr->max_waiters <= FAIRSEM_SHARED_MAX
           && attr->max_processes >= 0 && attr->max_processes <= FAIRSEM_SHARED_MAX
           && (attr->flags & ~(FAIRSEM_SHARED_NO_UNDO | FAIRSEM_SHARED_NO_SPIN)) == 0;
}

static void fill_in(struct fs_segment *s, const fairsem_shared_attr_t *attr, int64_t size)
{
    bool undo = (attr->flags & FAIRSEM_SHARED_NO_UNDO) == 0;

    s->version = FS_SEGMENT_VERSION;
    s->flags = attr->flags;
    s->size = size;
    s->units = attr->units;
    s->aging_ns = attr->aging_ns;
    s->capacity = undo ? attr->units : attr->capacity != 0 ? attr->capacity : FAIRSEM_MAX_UNITS;
    s->max_waiters = attr->max_waiters != 0 ? attr->max_waiters : DEFAULT_WAITERS;
    s->max_processes = attr->max_processes != 0 ? attr->max_processes : DEFAULT_PROCESSES;
    FS_PUT(&s->word, fs_word_of(attr->units, undo ? FS_CONTENDED : 0));
    FS_PUT(&s->total, undo ? attr->units : 0);
    FS_PUT(&s->high_water, undo ? attr->units : 0);
    FS_PUT(&s->head, FS_NOBODY);
    FS_PUT(&s->tail, FS_NOBODY);
    FS_PUT(&s->oldest, FS_NOBODY);
    FS_PUT(&s->youngest, FS_NOBODY);
    s->magic = FS_SEGMENT_MAGIC;
}

int64_t fs_segment_size_for(const fairsem_shared_attr_t *attr)
{
    return fs_segment_size(attr->max_processes != 0 ? attr->max_processes : DEFAULT_PROCESSES,
                           attr->max_waiters != 0 ? attr->max_waiters : DEFAULT_WAITERS);
}

/* Returns 0, or an error if the file is not a segment of this version. */
static int header_error(const struct fs_segment *s, const struct fs_file *file)
{
    const fairsem_shared_attr_t attr = {
        .units = s->units,
        .capacity = s->flags & FAIRSEM_SHARED_NO_UNDO ? s->capacity : 0,
        .max_waiters = s->max_waiters,
        .max_processes = s->max_processes,
        .flags = s->flags,
        .aging_ns = s->aging_ns,
    };

    if (s->magic != FS_SEGMENT_MAGIC)
        return ENOTRECOVERABLE;
    if (s->version != FS_SEGMENT_VERSION)
        return ENOTSUP;
    if (!fs_segment_attr_valid(&attr) || s->max_waiters == 0 || s->max_processes == 0
        || s->size != fs_segment_size_for(&attr) || file->size < s->size
        || (attr.capacity == 0 && s->capacity != s->units))
        return ENOTRECOVERABLE;
    return 0;
}

int fs_segment_write(int fd, const fairsem_shared_attr_t *attr, struct fs_segment *header)
{
    int64_t size = fs_segment_size_for(attr);
    void *memory;
    int error = fs_file_map(fd, size, &memory);

    if (error != 0)
        return error;
    fill_in(memory, attr, size);
    memcpy(header, memory, sizeof *header);
    fs_file_unmap(memory, size);
    return 0;
}

int fs_segment_read(int fd, struct fs_segment *header)
{
    struct fs_file file;
    int error = fs_file_inspect(fd, &file);

    if (error != 0)
        return error;
    if (!file.regular || file.size < (int64_t)sizeof *header)
        return ENOTRECOVERABLE;
    error = fs_file_read(fd, header, sizeof *header);
    return error != 0 ? error : header_error(header, &file);
}
