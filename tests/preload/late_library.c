/* SPDX-License-Identifier: MIT */
/*
 * late_library.c - a library in front of the interposer that initializes itself in the first call of any of its
 * functions.  Its initialization uses semaphores and a thread.  The interposer's own start calls such a
 * function, so the library uses semaphores in the middle of that start.  And its clocks are a day ahead.
 * libfaketime is such a library.  test_interpose.py compiles and preloads this file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MUST(condition)                                                                     \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            static const char text[] = "late_library.c: " #condition " does not hold\n";    \
            (void)!write(STDERR_FILENO, text, sizeof text - 1);                             \
            _exit(1);                                                                       \
        }                                                                                   \
    } while (0)

static sem_t ready, own;

static void *other(void *arg)
{
    sem_t inner;
    int value;

    MUST(sem_init(&inner, 0, 1) == 0 && sem_wait(&inner) == 0 && sem_destroy(&inner) == 0);
    MUST(sem_getvalue(&own, &value) == 0 && value == 0);
    MUST(sem_post(&ready) == 0);
    return arg;
}

static void begin(void)
{
    const struct timespec past = { .tv_sec = 1 };
    pthread_t thread;

    MUST(sem_init(&ready, 0, 0) == 0 && sem_init(&own, 0, 1) == 0);
    MUST(sem_wait(&own) == 0);
    MUST(pthread_create(&thread, NULL, other, NULL) == 0);
    MUST(sem_wait(&ready) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    MUST(sem_trywait(&own) == -1 && errno == EAGAIN);
    MUST(sem_timedwait(&own, &past) == -1 && errno == ETIMEDOUT);
    MUST(sem_clockwait(&own, CLOCK_MONOTONIC, &past) == -1 && errno == ETIMEDOUT);
    MUST(sem_post(&own) == 0);
    MUST(sem_open("/there-is-no-such-semaphore", 0) == SEM_FAILED && errno == ENOENT);
}

/* Called by each function: initializes the library in the first call, and takes the library's lock. */
static void enter(void)
{
    static bool begun;
    int before = errno;

    if (!begun) {
        begun = true;
        begin();
    }
    if (sem_wait(&own) == 0)
        MUST(sem_post(&own) == 0);
    errno = before;
}

static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    memcpy(function, &found, sizeof found);
}

char *getenv(const char *name)
{
    char *(*next)(const char *);

    find(&next, "getenv");
    enter();
    return next(name);
}

long sysconf(int name)
{
    long (*next)(int);

    find(&next, "sysconf");
    enter();
    return next(name);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *(*next)(void *, size_t, int, int, int, off_t);

    find(&next, "mmap");
    enter();
    return next(at, size, protection, flags, fd, offset);
}

/* The interposer must not call this: in a forked child, a thread of the parent may have the library's lock. */
ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    (void)to;
    (void)size;
    (void)flags;
    MUST(!"the interposer calls getrandom()");
    return -1;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);

    enter();
    now->tv_sec += 24 * 60 * 60;
    return result;
}
