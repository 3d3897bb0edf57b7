/* SPDX-License-Identifier: MIT */
/* interposed_memory.c - the memory in which a program puts its semaphores, and its end. */
#define _GNU_SOURCE
#include "hang.h"
#include "interposed.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static _Atomic(sem_t *) offered;

static void *post_what_comes(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        sem_t *sem = atomic_exchange(&offered, NULL);

        if (sem != NULL)
            sem_post(sem);
        else
            moment();
    }
    return NULL;
}

/* Unmap the memory as soon as the wait has returned, every second time without sem_destroy. */
int unmap(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    pthread_t thread;

    start(&thread, post_what_comes, NULL);
    for (int i = 0; i < 20000; i++) {
        sem_t *sem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        MUST(sem != MAP_FAILED);
        MUST(sem_init(sem, 0, 0) == 0);
        atomic_store(&offered, sem);
        MUST(sem_wait(sem) == 0);
        if (i % 2 == 0)
            MUST(sem_destroy(sem) == 0);
        munmap(sem, size);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    return 0;
}

enum { LATE_ROUNDS = 5000 };
static sem_t        posted_late;
static _Atomic int  late_round, late_destroyed, late_ack;

static void *post_until_destroyed(void *arg)
{
    for (int round = 1; round <= LATE_ROUNDS; round++) {
        while (atomic_load(&late_round) < round)
            moment();
        do
            MUST(sem_post(&posted_late) == 0);
        while (atomic_load(&late_destroyed) < round);
        atomic_store(&late_ack, round);
    }
    return arg;
}

/*
 * No program should post while the semaphore is destroyed, or after that; but libc tolerates it.
 */
int late_post(void)
{
    pthread_t thread;

    start(&thread, post_until_destroyed, NULL);
    for (int round = 1; round <= LATE_ROUNDS; round++) {
        MUST(sem_init(&posted_late, 0, 0) == 0);
        atomic_store(&late_round, round);
        MUST(sem_wait(&posted_late) == 0);
        MUST(sem_destroy(&posted_late) == 0);
        atomic_store(&late_destroyed, round);
        while (atomic_load(&late_ack) < round)
            moment();
    }
    pthread_join(thread, NULL);
    return 0;
}

int destroy_with_waiters(void)
{
    struct waiter w[2] = { { 0 } };
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    queue(&w[0], &sem);
    queue(&w[1], &sem);
    MUST(sem_destroy(&sem) == 0);
    MUST(sem_post(&sem) == 0);
    MUST(sem_post(&sem) == 0);
    MUST(join(&w[0]) == 0 && join(&w[1]) == 0);
    MUST(sem_post(&sem) == 0);
    MUST(sem_wait(&sem) == 0);
    MUST(sem_destroy(&sem) == 0);
    return 0;
}

/* Make a wait sleep: from then on the semaphore is more than a number. */
static void contend(sem_t *sem)
{
    struct waiter w = { 0 };

    queue(&w, sem);
    MUST(sem_post(sem) == 0);
    MUST(join(&w) == 0);
}

static void goes_on(sem_t *sem, int value)
{
    const struct timespec past = { 0, 0 };

    MUST(value_of(sem) == value);
    for (int i = 0; i < value; i++)
        MUST(sem_trywait(sem) == 0);
    MUST_FAIL(sem_trywait(sem), EAGAIN);
    MUST_FAIL(sem_timedwait(sem, &past), ETIMEDOUT);
    MUST(sem_post(sem) == 0 && sem_wait(sem) == 0);
    contend(sem);
    MUST(value_of(sem) == 0);
}

/* As with libc, a destroyed semaphore still works, for a late detached thread.  (4 waits.) */
int destroyed(void)
{
    sem_t sem, other;

    MUST(sem_init(&sem, 0, 3) == 0);
    MUST(sem_destroy(&sem) == 0);
    goes_on(&sem, 3);
    MUST(sem_destroy(&sem) == 0);
    MUST(sem_init(&other, 0, 0) == 0);
    contend(&other);                        /* perhaps in the memory of the first */
    MUST(sem_post(&other) == 0);
    goes_on(&sem, 0);
    MUST(value_of(&other) == 1);
    MUST(sem_destroy(&sem) == 0 && sem_destroy(&sem) == 0 && sem_destroy(&other) == 0);
    goes_on(&other, 1);
    return 0;
}

/* libc's own semaphore holds its value, 3, in the first word, and nothing else. */
int not_libcs(void)
{
    sem_t sem;
    uint64_t word;

    MUST(sem_init(&sem, 0, 3) == 0);
    memcpy(&word, &sem, sizeof word);
    MUST(word != 3);
    return 0;
}

/* Each copy is a semaphore of its own, as with libc, also if threads have waited for the first. */
int copies(void)
{
    enum { COPIES = 4 };
    sem_t sem[COPIES], moved;

    MUST(sem_init(&sem[0], 0, 1) == 0);
    for (int i = 1; i < COPIES; i++)
        memcpy(&sem[i], &sem[0], sizeof sem[0]);
    for (int i = 0; i < COPIES; i++)
        MUST(sem_trywait(&sem[i]) == 0);
    for (int i = 0; i < COPIES; i++) {
        contend(&sem[i]);
        memcpy(&moved, &sem[i], sizeof moved);
        MUST(sem_post(&moved) == 0);
        MUST(value_of(&moved) == 1 && value_of(&sem[i]) == 0);
        goes_on(&moved, 1);
    }
    for (int i = 0; i < COPIES; i++)
        MUST(sem_destroy(&sem[i]) == 0);
    return 0;
}

/* As a vector that grows: the elements are copied, and then the old ones are destroyed. */
int copies_of_destroyed(void)
{
    sem_t sem, copy, copy_of_copy, other;

    MUST(sem_init(&sem, 0, 2) == 0 && sem_init(&other, 0, 0) == 0);
    MUST(sem_trywait(&sem) == 0 && sem_trywait(&sem) == 0);
    contend(&sem);
    MUST(sem_post(&sem) == 0);
    memcpy(&copy, &sem, sizeof copy);
    MUST(sem_destroy(&sem) == 0);
    memset(&sem, 0x5a, sizeof sem);
    contend(&other);                        /* not in the memory of the first one yet */
    memcpy(&copy_of_copy, &copy, sizeof copy);
    MUST(sem_destroy(&copy) == 0);
    goes_on(&copy, 1);
    goes_on(&copy_of_copy, 1);
    MUST(sem_post(&copy) == 0);
    memcpy(&sem, &copy, sizeof sem);
    MUST(sem_destroy(&copy) == 0);
    memcpy(&copy, &sem, sizeof sem);        /* back to where it was */
    goes_on(&sem, 1);
    goes_on(&copy, 1);
    return 0;
}

/* Not allowed, but done: programs fill in a structure with a semaphore, and then copy it. */
int copy_unused(void)
{
    struct thing { int number; sem_t sem; } *things;
    struct waiter w = { 0 };

    things = calloc(2, sizeof *things);
    MUST(things != NULL);
    MUST(sem_init(&things[0].sem, 0, 2) == 0);
    memcpy(&things[1], &things[0], sizeof things[0]);
    memset(&things[0], 0x5a, sizeof things[0]);
    MUST(value_of(&things[1].sem) == 2);
    MUST(sem_wait(&things[1].sem) == 0);
    MUST(sem_trywait(&things[1].sem) == 0);
    queue(&w, &things[1].sem);
    MUST(sem_post(&things[1].sem) == 0);
    MUST(join(&w) == 0);
    MUST(sem_destroy(&things[1].sem) == 0);
    free(things);
    return 0;
}

/* Many programs never destroy.  A semaphore with no waiter uses no memory except its own. */
int never_destroy(void)
{
    enum { MANY = 1000000 };
    long before = resident_bytes();
    sem_t sem;

    for (int i = 0; i < MANY; i++) {
        MUST(sem_init(&sem, 0, 1) == 0);
        MUST(sem_wait(&sem) == 0);
    }
    MUST(value_of(&sem) == 0);
    MUST(resident_bytes() - before < MANY);
    return 0;
}

/* What somebody has waited for takes some more, until it is destroyed. */
int use_cells_again(void)
{
    enum { MANY = 100000 };
    const struct timespec past = { 1, 0 };
    long before = resident_bytes();
    sem_t sem;

    for (int i = 0; i < MANY; i++) {
        MUST(sem_init(&sem, 0, 0) == 0);
        MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
        MUST(sem_destroy(&sem) == 0);
    }
    MUST(resident_bytes() - before < 10 * MANY);
    return 0;
}

static _Atomic int go_on;

static void *wait_when_told(void *arg)
{
    while (!atomic_load(&go_on))
        moment();
    MUST(sem_wait(arg) == 0);
    return arg;
}

static _Atomic int handled;

static void count_signal(int sig)
{
    (void)sig;
    atomic_fetch_add(&handled, 1);
}

/* A wait works, and ends in time, even if there is no memory for a semaphore with waiters. */
int no_memory(void)
{
    const struct timespec past = { 1, 0 };
    struct rlimit before, none;
    struct timespec soon;
    pthread_t thread;
    const struct sigaction restarts = { .sa_handler = count_signal, .sa_flags = SA_RESTART };
    sem_t sem;

    MUST(sigaction(SIGUSR1, &restarts, NULL) == 0);
    MUST(sem_init(&sem, 0, 0) == 0);
    start(&thread, wait_when_told, &sem);
    MUST(getrlimit(RLIMIT_AS, &before) == 0);
    none = before;
    none.rlim_cur = 1;
    MUST(setrlimit(RLIMIT_AS, &none) == 0);
    hang_alarm();
    MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += soon.tv_nsec >= 990000000;
    soon.tv_nsec = (soon.tv_nsec + 10000000) % 1000000000;
    MUST_FAIL(sem_timedwait(&sem, &soon), ETIMEDOUT);
    atomic_store(&go_on, 1);
    for (int i = 1; i <= 50; i++) {
        MUST(pthread_kill(thread, SIGUSR1) == 0);
        while (atomic_load(&handled) < i)
            moment();
    }
    MUST(sem_post(&sem) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    MUST(value_of(&sem) == 0);
    MUST(setrlimit(RLIMIT_AS, &before) == 0);
    contend(&sem);
    return 0;
}

/* More than --stats lists.  (11 waits.) */
int eleven(void)
{
    sem_t sem[11];

    for (int i = 0; i < 11; i++) {
        MUST(sem_init(&sem[i], 0, 0) == 0);
        contend(&sem[i]);
    }
    return 0;
}

/* More than have statistics of their own; threads wait for the last one.  (1 wait.) */
int many(void)
{
    enum { MANY = 20000 };
    sem_t sem;

    for (int i = 0; i < MANY; i++)
        MUST(sem_init(&sem, 0, 0) == 0);
    contend(&sem);
    return 0;
}

/*
 * A library destroys a semaphore when the process ends, while a detached thread still uses it, and
 * aborts on an error (as libuv does).
 */
static sem_t of_library;
static _Atomic int used_late;

static void *use_to_the_end(void *arg)
{
    (void)arg;
    for (;;) {
        if (sem_wait(&of_library) != 0 || sem_post(&of_library) != 0)
            abort();
        atomic_fetch_add(&used_late, 1);
    }
    return NULL;
}

/* After this it is more than a number. */
static void contend_once(void)
{
    MUST(sem_wait(&of_library) == 0);
    contend(&of_library);
    MUST(sem_post(&of_library) == 0);
}

static void at_the_end(void)
{
    int before;

    sem_destroy(&of_library);
    before = atomic_load(&used_late);
    while (atomic_load(&used_late) < before + 1000)
        moment();
}

int static_destructor(void)
{
    pthread_t thread[2];

    MUST(sem_init(&of_library, 0, 1) == 0);
    MUST(atexit(at_the_end) == 0);
    contend_once();
    for (int i = 0; i < 2; i++) {
        start(&thread[i], use_to_the_end, NULL);
        pthread_detach(thread[i]);
    }
    return 0;
}
