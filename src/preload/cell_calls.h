/* SPDX-License-Identifier: MIT */
/*
 * cell_calls.h - a post, a try and a wait for a semaphore that is in a cell.
 *
 * Each returns 0 or an error number, or FS_RETIRED if the semaphore has moved out: then the sem_t
 * tells where it is now.
 *
 * The fast paths are inline, as in posix/sem_calls.h.
 */
#ifndef FS_CELL_CALLS_H
#define FS_CELL_CALLS_H

#include "cells.h"

#include <errno.h>

int fs_cell_post_slow(struct fs_cell *cell);
int fs_cell_try_slow(struct fs_cell *cell);
int fs_cell_wait_slow(struct fs_cell *cell, clockid_t clock, const struct timespec *deadline);

/* --bypass: take a unit ahead of threads that wait, if they have not waited for too long. */
bool fs_cell_take_past(struct fs_cell *cell);

/* The unit may be in memory that was given back, where nobody would find it: see cells.h. */
static inline int fs_cell_post(struct fs_cell *cell)
{
    if (!fs_release_fast(fs_inside(cell->sem), 1))
        return fs_cell_post_slow(cell);
    if (fs_cell_is_given_up(cell) && fs_acquire_fast(fs_inside(cell->sem), 1))
        return FS_RETIRED;
    return 0;
}

static inline int fs_cell_try(struct fs_cell *cell)
{
    if (fs_bypass_ns != 0 && fs_cell_take_past(cell))
        return 0;
    if (fs_acquire_fast(fs_inside(cell->sem), 1))
        return 0;
    return fs_too_few_now(fs_inside(cell->sem), 1) ? EAGAIN : fs_cell_try_slow(cell);
}

/* The caller has done what makes it a cancellation point. */
static inline int fs_cell_wait(struct fs_cell *cell, clockid_t clock,
                               const struct timespec *deadline)
{
    if (fs_bypass_ns != 0 && fs_cell_take_past(cell))
        return 0;
    if (fs_acquire_fast(fs_inside(cell->sem), 1))
        return 0;
    return fs_cell_wait_slow(cell, clock, deadline);
}

#endif
