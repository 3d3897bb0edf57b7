/* SPDX-License-Identifier: MIT */
/*
 * registry.c - open, close, unlink: one descriptor and one handle for each segment in a process.
 *
 * When a process closes any descriptor of a file, the kernel releases all record locks of the process on
 * that file.  So an open first searches for the file's device and inode among the open segments, and does
 * not open the same file again.  But between the search and the open, the name may be given to another
 * segment that is open, too.  The process then gets a second descriptor of that segment, and keeps the
 * second descriptor open as long as the first.
 *
 * A new segment is complete before it has a name.  So no process can find an incomplete segment, and a
 * process that dies while it makes a segment leaves nothing behind.
 */
#include "shared/registry.h"

#include "shared/attach.h"
#include "shared/liveness.h"
#include "shared/segment.h"
#include "shared/detect.h"
#include "system/deadline.h"
#include "system/fork.h"
#include "tools/compiler.h"
#include "tools/invariant.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTORY "/dev/shm"

#define TRIES 100       /* limit if other processes make and remove the name again and again */

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static fairsem_shared_t *first;     /* list, under the mutex; valid at any moment, because a fork may copy it */

/* Another thread of the parent may have held the mutex, or have been closing a handle. */
static void registry_reset_in_child(void)
{
    registry = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (fairsem_shared_t *h = first; h != NULL; h = h->next)
        h->closing = false;
}

static struct fs_fork_hook hook = { .in_child = registry_reset_in_child };

FS_WHEN_LOADED static void registry_register_hook(void)
{
    fs_fork_register(&hook);
}

/* ---- Names ---- */

/* "/name" is a file in DIRECTORY; a name with another slash is the path of a file. */
static int path_of(const char *name, char path[PATH_MAX])
{
    const char *file, *directory;
    size_t before, length = strlen(name);

    if (*name != '/')
        return EINVAL;
    file = strrchr(name, '/') + 1;
    directory = file == name + 1 ? DIRECTORY : "";
    before = strlen(directory);
    if (*file == '\0' || strcmp(file, ".") == 0 || strcmp(file, "..") == 0)
        return EINVAL;
    if (before + length >= PATH_MAX || strlen(file) > NAME_MAX)
        return ENAMETOOLONG;
    memcpy(path, directory, before);
    memcpy(path + before, name, length + 1);
    return 0;
}

/* ---- Handles ---- */

static void copy_header(fairsem_shared_t *h, const struct fs_segment *header)
{
    char *memory = (char *)h->segment;

    h->size = header->size;
    h->max_processes = header->max_processes;
    h->max_waiters = header->max_waiters;
    h->aging_ns = header->aging_ns;
    h->processes = (struct fs_process *)(void *)(memory + sizeof(struct fs_segment));
    h->slots = (struct fs_slot *)(void *)(h->processes + h->max_processes);
    h->flows = (struct fs_flow_entry *)(void *)(h->slots + h->max_waiters);
    h->units = header->units;
    h->capacity = header->capacity;
    h->undo = (header->flags & FAIRSEM_SHARED_NO_UNDO) == 0;
    h->spins = (header->flags & FAIRSEM_SHARED_NO_SPIN) == 0;
    h->unbounded = !h->undo && h->capacity == FAIRSEM_MAX_UNITS;
}

/* On success the handle owns the descriptor. */
static int make_handle(int fd, const struct fs_segment *header, fairsem_shared_t **handle)
{
    fairsem_shared_t *h = calloc(1, sizeof *h);
    void *memory;
    int error;

    if (h == NULL)
        return ENOMEM;
    error = fs_file_inspect(fd, &h->file);
    if (error == 0)
        error = fs_file_map(fd, header->size, &memory);
    if (error != 0) {
        free(h);
        return error;
    }
    h->segment = memory;
    h->fd = fd;
    h->opened = 1;
    h->generation = fs_fork_generation();
    h->attaching = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    h->self = FS_NOBODY;
    copy_header(h, header);
    *handle = h;
    return 0;
}

