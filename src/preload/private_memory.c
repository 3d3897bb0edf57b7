/* SPDX-License-Identifier: MIT */
/*
 * private_memory.c - see private_memory.h.
 *
 * mremap() of no bytes makes a second mapping of shared memory, which is unmapped at once.  For
 * private memory it fails with EINVAL, and the kernel notes that in its log, once.  (Before Linux
 * 4.14 it does not fail, and all memory is taken for shared; shared huge pages may be taken for
 * private.)
 *
 * /proc/self/pagemap would tell as well, but not in a process that has changed its user ID or its
 * root directory.  The answer is not remembered: the program may unmap private memory, and map
 * shared memory in its place.
 */
#define _GNU_SOURCE
#include "private_memory.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* By bare system calls, because a tool that replaces mremap() may know nothing of this use. */
bool fs_memory_is_private(const void *memory)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t page = (uintptr_t)memory / size * size;
    int before = errno;
    long second = syscall(SYS_mremap, page, 0L, size, (long)MREMAP_MAYMOVE);
    bool is_private = second == -1 && errno == EINVAL;

    if (second != -1)
        syscall(SYS_munmap, second, size);
    errno = before;
    return is_private;
}
