/* SPDX-License-Identifier: MIT */
/*
 * notices.c - the callbacks of tickets, called when no lock is held.
 *
 * Between the moment a ticket is told and the end of its callback lies a time
 * without locks, in which its user may return it, and free it then.  So these lists are
 * under a mutex of their own:
 *
 *      told --> due: on a list --> running: no more on the list, but named in it --> done
 *                 |                   |
 *                 |                   +-- await, in the callback: nothing to do
 *                 |                   +-- await, another thread: wait until it is done
 *                 +-- strike off: never called
 *
 * Once a callback runs the caller does not touch the ticket again: it may have been freed.
 * The mutex is one for the whole process; it is held for a few stores, and only where
 * tickets with callbacks are.
 */
#include "ticket.h"

#include "fork.h"
#include "invariant.h"

static pthread_mutex_t    mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t     one_is_done = PTHREAD_COND_INITIALIZER;
static struct fs_notices *running;  /* under mutex: lists of which a callback is running */

static void lock(void)
{
    FS_MUST(pthread_mutex_lock(&mutex));
}

static void unlock(void)
{
    FS_MUST(pthread_mutex_unlock(&mutex));
}

/*
 * Of what was running only our own callback, if we are in one, goes on in the child.  What
 * was to follow it is called in the parent, and the copy of the list may be half changed.
 */
void fs_notices_in_child(void)
{
    struct fs_notices **at = &running;

    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    one_is_done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    while (*at != NULL) {
        if (pthread_equal((*at)->thread, pthread_self())) {
            (*at)->first = (*at)->last = NULL;
            at = &(*at)->next_running;
        } else {
            *at = (*at)->next_running;
        }
    }
}

void fs_notices_add(struct fs_notices *notices, struct fs_ticket *t)
{
    struct fs_waitq_node *node = &t->waiter.in_line;

    lock();
    node->next = NULL;
    node->prev = notices->last != NULL ? &notices->last->waiter.in_line : NULL;
    if (notices->last != NULL)
        notices->last->waiter.in_line.next = node;
    else
        notices->first = t;
    notices->last = t;
    t->notices = notices;
    unlock();
    notices->thread = pthread_self();
    notices->any = true;
}

/* Mutex held. */
static void strike_off(struct fs_ticket *t)
{
    struct fs_waitq_node *node = &t->waiter.in_line;
    struct fs_notices *notices = t->notices;

    if (node->prev != NULL)
        node->prev->next = node->next;
    else
        notices->first = node->next != NULL ? fs_ticket_of(node->next) : NULL;
    if (node->next != NULL)
        node->next->prev = node->prev;
    else
        notices->last = node->prev != NULL ? fs_ticket_of(node->prev) : NULL;
    t->notices = NULL;
}

void fs_run_notices(struct fs_notices *notices)
{
    struct fs_notices **at = &running;
    int cancelable, disabled;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    lock();
    notices->running = NULL;
    notices->next_running = running;
    running = notices;
    while (notices->first != NULL) {
        struct fs_ticket *t = notices->first;
        fairsem_notify_fn *notify = t->notify;
        void *arg = t->arg;

        strike_off(t);
        notices->running = t;
        unlock();
        notify((fairsem_ticket_t *)(void *)t, arg);
        lock();
        notices->running = NULL;
        FS_MUST(pthread_cond_broadcast(&one_is_done));
    }
    while (*at != notices)
        at = &(*at)->next_running;
    *at = notices->next_running;
    unlock();
    pthread_setcancelstate(cancelable, &disabled);
}

/* Mutex held.  Does another thread run the callback of t? */
static bool runs_elsewhere(const struct fs_ticket *t)
{
    for (const struct fs_notices *at = running; at != NULL; at = at->next_running) {
        if (at->running == t && !pthread_equal(at->thread, pthread_self()))
            return true;
    }
    return false;
}

void fs_notices_strike_off(struct fs_ticket *t)
{
    if (!atomic_load_explicit(&t->waiter.has_called, memory_order_relaxed))
        return;
    lock();
    if (t->notices != NULL)
        strike_off(t);
    unlock();
}

/* When this returns no other thread is in the callback. */
void fs_notices_await(struct fs_ticket *t)
{
    int cancelable, disabled;

    if (!atomic_load_explicit(&t->waiter.has_called, memory_order_relaxed))
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    lock();
    while (runs_elsewhere(t))
        pthread_cond_wait(&one_is_done, &mutex);
    unlock();
    pthread_setcancelstate(cancelable, &disabled);
}
