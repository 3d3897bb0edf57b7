/* SPDX-License-Identifier: MIT */
/* interposed_waits.c - waits, posts, and the ways in which a wait ends. */
#define _GNU_SOURCE
#include "hang.h"
#include "interposed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
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
    return 0;
}

/* The next yield of a thread sends it this signal; 0: none. */
static _Thread_local int sent_by_yield __attribute__((tls_model("initial-exec")));
static atomic_bool sent;

/* Instead of libc's, also for the interposer. */
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

    atomic_store(&s->waiter.tid, (int)syscall(SYS_gettid));
    sent_by_yield = s->sig;
    result = (s->timed ? sem_timedwait(s->waiter.sem, &late) : sem_wait(s->waiter.sem)) == 0 ? 0
                                                                                          : errno;
    sent_by_yield = 0;
    atomic_store(&s->waiter.result, result);
    return NULL;
}

/*
 * One try: the result of a third waiter that gets the signal in its first yield, if it yields; or
 * STILL_WAITING: it did not, or was granted.
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
    await_sleep(&s.waiter);     /* unless its wait ends by itself */
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
 * A waiter whose turn is near yields before it sleeps.  A handler that runs then ends the wait all
 * the same; as in the kernel, one with SA_RESTART only if the wait has a deadline.  (It yields once
 * some wake-ups have been measured, and unless a yield was late.)
 */
int eintr_awake(void)
{
    struct sigaction action = { .sa_handler = do_nothing };
    int result;

    sigemptyset(&action.sa_mask);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_flags = SA_RESTART;
    MUST(sigaction(SIGUSR2, &action, NULL) == 0);
    /* Until it yields: on a busy machine that takes many tries. */
    while (signal_in_a_yield(SIGUSR1, false) != EINTR)
        continue;
    while (signal_in_a_yield(SIGUSR2, true) != EINTR)
        continue;
    while ((result = signal_in_a_yield(SIGUSR2, false)) == STILL_WAITING)
        continue;
    MUST(result == 0);
    return 0;
}

/* A handler forks in a wait: in the child the wait ends, and the semaphore works. */
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

static int use_in_child(void)
{
    struct waiter w = { 0 };

    queue(&w, &forked_in);
    MUST(sem_post(&forked_in) == 0);
    MUST(join(&w) == 0);
    MUST(value_of(&forked_in) == 0);
    return 0;
}

int fork_in_handler(void)
{
    struct sigaction action = { .sa_handler = fork_here };
    struct waiter self = { .thread = pthread_self(), .result = STILL_WAITING };
    pthread_t other;

    MUST(sem_init(&forked_in, 0, 0) == 0);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    start(&other, signal_main, &self);
    atomic_store(&self.tid, gettid());
    MUST(sem_wait(&forked_in) == -1 && errno == EINTR);
    if (child_of_handler == 0)
        _exit(use_in_child());
    atomic_store(&self.result, EINTR);
    MUST(pthread_join(other, NULL) == 0);
    MUST(child_status(child_of_handler) == 0);
    return 0;
}

static const struct timespec past = { 1, 0 };

static void *cancel_self_and_wait(void *arg)
{
    pthread_cancel(pthread_self());
    sem_wait(arg);
    return NULL;
}

static void *cancel_self_and_timedwait(void *arg)
{
    pthread_cancel(pthread_self());
    sem_timedwait(arg, &past);
    return NULL;
}

