/* SPDX-License-Identifier: MIT */
/*
 * buffer.c - the bounded buffer of the textbooks: producers and consumers pass items through a ring.
 * The free slots and the items are the units of two semaphores.  A third semaphore with one unit, or a mutex,
 * guards the ring.  The threads do nothing else.
 *
 * The items are numbers, each one more than the item before, so a lost or doubled item ends the run.
 *
 * Under fairsem-run only the program's sem_t is measured; its name in the results is then "fairsem-run".
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "die.h"
#include "peers.h"
#include "report.h"
#include "workloads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16, MOST_SLOTS = 64 };

struct buffer {
    const struct sem_ops *ops;
    void *slots, *items;
    void *lock; /* NULL if `mutex` is the lock */
    pthread_mutex_t mutex;
    atomic_bool over;
    long ring[MOST_SLOTS];
    int size;
    atomic_long put, taken; /* changed under the lock; main reads `taken` without it */
};

static void lock(struct buffer *b)
{
    if (b->lock)
        b->ops->acquire(b->lock);
    else
        pthread_mutex_lock(&b->mutex);
}

static void unlock(struct buffer *b)
{
    if (b->lock)
        b->ops->release(b->lock);
    else
        pthread_mutex_unlock(&b->mutex);
}

static long next(atomic_long *count)
{
    long n = atomic_load_explicit(count, memory_order_relaxed);

    atomic_store_explicit(count, n + 1, memory_order_relaxed);
    return n;
}

static void *producer(void *arg)
{
    struct buffer *b = arg;

    while (b->ops->acquire(b->slots) == 0 && !atomic_load(&b->over)) {
        lock(b);
        long n = next(&b->put);
        b->ring[n % b->size] = n;
        unlock(b);
        b->ops->release(b->items);
    }
    return NULL;
}

static void *consumer(void *arg)
{
    struct buffer *b = arg;

    while (b->ops->acquire(b->items) == 0 && !atomic_load(&b->over)) {
        lock(b);
        long n = next(&b->taken);
        if (b->ring[n % b->size] != n)
            die("buffer: an item was lost or doubled", 0);
        unlock(b);
        b->ops->release(b->slots);
    }
    return NULL;
}

static long pass(struct buffer *b, int64_t ns)
{
    long before = atomic_load(&b->taken);

    sleep_ns(ns);
    return atomic_load(&b->taken) - before;
}

static double play(struct buffer *b, int producers, int consumers, int64_t duration_ns)
{
    pthread_t threads[2 * MOST];
    int64_t begin;
    double items;

    for (int i = 0; i < producers + consumers; i++)
        start_thread(&threads[i], i < producers ? producer : consumer, b);
    pass(b, duration_ns / 5);
    begin = now_ns();
    items = (double)pass(b, duration_ns);
    items = items * (double)NS_PER_S / (double)(now_ns() - begin);
    atomic_store(&b->over, true);
    /* A unit for each thread that may wait: the thread then sees `over`. */
    for (int i = 0; i < producers; i++)
        b->ops->release(b->slots);
    for (int i = 0; i < consumers; i++)
        b->ops->release(b->items);
    for (int i = 0; i < producers + consumers; i++)
        pthread_join(threads[i], NULL);
    return items;
}

/* The name of the program's sem_t in the results under fairsem-run; NULL if the sem_t is libc's. */
static const char *sem_t_is(void)
{
#ifdef HAVE_DROPIN
    if (dropin_is_used())
        return getenv("FAIRSEM_BYPASS_NS") ? "fairsem-run, bypass" : "fairsem-run";
#endif
    return NULL;
}

void buffer_run(bool quick)
{
    static const struct setting {
        int producers, consumers, size;
        bool mutex;
    } settings[] = {
        { 16, 16, 64, false }, { 8, 8, 64, false }, { 4, 4, 8, false }, { 2, 2, 8, false },
        { 1, 1, 64, false }, { 16, 16, 8, true },
    };
    static const struct sem_ops *const all[] = {
        &ops_posix, &ops_fairsem, &ops_parking, &ops_bounded
    };
    const char *instead = sem_t_is();
    const int peers = instead ? 1 : (int)(sizeof(all) / sizeof(*all));

    for (size_t s = 0; s < sizeof(settings) / sizeof(*settings); s++) {
        const struct setting *set = &settings[s];
        char text[80];

        snprintf(text, sizeof(text), "%d producers, %d consumers, %d slots, %s", set->producers,
                 set->consumers, set->size, set->mutex ? "a mutex" : "a semaphore as the lock");
        for (int i = 0; i < (quick ? 1 : 9) * peers; i++) {
            /* Each round begins with another peer. */
            struct buffer b = { .ops = all[(i + i / peers) % peers], .size = set->size };

            b.slots = sem_new(b.ops, set->size);
            b.items = sem_new(b.ops, 0);
            b.lock = set->mutex ? NULL : sem_new(b.ops, 1);
            pthread_mutex_init(&b.mutex, NULL);
            if (b.slots && b.items && (b.lock || set->mutex))
                REPORT("buffer", text, instead ? instead : b.ops->name,
                       { "items_per_second", play(&b, set->producers, set->consumers,
                                                  (quick ? 5 : 150) * NS_PER_MS) });
            pthread_mutex_destroy(&b.mutex);
            sem_delete(b.ops, b.slots);
            sem_delete(b.ops, b.items);
            sem_delete(b.ops, b.lock);
        }
    }
}
