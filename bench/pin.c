/* SPDX-License-Identifier: MIT */
/* pin.c - pin the calling thread to one core; a stub where the system cannot do that. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* CPU_SET, pthread_setaffinity_np */
#endif

#include "pin.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#if defined(__linux__) && defined(CPU_SET)

/*
 * The mask is read once, before any thread is pinned: a pinned thread would see only one core.  So main
 * calls pin_cores() before it starts a thread.
 */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static cpu_set_t allowed;
static int allowed_count;

static void look(void)
{
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
        allowed_count = CPU_COUNT(&allowed);
}

bool pin_possible(void)
{
    pthread_once(&once, look);
    return allowed_count > 0;
}

int pin_cores(void)
{
    return pin_possible() ? allowed_count : 1;
}

bool pin_self(int nth)
{
    cpu_set_t one;

    if (!pin_possible())
        return false;
    nth %= allowed_count;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || nth-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        return pthread_setaffinity_np(pthread_self(), sizeof(one), &one) == 0;
    }
    return false;
}

void pin_undo(void)
{
    if (pin_possible())
        pthread_setaffinity_np(pthread_self(), sizeof(allowed), &allowed);
}

#else /* no pinning */

bool pin_possible(void)
{
    return false;
}

int pin_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (int)n : 1;
}

bool pin_self(int nth)
{
    (void)nth;
    return false;
}

void pin_undo(void)
{
}

#endif
