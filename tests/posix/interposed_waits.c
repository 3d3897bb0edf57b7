/* SPDX-License-Identifier: MIT */
/* interposed_waits.c - waits, posts, and the ways in which a wait ends. */
#define _GNU_SOURCE
#include "interposed.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A unit goes to the oldest waiter, not back to the thread that posted it.  (5 waits.) */
int fifo(void)
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
    return 0;
}

static void do_nothing(int sig)
{
    (void)sig;
}

/* (2 waits of 50 ms at least.) */
int slow_waits(void)
{
    const struct timespec length = { .tv_nsec = 50000000 };
    struct waiter w = { 0 };
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    for (int i = 0; i < 2; i++) {
        w = (struct waiter){ 0 };
        queue(&w, &sem);
        while (nanosleep(&length, NULL) != 0)
            continue;
        MUST(sem_post(&sem) == 0);
        MUST(join(&w) == 0);
    }
    return 0;
}

int eintr(void)
{
    struct sigaction action = { .sa_handler = do_nothing };
    struct waiter w = { 0 }, restarted = { 0 };
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    sigemptyset(&action.sa_mask);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_flags = SA_RESTART;
    MUST(sigaction(SIGUSR2, &action, NULL) == 0);
    queue(&w, &sem);
    while (atomic_load(&w.result) == STILL_WAITING) {
        pthread_kill(w.thread, SIGUSR1);
        sched_yield();
    }
    MUST(join(&w) == EINTR);
    queue(&restarted, &sem);
    for (int i = 0; i < 100; i++) {
        pthread_kill(restarted.thread, SIGUSR2);
        await_sleep(&restarted);
    }
    MUST(atomic_load(&restarted.result) == STILL_WAITING);
    MUST(sem_post(&sem) == 0);
    MUST(join(&restarted) == 0);
    MUST(value_of(&sem) == 0);
    return 0;
}

static void *cancel_self_and_wait(void *arg)
{
    pthread_cancel(pthread_self());
    sem_wait(arg);
    return NULL;
}

