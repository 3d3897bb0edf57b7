/* SPDX-License-Identifier: MIT */
/*
 * lock.h - the lock of a segment.  It says which process holds it, so others can take it from a
 * dead one.
 *
 *      bits  0 to 11   the owner's entry in the table of processes
 *      bits 12 to 29   the low bits of its incarnation
 *      bit  30         the lock is held
 *      bit  31         threads may sleep on it
 *
 * It is not a robust pthread mutex.  That would have to be trusted (R5), because the C library
 * follows pointers inside it.  And the kernel reports the death of its owner before it drops the
 * owner's record locks, so that the owner would still seem to live.  Here only the byte says which
 * processes live (R3).
 *
 * The death of the owner wakes no thread, so a thread that waits for the lock checks every 10 ms.
 */
#ifndef FS_SHARED_LOCK_H
#define FS_SHARED_LOCK_H

#include "shared/handle.h"

/*
 * Returns 0; EOWNERDEAD: we hold it, and its last owner died with it; ENOTRECOVERABLE: we do not
 * hold it, and its value is damaged; EBADF: we do not hold it.
 */
int fs_shared_lock(fairsem_shared_t *h);
void fs_shared_unlock(fairsem_shared_t *h);

#endif
