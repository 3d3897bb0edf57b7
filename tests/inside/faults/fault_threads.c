/* SPDX-License-Identifier: MIT */
/*
 * fault_threads.c - preloaded into a program (LD_PRELOAD), makes FAULT_THREADS_COUNT of the program's calls of
 * pthread_create fail with EAGAIN, from call number FAULT_THREADS_FROM on.  Each failure creates the file
 * FAULT_THREADS_MARK, which tells the test.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic long calls;

static long setting(const char *name)
{
    const char *value = getenv(name);

    return value != NULL ? strtol(value, NULL, 10) : 0;
}

static int fail(void)
{
    const char *mark = getenv("FAULT_THREADS_MARK");
    int fd = mark != NULL ? open(mark, O_WRONLY | O_CREAT, 0600) : -1;

    if (fd >= 0)
        close(fd);
    return EAGAIN;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    long call = atomic_fetch_add(&calls, 1) + 1, from = setting("FAULT_THREADS_FROM");

    if (from > 0 && call >= from && call < from + setting("FAULT_THREADS_COUNT"))
        return fail();
    memcpy(&create, &symbol, sizeof create);    /* ISO C has no cast to a function pointer */
    return create(thread, attr, run, arg);
}
