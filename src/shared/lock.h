/* SPDX-License-Identifier: MIT */
/*
 * lock.h - the lock of a segment.  It says which process holds it, so others can take it from a
 * dead one.
 *
 *      bits  0 to 11   the owner's entry in the table of processes
 *      bits 12 to 28   the low bits of its incarnation
 *      bit  29         ORDERED: threads may sleep for their turn
 *      bit  30         HELD
 *      bit  31         CONTENDED: threads may sleep on the lock itself
 *
 * It is not a robust pthread mutex.  That would have to be trusted (R5), because the C library
 * follows pointers inside it.  And the kernel reports the death of its owner before it drops the
 * owner's record locks, so that the owner would still seem to live.  Here only the byte says which
 * processes live (R3).
 *
 * ORDER.  A thread that finds the lock free takes it, even if others sleep: sections are short, and
 * handing the lock to a sleeper would cost each a wake-up.  But whoever has waited for a
 * millisecond waits for its turn.  From then on the lock is not free between two owners, but
 * RESERVED (ORDERED without HELD) for the thread that the last owner has woken, which is the one
 * that has slept longest.  When no such thread is left, the lock is free again for all.
 *
 * DEATH.  The death of the owner wakes no thread.  So a thread that waits for the lock checks the
 * owner after 1 ms, 10 ms, 20 ms and so on, up to every 160 ms.  If the thread dies, or is stopped,
 * for which the lock is reserved, another takes it that has slept for its time.
 */
#ifndef FS_SHARED_LOCK_H
#define FS_SHARED_LOCK_H

#include "shared/handle.h"
#include "system/deadline.h"

/* Most sections are over after this time.  A longer one is that of a stopped process. */
#define FS_LOCK_GRACE_NS 6000000

/* How long a call waits for the lock.  Only FS_LOCK_WAIT needs a deadline. */
enum fs_lock_mode {
    FS_LOCK_TRY,                /* it does not */
    FS_LOCK_TRY_FOR_GRACE,      /* for FS_LOCK_GRACE_NS */
    FS_LOCK_WAIT                /* until the deadline (NULL: none), but at least for FS_LOCK_GRACE_NS */
};

/*
 * Returns 0; EOWNERDEAD: we hold it, and its last owner, *dead_owner, died with it; ETIMEDOUT: we
 * do not hold it, and the time of the mode is over; ENOTRECOVERABLE: we do not hold it, and its value is
 * damaged; EBADF: we do not hold it.
 */
int fs_shared_lock(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline,
                   int *dead_owner);
void fs_shared_unlock(fairsem_shared_t *h);

/* Is it held by a dead process, or damaged? */
bool fs_shared_lock_is_orphaned(fairsem_shared_t *h);

#endif
