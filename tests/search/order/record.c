/* SPDX-License-Identifier: MIT */
/* record.c - see record.h. */
#include "record.h"

#include "sem.h"

#include <stdlib.h>
#include <string.h>

static struct fs_sem   *watched;            /* r/o while threads use it */
static struct event     events[EVENTS_MOST];    /* under its mutex */
static _Atomic uint32_t events_seen;        /* written under its mutex */
static int64_t          word_left;          /* under its mutex: the word after the last section */
static int64_t          changes;            /* under its mutex */
static bool             granted[EVENTS_MOST];   /* by seq: written by its thread */
static struct takes     takes[THREADS_MOST];    /* each its thread's own */
static struct history   history;

/* Of the call that this thread is in. */
static _Thread_local uint32_t my_seq = NO_SEQ;

void __real_fs_waitq_join(struct fs_waitq *queue, struct fs_waitq_node *node, int priority,
                          bool by_age);
void __real_fs_waitq_leave(struct fs_waitq *queue, struct fs_waitq_node *node);
int  __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int  __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
void __wrap_fs_waitq_join(struct fs_waitq *queue, struct fs_waitq_node *node, int priority,
                          bool by_age);
void __wrap_fs_waitq_leave(struct fs_waitq *queue, struct fs_waitq_node *node);
int  __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int  __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int  __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

/* The watched semaphore's mutex held.  Release order: see history.h. */
static void write_down(const struct fs_waitq_node *node, bool joins)
{
    uint32_t i = atomic_load_explicit(&events_seen, memory_order_relaxed);

    events[i] = (struct event){ (uint32_t)node->seq, node->priority, joins };
    atomic_store_explicit(&events_seen, i + 1, memory_order_release);
}

void __wrap_fs_waitq_join(struct fs_waitq *queue, struct fs_waitq_node *node, int priority,
                          bool by_age)
{
    __real_fs_waitq_join(queue, node, priority, by_age);
    if (watched != NULL && queue == &watched->queue) {
        my_seq = (uint32_t)node->seq;
        write_down(node, true);
    }
}

void __wrap_fs_waitq_leave(struct fs_waitq *queue, struct fs_waitq_node *node)
{
    __real_fs_waitq_leave(queue, node);
    if (watched != NULL && queue == &watched->queue)
        write_down(node, false);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    int result = __real_pthread_mutex_lock(mutex);

    if (watched != NULL && mutex == &watched->mutex && !fs_waitq_empty(&watched->queue)
        && atomic_load_explicit(&watched->word, memory_order_relaxed) != word_left)
        changes++;
    return result;
}

/* The library tries for a moment before it locks.  Here a try is a lock. */
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return __wrap_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (watched != NULL && mutex == &watched->mutex)
        word_left = atomic_load_explicit(&watched->word, memory_order_relaxed);
    return __real_pthread_mutex_unlock(mutex);
}

bool record_begin(fairsem_t *sem, int threads)
{
    for (int i = 0; i < threads; i++) {
        if (takes[i].list == NULL)
            takes[i].list = malloc(TAKES_MOST * sizeof *takes[i].list);
        if (takes[i].list == NULL)
            return false;
        takes[i].count = 0;
    }
    memset(granted, 0, sizeof granted);
    atomic_store(&events_seen, 0);
    history = (struct history){ events, 0, granted, takes, threads };
    changes = 0;
    watched = fs_inside(sem);
    return true;
}

const struct history *record_end(void)
{
    watched = NULL;
    history.count = atomic_load(&events_seen);
    return &history;
}

int64_t record_changes(void)
{
    return changes;
}

/* Each thread writes at most two events before it asks again. */
bool record_has_room(int thread)
{
    return atomic_load_explicit(&events_seen, memory_order_relaxed)
               < EVENTS_MOST - 4 * THREADS_MOST
           && takes[thread].count < TAKES_MOST;
}

uint32_t record_before(void)
{
    my_seq = NO_SEQ;
    return atomic_load_explicit(&events_seen, memory_order_acquire);
}

void record_after(int thread, uint32_t before, int priority, bool success)
{
    struct takes *mine = &takes[thread];

    if (!success)
        return;
    if (my_seq != NO_SEQ)
        granted[my_seq] = true;
    else
        mine->list[mine->count++] = (struct take){
            before, atomic_load_explicit(&events_seen, memory_order_relaxed), priority };
}
