/* SPDX-License-Identifier: MIT */
/*
 * detect.h - finding the dead (R4).  No lock is held while the kernel is asked about processes.
 */
#ifndef FS_SHARED_DETECT_H
#define FS_SHARED_DETECT_H

#include "shared/lock.h"
#include "system/deadline.h"

/* How often the two last in the queue check. */
#define FS_DETECT_NS      25000000

/* If nobody has checked for so long, those two are dead or stopped, and any waiter checks. */
#define FS_DETECT_LATE_NS 200000000

/*
 * A caller that must wait, or is refused, checks if nobody has for so long: ten times as long as the
 * last check took, so that all of them together spend a tenth of their time on it; at most 10 ms.
 */
int64_t fs_detect_call_ns(const fairsem_shared_t *h);

/* Has nobody checked for so long?  If so, it is the caller's turn: it must check at once. */
bool fs_detect_begin(fairsem_shared_t *h, int64_t ns);

/*
 * Check processes; if one is dead, take the lock, drop the dead, and grant what they held.  Of
 * interest are those whose death can matter to a waiter: holders, the granted, and the head.
 * Returns 0, or an error of fs_shared_enter().
 */
enum fs_whom { FS_THOSE_OF_INTEREST, FS_EVERYBODY };
int fs_detect_dead(fairsem_shared_t *h, enum fs_whom whom, enum fs_lock_mode mode,
                   const struct fs_deadline *deadline);

/* The same by one who waits: if the lock cannot be had at once, others drop the dead. */
int fs_detect_dead_try(fairsem_shared_t *h);

/* Wake the threads that were granted a while ago: their granter may have died before the wake. */
void fs_detect_wake_granted(fairsem_shared_t *h);

#endif
