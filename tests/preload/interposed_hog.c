/* SPDX-License-Identifier: MIT */
/*
 * interposed_hog.c - a hog and its victim, or several hogs.  A hog is a thread that takes its unit again as
 * soon as it has posted it.
 */
#include "interposed.h"

static sem_t only_unit;
static double hold_ms;
static _Atomic long holds_of_all;

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void pin(int core)
{
    cpu_set_t one;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void *hold(void *arg)
{
    long count = 0;

    while (!atomic_load(&stop)) {
        double until;

        MUST(sem_wait(&only_unit) == 0);
        for (until = hold_ms > 0 ? now_ms() + hold_ms : 0; until > 0 && now_ms() < until;)
            continue;
        MUST(sem_post(&only_unit) == 0);
        count++;
    }
    atomic_fetch_add(&holds_of_all, count);
    return arg;
}

static void hold_for(struct timespec duration, pthread_t *thread, int threads)
{
    while (nanosleep(&duration, &duration) != 0)
        continue;
    stop_all(thread, threads);
    MUST(value_of(&only_unit) == 1);
}

/* "16,2000": 16 threads that each hold the unit for 2000 ns.  For measurements. */
BEHAVIOR(holds)
{
    enum { MOST = 1000 };
    static pthread_t thread[MOST];
    int threads, hold_ns;

    MUST(sscanf(argument, "%d,%d", &threads, &hold_ns) == 2 && threads > 0 && threads <= MOST);
    hold_ms = hold_ns / 1e6;
    MUST(sem_init(&only_unit, 0, 1) == 0);
    start_all(thread, threads, hold, NULL);
    hold_for((struct timespec){ .tv_sec = 1 }, thread, threads);
    printf("%ld holds a second\n", atomic_load(&holds_of_all));
}

static void *be_a_hog(void *arg)
{
    pin(0);
    return hold(arg);
}

static double longest_ms;
static int granted;

static void *want_it_now_and_then(void *arg)
{
    unsigned random = 1;

    pin(1);
    while (!atomic_load(&stop)) {
        struct timespec pause_for = { 0, 0 };
        double start_ms, waited;

        random = random * 1103515245u + 12345u;
        pause_for.tv_nsec = (long)(random >> 16) % 1000 * 1000;
        nanosleep(&pause_for, NULL);
        start_ms = now_ms();
        MUST(sem_wait(&only_unit) == 0);
        waited = now_ms() - start_ms;
        MUST(sem_post(&only_unit) == 0);
        granted++;
        if (waited > longest_ms)
            longest_ms = waited;
    }
    return arg;
}

BEHAVIOR(hog)
{
    pthread_t thread[2];

    hold_ms = 0.2;
    MUST(sem_init(&only_unit, 0, 1) == 0);
    start(&thread[0], be_a_hog, NULL);
    start(&thread[1], want_it_now_and_then, NULL);
    hold_for((struct timespec){ 1, 500000000 }, thread, 2);
    printf("longest wait of the victim: %.3f ms, granted %d times\n", longest_ms, granted);
}
