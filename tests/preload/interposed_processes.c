/* SPDX-License-Identifier: MIT */
/* interposed_processes.c - a program forks, runs other programs, and ends in every possible way. */
#define _GNU_SOURCE
#include "hang.h"
#include "interposed.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One thread has waited: then the semaphore is more than a number. */
static void wait_for_once(sem_t *sem)
{
    struct waiter w = { 0 };

    queue(&w, sem);
    MUST(sem_post(sem) == 0);
    MUST(join(&w) == 0);
}

static const struct timespec past = { 1, 0 };

static void *make_and_destroy(void *arg)
{
    sem_t sem;

    while (!atomic_load(&stop)) {
        MUST(sem_init(&sem, 0, 0) == 0);
        MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
        MUST(sem_destroy(&sem) == 0);
    }
    return arg;
}

/* Threads of the parent wait, and some are busy; the child has threads of its own. */
int fork_child(void)
{
    struct waiter w = { 0 };
    sem_t waited_for, busy, fresh;
    pthread_t thread[3];

    MUST(sem_init(&waited_for, 0, 0) == 0);
    MUST(sem_init(&busy, 0, 1) == 0);
    queue(&w, &waited_for);
    for (int i = 0; i < 2; i++)
        start(&thread[i], take_and_give, &busy);
    start(&thread[2], make_and_destroy, NULL);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();

        if (child == 0) {
            struct waiter own = { 0 };
            sem_t new_one;

            hang_alarm();
            MUST(value_of(&waited_for) == 0);
            queue(&own, &waited_for);
            MUST(sem_post(&waited_for) == 0);
            MUST(join(&own) == 0);
            if (value_of(&busy) == 0)
                MUST(sem_post(&busy) == 0);
            MUST(sem_wait(&busy) == 0);
            MUST_FAIL(sem_trywait(&busy), EAGAIN);
            MUST(sem_init(&new_one, 0, 1) == 0);
            MUST(sem_wait(&new_one) == 0);
            MUST_FAIL(sem_timedwait(&new_one, &past), ETIMEDOUT);
            MUST(sem_destroy(&new_one) == 0);
            _exit(0);
        }
        MUST(child_status(child) == 0);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    MUST(atomic_load(&w.result) == STILL_WAITING);
    MUST(sem_post(&waited_for) == 0);
    MUST(join(&w) == 0);
    MUST(sem_init(&fresh, 0, 0) == 0);
    wait_for_once(&fresh);
    return 0;
}

/*
 * A child of _Fork() has run no handlers of pthread_atfork(), and may call async-signal-safe
 * functions only: sem_post is one of them, and libc's others do no harm.  Threads of the parent are
 * in the middle of everything.
 */
extern pid_t _Fork(void) __attribute__((weak));

