/* SPDX-License-Identifier: MIT */
/* cond_clock_posix.c - where the system knows the clock of a condition variable; see cond_clock.h. */
#include "cond_clock.h"

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
typedef int translation_unit_not_empty;
#endif
