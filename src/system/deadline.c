/* SPDX-License-Identifier: MIT */
/* deadline.c - clocks, timespec arithmetic, validation, short sleeps. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE             /* syscall */
#endif
#include "system/deadline.h"

#if defined(__linux__)
#include "system/futex.h"
#endif
#include "tools/invariant.h"

#include <errno.h>
#include <pthread.h>

#define NS_PER_S 1000000000

/* time_t is signed on every POSIX system, and has 32 bits on some. */
#define TIME_T_MAX ((time_t)(sizeof(time_t) == sizeof(int32_t) ? INT32_MAX : INT64_MAX))

bool fs_clock_valid(clockid_t clock)
{
    return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME;
}

bool fs_timespec_valid(const struct timespec *ts)
{
    return ts->tv_nsec >= 0 && ts->tv_nsec < NS_PER_S;
}

struct fs_deadline fs_deadline_after(int64_t ns)
{
    struct fs_deadline deadline = { .clock = CLOCK_MONOTONIC };
    int64_t seconds = ns / NS_PER_S;

    FS_MUST(clock_gettime(deadline.clock, &deadline.at));
    deadline.at.tv_nsec += (long)(ns % NS_PER_S);
    if (deadline.at.tv_nsec >= NS_PER_S) {
        deadline.at.tv_nsec -= NS_PER_S;
        seconds++;
    }
    if (seconds > TIME_T_MAX - deadline.at.tv_sec)
        deadline.at.tv_sec = TIME_T_MAX;
    else
        deadline.at.tv_sec += (time_t)seconds;
    return deadline;
}

int64_t fs_now_ns(void)
{
    struct timespec now;

    FS_MUST(clock_gettime(CLOCK_MONOTONIC, &now));
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t fs_process_ns(void)
{
    struct timespec used = { .tv_sec = 0 };

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec;
}

/*
 * Nothing overflows: the seconds are subtracted only if the deadline is in the future, and multiplied only if
 * the deadline is near.  (No clock of the system is before 1970.)
 */
int64_t fs_deadline_rest(const struct fs_deadline *deadline, int64_t most)
{
    struct timespec now;
    int64_t rest;

    FS_MUST(clock_gettime(deadline->clock, &now));
    if (deadline->at.tv_sec < now.tv_sec)
        return 0;
    if (deadline->at.tv_sec - now.tv_sec > most / NS_PER_S + 1)
        return most;
    rest = (int64_t)(deadline->at.tv_sec - now.tv_sec) * NS_PER_S + deadline->at.tv_nsec
           - now.tv_nsec;
    return rest < 0 ? 0 : rest < most ? rest : most;
}

/*
 * On Linux, sleep on a word that no thread wakes.  nanosleep() would be a cancellation point even with
 * cancellation disabled: glibc 2.36 sends a signal to cancel a thread that waits with asynchronous
 * cancellation.  If the signal arrives late, in nanosleep(), the thread is canceled there.  (The explorers
 * define nanosleep.)
 */
void fs_sleep_shortly(int64_t ns)
{
    const struct timespec ts = { .tv_nsec = (long)ns };
    int error = errno;

#if defined(__linux__) && !defined(nanosleep)
    static const _Atomic int word;

    (void)fs_futex_wait(&word, FS_FUTEX_WAIT, 0, &ts, 0);
#else
    int cancelable, disabled;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    nanosleep(&ts, NULL);
    pthread_setcancelstate(cancelable, &disabled);
#endif
    errno = error;
}

bool fs_deadline_passed(const struct fs_deadline *deadline)
{
    return fs_deadline_rest(deadline, 1) == 0;
}

/* Another clock than CLOCK_MONOTONIC may be set during a sleep: after this time, that clock is read again. */
#define OTHER_CLOCK_NS 1000000000

static bool is_earlier(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

const struct fs_deadline *fs_deadline_or(const struct fs_deadline *end, int64_t at_ns,
                                         struct fs_deadline *at)
{
    int64_t ns = at_ns - fs_now_ns();

    if (end != NULL && end->clock != CLOCK_MONOTONIC) {
        if (ns > OTHER_CLOCK_NS)
            ns = OTHER_CLOCK_NS;
        if (fs_deadline_rest(end, ns) < ns)
            return end;
    }
    *at = fs_deadline_after(ns > 0 ? ns : 1);
    if (end != NULL && end->clock == CLOCK_MONOTONIC && is_earlier(&end->at, &at->at))
        return end;
    return at;
}
