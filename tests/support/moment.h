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
#include <time.h>

#if defined(__linux__)
#include <sys/syscall.h>
long syscall(long number, ...); /* <unistd.h> has it only with _GNU_SOURCE */
#endif

/*
 * No cancellation point of the C library, even with cancellation disabled: glibc 2.36 sends a
 * thread that it finds in an asynchronous wait a signal, and if the thread has left that wait
 * and sleeps in nanosleep() when the signal comes, it is canceled there.
 */
static inline void moment_sleep(void)
{
#if defined(SYS_nanosleep)
    const long nap[2] = { 0, 20000 };   /* the kernel's struct timespec, seconds and nanoseconds */

    syscall(SYS_nanosleep, nap, NULL);
#else
    const struct timespec nap = { .tv_nsec = 20000 };

    nanosleep(&nap, NULL);
#endif
}

/* Half a microsecond; each 256th time a thread sleeps.  No cancellation point, and keeps errno. */
static inline void moment(void)
{
    static _Thread_local unsigned times;
    volatile int spin = 0;
    int error = errno;

    if (++times % 256 == 0)
        moment_sleep();
    else
        while (spin < 250)
            spin++;
    errno = error;
}

#endif
