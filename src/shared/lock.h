/* SPDX-License-Identifier: MIT */
/*
 * lock.h - the lock of a segment.  Its word names the owner, so that others can take the lock from a dead
 * owner.
 *
 *      bits  0 to 11   the owner's entry in the table of processes
 *      bits 12 to 28   the low bits of its incarnation
 *      bit  29         ORDERED: threads may sleep until the lock is handed over
 *      bit  30         HELD
 *      bit  31         CONTENDED: threads may sleep on the word itself
 *
 * It is not a robust pthread mutex, for two reasons.  The C library follows pointers inside such a mutex,
 * so its memory would have to be trusted (R5).  And the kernel reports the death of its owner before it
 * releases the owner's record locks, so the owner would still seem to be alive.  Here only liveness locks
 * decide (R3).
 *
 * ORDER.  A thread that finds the lock free takes it, even if others sleep: sections are short, and a
 * hand-over to a sleeper costs a wake-up.  But a thread that has waited for a millisecond waits in order.
 * From then on the lock is not free between two owners, but reserved (ORDERED without HELD) for the thread
 * that the last owner has woken, which is the one that has slept longest.  When no such thread is left, the
 * lock is free again for all.
 *
 * DEATH.  The death of the owner wakes no thread.  So a thread that waits for the lock checks the owner
 * after 1 ms, 10 ms, 20 ms and so on, up to every 160 ms.  If a thread dies or is stopped while the lock is
 * reserved for it, another thread that has slept long enough takes it.
 */
#ifndef FS_SHARED_LOCK_H
#define FS_SHARED_LOCK_H

#include "shared/handle.h"
#include "system/deadline.h"

/* Most sections are over after this time; the owner of a longer one is probably stopped. */
#define FS_LOCK_GRACE_NS 6000000

/* How long a call waits for the lock.  Only FS_LOCK_WAIT needs a deadline. */
enum fs_lock_mode {
    FS_LOCK_TRY,                /* not at all */
    FS_LOCK_TRY_FOR_GRACE,      /* for FS_LOCK_GRACE_NS */
    FS_LOCK_WAIT                /* until the deadline, but at least for FS_LOCK_GRACE_NS; without limit if it is NULL */
};

/*
 * Returns 0; or EOWNERDEAD if we hold the lock, and its last owner, *dead_owner, died as its owner.  After
 * any other result we do not hold the lock: ETIMEDOUT when the time of the mode is over, ENOTRECOVERABLE if
 * the word is damaged, EBADF as fs_shared_alive().
 */
int fs_shared_lock(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline,
                   int *dead_owner);
void fs_shared_unlock(fairsem_shared_t *h);

/* Is the owner dead, or the word damaged? */
bool fs_shared_lock_is_orphaned(fairsem_shared_t *h);

#endif
