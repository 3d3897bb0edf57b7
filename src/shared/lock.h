/* SPDX-License-Identifier: MIT */
/*
 * lock.h - the lock of a segment, which says who has it, so that it can be taken from the dead.
 *
 *      bits  0 to 11   the owner's entry in the table of processes
 *      bits 12 to 29   its incarnation, as far as it fits
 *      bit  30         the lock is held
 *      bit  31         somebody may sleep on it
 *
 * It is no robust pthread mutex, because that cannot be trusted (R5): the C library follows
 * pointers that lie inside of it.  And the kernel reports the death of such a mutex's owner before
 * it drops the owner's record locks, so that the owner would still seem to live.  Here one thing
 * says who lives: the byte (R3).
 *
 * Nobody is told when the owner dies: a waiter for the lock looks every 10 ms.
 */
#ifndef FS_SHARED_LOCK_H
#define FS_SHARED_LOCK_H

#include "shared/handle.h"

/*
 * 0; EOWNERDEAD: held, its owner died with it; ENOTRECOVERABLE: not held, what stands there cannot
 * be; EBADF: not held.
 */
int fs_shared_lock(fairsem_shared_t *h);
void fs_shared_unlock(fairsem_shared_t *h);

#endif