static void *cancel_self_and_post(void *arg)
{
    pthread_cancel(pthread_self());
    MUST(sem_post(arg) == 0);
    MUST(sem_trywait(arg) == 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return arg;
}

int cancel(void)
{
    struct waiter w = { 0 }, behind = { 0 };
    pthread_t thread;
    void *result;
    sem_t sem;

    MUST(sem_init(&sem, 0, 1) == 0);
    start(&thread, cancel_self_and_wait, &sem);
    MUST(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    MUST(value_of(&sem) == 1);
    start(&thread, cancel_self_and_post, &sem);
    MUST(pthread_join(thread, &result) == 0 && result == &sem);
    MUST(sem_wait(&sem) == 0);
    queue(&w, &sem);
    queue(&behind, &sem);
    MUST(pthread_cancel(w.thread) == 0);
    MUST(join(&w) == STILL_WAITING);
    MUST(sem_post(&sem) == 0);
    MUST(join(&behind) == 0);
    MUST(value_of(&sem) == 0);
    return 0;
}

static sem_t handlers_sem;
static _Atomic int handled;

static void post(int sig)
{
    (void)sig;
    MUST(sem_post(&handlers_sem) == 0);
    atomic_fetch_add(&handled, 1);
}

/* The handler interrupts waits and posts on the same semaphore. */
int handler_post(void)
{
    struct sigaction action = { .sa_handler = post };
    pthread_t thread[3];
    int taken;

    sigemptyset(&action.sa_mask);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    MUST(sem_init(&handlers_sem, 0, 1) == 0);
    for (int i = 0; i < 3; i++)
        start(&thread[i], take_and_give, &handlers_sem);
    for (taken = 0; taken < 5000; taken++) {
        struct timespec soon;

        do {
            pthread_kill(thread[taken % 3], SIGUSR1);
            clock_gettime(CLOCK_REALTIME, &soon);
            soon.tv_sec += soon.tv_nsec >= 999000000;
            soon.tv_nsec = (soon.tv_nsec + 1000000) % 1000000000;
        } while (sem_timedwait(&handlers_sem, &soon) != 0);
    }
    atomic_store(&stop, 1);
    MUST(sem_post(&handlers_sem) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    MUST(value_of(&handlers_sem) == 2 + atomic_load(&handled) - taken);
    return 0;
}

/* (1 created, besides that of the constructor.) */
int overflow(void)
{
    sem_t sem;

    MUST_FAIL(sem_init(&sem, 0, SEM_VALUE_MAX + 1u), EINVAL);
    MUST(sem_init(&sem, 0, SEM_VALUE_MAX) == 0);
    MUST_FAIL(sem_post(&sem), EOVERFLOW);
    MUST(value_of(&sem) == SEM_VALUE_MAX);
    MUST(sem_destroy(&sem) == 0);
    return 0;
}

/* ---- Three priorities, one core ---- */

static sem_t of_three;
static _Atomic int posting, held_up;

static int run_under(int priority)
{
    const struct sched_param param = { .sched_priority = priority };

    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

static long long cpu_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000000000LL + used.tv_nsec;
}

/* Each of these calls takes the mutex, and does little else. */
static void *wait_in_vain(void *arg)
{
    const struct timespec past = { 1, 0 };

    while (!atomic_load(&stop))
        sem_timedwait(&of_three, &past);
    return arg;
}

/* It runs for 20 ms at a time, and only the thread of the highest priority can preempt it. */
static void *be_in_the_way(void *arg)
{
    const struct timespec rest = { .tv_nsec = 3000000 };

    MUST(run_under(10) == 0);
    while (!atomic_load(&stop)) {
        long long end;
        int before;

        nanosleep(&rest, NULL);
        end = cpu_ns() + 20000000;
        before = atomic_load(&posting);
        while (cpu_ns() < end && !atomic_load(&stop))
            continue;
        if (before % 2 == 0 && atomic_load(&posting) % 2 != 0)
            atomic_fetch_add(&held_up, 1);
    }
    return arg;
}

static void *post_first(void *arg)
{
    MUST(run_under(20) == 0);
    for (int i = 0; i < 250; i++) {
        const struct timespec pause = { .tv_nsec = 4000000 + i % 7 * 300000 };

        nanosleep(&pause, NULL);
        atomic_fetch_add(&posting, 1);
        MUST(sem_post(&of_three) == 0);
        atomic_fetch_add(&posting, 1);
    }
    atomic_store(&stop, 1);
    return arg;
}

/*
 * A thread of the lowest priority may be preempted in the semaphore's section by one in the middle.
 * A post of the highest priority must not have to wait for that one's 20 ms.
 */
int inversion(void)
{
    void *(*const part[])(void *) = { wait_in_vain, be_in_the_way, post_first };
    enum { PARTS = sizeof part / sizeof part[0] };
    pthread_t thread[PARTS];
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (run_under(1) != 0 || sched_setaffinity(0, sizeof one, &one) != 0)
        return 77;
    MUST(sem_init(&of_three, 0, 0) == 0);
    MUST(pthread_setschedparam(pthread_self(), SCHED_OTHER, &(struct sched_param){ 0 }) == 0);
    for (int i = 0; i < PARTS; i++)
        start(&thread[i], part[i], NULL);
    pthread_join(thread[PARTS - 1], NULL);
    printf("held up: %d times\n", atomic_load(&held_up));
    MUST(atomic_load(&held_up) == 0);
    return 0;
}

struct two {
    struct waiter *first, second;
};

static void *post_to_both(void *arg)
{
    struct two *w = arg;

    await_sleep(&w->second);
    MUST(sem_post(&of_three) == 0);
    MUST(join(w->first) == 0);
    MUST(sem_post(&of_three) == 0);
    return arg;
}

/* In the child the thread that forks has no real-time priority any more, and waits like others. */
static void wait_as_others_do(void)
{
    struct waiter first = { 0 };
    struct two w = { .first = &first, .second = { .tid = gettid() } };
    pthread_t poster;

    alarm(TIMEOUT_S);
    MUST(sched_getscheduler(0) == SCHED_OTHER);
    queue(&first, &of_three);
    start(&poster, post_to_both, &w);
    MUST(sem_wait(&of_three) == 0);
    MUST(atomic_load(&first.result) == 0);
    MUST(pthread_join(poster, NULL) == 0);
    _exit(0);
}

int forked_priority(void)
{
    const struct sched_param param = { .sched_priority = 1 };
    const struct timespec past = { 1, 0 };
    pid_t child;

    MUST(sem_init(&of_three, 0, 0) == 0);
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) != 0)
        return 77;
    MUST_FAIL(sem_timedwait(&of_three, &past), ETIMEDOUT);  /* it asks for its priority */
    child = fork();
    if (child == 0)
        wait_as_others_do();
    MUST(child_status(child) == 0);
    return 0;
}
