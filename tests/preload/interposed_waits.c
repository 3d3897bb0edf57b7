/* SPDX-License-Identifier: MIT */
/* interposed_waits.c - waits, posts, and the ways in which a wait ends. */
#include "interposed.h"

#include <limits.h>

/* A unit goes to the oldest waiter, not back to the thread that posted it.  (5 waits.) */
BEHAVIOR(fifo)
{
    struct waiter w[5] = { { 0 } };
    _Atomic int service = 0;
    sem_t sem;

    MUST(sem_init(&sem, 0, 1) == 0);
    MUST(sem_wait(&sem) == 0);
    for (int i = 0; i < 5; i++) {
        w[i].service = &service;
        queue(&w[i], &sem);
    }
    MUST(value_of(&sem) == 0);
    for (int i = 0; i < 5; i++) {
        MUST(sem_post(&sem) == 0);
        MUST_FAIL(sem_trywait(&sem), EAGAIN);
        MUST(join(&w[i]) == 0);
        MUST(w[i].place == i);
    }
    MUST(sem_destroy(&sem) == 0);
}

/* (2 waits of 50 ms at least.) */
BEHAVIOR(slow_waits)
{
    const struct timespec length = { .tv_nsec = 50000000 };
    struct waiter w = { 0 };
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    for (int i = 0; i < 2; i++) {
        queue(&w, &sem);
        while (nanosleep(&length, NULL) != 0)
            continue;
        MUST(sem_post(&sem) == 0);
        MUST(join(&w) == 0);
    }
}

/* (1 semaphore is created, in addition to the constructor's.) */
BEHAVIOR(overflow)
{
    sem_t sem;

    MUST_FAIL(sem_init(&sem, 0, SEM_VALUE_MAX + 1u), EINVAL);
    MUST(sem_init(&sem, 0, SEM_VALUE_MAX) == 0);
    MUST_FAIL(sem_post(&sem), EOVERFLOW);
    MUST(value_of(&sem) == SEM_VALUE_MAX);
    MUST(sem_destroy(&sem) == 0);
}

static void wait_on_clock(sem_t *sem, clockid_t clock)
{
    const struct timespec at = soon(clock, 20000);
    struct timespec now;

    MUST_FAIL(sem_clockwait(sem, clock, &at), ETIMEDOUT);
    clock_gettime(clock, &now);
    MUST(now.tv_sec > at.tv_sec || (now.tv_sec == at.tv_sec && now.tv_nsec >= at.tv_nsec));
}

/* An invalid deadline is an error even if a unit is free.  Each clock has its own time. */
static void wait_until(sem_t *sem)
{
    const struct timespec negative = { .tv_sec = 1, .tv_nsec = -1 };
    struct timespec too_many = { .tv_nsec = 1000000000 };

    for (int units = 1; units >= 0; units--) {
        too_many.tv_sec = units;
        MUST_FAIL(sem_timedwait(sem, &negative), EINVAL);
        MUST_FAIL(sem_timedwait(sem, &too_many), EINVAL);
        MUST_FAIL(sem_clockwait(sem, CLOCK_MONOTONIC, &too_many), EINVAL);
        MUST_FAIL(sem_clockwait(sem, CLOCK_PROCESS_CPUTIME_ID, &past), EINVAL);
        MUST(value_of(sem) == units);
        if (units == 1)
            MUST(sem_clockwait(sem, CLOCK_MONOTONIC, &past) == 0);
    }
    MUST_FAIL(sem_clockwait(sem, CLOCK_REALTIME, &past), ETIMEDOUT);
    wait_on_clock(sem, CLOCK_REALTIME);
    wait_on_clock(sem, CLOCK_MONOTONIC);
}

BEHAVIOR(deadlines)
{
    sem_t sem;

    MUST(sem_init(&sem, 0, 1) == 0);
    wait_until(&sem);
    MUST(sem_post(&sem) == 0);
    wait_until(&sem);       /* the semaphore is in a cell now */
}

/* ---- A signal ends a wait ---- */

