/* SPDX-License-Identifier: MIT */
/* record.c - see record.h. */
#define _GNU_SOURCE
#include "record.h"

#include "fast_path.h"
#include "tools/buckets.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fs_records *fs_records;
struct fs_uncounted fs_uncounted;

void fs_records_map(void)
{
    const char *path = getenv(FS_RECORDS_ENV);
    struct fs_records *map;
    int fd;

    if (path == NULL || (fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
        return;
    map = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return;
    if (map->version != FS_RECORDS_VERSION) {
        munmap(map, sizeof *map);
        return;
    }
    atomic_fetch_add(&map->processes, 1);
    if (dlsym(RTLD_DEFAULT, "fairsem_sem_init") != NULL)
        atomic_store(&map->header, 1);
    fs_records = map;
}

/* Describe the caller of sem_init: "libfoo.so(make_lock+0x1f)". */
static void describe_caller(const void *caller, struct fs_record *r)
{
    char *const text = r->creator;
    const size_t size = sizeof r->creator;
    uintptr_t call = (uintptr_t)caller - 1;
    Dl_info info;
    const char *module;

    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL) {
        snprintf(text, size, "%p", caller);
        return;
    }
    /* A file of type ET_EXEC is always loaded at the address that its debugging information has. */
    if (((const ElfW(Ehdr) *)info.dli_fbase)->e_type != ET_EXEC)
        call -= (uintptr_t)info.dli_fbase;
    atomic_store_explicit(&r->call, call, memory_order_relaxed);
    module = strrchr(info.dli_fname, '/');
    module = module != NULL ? module + 1 : info.dli_fname;
    if (info.dli_sname != NULL)
        snprintf(text, size, "%s(%s+0x%zx)", module, info.dli_sname,
                 (size_t)((const char *)caller - (const char *)info.dli_saddr));
    else
        snprintf(text, size, "%s+0x%zx", module,
                 (size_t)((const char *)caller - (const char *)info.dli_fbase));
}

uint64_t fs_record_new(const sem_t *sem, const void *caller)
{
    struct fs_record *r;
    uint32_t at;

    if (fs_records == NULL)
        return 0;
    at = atomic_fetch_add(&fs_records->used, 1);
    if (at >= FS_RECORDS_MAX) {
        atomic_fetch_sub(&fs_records->used, 1);
        return 0;
    }
    r = &fs_records->record[at];
    atomic_store_explicit(&r->address, (uintptr_t)sem, memory_order_relaxed);
    describe_caller(caller, r);
    atomic_store_explicit(&r->pid, (int32_t)getpid(), memory_order_release);
    return (uint64_t)at + 1;
}

struct fs_record *fs_record_of(const sem_t *sem, uint64_t number)
{
    struct fs_record *r;

    if (fs_records == NULL || number == 0 || number > FS_RECORDS_MAX)
        return NULL;
    r = &fs_records->record[number - 1];
    return atomic_load_explicit(&r->address, memory_order_relaxed) == (uintptr_t)sem ? r : NULL;
}

static void add_wait(struct fs_waited *waited, uint64_t ns)
{
    uint64_t max = atomic_load_explicit(&waited->ns_max, memory_order_relaxed);

    atomic_fetch_add_explicit(&waited->waits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&waited->ns_total, ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&waited->lengths[fs_wait_bucket((int64_t)ns)], 1, memory_order_relaxed);
    while (ns > max && !atomic_compare_exchange_weak(&waited->ns_max, &max, ns))
        continue;
}

uint64_t fs_record_start(void)
{
    return fs_records != NULL ? (uint64_t)fs_now_ns() : 0;
}

void fs_record_wait(struct fs_record *record, uint64_t start)
{
    uint64_t ns;

    if (fs_records == NULL)
        return;
    ns = (uint64_t)fs_now_ns() - start;
    add_wait(&fs_records->waited, ns);
    if (record != NULL)
        add_wait(&record->waited, ns);
}