#define ATTACH_NS INT64_C(20000000)

/*
 * Attach.  If a stopped process has the segment's lock, give up after ATTACH_NS, and return 0.  Then the first
 * call that needs the segment's lock attaches, within its own deadline.
 */
static int attach_soon(fairsem_shared_t *h)
{
    const struct fs_deadline soon = fs_deadline_after(ATTACH_NS);
    int error = fs_shared_ensure_attached(h, FS_LOCK_WAIT, &soon);

    return error == ETIMEDOUT ? 0 : error;
}

/*
 * Close a descriptor that no handle uses.  But if this process has kept units over an exec, leave it open,
 * also across the next exec: closing it would release the liveness lock, and lose the units.
 */
static void close_unused(int fd)
{
    if (fs_liveness_is_ours(fd, 0, FAIRSEM_SHARED_MAX))
        fs_file_keep_on_exec(fd, true);
    else
        fs_file_close(fd);
}

/* Close a descriptor, unless the program has closed it: another file may have its number by now. */
static void close_own(const fairsem_shared_t *h, int fd, void (*close_it)(int fd))
{
    struct fs_file now;

    if (fs_shared_is_of_file(h, fd, &now))
        close_it(fd);
}

/* `close_it` is fs_file_close(), or close_unused() if the process has not attached. */
static void destroy_handle(fairsem_shared_t *h, void (*close_it)(int fd))
{
    struct fs_spare *spare;

    fs_file_unmap(h->segment, h->size);
    close_own(h, h->fd, close_it);
    while ((spare = h->spares) != NULL) {
        h->spares = spare->next;
        close_own(h, spare->fd, close_it);
        free(spare);
    }
    free(h);
}

static fairsem_shared_t *find(const struct fs_file *file)
{
    for (fairsem_shared_t *h = first; h != NULL; h = h->next) {
        if (h->file.device == file->device && h->file.inode == file->inode)
            return h;
    }
    return NULL;
}

static void register_handle(fairsem_shared_t *h)
{
    h->next = first;
    first = h;
}

void fs_shared_unregister(fairsem_shared_t *h)
{
    fairsem_shared_t **at = &first;

    while (*at != NULL && *at != h)
        at = &(*at)->next;
    if (*at != NULL)
        *at = h->next;
}

/* ---- Close ---- */

/*
 * An open of the same segment waits until its last close is over.  Without this wait, the close would release
 * the liveness lock of the new handle.  The registry's mutex is not held while the process detaches, so
 * other segments can be opened and closed.
 */
static int close_handle(fairsem_shared_t *h, void (*close_it)(int fd))
{
    bool last;
    int error;

    FS_MUST(pthread_mutex_lock(&registry));
    last = h->opened == 1;
    if (last)
        h->closing = true;
    else
        h->opened--;
    FS_MUST(pthread_mutex_unlock(&registry));
    if (!last)
        return 0;
    error = fs_shared_detach(h);
    FS_MUST(pthread_mutex_lock(&registry));
    h->closing = false;
    if (error == 0) {
        fs_shared_unregister(h);
        destroy_handle(h, close_it);
    }
    FS_MUST(pthread_mutex_unlock(&registry));
    return error;
}

/* ---- Open ---- */

/* Returns EINPROGRESS if another thread is about to close the handle. */
static int reuse(fairsem_shared_t *h, const fairsem_shared_attr_t *attr, fairsem_shared_t **handle)
{
    if (h->closing)
        return EINPROGRESS;
    if (attr != NULL && attr->flags != ((h->undo ? 0 : FAIRSEM_SHARED_NO_UNDO)
                                        | (h->spins ? 0 : FAIRSEM_SHARED_NO_SPIN)))
        return EINVAL;
    h->opened++;
    *handle = h;
    return 0;
}