static _Atomic int ran;

static void note(int sig)
{
    (void)sig;
    atomic_store(&ran, 1);
}

BEHAVIOR(eintr)
{
    struct waiter w = { 0 }, restarted = { 0 };
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    handle(SIGUSR1, note, 0);
    handle(SIGUSR2, note, SA_RESTART);
    queue(&w, &sem);
    while (atomic_load(&w.result) == STILL_WAITING) {
        pthread_kill(w.thread, SIGUSR1);
        moment();
    }
    MUST(join(&w) == EINTR);
    queue(&restarted, &sem);
    for (int i = 0; i < 100; i++) {
        pthread_kill(restarted.thread, SIGUSR2);
        MUST(await_sleep(&restarted));
    }
    MUST(atomic_load(&restarted.result) == STILL_WAITING);
    MUST(sem_post(&sem) == 0);
    MUST(join(&restarted) == 0);
    MUST(value_of(&sem) == 0);
}

/* After its EINTR a wait is not in the queue, so sem_destroy finds no waiter; but the wait has not returned yet. */
BEHAVIOR(eintr_destroyed)
{
    handle(SIGUSR1, note, 0);
    for (int i = 0; i < 400; i++) {
        struct waiter w = { 0 };
        sem_t sem;

        MUST(sem_init(&sem, 0, 0) == 0);
        queue(&w, &sem);
        atomic_store(&ran, 0);
        MUST(pthread_kill(w.thread, SIGUSR1) == 0);
        while (!atomic_load(&ran))
            continue;
        for (volatile int spin = i % 400; spin > 0; spin--)
            continue;
        MUST(sem_destroy(&sem) == 0);
        MUST(join(&w) == EINTR);
    }
}

/* The next yield of a thread sends it this signal, if it is not 0. */
static _Thread_local int sent_by_yield __attribute__((tls_model("initial-exec")));
static atomic_bool sent;

/* Replaces libc's function, even for the interposer. */
int sched_yield(void)
{
    int sig = sent_by_yield;

    sent_by_yield = 0;
    if (sig != 0) {
        raise(sig);
        atomic_store(&sent, true);
    }
    return (int)syscall(SYS_sched_yield);
}

struct signaled {
    struct waiter waiter;
    int           sig;
    bool          timed;
};

static void *wait_signaled(void *arg)
{
    const struct timespec late = { 4000000000, 0 };
    struct signaled *s = arg;
    int result;

    atomic_store(&s->waiter.tid, gettid());
    sent_by_yield = s->sig;
    result = s->timed ? sem_timedwait(s->waiter.sem, &late) : sem_wait(s->waiter.sem);
    atomic_store(&s->waiter.result, result == 0 ? 0 : errno);
    sent_by_yield = 0;
    return NULL;
}

/*
 * Try once.  Returns the result of a third waiter, which gets the signal in its first yield; or STILL_WAITING
 * if the third waiter did not yield.
 */
static int signal_in_a_yield(int sig, bool timed)
{
    struct waiter before[2] = { { 0 }, { 0 } };
    struct signaled s = { .sig = sig, .timed = timed, .waiter = { .result = STILL_WAITING } };
    int result;
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    for (int i = 0; i < 2; i++)
        queue(&before[i], &sem);
    atomic_store(&sent, false);
    s.waiter.sem = &sem;
    start(&s.waiter.thread, wait_signaled, &s);
    await_sleep(&s.waiter);     /* also returns when the wait has ended */
    for (int i = 0; i < 3; i++)
        MUST(sem_post(&sem) == 0);
    for (int i = 0; i < 2; i++)
        MUST(join(&before[i]) == 0);
    result = join(&s.waiter);
    MUST(value_of(&sem) == (result != 0));
    MUST(result == 0 || result == EINTR);
    return atomic_load(&sent) ? result : STILL_WAITING;
}

