/* SPDX-License-Identifier: MIT */
/* calls.c - the calls of the library that layer.h redirects. */
#include "explorer.h"
#include "layer.h"

#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

int calls_lock(pthread_mutex_t *mutex)
{
    lock(mutex);
    return 0;
}

int calls_unlock(pthread_mutex_t *mutex)
{
    unlock(mutex);
    return 0;
}

int calls_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    (void)cond;
    unlock(mutex);
    sleep_for_a_while();
    lock(mutex);
    return 0;
}

int calls_nothing(const void *object)
{
    (void)object;
    return 0;
}

int calls_clock(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){ .tv_sec = 1000 };
    return 0;
}

int calls_set(int value, int *before)
{
    *before = value;
    return 0;
}

int calls_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how;
    (void)set;
    if (before != NULL)
        memset(before, 0, sizeof *before);
    return 0;
}

int calls_getcpu(void)
{
    return 0;
}

/* A futex: FUTEX_WAKE does nothing here.  All others only ask who the thread is. */
long calls_syscall(long number, ...)
{
    va_list rest;
    int what;

    if (number != SYS_futex)
        return 0;
    va_start(rest, number);
    (void)va_arg(rest, void *);
    what = va_arg(rest, int);
    va_end(rest);
    if ((what & 127) != 1)
        sleep_for_a_while();
    return 0;
}

/* Only before it stops the program. */
int calls_print(FILE *file, const char *format, ...)
{
    (void)file;
    (void)format;
    return 0;
}

/* The library has stopped the program.  If an execution contains this run, that is an outcome. */
_Noreturn void calls_abort(void)
{
    stop_here('!');
}