/* Keep a second descriptor of an open segment: see the top of this file. */
static int keep_spare(fairsem_shared_t *h, int fd)
{
    struct fs_spare *spare = malloc(sizeof *spare);

    if (spare == NULL)
        return ENOMEM;      /* the descriptor stays open, because closing it releases the liveness lock */
    *spare = (struct fs_spare){ fd, h->spares };
    h->spares = spare;
    /* An exec that closed this descriptor would release the liveness lock, and lose the kept units. */
    return fs_file_keep_on_exec(fd, true);
}

static int use_descriptor(int fd, const fairsem_shared_attr_t *attr, fairsem_shared_t **handle)
{
    struct fs_segment header;
    int error = fs_segment_read(fd, &header);

    if (error == 0 && attr != NULL && attr->flags != header.flags)
        error = EINVAL;
    return error != 0 ? error : make_handle(fd, &header, handle);
}

/* The file's owner is checked before its contents are read: see FAIRSEM_SHARED_OWN. */
static int open_existing(const char *path, bool own, const fairsem_shared_attr_t *attr,
                         fairsem_shared_t **handle)
{
    struct fs_file file;
    fairsem_shared_t *h;
    int fd, error = fs_file_find(path, &file);

    if (error != 0)
        return error;
    if (own && !file.ours)
        return EPERM;
    h = find(&file);
    if (h != NULL)
        return reuse(h, attr, handle);
    error = fs_file_open(path, &fd);
    if (error != 0)
        return error == EISDIR ? EINVAL : error == ENXIO ? ENOTRECOVERABLE : error;
    error = fs_file_inspect(fd, &file);
    if (error == 0 && own && !file.ours)
        error = EPERM;
    if (error == 0 && (h = find(&file)) != NULL) {
        error = keep_spare(h, fd);
        return error != 0 ? error : reuse(h, attr, handle);
    }
    if (error == 0)
        error = use_descriptor(fd, attr, handle);
    if (error != 0)
        close_unused(fd);
    else
        register_handle(*handle);
    return error;
}

static int create(const char *path, mode_t mode, const fairsem_shared_attr_t *attr, fairsem_shared_t **handle)
{
    struct fs_segment header;
    int fd, error = fs_file_make(path, mode, fs_segment_size_for(attr), &fd);

    if (error != 0)
        return error;
    error = fs_segment_write(fd, attr, &header);
    if (error == 0)
        error = make_handle(fd, &header, handle);
    if (error != 0) {
        fs_file_close(fd);
        return error;
    }
    /* No other process has the segment yet, so attach_soon() does not wait. */
    error = attach_soon(*handle);
    if (error == 0 && path != NULL)
        error = fs_file_name(fd, path);
    if (error != 0)
        destroy_handle(*handle, fs_file_close);
    else
        register_handle(*handle);
    return error;
}

static int find_or_make(fairsem_shared_t **handle, const char *name, int oflag, mode_t mode,
                        const fairsem_shared_attr_t *attr)
{
    char path[PATH_MAX];
    int error;

    if (name == NULL)
        oflag = O_CREAT | O_EXCL;
    if ((oflag & ~(O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | FAIRSEM_SHARED_OWN)) != 0)
        return EINVAL;
    if ((oflag & O_CREAT) == 0)
        attr = NULL;
    else if (attr == NULL || !fs_segment_attr_valid(attr))
        return EINVAL;
    if (name == NULL)
        return create(NULL, 0, attr, handle);
    error = path_of(name, path);
    for (int i = 0; error == 0 && i < TRIES; i++) {
        if ((oflag & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL)) {
            error = open_existing(path, (oflag & FAIRSEM_SHARED_OWN) != 0, attr, handle);
            if (error != ENOENT || (oflag & O_CREAT) == 0)
                return error;
        }
        error = create(path, mode, attr, handle);
        if (error != EEXIST || (oflag & O_EXCL) != 0)
            return error;
        error = 0;
    }
    return error != 0 ? error : EAGAIN;
}

