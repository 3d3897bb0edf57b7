/* SPDX-License-Identifier: MIT */
/*
 * callers.h - threads that make one call on a sem_t, and other code for tests of sem_t.  Include it in only one
 * file of a program.
 */
#ifndef CALLERS_H
#define CALLERS_H

#include "emulated.h"
#include "suite.h"
#include "workers.h"

#include <fairsem/posix.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>

/* On systems other than Linux, sem_init of fairsem/posix.h fails. */
#if defined(__linux__)
#define HAS_SEM_T true
#else
#define HAS_SEM_T false
#endif

#define NOT_CHANGED 4711        /* an errno that no function sets */

/* Returns true and prints why if this system has no sem_t for threads. */
static inline bool has_no_sem_t(void)
{
    if (!HAS_SEM_T)
        puts("not here: no futexes, and so no sem_t (t_posix_results)");
    else if (!has_priority_inheritance())
        puts("not here: the emulated machine has no mutexes with priority inheritance");
    else
        return false;
    return true;
}

#define ck_assert_fails(call, error)       \
    do {                                   \
        errno = NOT_CHANGED;               \
        ck_assert_int_eq(call, -1);        \
        ck_assert_int_eq(errno, error);    \
    } while (0)

/* A success leaves errno alone. */
#define ck_assert_works(call)                \
    do {                                     \
        errno = NOT_CHANGED;                 \
        ck_assert_int_eq(call, 0);           \
        ck_assert_int_eq(errno, NOT_CHANGED); \
    } while (0)

static inline int value_of(sem_t *sem)
{
    int value = -1;

    ck_assert_works(sem_getvalue(sem, &value));
    return value;
}

/* ---- Threads that make one call ---- */

enum how { WAIT, TIMEDWAIT, CLOCKWAIT, WAYS };

struct caller {
    pthread_t    thread;
    sem_t       *sem;
    enum how     how;
    int          policy, priority;  /* of the thread during its call; SCHED_OTHER changes nothing */
    _Atomic int *service;           /* counts up as callers are granted; may be NULL */
    int          place;             /* valid after join: *service when this caller was granted */
    _Atomic int  result;            /* STILL_WAITING, 0, errno, or BROKEN */
};

#define BROKEN (-2)                 /* neither 0 nor -1 was returned */

/* Returns an hour from now, on the clock of this way of waiting. */
static inline struct timespec far_away(enum how how)
{
    return from_now(how == CLOCKWAIT ? CLOCK_MONOTONIC : CLOCK_REALTIME, 3600 * 1000);
}

static inline int wait_somehow(sem_t *sem, enum how how)
{
    struct timespec deadline = far_away(how);

    switch (how) {
    case TIMEDWAIT: return sem_timedwait(sem, &deadline);
    case CLOCKWAIT: return sem_clockwait(sem, CLOCK_MONOTONIC, &deadline);
    default:        return sem_wait(sem);
    }
}

static inline void *call(void *arg)
{
    struct caller *c = arg;
    int result;

    if (c->policy != SCHED_OTHER) {
        struct sched_param param = { .sched_priority = c->priority };

        insist(0, pthread_setschedparam(pthread_self(), c->policy, &param));
    }
    result = wait_somehow(c->sem, c->how);
    if (result == 0 && c->service != NULL)
        c->place = atomic_fetch_add(c->service, 1);
    atomic_store(&c->result, result == 0 ? 0 : result == -1 ? errno : BROKEN);
    return NULL;
}

static inline void caller_start(struct caller *c, sem_t *sem, enum how how)
{
    c->sem = sem;
    c->how = how;
    atomic_store(&c->result, STILL_WAITING);
    start_thread(&c->thread, call, c);
}

/* Like caller_start(), but return when `expected` threads are in the queue. */
static inline void caller_queue(struct caller *c, sem_t *sem, enum how how, int expected)
{
    caller_start(c, sem, how);
    await_waiters(&sem->fairsem_inside_, expected);
}

/* Join the thread.  Returns its result, or STILL_WAITING if it was canceled. */
static inline int caller_join(struct caller *c)
{
    pthread_join(c->thread, NULL);
    return atomic_load(&c->result);
}

/* Spin for up to some microseconds, a different time in each round. */
static inline void dawdle(int round)
{
    for (int spin = round % 97 * 80; spin > 0; spin--)
        atomic_signal_fence(memory_order_seq_cst);
}

#endif