/*
 * A waiter whose grant is near yields before it sleeps.  A handler that runs during a yield ends the wait, too.
 * As in the kernel, a handler with SA_RESTART ends only a wait with a deadline.  (Waiters yield only after some
 * wake-ups have been measured, and not for some time after a yield has taken too long.)
 */
BEHAVIOR(eintr_awake)
{
    int result;

    handle(SIGUSR1, note, 0);
    handle(SIGUSR2, note, SA_RESTART);
    /* Repeat until the waiter yields: on a busy machine that takes many tries. */
    while (signal_in_a_yield(SIGUSR1, false) != EINTR)
        continue;
    while (signal_in_a_yield(SIGUSR2, true) != EINTR)
        continue;
    while ((result = signal_in_a_yield(SIGUSR2, false)) == STILL_WAITING)
        continue;
    MUST(result == 0);
}

/* ---- A handler forks in a wait: in the child the wait ends, and the semaphore works ---- */

static sem_t forked_in;
static volatile pid_t child_of_handler = -1;

static void fork_here(int sig)
{
    (void)sig;
    child_of_handler = fork();
}

static void *signal_main(void *arg)
{
    struct waiter *head = arg, behind = { 0 };

    MUST(await_sleep(head));
    queue(&behind, &forked_in);
    MUST(pthread_kill(head->thread, SIGUSR1) == 0);
    while (atomic_load(&head->result) == STILL_WAITING)
        moment();
    MUST(sem_post(&forked_in) == 0);
    MUST(join(&behind) == 0);
    return NULL;
}

BEHAVIOR(fork_in_handler)
{
    struct waiter self = { .thread = pthread_self(), .result = STILL_WAITING };
    pthread_t other;

    MUST(sem_init(&forked_in, 0, 0) == 0);
    handle(SIGUSR1, fork_here, 0);
    start(&other, signal_main, &self);
    atomic_store(&self.tid, gettid());
    MUST_FAIL(sem_wait(&forked_in), EINTR);
    if (child_of_handler == 0) {
        contend(&forked_in);
        MUST(value_of(&forked_in) == 0);
        _exit(0);
    }
    atomic_store(&self.result, EINTR);
    MUST(pthread_join(other, NULL) == 0);
    MUST(child_status(child_of_handler) == 0);
}

/* ---- Cancellation ---- */

/* Each of these three calls is a cancellation point, even if a unit is free. */
static int wait_plainly(sem_t *sem)
{
    return sem_wait(sem);
}

static int wait_timed(sem_t *sem)
{
    return sem_timedwait(sem, &past);
}

static int wait_clocked(sem_t *sem)
{
    return sem_clockwait(sem, CLOCK_MONOTONIC, &past);
}

/* sem_post and sem_trywait are no cancellation points. */
static int post_and_try(sem_t *sem)
{
    return sem_post(sem) + sem_trywait(sem);
}

struct pending {
    sem_t *sem;
    int  (*call)(sem_t *);
};

static void *call_when_canceled(void *arg)
{
    struct pending *p = arg;

    pthread_cancel(pthread_self());
    MUST(p->call(p->sem) == 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return NULL;
}

BEHAVIOR(cancel)
{
    static int (*const each[])(sem_t *) = { wait_plainly, wait_timed, wait_clocked, post_and_try };
    struct waiter w = { 0 }, behind = { 0 };
    sem_t sem;

    MUST(sem_init(&sem, 0, 1) == 0);
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        struct pending p = { &sem, each[i] };
        pthread_t thread;
        void *result;

        start(&thread, call_when_canceled, &p);
        MUST(pthread_join(thread, &result) == 0);
        MUST(result == (p.call != post_and_try ? PTHREAD_CANCELED : NULL));
        MUST(value_of(&sem) == 1);
    }
    MUST(sem_wait(&sem) == 0);
    queue(&w, &sem);
    queue(&behind, &sem);
    MUST(pthread_cancel(w.thread) == 0);
    MUST(join(&w) == STILL_WAITING);
    MUST(sem_post(&sem) == 0);
    MUST(join(&behind) == 0);
    MUST(value_of(&sem) == 0);
}