/* Poll while another thread closes the same segment.  Attach without the mutex: see close_handle(). */
int fairsem_shared_open(fairsem_shared_t **handle, const char *name, int oflag, mode_t mode,
                        const fairsem_shared_attr_t *attr)
{
    int before = errno, cancelable, ignored, error;
    fairsem_shared_t *h;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    for (;;) {
        FS_MUST(pthread_mutex_lock(&registry));
        error = find_or_make(&h, name, oflag, mode, attr);
        FS_MUST(pthread_mutex_unlock(&registry));
        if (error != EINPROGRESS)
            break;
        fs_sleep_shortly(1000000);
    }
    if (error == 0 && (error = attach_soon(h)) != 0) {
        /* If `attached` is set, another thread has opened the segment meanwhile, and attached this process. */
        (void)close_handle(h, atomic_load_explicit(&h->attached, memory_order_acquire) ? fs_file_close
                                                                                         : close_unused);
    }
    pthread_setcancelstate(cancelable, &ignored);
    /* Store the handle only after success: after an error it may be destroyed already. */
    if (error == 0)
        *handle = h;
    errno = before;
    return error;
}

int fairsem_shared_close(fairsem_shared_t *h)
{
    int before = errno, cancelable, ignored, error;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    error = close_handle(h, fs_file_close);
    pthread_setcancelstate(cancelable, &ignored);
    errno = before;
    return error;
}

/* ---- Unlink ---- */

int fairsem_shared_unlink(const char *name)
{
    char path[PATH_MAX];
    int error = path_of(name, path);

    if (error == 0)
        error = fs_file_unlink(path);
    return error == EISDIR ? EINVAL : error;
}

/* Does another process hold units, or any thread wait?  Dead processes have been reaped before. */
static bool is_used(struct fs_shared_section *in)
{
    const fairsem_shared_t *h = in->handle;
    int64_t held = fs_load_units(in, &h->processes[FS_GET(&h->self)].held);

    return in->total - in->available != held || FS_GET(&h->segment->waiters) != 0;
}

static bool is_kept_or_resized(const struct fs_shared_section *in)
{
    return FS_GET(&in->handle->segment->name_stays) != 0 || in->total != in->handle->units;
}

/*
 * Called under the segment's lock, so that no thread takes units, changes their number or keeps the name
 * between the check and the unlink.  A process that takes units or changes their number after the unlink
 * can open the name again to learn that the name is gone: see fairsem_shared_unlink_unused().
 */
static int unlink_in_section(struct fs_shared_section *in, const char *path, bool kept)
{
    const struct fs_file *own = &in->handle->file;
    struct fs_file file;
    int error = fs_file_find(path, &file);

    if (error == 0 && (file.device != own->device || file.inode != own->inode))
        error = ENOENT;
    if (error == 0 && (is_used(in) || (!kept && is_kept_or_resized(in))))
        error = EBUSY;
    if (error == 0 && in->error == 0) {
        FS_STEP("unlink");
        error = fs_file_unlink(path);
    }
    return error;
}

int fairsem_shared_unlink_unused(fairsem_shared_t *h, const char *name, bool kept)
{
    const struct fs_deadline soon = fs_deadline_after(ATTACH_NS);
    struct fs_shared_section in;
    char path[PATH_MAX];
    int error = h->undo ? path_of(name, path) : EINVAL;

    if (error == 0)
        error = fs_detect_dead(h, FS_EVERYBODY, FS_LOCK_WAIT, &soon);
    if (error == 0 || error == ETIMEDOUT)
        error = fs_shared_enter_soon(&in, h);
    if (error != 0)
        return error;
    return fs_shared_section_end_with(&in, unlink_in_section(&in, path, kept));
}

int fairsem_shared_keep_name(fairsem_shared_t *h)
{
    struct fs_shared_section in;
    int error = fs_shared_enter_soon(&in, h);

    if (error != 0)
        return error;
    FS_COMMIT(&in, &h->segment->name_stays, 1);
    return fs_shared_section_end(&in);
}
