/* SPDX-License-Identifier: MIT */
/* crowd.h - thousands of threads, for workloads that wake them or let them time out. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

enum { CROWD_MOST = 10000 };

struct crowd;

struct crowd_member {
    struct crowd *crowd;
    pthread_t thread;
    int place;
    int64_t left_ns; /* the time when its wait had returned */
};

struct crowd {
    void (*wait)(struct crowd_member *self); /* what each of them does */
    void *arg;
    int size;
    pthread_mutex_t gate; /* they begin when it is unlocked */
    _Atomic int inside;   /* so many waits have not returned */
    sem_t left;           /* all have */
    struct crowd_member members[CROWD_MOST];
};

/* Start them, with small stacks; they begin when all have started. */
void crowd_start(struct crowd *crowd, int size, void (*wait)(struct crowd_member *), void *arg);

/* Wait until no other thread in this process runs. */
void crowd_settle(void);

/*
 * Join them; return the time when the last of their waits had returned.  Until then the caller
 * sleeps, because each join would be one more wake-up.
 */
int64_t crowd_end(struct crowd *crowd);

#endif /* BENCH_CROWD_H */
