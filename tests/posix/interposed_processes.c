/* SPDX-License-Identifier: MIT */
/* interposed_processes.c - a program forks, runs other programs, and ends in every possible way. */
#define _GNU_SOURCE
#include "interposed.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Threads of the parent wait, and one is busy; the child has threads of its own. */
int fork_child(void)
{
    struct waiter w = { 0 };
    sem_t waited_for, busy;
    pthread_t thread[2];

    MUST(sem_init(&waited_for, 0, 0) == 0);
    MUST(sem_init(&busy, 0, 1) == 0);
    queue(&w, &waited_for);
    for (int i = 0; i < 2; i++)
        start(&thread[i], take_and_give, &busy);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();

        if (child == 0) {
            struct waiter own = { 0 };
            sem_t new_one;

            alarm(TIMEOUT_S);
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
            MUST(sem_destroy(&new_one) == 0);
            _exit(0);
        }
        MUST(child_status(child) == 0);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    MUST(atomic_load(&w.result) == STILL_WAITING);
    MUST(sem_post(&waited_for) == 0);
    MUST(join(&w) == 0);
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

/* One thread has waited, so that there is something to report. */
static void wait_for_once(sem_t *sem)
{
    struct waiter w = { 0 };

    queue(&w, sem);
    MUST(sem_post(sem) == 0);
    MUST(join(&w) == 0);
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

/* The command must end by the signal, not by an exit status that looks like one. */
int ends_by(const char *signal_number, char **command)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        execv(command[0], command);
        _exit(127);
    }
    status = child_status(child);
    MUST(WIFSIGNALED(status));
    MUST(WTERMSIG(status) == atoi(signal_number));
    return 0;
}

/* The program has its own limit for files, whatever fairsem-run itself needs. */
int has_file_limit(void)
{
    struct rlimit limit;

    MUST(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    MUST(limit.rlim_cur <= 1024);
    return 0;
}
