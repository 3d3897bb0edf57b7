/* SPDX-License-Identifier: MIT */
/*
 * cond_clock.c - condition variables with a clock; see cond_clock.h.
 *
 * Without pthread_condattr_setclock, a sleep lasts for the time that is left on the deadline's clock, but at
 * most 0.9 s.  Then the caller reads that clock again.  So a time-out is up to 0.9 s late if a clock is set
 * during the sleep, or the machine is suspended.  (In one case the time-out is later: see sleep_for().)
 */
#include "system/cond_clock.h"

#if FS_HAS_COND_CLOCK

bool fs_cond_init(pthread_cond_t *cond, clockid_t clock)
{
    pthread_condattr_t attr;
    bool done;

    if (pthread_condattr_init(&attr) != 0)
        return false;
    done = pthread_condattr_setclock(&attr, clock) == 0 && pthread_cond_init(cond, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return done;
}

void fs_cond_sleep_until(pthread_cond_t *cond, pthread_mutex_t *mutex,
                         const struct fs_deadline *deadline)
{
    pthread_cond_timedwait(cond, mutex, &deadline->at);
}

#else

#define SLICE_NS 900000000      /* longest sleep; SLICE_NS + 1 must fit in tv_nsec */

bool fs_cond_init(pthread_cond_t *cond, clockid_t clock)
{
    (void)clock;
    return pthread_cond_init(cond, NULL) == 0;
}

#if defined(__APPLE__)
#define sleep_for pthread_cond_timedwait_relative_np
#else
/* If CLOCK_REALTIME is set back by an hour during the sleep, the sleep lasts an hour longer. */
static void sleep_for(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *time)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += time->tv_nsec;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(cond, mutex, &until);
}
#endif

void fs_cond_sleep_until(pthread_cond_t *cond, pthread_mutex_t *mutex,
                         const struct fs_deadline *deadline)
{
    /* The time is never 0, which macOS might take for no time-out at all. */
    const struct timespec time = { .tv_nsec = (long)fs_deadline_rest(deadline, SLICE_NS) + 1 };

    sleep_for(cond, mutex, &time);
}

#endif
