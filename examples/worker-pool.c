/* SPDX-License-Identifier: MIT */
/*
 * worker-pool.c - a pool of as many workers as there are processors, with one semaphore.
 *
 * Each task gets a unit of the semaphore first, then a thread of its own, and gives the unit back
 * when it is done.  So no more tasks run at once than there are units.  To wait for the last tasks,
 * main takes all units.  That request is granted like any other: no later request can pass it, and
 * no thread need be joined.
 *
 * The task is to count how many steps of "halve it if even, else triple it and add one"
 * lead from a number to 1, for the numbers 1 to 32.
 */
#define _POSIX_C_SOURCE 200809L

#include <fairsem.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASKS = 32 };

struct pool {
    fairsem_t workers;  /* a unit lets one worker run */
    atomic_int running; /* counts the running workers, to check the semaphore */
    atomic_int most;
};

struct task {
    struct pool *pool;
    int number;
    int steps; /* the result */
};

/* The known results. */
static const int expected[TASKS] = {
    0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9, 9, 17, 17, 4,
    12, 20, 20, 7, 7, 15, 15, 10, 23, 10, 111, 18, 18, 18, 106, 5,
};

static void must(int err, const char *what)
{
    if (err != 0) {
        fprintf(stderr, "worker-pool: %s failed with error %d\n", what, err);
        exit(EXIT_FAILURE);
    }
}

static int collatz_steps(long n)
{
    int steps = 0;

    for (; n > 1; steps++)
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return steps;
}

static void *work(void *arg)
{
    struct task *task = arg;
    struct pool *pool = task->pool;
    int now = atomic_fetch_add(&pool->running, 1) + 1;
    int most = atomic_load(&pool->most);

    while (now > most && !atomic_compare_exchange_weak(&pool->most, &most, now))
        ;
    task->steps = collatz_steps(task->number);
    atomic_fetch_sub(&pool->running, 1);
    /* This is the last access: after it, main may destroy the pool and the task. */
    must(fairsem_release(&pool->workers, 1), "fairsem_release");
    return NULL;
}

/* Run the task in a thread of its own, or in this thread if the system allows no more threads. */
static void run(struct task *task)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, work, task) == 0)
        must(pthread_detach(thread), "pthread_detach");
    else
        work(task);
}

static int processors(void)
{
    long n = -1;

#ifdef _SC_NPROCESSORS_ONLN /* most systems have it; POSIX since 2024 */
    n = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return n < 1 ? 4 : n > 256 ? 256 : (int)n;
}

int main(void)
{
    int workers = processors(), wrong = 0;
    fairsem_attr_t attr = { .name = "workers", .capacity = workers };
    struct task tasks[TASKS];
    struct pool pool;

    must(fairsem_init(&pool.workers, workers, &attr), "fairsem_init");
    atomic_init(&pool.running, 0);
    atomic_init(&pool.most, 0);

    for (int i = 0; i < TASKS; i++) {
        tasks[i] = (struct task){ .pool = &pool, .number = i + 1 };
        must(fairsem_acquire(&pool.workers, 1), "fairsem_acquire");
        run(&tasks[i]);
    }
    /* The barrier.  It also makes visible what the workers wrote: `steps` needs no lock. */
    must(fairsem_acquire(&pool.workers, workers), "fairsem_acquire");
    must(fairsem_destroy(&pool.workers), "fairsem_destroy");

    for (int i = 0; i < TASKS; i++) {
        printf("%s%d", i == 0 ? "[" : " ", tasks[i].steps);
        wrong += tasks[i].steps != expected[i];
    }
    printf("]\n");
    if (wrong > 0)
        fprintf(stderr, "worker-pool: FAILED: %d wrong results\n", wrong);
    if (pool.most > workers)
        fprintf(stderr, "worker-pool: FAILED: %d workers instead of %d\n", pool.most, workers);
    return wrong > 0 || pool.most > workers ? EXIT_FAILURE : EXIT_SUCCESS;
}
