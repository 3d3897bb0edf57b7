/* SPDX-License-Identifier: MIT */
/* crowd.c - thousands of threads, for workloads that wake them or let them time out. */
#define _POSIX_C_SOURCE 200809L

#include "crowd.h"

#include "clock.h"
#include "die.h"

enum { STACK = 65536 };

static void *member(void *arg)
{
    struct crowd_member *self = arg;

    pthread_mutex_lock(&self->crowd->gate);
    pthread_mutex_unlock(&self->crowd->gate);
    self->crowd->wait(self);
    self->left_ns = now_ns();
    if (atomic_fetch_sub(&self->crowd->inside, 1) == 1)
        sem_post(&self->crowd->left);
    return NULL;
}

void crowd_start(struct crowd *crowd, int size, void (*wait)(struct crowd_member *), void *arg)
{
    pthread_attr_t attr;

    crowd->wait = wait;
    crowd->arg = arg;
    crowd->size = size;
    pthread_mutex_init(&crowd->gate, NULL);
    pthread_mutex_lock(&crowd->gate);
    crowd->inside = size;
    sem_init(&crowd->left, 0, 0);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    for (int i = 0; i < size; i++) {
        struct crowd_member *m = &crowd->members[i];
        int err;

        *m = (struct crowd_member){ .crowd = crowd, .place = i };
        err = pthread_create(&m->thread, &attr, member, m);
        if (err)
            die("this system does not allow so many threads", err);
    }
    pthread_attr_destroy(&attr);
    pthread_mutex_unlock(&crowd->gate);
}

/*
 * There is no portable way to ask whether a thread sleeps.  But while any thread runs, the
 * process uses processor time.  If it has used none in ten milliseconds, twice, all are asleep.
 * (With 10,000 threads the question itself can take a millisecond, which is subtracted.)
 */
void crowd_settle(void)
{
    const int64_t moment = 10 * NS_PER_MS;
    int idle = 0;

    while (idle < 2) {
        int64_t asked = cpu_ns(), before = cpu_ns();

        sleep_ns(moment);
        idle = cpu_ns() - before < moment / 20 + 2 * (before - asked) ? idle + 1 : 0;
    }
}

int64_t crowd_end(struct crowd *crowd)
{
    int64_t last = 0;

    while (sem_wait(&crowd->left) != 0)
        continue;
    for (int i = 0; i < crowd->size; i++) {
        pthread_join(crowd->members[i].thread, NULL);
        if (crowd->members[i].left_ns > last)
            last = crowd->members[i].left_ns;
    }
    sem_destroy(&crowd->left);
    pthread_mutex_destroy(&crowd->gate);
    return last;
}