static void *cancel_self_and_clockwait(void *arg)
{
    pthread_cancel(pthread_self());
    sem_clockwait(arg, CLOCK_MONOTONIC, &past);
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
    void *(*const wait[])(void *) = { cancel_self_and_wait, cancel_self_and_timedwait,
                                      cancel_self_and_clockwait };
    struct waiter w = { 0 }, behind = { 0 };
    pthread_t thread;
    void *result;
    sem_t sem;

    MUST(sem_init(&sem, 0, 1) == 0);
    for (size_t i = 0; i < sizeof wait / sizeof wait[0]; i++) {
        start(&thread, wait[i], &sem);
        MUST(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
        MUST(value_of(&sem) == 1);
    }
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

/* An invalid deadline is an error before anything else, and each clock has its own time. */
static void wait_until(sem_t *sem)
{
    const struct timespec negative = { .tv_sec = 1, .tv_nsec = -1 };
    struct timespec too_many = { .tv_nsec = 1000000000 }, soon, now;

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
    clock_gettime(CLOCK_MONOTONIC, &soon);
    soon.tv_sec += soon.tv_nsec >= 980000000;
    soon.tv_nsec = (soon.tv_nsec + 20000000) % 1000000000;
    MUST_FAIL(sem_clockwait(sem, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    clock_gettime(CLOCK_MONOTONIC, &now);
    MUST(now.tv_sec > soon.tv_sec || (now.tv_sec == soon.tv_sec && now.tv_nsec >= soon.tv_nsec));
}

int deadlines(void)
{
    sem_t sem;

    MUST(sem_init(&sem, 0, 1) == 0);
    wait_until(&sem);
    MUST(sem_post(&sem) == 0);
    wait_until(&sem);       /* now it is more than a number */
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
        return skip_program("no right to real-time priorities");
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

    MUST(await_sleep(&w->second));
    MUST(sem_post(&of_three) == 0);
    MUST(join(w->first) == 0);
    MUST(sem_post(&of_three) == 0);
    return arg;
}

/* In the child the thread that forks has no real-time priority any more, and waits like others. */
static void wait_as_others_do(void)
{
    struct waiter first = { 0 };
    struct two w = { .first = &first,
                     .second = { .tid = gettid(), .result = STILL_WAITING } };
    pthread_t poster;

    hang_alarm();
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
    pid_t child;

    MUST(sem_init(&of_three, 0, 0) == 0);
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) != 0)
        return skip_program("no right to real-time priorities");
    MUST_FAIL(sem_timedwait(&of_three, &past), ETIMEDOUT);  /* it asks for its priority */
    child = fork();
    if (child == 0)
        wait_as_others_do();
    MUST(child_status(child) == 0);
    return 0;
}

/* ---- A wait is interrupted, and the semaphore is destroyed ---- */

static _Atomic int ran;

static void note(int sig)
{
    (void)sig;
    atomic_store(&ran, 1);
}

/* The wait has left the queue, so sem_destroy finds nobody; but it has not returned yet. */
int eintr_destroyed(void)
{
    struct sigaction action = { .sa_handler = note };

    sigemptyset(&action.sa_mask);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
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
    return 0;
}

/* ---- A thread changes its priority, or another process does ---- */

struct ranked {
    struct waiter w;
    int         (*change)(const struct sched_param *param);    /* NULL: it stays as it is */
};

static int by_setscheduler(const struct sched_param *param)
{
    return sched_setscheduler(0, SCHED_FIFO, param);
}

static int by_setparam(const struct sched_param *param)
{
    return sched_setparam(0, param);
}

static int by_setschedparam(const struct sched_param *param)
{
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, param);
}

static int by_setschedprio(const struct sched_param *param)
{
    return pthread_setschedprio(pthread_self(), param->sched_priority);
}

/* As chrt(1) does it to another process: it takes some waits until a thread notices. */
static int unnoticed(const struct sched_param *param)
{
    int result = (int)syscall(SYS_sched_setparam, 0, param);

    for (int i = 0; i < 1000; i++)
        MUST_FAIL(sem_timedwait(&of_three, &past), ETIMEDOUT);
    return result;
}

static void change_and_wait(struct ranked *r)
{
    const struct sched_param param = { .sched_priority = 3 };

    MUST_FAIL(sem_timedwait(&of_three, &past), ETIMEDOUT);  /* it asks for its priority */
    if (r->change != NULL)
        MUST(r->change(&param) == 0);
    atomic_store(&r->w.tid, gettid());
    MUST(sem_wait(&of_three) == 0);
    r->w.place = atomic_fetch_add(r->w.service, 1);
    atomic_store(&r->w.result, 0);
}

/* From 1 to 3, or always 2. */
static void *wait_ranked(void *arg)
{
    struct ranked *r = arg;

    MUST(run_under(2 - (r->change != NULL)) == 0);
    change_and_wait(r);
    return arg;
}

/* A thread that changes comes before one that has waited for longer. */
static void meet(void *(*wait)(void *), int (*change)(const struct sched_param *))
{
    _Atomic int service = 0;
    struct ranked first = { .w = { .service = &service, .result = STILL_WAITING } };
    struct ranked changed = first;

    changed.change = change;
    start(&first.w.thread, wait, &first);
    MUST(await_sleep(&first.w));
    start(&changed.w.thread, wait, &changed);
    MUST(await_sleep(&changed.w));
    MUST(sem_post(&of_three) == 0);
    while (atomic_load(&service) == 0)
        moment();
    MUST(sem_post(&of_three) == 0);
    MUST(join(&first.w) == 0 && join(&changed.w) == 0);
    MUST(changed.w.place == 0);
}

int priorities(void)
{
    int (*const change[])(const struct sched_param *) = {
        by_setscheduler, by_setparam, by_setschedparam, by_setschedprio, unnoticed,
    };
    const struct sched_param none = { .sched_priority = 1000 };

    MUST(sem_init(&of_three, 0, 0) == 0);
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++)
        MUST(change[i](&none) != 0);
    if (run_under(1) != 0)
        return skip_program("no right to real-time priorities");
    MUST(pthread_setschedparam(pthread_self(), SCHED_OTHER, &(struct sched_param){ 0 }) == 0);
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++)
        meet(wait_ranked, change[i]);
    return 0;
}