int raw_fork(void)
{
    pthread_t thread[4];
    sem_t busy;

    if (_Fork == NULL)
        return program_not_here("there is no _Fork() in this C library");
    MUST(sem_init(&busy, 0, 1) == 0);
    for (int i = 0; i < 3; i++)
        start(&thread[i], take_and_give, &busy);
    start(&thread[3], make_and_destroy, NULL);
    for (int i = 0; i < 400; i++) {
        pid_t child = _Fork();

        if (child == 0) {
            int value;
            sem_t own;

            hang_alarm();
            value = value_of(&busy);
            MUST(value == 0 || value == 1);
            MUST(sem_post(&busy) == 0 && value_of(&busy) == value + 1);
            for (; value >= 0; value--)
                MUST(sem_wait(&busy) == 0);
            MUST_FAIL(sem_trywait(&busy), EAGAIN);
            MUST_FAIL(sem_timedwait(&busy, &past), ETIMEDOUT);
            MUST(sem_init(&own, 0, 0) == 0);
            MUST_FAIL(sem_timedwait(&own, &past), ETIMEDOUT);
            MUST(sem_destroy(&own) == 0);
            _exit(0);
        }
        MUST(child_status(child) == 0);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

/* ---- A signal comes right after the fork ---- */

static sem_t posted_there;
static pid_t parent;
static volatile sig_atomic_t has_posted;

static void post_in_child(int sig)
{
    (void)sig;
    if (getpid() != parent) {
        MUST(sem_post(&posted_there) == 0);
        has_posted = 1;
    }
}

static void *try_in_vain(void *arg)
{
    while (!atomic_load(&stop))
        MUST_FAIL(sem_timedwait(arg, &past), ETIMEDOUT);
    return arg;
}

/* To the whole process group, because a child does not inherit the signals that are pending. */
static void send_for_ever(void)
{
    const struct timespec moment = { 0, 20000 };

    signal(SIGUSR1, SIG_IGN);
    MUST(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    for (;;) {
        nanosleep(&moment, NULL);
        kill(-parent, SIGUSR1);
    }
}

/*
 * Another thread of the parent is often in a section of the same semaphore, and the handler may run
 * in the child before anything else does.
 */
int signal_in_child(void)
{
    pid_t (*const make[])(void) = { fork, _Fork };
    struct sigaction action = { .sa_handler = post_in_child, .sa_flags = SA_RESTART };
    sigset_t all, before;
    pthread_t thread;
    pid_t sender;

    MUST(setpgid(0, 0) == 0);
    parent = getpid();
    MUST(sem_init(&posted_there, 0, 0) == 0);
    sigemptyset(&action.sa_mask);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    sigfillset(&all);
    MUST(pthread_sigmask(SIG_BLOCK, &all, &before) == 0);
    start(&thread, try_in_vain, &posted_there);
    MUST(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    sender = fork();
    if (sender == 0)
        send_for_ever();
    for (int i = 0; i < 600; i++) {
        pid_t child = make[i % 2] != NULL ? make[i % 2]() : fork();
        int status;

        if (child == 0) {
            while (!has_posted)
                continue;
            _exit(0);
        }
        while (waitpid(child, &status, 0) != child)
            MUST(errno == EINTR);
        MUST(status == 0);
    }
    MUST(kill(sender, SIGKILL) == 0);
    atomic_store(&stop, 1);
    MUST(pthread_join(thread, NULL) == 0);
    return 0;
}

static void live(int generations, sem_t *of_the_first)
{
    pid_t child;
    sem_t own;

    MUST(sem_init(&own, 0, 0) == 0);
    wait_for_once(&own);
    wait_for_once(of_the_first);
    if (generations == 0)
        return;
    child = fork();
    if (child == 0) {
        live(generations - 1, of_the_first);
        wait_for_once(&own);
        _exit(0);
    }
    MUST(child_status(child) == 0);
}

/* A child of a child of a child, and so on, uses what its ancestors have made. */
int generations(void)
{
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    live(20, &sem);
    return 0;
}

/* The child shares the parent's memory until it runs a program, which is interposed, too. */
int vfork_exec(void)
{
    struct waiter w = { 0 };
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    queue(&w, &sem);
    for (int i = 0; i < 3; i++) {
        pid_t child = vfork();

        if (child == 0) {
            execl("/proc/self/exe", "interposed", "overflow", (char *)NULL);
            _exit(1);
        }
        MUST(child_status(child) == 0);
    }
    MUST(sem_post(&sem) == 0);
    MUST(join(&w) == 0);
    return 0;
}

static void *end_program(void *arg)
{
    (void)arg;
    exit(23);
}

/* (1 wait ended, others do not.) */
int exit_in_thread(void)
{
    static sem_t sem;
    static struct waiter w[2];
    pthread_t thread;

    MUST(sem_init(&sem, 0, 0) == 0);
    wait_for_once(&sem);
    queue(&w[0], &sem);
    queue(&w[1], &sem);
    start(&thread, end_program, NULL);
    sem_wait(&sem);
    return 1;
}

/* (1 wait ended.) */
int die(const char *how)
{
    static struct waiter w;
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    wait_for_once(&sem);
    queue(&w, &sem);
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    else
        raise(SIGSEGV);
    sem_wait(&sem);
    return 1;
}

int leave(const char *status)
{
    return atoi(status);
}

int sleep_until_killed(void)
{
    printf("ready\n");
    fflush(stdout);
    while (pause() == -1)
        continue;
    return 1;
}

/* The program has its own limit for files, whatever fairsem-run itself needs. */
int has_file_limit(void)
{
    struct rlimit limit;

    MUST(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    MUST(limit.rlim_cur <= 1024);
    return 0;
}
