/* SPDX-License-Identifier: MIT */
/*
 * private_memory.c - see private_memory.h.
 *
 * /proc/self/pagemap has an entry for each page, whose bit 61 is set if the page belongs to a file
 * or to shared memory.  A page of a private file mapping no longer does once it has been written
 * to.
 *
 * To read it takes three system calls, so pages that were found private are remembered.  If the
 * program unmaps one, and maps shared memory in its place, the answer is wrong, and a semaphore
 * there works in one process only.
 */
#define _GNU_SOURCE
#include "private_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REMEMBERED 1024     /* a power of two */
#define BELONGS_TO_FILE (UINT64_C(1) << 61)
#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)

/* All accesses are relaxed, because nothing but the number of a page is stored. */
static _Atomic uintptr_t known[REMEMBERED];

/* By bare system calls, because libc's functions are cancellation points, and a mutex is held. */
static bool ask(uintptr_t page)
{
    int before = errno;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry = 0;
    bool is_shared = false;

    if (fd >= 0) {
        if (syscall(SYS_pread64, fd, &entry, sizeof entry, page * sizeof entry)
            == (long)sizeof entry)
            is_shared = (entry & (PRESENT | SWAPPED)) != 0 && (entry & BELONGS_TO_FILE) != 0;
        syscall(SYS_close, fd);
    }
    errno = before;
    return !is_shared;
}

bool fs_memory_is_private(const void *memory)
{
    uintptr_t page = (uintptr_t)memory / (uintptr_t)sysconf(_SC_PAGESIZE);
    _Atomic uintptr_t *at = &known[page % REMEMBERED];

    if (atomic_load_explicit(at, memory_order_relaxed) == page)
        return true;
    if (!ask(page))
        return false;
    atomic_store_explicit(at, page, memory_order_relaxed);
    return true;
}
