/* SPDX-License-Identifier: MIT */
/*
 * slot_calls.h - a post, a try and a wait for a semaphore that is in a slot.
 *
 * Each returns 0 or an error number, or FS_RETIRED if the semaphore has moved out: then the sem_t
 * tells where it is now.
 *
 * The fast paths are inline, as in posix/sem_calls.h.
 */
#ifndef FS_SLOT_CALLS_H
#define FS_SLOT_CALLS_H

#include "slots.h"

#include <errno.h>

int fs_slot_post_slow(struct fs_sem_slot *slot);
int fs_slot_try_slow(struct fs_sem_slot *slot);
int fs_slot_wait_slow(struct fs_sem_slot *slot, clockid_t clock, const struct timespec *deadline);

/* --bypass: take a unit ahead of threads that wait, if they have not waited for too long. */
bool fs_slot_take_past(struct fs_sem_slot *slot);

/* The unit may be in memory that was given back, where nobody would find it: see slots.h. */
static inline int fs_slot_post(struct fs_sem_slot *slot)
{
    if (!fs_release_fast(fs_inside(slot->sem), 1))
        return fs_slot_post_slow(slot);
    if (fs_slot_is_given_up(slot) && fs_acquire_fast(fs_inside(slot->sem), 1))
        return FS_RETIRED;
    return 0;
}

static inline int fs_slot_try(struct fs_sem_slot *slot)
{
    if (fs_bypass_ns != 0 && fs_slot_take_past(slot))
        return 0;
    if (fs_acquire_fast(fs_inside(slot->sem), 1))
        return 0;
    return fs_too_few_now(fs_inside(slot->sem), 1) ? EAGAIN : fs_slot_try_slow(slot);
}

/* The caller has done what makes it a cancellation point. */
static inline int fs_slot_wait(struct fs_sem_slot *slot, clockid_t clock,
                               const struct timespec *deadline)
{
    if (fs_bypass_ns != 0 && fs_slot_take_past(slot))
        return 0;
    if (fs_acquire_fast(fs_inside(slot->sem), 1))
        return 0;
    return fs_slot_wait_slow(slot, clock, deadline);
}

#endif
