/* SPDX-License-Identifier: MIT */
/* detect.h - failure detection: finding dead processes (R4). */
#ifndef FS_SHARED_DETECT_H
#define FS_SHARED_DETECT_H

#include "shared/lock.h"
#include "system/deadline.h"

/* Period of the checks by the detectors. */
#define FS_DETECT_NS      25000000

/* If no process has made a check for this time, the detectors are dead or stopped, and any waiter checks. */
#define FS_DETECT_LATE_NS 200000000

/*
 * Period of the checks by callers that must wait or are refused: ten times as long as the last check took,
 * so that checks take a tenth of the time.  The period is at least 20 us, and at most 10 ms.
 */
int64_t fs_detect_call_ns(const fairsem_shared_t *h);

/*
 * Returns true if no process has begun a check for ns nanoseconds.  The result true counts as the start of a
 * check: the caller must make the check, because calls by other threads return false for a while.
 */
bool fs_detect_begin(fairsem_shared_t *h, int64_t ns);

/*
 * Check processes; if some are dead, take the lock, reap them, and grant their units.  FS_THOSE_OF_INTEREST
 * are the processes whose death can matter to a waiter, see R4.  Returns 0, or an error of fs_shared_enter().
 */
enum fs_whom { FS_THOSE_OF_INTEREST, FS_EVERYBODY };
int fs_detect_dead(fairsem_shared_t *h, enum fs_whom whom, enum fs_lock_mode mode,
                   const struct fs_deadline *deadline);

/* The check of a waiter.  If the lock is not free soon, returns 0, and leaves the dead to other processes. */
int fs_detect_dead_try(fairsem_shared_t *h);

/* Wake threads that were granted a while ago: their granter may have died before the wake. */
void fs_detect_wake_granted(fairsem_shared_t *h);

#endif
