/* SPDX-License-Identifier: MIT */
/*
 * moment.h - a moment for other threads, in a loop that waits for something that they do.
 *
 * No sched_yield(): on a busy machine it gives the core to programs that compute, for 10 ms each
 * time.  A thread that wakes from a sleep comes before those.
 */
#ifndef MOMENT_H
#define MOMENT_H

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* Half a microsecond; each 256th time a thread sleeps.  No cancellation point, and keeps errno. */
static inline void moment(void)
{
    static _Thread_local unsigned times;
    const struct timespec nap = { .tv_nsec = 20000 };
    volatile int spin = 0;
    int state, error = errno;

    if (++times % 256 != 0) {
        while (spin < 250)
            spin++;
        return;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    nanosleep(&nap, NULL);
    pthread_setcancelstate(state, NULL);
    errno = error;
}

#endif
