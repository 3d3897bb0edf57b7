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

/* Mutex held. */
static int wait_in_queue(struct textbook_sem *s)
{
    struct textbook_waiter w = { .granted = false };
    int err = pthread_cond_init(&w.cond, NULL);

    if (err)
        return err;
    *(s->head ? &s->tail->next : &s->head) = &w;
    s->tail = &w;
    while (!w.granted)
        pthread_cond_wait(&w.cond, &s->mutex);
    return pthread_cond_destroy(&w.cond);
}

int textbook_peer_acquire(void *sem)
{
    struct textbook_sem *s = sem;
    int err = 0;

    pthread_mutex_lock(&s->mutex);
    if (s->units > 0)
        s->units--;
    else
        err = wait_in_queue(s);
    pthread_mutex_unlock(&s->mutex);
    return err;
}

int textbook_peer_try(void *sem)
{
    struct textbook_sem *s = sem;
    int err = EAGAIN;

    pthread_mutex_lock(&s->mutex);
    if (s->units > 0) {
        s->units--;
        err = 0;
    }
    pthread_mutex_unlock(&s->mutex);
    return err;
}

int textbook_peer_release(void *sem)
{
    struct textbook_sem *s = sem;
    struct textbook_waiter *w;

    pthread_mutex_lock(&s->mutex);
    w = s->head;
    if (w) {
        s->head = w->next;
        w->granted = true;
        pthread_cond_signal(&w->cond);
    } else {
        s->units++;
    }
    pthread_mutex_unlock(&s->mutex);
    return 0;
}
