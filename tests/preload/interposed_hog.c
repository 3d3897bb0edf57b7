/* SPDX-License-Identifier: MIT */
/*
 * interposed_hog.c - a hog, a thread that takes its unit back at once, and its victim; and threads
 * that all do so.
 */
#define _GNU_SOURCE
#include "interposed.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static sem_t only_unit;
static double longest_ms;
static int granted;

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

static void *hold_and_retake(void *arg)
{
    pin(0);
    while (!atomic_load(&stop)) {
        double until;

        sem_wait(&only_unit);
        until = now_ms() + 0.2;
        while (now_ms() < until)
            continue;
        sem_post(&only_unit);
    }
    return arg;
}

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
        sem_wait(&only_unit);
        waited = now_ms() - start_ms;
        sem_post(&only_unit);
        granted++;
        if (waited > longest_ms)
            longest_ms = waited;
    }
    return arg;
}

int hog(void)
{
    const struct timespec duration = { 1, 500000000 };
    pthread_t thread[2];

    MUST(sem_init(&only_unit, 0, 1) == 0);
    start(&thread[0], hold_and_retake, NULL);
    start(&thread[1], want_it_now_and_then, NULL);
    nanosleep(&duration, NULL);
    atomic_store(&stop, 1);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    printf("longest wait of the victim: %.3f ms, granted %d times\n", longest_ms, granted);
    return 0;
}

/* ---- How often threads get the only unit, each of which takes it back at once ---- */

static double hold_ms;
static _Atomic long holds_of_all;

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

/* "16,2000": 16 threads that each hold the unit for 2000 ns.  For measurements. */
int holds(const char *argument)
{
    enum { MOST = 1000 };
    const struct timespec duration = { 1, 0 };
    static pthread_t thread[MOST];
    int threads, hold_ns;

    MUST(sscanf(argument, "%d,%d", &threads, &hold_ns) == 2 && threads > 0 && threads <= MOST);
    hold_ms = hold_ns / 1e6;
    MUST(sem_init(&only_unit, 0, 1) == 0);
    for (int i = 0; i < threads; i++)
        start(&thread[i], hold, NULL);
    nanosleep(&duration, NULL);
    atomic_store(&stop, 1);
    for (int i = 0; i < threads; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
    MUST(value_of(&only_unit) == 1);
    printf("%ld holds a second\n", atomic_load(&holds_of_all));
    return 0;
}
