/* SPDX-License-Identifier: MIT */
/*
 * visit.h - the critical section of a segment: lock, grant loop, unlock, wake.
 *
 * As in the core's section.c there is one way out, which grants what fits, so no path can forget to
 * grant.  The count stays in the segment, because the next process must find it there if we die.
 */
#ifndef FS_SHARED_VISIT_H
#define FS_SHARED_VISIT_H

#include "shared/handle.h"

#define FS_WAKES 32

struct fs_visit {
    int64_t now_ns;             /* 0: no clock has been read yet */
    int     wakes;
    const _Atomic int *words[FS_WAKES];     /* to wake when the lock has been dropped */
};

/*
 * Take the lock, and repair if necessary.  Returns 0: the lock is held; ENOTRECOVERABLE or EBADF:
 * it is not held.
 */
int fs_visit_begin(fairsem_shared_t *h, struct fs_visit *visit);

/* Grant what fits to the living in line.  0, ENOTRECOVERABLE, EBADF. */
int fs_visit_grant(fairsem_shared_t *h, struct fs_visit *visit);

/* Grant, unlock, wake.  Returns 0 or an error; the lock is not held any more in any case. */
int fs_visit_end(fairsem_shared_t *h, struct fs_visit *visit);

/* The same without a grant, after an error, which it returns. */
int fs_visit_fail(fairsem_shared_t *h, struct fs_visit *visit, int error);

/* Wake the thread of this slot when the lock has been dropped. */
void fs_visit_will_wake(fairsem_shared_t *h, struct fs_visit *visit, int slot);

/* The time of this visit; the clock is read only once. */
int64_t fs_visit_now(struct fs_visit *visit);

#endif
