/* SPDX-License-Identifier: MIT */
/*
 * lock.h - the lock of a segment.  The lock word names the owner, so that a waiting thread can check whether
 * the owner is dead, and then take the lock.
 *
 *      bits  0 to 11   the owner's entry in the table of processes
 *      bits 12 to 28   the low bits of its incarnation
 *      bit  29         ORDERED: threads may sleep until the lock is handed over
 *      bit  30         HELD
 *      bit  31         CONTENDED: threads may sleep on the word itself
 *
 * The lock is not a robust pthread mutex, for two reasons.  The C library follows pointers in a robust mutex,
 * so the segment would have to be trusted (R5).  And when the owner of a robust mutex dies, the kernel
 * reports the death before it releases the owner's liveness lock: the owner would still seem alive (R3).
 *
 * ORDER.  A thread that finds the lock free takes it, even if other threads sleep: sections are short, and a
 * hand-over to a sleeper costs a wake-up.  But a thread that has waited for a millisecond waits in order: it
 * sleeps until the lock is handed over.  While threads wait in order, an owner that unlocks wakes the longest
 * sleeper of them, and leaves the lock reserved for that thread (ORDERED without HELD).
 *
 * DEATH.  The death of the owner wakes no thread.  So a thread that waits for the lock checks the owner
 * after 1 ms, 10 ms, 20 ms and so on, up to every 160 ms.  If a reserved lock is not taken in time, because
 * its thread is dead or stopped, any thread that waits in order may take the lock.
 */
#ifndef FS_SHARED_LOCK_H
#define FS_SHARED_LOCK_H

#include "shared/handle.h"
#include "system/deadline.h"

/* If a section takes longer than this, the owner of the lock is probably stopped. */
#define FS_LOCK_GRACE_NS 6000000

/* How long a call waits for the lock.  Only FS_LOCK_WAIT has a deadline. */
enum fs_lock_mode {
    FS_LOCK_TRY,                /* not at all */
    FS_LOCK_TRY_FOR_GRACE,      /* for FS_LOCK_GRACE_NS */
    FS_LOCK_WAIT                /* until the deadline (NULL: for ever), but at least for FS_LOCK_GRACE_NS */
};

/*
 * Take the lock.  Returns 0, or EOWNERDEAD if the process *dead_owner died as the owner.  Without the lock,
 * returns ETIMEDOUT when the time of the mode is over, ENOTRECOVERABLE if the lock word is damaged, or an error
 * of fs_shared_alive().
 */
int fs_shared_lock(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline,
                   int *dead_owner);
void fs_shared_unlock(fairsem_shared_t *h);

/* Is the owner dead, or the lock word damaged?  Also true if the check fails. */
bool fs_shared_lock_is_orphaned(fairsem_shared_t *h);

#endif
