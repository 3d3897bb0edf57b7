/* SPDX-License-Identifier: MIT */
/*
 * interposed_origins.c - semaphores that are zeroed memory, shared with other processes, opened by
 * name, or made by a constructor or a module.
 */
#include "interposed.h"

#include <dlfcn.h>
#include <limits.h>

/* In libc, sem_init(&sem, 0, 0) makes a semaphore that is all zero.  (8 calls of libc's.) */
BEHAVIOR(static_zero)
{
    static sem_t sem;

    MUST(value_of(&sem) == 0);
    MUST_FAIL(sem_trywait(&sem), EAGAIN);
    MUST(sem_post(&sem) == 0);
    MUST(sem_wait(&sem) == 0);
    contend(&sem);
    MUST(value_of(&sem) == 0);
    MUST(sem_destroy(&sem) == 0);
}

/* Memory for three semaphores. */
static sem_t *map(void *where, int flags)
{
    sem_t *sem = mmap(where, 3 * sizeof *sem, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

    MUST(sem != MAP_FAILED);
    return sem;
}

/* (1 process-shared; 11 calls of libc's in this process, 2 in the child.) */
BEHAVIOR(pshared)
{
    sem_t *sem = map(NULL, MAP_SHARED);
    pid_t child;

    MUST_FAIL(sem_init(sem, 1, SEM_VALUE_MAX + 1u), EINVAL);
    MUST(sem_init(sem, 1, 1) == 0);
    MUST(sem_wait(sem) == 0);
    child = fork();
    if (child == 0) {
        MUST(sem_post(sem) == 0);
        MUST(sem_post(sem) == 0);
        _exit(0);
    }
    MUST(sem_wait(sem) == 0);
    MUST(sem_wait(sem) == 0);
    MUST(child_status(child) == 0);
    MUST_FAIL(sem_trywait(sem), EAGAIN);
    MUST_FAIL(sem_timedwait(sem, &past), ETIMEDOUT);
    MUST_FAIL(sem_clockwait(sem, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    MUST(sem_post(sem) == 0);
    MUST(value_of(sem) == 1);
    MUST(sem_timedwait(sem, &past) == 0);
    MUST(sem_post(sem) == 0);
    MUST(sem_destroy(sem) == 0);
}

/* Returns the word of a semaphore that a thread has waited for: it refers to a cell. */
static uint64_t word_in_cell(sem_t *sem)
{
    uint64_t word;

    MUST(sem_init(sem, 0, 0) == 0);
    MUST_FAIL(sem_timedwait(sem, &past), ETIMEDOUT);
    memcpy(&word, sem, sizeof word);
    return word;
}

/* After a fork, the tags of parent and child differ, so neither takes the other's cell for its own. */
BEHAVIOR(relatives)
{
    sem_t *sem = map(NULL, MAP_SHARED), own;
    uint64_t word;
    pid_t child = fork();

    if (child == 0) {
        (void)word_in_cell(sem);
        _exit(0);
    }
    MUST(child_status(child) == 0);
    memcpy(&word, sem, sizeof word);
    MUST((uint32_t)word != (uint32_t)word_in_cell(&own));
    MUST_FAIL(sem_post(sem), EINVAL);
    MUST_FAIL(sem_wait(sem), EINVAL);
}

static void is_dangling(uint64_t word)
{
    union {
        sem_t    sem;
        uint64_t words[4];
    } bad = { .words = { word, 1, 0x10, 0x20 } };
    int value;

    MUST_FAIL(sem_wait(&bad.sem), EINVAL);
    MUST_FAIL(sem_trywait(&bad.sem), EINVAL);
    MUST_FAIL(sem_post(&bad.sem), EINVAL);
    MUST_FAIL(sem_getvalue(&bad.sem, &value), EINVAL);
    MUST_FAIL(sem_destroy(&bad.sem), EINVAL);
    MUST(sem_init(&bad.sem, 0, 2) == 0 && value_of(&bad.sem) == 2);
}

/*
 * A dangling reference is an error: to a cell that does not exist, to a cell that has not been used yet, and to
 * a cell that another semaphore uses.
 */
BEHAVIOR(nonsense)
{
    sem_t sem;

    is_dangling(UINT64_C(0xdffffff0) << 32);
    MUST(sem_init(&sem, 0, 0) == 0);
    MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
    is_dangling(UINT64_C(0xd0000001) << 32);
    is_dangling(UINT64_C(0xd0000000) << 32 | 1);
}

static char name[64];

static sem_t *open_new(unsigned value)
{
    sem_t *sem;

    if (access("/dev/shm", W_OK | X_OK) != 0)
        exit(skip_program("no semaphores with names here"));
    snprintf(name, sizeof name, "/fairsem-interposed-%ld", (long)getpid());
    sem = sem_open(name, O_CREAT | O_EXCL, 0600, value);
    MUST(sem != SEM_FAILED);
    return sem;
}

/* (3 opened by name, 4 calls of libc's.) */
BEHAVIOR(named)
{
    sem_t *sem = open_new(2), *again;

    again = sem_open(name, 0);
    MUST(again == sem);
    MUST(value_of(sem) == 2);
    MUST(sem_wait(sem) == 0);
    MUST(sem_wait(again) == 0);
    MUST_FAIL(sem_trywait(sem), EAGAIN);
    MUST(sem_close(again) == 0);
    MUST(sem_close(sem) == 0);
    MUST(sem_unlink(name) == 0);
    errno = 0;
    MUST(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
}

/* ---- All kinds at once ---- */

enum { KINDS = 3, MIXERS = 3, MIXES = 3000 };

/* A private, a process-shared and a named semaphore.  Each has one unit, which protects a counter. */
static struct {
    sem_t *sem;
    long  *count;
} mixed[KINDS];

/* The waits sleep in all three kinds. */
static void *mix(void *arg)
{
    static _Atomic int mixers;
    const int first = atomic_fetch_add(&mixers, 1);

    for (int i = 0; i < MIXES; i++) {
        int kind = (first + i) % KINDS;

        MUST(sem_wait(mixed[kind].sem) == 0);
        ++*mixed[kind].count;
        if (i % 16 == 0)
            moment();
        MUST(sem_post(mixed[kind].sem) == 0);
    }
    return arg;
}

/* In two processes: the private semaphore of each is its own, and so is its counter. */
BEHAVIOR(mixed_kinds)
{
    static struct {
        sem_t sem;
        long  count;
    } own, *shared;
    pthread_t thread[MIXERS];
    long *named_count;
    pid_t child;

    mixed[2].sem = open_new(1);
    MUST(sem_unlink(name) == 0);
    shared = mmap(NULL, sizeof *shared + sizeof *named_count, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(shared != MAP_FAILED);
    mixed[0].sem = &own.sem;
    mixed[0].count = &own.count;
    mixed[1].sem = &shared->sem;
    mixed[1].count = &shared->count;
    mixed[2].count = named_count = (long *)(void *)(shared + 1);
    MUST(sem_init(&own.sem, 0, 1) == 0 && sem_init(&shared->sem, 1, 1) == 0);
    child = fork();
    start_all(thread, MIXERS, mix, NULL);
    join_all(thread, MIXERS);
    MUST(own.count == MIXERS * MIXES / KINDS);
    if (child == 0)
        _exit(0);
    MUST(child_status(child) == 0);
    MUST(shared->count == 2 * MIXERS * MIXES / KINDS && *named_count == shared->count);
}

static sem_t early;

__attribute__((constructor)) static void use_early(void)
{
    MUST(sem_init(&early, 0, 2) == 0);
    MUST(sem_wait(&early) == 0);
}

BEHAVIOR(constructor)
{
    MUST(value_of(&early) == 1);
    MUST(sem_wait(&early) == 0);
    MUST_FAIL(sem_trywait(&early), EAGAIN);
}

/* A module initializes a semaphore when it is loaded; the memory of the semaphore is gone after dlclose. */
BEHAVIOR(dlopen)
{
    for (int i = 0; i < 20; i++) {
        void *module = dlopen(argument, RTLD_NOW | RTLD_LOCAL), *found;
        int (*use)(sem_t *);
        sem_t ours;

        if (module == NULL)
            fprintf(stderr, "interposed: %s\n", dlerror());
        MUST(module != NULL);
        found = dlsym(module, "use_semaphores");
        MUST(found != NULL);
        memcpy(&use, &found, sizeof use);
        MUST(sem_init(&ours, 0, 0) == 0);
        MUST(use(&ours) == 0);
        MUST(dlclose(module) == 0);
        MUST(sem_wait(&ours) == 0);
        MUST(sem_destroy(&ours) == 0);
    }
}
