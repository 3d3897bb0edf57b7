/* SPDX-License-Identifier: MIT */
/* interposed_waiters.c - threads that wait, and a way to see that they sleep. */
#define _GNU_SOURCE
#include "interposed.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void die_silently(void)
{
    const struct rlimit none = { 0, 0 };
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    MUST(null >= 0 && dup2(null, STDERR_FILENO) == STDERR_FILENO);
    MUST(setrlimit(RLIMIT_CORE, &none) == 0);
}

static void *wait_once(void *arg)
{
    struct waiter *w = arg;
    int result;

    atomic_store(&w->tid, (int)syscall(SYS_gettid));
    errno = 0;
    result = sem_wait(w->sem);
    if (result == 0 && w->service != NULL)
        w->place = atomic_fetch_add(w->service, 1);
    atomic_store(&w->result, errno);        /* success leaves it alone */
    return NULL;
}

static char state_of(int tid)
{
    char path[64], text[512], *state;
    ssize_t length;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return '?';
    length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    state = strrchr(text, ')');     /* the name before it may contain anything */
    return state != NULL && state[1] == ' ' ? state[2] : '?';
}

/* It sleeps in no other call.  Several samples, in case the kernel itself put it to sleep. */
bool await_sleep(struct waiter *w)
{
    int seen = 0;

    while (atomic_load(&w->tid) == 0)
        moment();
    while (seen < 5 && atomic_load(&w->result) == STILL_WAITING) {
        seen = state_of(atomic_load(&w->tid)) == 'S' ? seen + 1 : 0;
        moment();
    }
    return seen == 5;
}

void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    int error = pthread_create(thread, NULL, run, arg);

    errno = error;
    MUST(error == 0);
}

void queue(struct waiter *w, sem_t *sem)
{
    w->sem = sem;
    atomic_store(&w->result, STILL_WAITING);
    start(&w->thread, wait_once, w);
    MUST(await_sleep(w));
}

/* Returns its result, or STILL_WAITING if it was canceled. */
int join(struct waiter *w)
{
    MUST(pthread_join(w->thread, NULL) == 0);
    return atomic_load(&w->result);
}

int value_of(sem_t *sem)
{
    int value = -1;

    MUST(sem_getvalue(sem, &value) == 0);
    return value;
}

int child_status(pid_t child)
{
    int status;

    MUST(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

_Atomic int stop;

void *take_and_give(void *arg)
{
    while (!atomic_load(&stop)) {
        if (sem_wait(arg) == 0)
            sem_post(arg);
    }
    return NULL;
}
