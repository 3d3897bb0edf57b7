/* SPDX-License-Identifier: MIT */
/*
 * textbook_sem.c - the FIFO semaphore of the textbooks: a mutex around everything, a
 * queue, and a condition variable per waiter that is signaled under the mutex.
 *
 * It is as fair as fairsem.  A comparison with it shows the effect of fairsem's other parts.
 */
#define _POSIX_C_SOURCE 200809L

#include "peers.h"

#include <errno.h>

struct textbook_waiter {
    pthread_cond_t cond;
    int64_t n;
    bool granted;
    struct textbook_waiter *next;
};

int textbook_peer_init(void *sem, int64_t units)
{
    struct textbook_sem *s = sem;

    s->units = units;
    s->head = s->tail = NULL;
    return pthread_mutex_init(&s->mutex, NULL);
}

int textbook_peer_destroy(void *sem)
{
    struct textbook_sem *s = sem;

    return pthread_mutex_destroy(&s->mutex);
}

/* Grant the head while its request fits. */
static void grant(struct textbook_sem *s)
{
    struct textbook_waiter *w;

    while ((w = s->head) && w->n <= s->units) {
        s->units -= w->n;
        s->head = w->next;
        w->granted = true;
        pthread_cond_signal(&w->cond);
    }
}

/* Mutex held. */
static int wait_in_queue(struct textbook_sem *s, int64_t n)
{
    struct textbook_waiter w = { .n = n };
    int err = pthread_cond_init(&w.cond, NULL);

    if (err)
        return err;
    *(s->head ? &s->tail->next : &s->head) = &w;
    s->tail = &w;
    while (!w.granted)
        pthread_cond_wait(&w.cond, &s->mutex);
    return pthread_cond_destroy(&w.cond);
}

int textbook_peer_acquire(void *sem, int64_t n)
{
    struct textbook_sem *s = sem;
    int err = 0;

    pthread_mutex_lock(&s->mutex);
    if (!s->head && n <= s->units)
        s->units -= n;
    else
        err = wait_in_queue(s, n);
    pthread_mutex_unlock(&s->mutex);
    return err;
}

int textbook_peer_try(void *sem, int64_t n)
{
    struct textbook_sem *s = sem;
    int err = EAGAIN;

    pthread_mutex_lock(&s->mutex);
    if (!s->head && n <= s->units) {
        s->units -= n;
        err = 0;
    }
    pthread_mutex_unlock(&s->mutex);
    return err;
}

int textbook_peer_release(void *sem, int64_t n)
{
    struct textbook_sem *s = sem;

    pthread_mutex_lock(&s->mutex);
    s->units += n;
    grant(s);
    pthread_mutex_unlock(&s->mutex);
    return 0;
}
