/* SPDX-License-Identifier: MIT */
/*
 * cond_clock.h - condition variables, each for deadlines on one clock, also on systems without
 * pthread_condattr_setclock.
 */
#ifndef FS_COND_CLOCK_H
#define FS_COND_CLOCK_H

#include "system/deadline.h"

#include <pthread.h>
#include <stdbool.h>

#if !defined(FS_HAS_COND_CLOCK)     /* defined by configure where this default is wrong */
#if defined(__APPLE__)
#define FS_HAS_COND_CLOCK 0
#else
#define FS_HAS_COND_CLOCK 1
#endif
#endif

/* Returns false if there is no memory for the condition variable. */
bool fs_cond_init(pthread_cond_t *cond, clockid_t clock);

/*
 * Sleep until the condition variable is signaled, at most until the deadline, which must be on the condition
 * variable's clock.  May return earlier.  Cancellation point.
 */
void fs_cond_sleep_until(pthread_cond_t *cond, pthread_mutex_t *mutex,
                         const struct fs_deadline *deadline);

#endif
