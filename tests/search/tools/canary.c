/* SPDX-License-Identifier: MIT */
/*
 * canary.c - programs with one fault each.  A tool must report the fault of `canary FAULT`, and must report
 * nothing for `canary FAULT right`, which is the same program without the fault.
 */
#include <errno.h>
#include <fairsem.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static int right;
static fairsem_t slots = FAIRSEM_INITIALIZER(0), empty = FAIRSEM_INITIALIZER(1);

/* ---- threads ---- */

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_inside;
static int counter, content, sum;

static void *count(void *arg)
{
    if (fairsem_acquire(&slots, 1) != 0)
        return NULL;
    if (!right)
        pthread_barrier_wait(&both_inside);
    counter++;
    fairsem_release(&slots, 1);
    return arg;
}

/* Two threads increment one variable, protected by a semaphore with two units. */
static int race(void)
{
    pthread_t thread[2];

    fairsem_release(&slots, right ? 1 : 2);
    pthread_barrier_init(&both_inside, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

static void *lock_both(void *in_order)
{
    pthread_mutex_lock(in_order != NULL ? &a : &b);
    pthread_mutex_lock(in_order != NULL ? &b : &a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return NULL;
}

/* Two threads lock two mutexes in opposite orders, but one thread after the other, so that they do not deadlock. */
static int lock_order(void)
{
    pthread_t thread;

    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, lock_both, i == 0 || right ? &a : NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}

static int unlock(void)
{
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    return right ? 0 : pthread_mutex_unlock(&a);
}

static void take(fairsem_t *sem)
{
    while (fairsem_tryacquire(sem, 1) != 0)
        sched_yield();
}

static void *receive(void *arg)
{
    for (int i = 0; i < 200; i++) {
        take(&slots);
        sum += content;
        fairsem_release(&empty, 1);
    }
    return arg;
}

/*
 * Data go from one thread to another with a unit, on the fast path.  The fault is not in this program but in
 * the library that it is linked with: see relaxed.h.
 */
static int order(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, receive, NULL);
    for (int i = 0; i < 200; i++) {
        take(&empty);
        content = i;
        fairsem_release(&slots, 1);
    }
    pthread_join(thread, NULL);
    return sum != 200 * 199 / 2;
}

/* ---- memory ---- */

static const struct timespec *volatile deadline;
static void *volatile reachable;

__attribute__((noinline)) static void set_deadline(void)
{
    struct timespec at = { .tv_sec = 1 };

    deadline = &at;
}

/* The library gets a deadline that was in the stack frame of a function that has returned. */
static int use_after_return(void)
{
    struct timespec at = { .tv_sec = 1 };

    set_deadline();
    if (right)
        deadline = &at;
    return fairsem_acquire_until(&slots, 1, CLOCK_MONOTONIC, deadline) != ETIMEDOUT;
}

static int use_after_free(void)
{
    fairsem_t *volatile sem = aligned_alloc(_Alignof(fairsem_t), sizeof(fairsem_t));

    if (fairsem_init(sem, 0, NULL) != 0)
        return 1;
    if (!right)
        free(sem);
    fairsem_release(sem, 1);
    if (right)
        free(sem);
    return 0;
}

static int leak(void)
{
    reachable = malloc(sizeof(fairsem_t));
    if (right)
        free(reachable);
    reachable = NULL;
    return 0;
}

/* A semaphore at an address that is not a multiple of its alignment. */
static int undefined(void)
{
    static _Alignas(16) unsigned char memory[sizeof(fairsem_t) + 16];

    return (int)fairsem_waiters((fairsem_t *)(void *)(memory + (right ? 0 : 4)));
}

/* The library reads attributes that were never written. */
static int uninitialised(void)
{
    fairsem_attr_t *volatile attr = malloc(sizeof(fairsem_attr_t));
    int error;

    if (right)
        memset(attr, 0, sizeof *attr);
    attr->capacity = 1;
    error = fairsem_init(&slots, 1, attr);
    free(attr);
    return error;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int       (*run)(void);
    } faults[] = {
        { "race", race }, { "lock_order", lock_order }, { "unlock", unlock }, { "order", order },
        { "use_after_return", use_after_return }, { "use_after_free", use_after_free },
        { "leak", leak }, { "undefined", undefined }, { "uninitialised", uninitialised },
    };

    right = argc > 2;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        if (argc > 1 && strcmp(argv[1], faults[i].name) == 0)
            return faults[i].run();
    }
    return 99;
}
