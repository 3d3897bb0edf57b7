/* SPDX-License-Identifier: MIT */
/*
 * consumer-priority.c - a bounded queue whose important consumers come first.
 *
 * Two semaphores turn a ring into a blocking queue: producers wait for a free slot, consumers for
 * a filled one.  A consumer waits with a priority.  The next item goes to the most important idle
 * consumer, and among equally important ones to the consumer that has been idle longest.  When queue_put
 * returns, the consumer has been chosen: one that comes later, however important, cannot take the
 * item away.  (Two consumers that are chosen at the same moment may swap their items.)
 */
#define _POSIX_C_SOURCE 200809L

#include <fairsem.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 4, CONSUMERS = 7, PRODUCERS = 3, ITEMS = 5000 };

struct queue {
    fairsem_t free;        /* slots that can be filled */
    fairsem_t filled;      /* slots that can be emptied */
    pthread_mutex_t mutex; /* guards the fields below; no thread waits for a slot while holding it */
    unsigned put, taken;   /* numbers of items since the beginning */
    int ring[SLOTS];
};

struct consumer {
    pthread_t thread;
    int priority; /* lower is more important */
    int first;    /* the first item that this consumer took */
    int count;    /* how many items it took after the first */
};

static struct queue queue = {
    .free = FAIRSEM_INITIALIZER_BOUNDED(SLOTS, SLOTS),
    .filled = FAIRSEM_INITIALIZER(0),
    .mutex = PTHREAD_MUTEX_INITIALIZER,
};
static fairsem_t served = FAIRSEM_INITIALIZER(0); /* a unit for each first item taken */
static fairsem_t rush = FAIRSEM_INITIALIZER(0);   /* a unit lets one consumer continue */
static atomic_int next_item, times_taken[ITEMS];

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "consumer-priority: FAILED: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static int queue_put(struct queue *q, int item)
{
    int err = fairsem_acquire(&q->free, 1);

    if (err != 0)
        return err;
    pthread_mutex_lock(&q->mutex);
    q->ring[q->put++ % SLOTS] = item;
    pthread_mutex_unlock(&q->mutex);
    return fairsem_release(&q->filled, 1);
}

/* Returns 0, or the reason given to fairsem_close: the queue is empty for good. */
static int queue_get(struct queue *q, int priority, int *item)
{
    fairsem_wait_t how = { .priority = priority };
    int err = fairsem_acquire_with(&q->filled, 1, &how);

    if (err != 0)
        return err;
    pthread_mutex_lock(&q->mutex);
    *item = q->ring[q->taken++ % SLOTS];
    pthread_mutex_unlock(&q->mutex);
    return fairsem_release(&q->free, 1);
}

/* To be called after the last queue_put: wait until all items are taken, then end the consumers. */
static int queue_finish(struct queue *q)
{
    int err = fairsem_acquire(&q->free, SLOTS); /* all slots are free: the queue is empty */

    return err != 0 ? err : fairsem_close(&q->filled, 0);
}

static void *consume(void *arg)
{
    struct consumer *self = arg;
    int item, err;

    check(queue_get(&queue, self->priority, &self->first) == 0, "queue_get");
    fairsem_release(&served, 1);
    check(fairsem_acquire(&rush, 1) == 0, "acquire");
    for (; (err = queue_get(&queue, self->priority, &item)) == 0; self->count++)
        atomic_fetch_add(&times_taken[item], 1);
    check(err == fairsem_closed(&queue.filled), "queue_get, at the end");
    return NULL;
}

static void *produce(void *arg)
{
    for (int item; (item = atomic_fetch_add(&next_item, 1)) < ITEMS;)
        check(queue_put(&queue, item) == 0, "queue_put");
    return arg;
}

int main(void)
{
    static struct consumer c[CONSUMERS] = {
        { .priority = 9 }, { .priority = 5 }, { .priority = 9 }, { .priority = 0 },
        { .priority = 5 }, { .priority = 9 }, { .priority = 0 },
    };
    pthread_t producer[PRODUCERS];

    for (int i = 0; i < CONSUMERS; i++) {
        check(pthread_create(&c[i].thread, NULL, consume, &c[i]) == 0, "pthread_create");
        while (fairsem_waiters(&queue.filled) <= i)
            sched_yield(); /* a waiter that is counted is in the queue: no sleep is needed */
    }
    for (int item = 0; item < CONSUMERS; item++) {
        check(queue_put(&queue, item) == 0, "queue_put");
        /* One item at a time: the chosen consumer takes it before the next is put. */
        check(fairsem_acquire(&served, 1) == 0, "acquire");
    }
    for (int i = 0; i < CONSUMERS; i++) {
        int before = 0; /* consumers that are more important, or equally important and earlier */

        for (int j = 0; j < CONSUMERS; j++)
            before += c[j].priority < c[i].priority + (j < i);
        printf("arrived %d, priority %d: served %d\n", i + 1, c[i].priority, c[i].first + 1);
        check(c[i].first == before, "order of service");
    }
    fairsem_release(&rush, CONSUMERS); /* all consumers at once: no item may be lost or taken twice */
    for (int i = 0; i < PRODUCERS; i++)
        check(pthread_create(&producer[i], NULL, produce, NULL) == 0, "pthread_create");
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producer[i], NULL);
    check(queue_finish(&queue) == 0, "queue_finish");
    for (int i = 0; i < CONSUMERS; i++) {
        pthread_join(c[i].thread, NULL);
        printf("priority %d: took %d items\n", c[i].priority, c[i].count);
    }
    for (int item = 0; item < ITEMS; item++)
        check(times_taken[item] == 1, "every item once");
    printf("all %d items taken once\n", ITEMS);
    return 0;
}