/* ---- Another process gives a priority to a thread that has no right to one, as rtkit does ---- */

enum { ASKS = 3, TOLD = 4 };        /* descriptors of the child */

static int by_the_other_process(const struct sched_param *param)
{
    int tid = gettid(), answer;

    (void)param;
    MUST(write(ASKS, &tid, sizeof tid) == sizeof tid);
    MUST(read(TOLD, &answer, sizeof answer) == sizeof answer && answer == 0);
    for (int i = 0; i < 1000; i++)
        MUST_FAIL(sem_timedwait(&of_three, &past), ETIMEDOUT);
    return 0;
}

static void *wait_unranked(void *arg)
{
    change_and_wait(arg);
    return arg;
}

int without_right(void)
{
    const struct sched_param param = { .sched_priority = 1 };

    /* The bare system call, because whoever calls the function is asked from then on. */
    MUST(syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &param) != 0);
    MUST(sem_init(&of_three, 0, 0) == 0);
    meet(wait_unranked, by_the_other_process);
    return 0;
}

int made_real_time(void)
{
    const struct sched_param param = { .sched_priority = 3 };
    int asks[2], told[2], tid, answer;
    pid_t child;

    if (run_under(1) != 0)
        return skip_program("no right to real-time priorities");
    MUST(pthread_setschedparam(pthread_self(), SCHED_OTHER, &(struct sched_param){ 0 }) == 0);
    MUST(pipe(asks) == 0 && pipe(told) == 0);
    child = fork();
    if (child == 0) {
        int asks_at = fcntl(asks[1], F_DUPFD, 10), told_at = fcntl(told[0], F_DUPFD, 10);

        MUST(dup2(asks_at, ASKS) == ASKS && dup2(told_at, TOLD) == TOLD);
        run_without_right("without-right");
        _exit(1);
    }
    MUST(read(asks[0], &tid, sizeof tid) == sizeof tid);
    answer = sched_setscheduler(tid, SCHED_FIFO, &param);
    MUST(write(told[1], &answer, sizeof answer) == sizeof answer);
    MUST(child_status(child) == 0);
    return 0;
}
