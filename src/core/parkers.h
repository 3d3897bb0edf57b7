/* SPDX-License-Identifier: MIT */
/*
 * parkers.h - what a thread sleeps on, if it sleeps on condition variables: its parker.
 *
 * A condition variable has one clock, fixed when it is initialized.  So each parker has two
 * condition variables, and a sleeper notes which one it sleeps on.  (pthread_cond_clockwait would
 * need only one, but does not exist everywhere, and tools that fake the time do not know it.)
 *
 * parkers.c makes them and gives them to threads; park_cond.c sleeps on them.
 */
#ifndef FS_PARKERS_H
#define FS_PARKERS_H

#include "parking.h"

#include <pthread.h>
#include <stdbool.h>

struct fs_cond_parker {
    struct fs_parker       queue;           /* first; the wake queue's */
    pthread_mutex_t        mutex;
    pthread_cond_t         monotonic, realtime;
    pthread_cond_t        *asleep_on;       /* under mutex; NULL: awake */
    bool                   permit;          /* under mutex; woken since the last park */
    bool                   wakes_others;    /* under mutex; when it wakes up: queue.wakes */
    struct fs_cond_parker *next_in_pool;    /* under the pool's mutex */
    struct fs_cond_parker *next_made;       /* r/o once in the list of all */
};

#endif
