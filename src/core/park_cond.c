/* SPDX-License-Identifier: MIT */
/*
 * park_cond.c - parking on POSIX condition variables; see parking.h and parkers.h.
 *
 * Locks: a parker's mutex is a leaf.
 */
#include "cleanup.h"            /* before <pthread.h> */
#include "parkers.h"

#include "compiler.h"
#include "cond_clock.h"
#include "invariant.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define NAP_NS 1000000          /* without a parker: how long a thread sleeps at a time */

/* Was the thread asleep?  Then, if it shall, it wakes others when it wakes up. */
FS_ALWAYS_INLINE static bool wake(struct fs_cond_parker *p, bool wakes_others)
{
    pthread_cond_t *asleep_on;

    FS_MUST(pthread_mutex_lock(&p->mutex));
    p->permit = true;
    asleep_on = p->asleep_on;
    if (wakes_others && asleep_on != NULL)
        p->wakes_others = true;
    FS_MUST(pthread_mutex_unlock(&p->mutex));
    /*
     * After the unlock.  Otherwise the woken thread would block on the mutex, which halves the
     * speed of a hand-off on one core.  The condition variable is never destroyed, see parking.h.
     */
    if (asleep_on != NULL)
        pthread_cond_signal(asleep_on);
    return asleep_on != NULL;
}

/* The thread has been woken.  Release order: see fs_wake_queue_add_parker(). */
static void leave_wake_queue(struct fs_parker *parker)
{
    atomic_store_explicit(&parker->queued, false, memory_order_release);
}

void fs_unpark(struct fs_parker *parker, bool leaves_queue)
{
    wake((struct fs_cond_parker *)parker, false);
    if (leaves_queue)
        leave_wake_queue(parker);
}

/*
 * ---- Waking many ----
 *
 * A wake takes its waker several microseconds, so a thousand of them would take it ten
 * milliseconds.  Therefore the woken threads help: they are a tree, in which each wakes two others.
 * If a thread is found awake, its waker wakes these two as well: when that thread parks again, it
 * may be for long.  Those below a thread wait until it runs; so a few are not woken in this way.
 *
 * A parker's `wakes` and `next` belong to the thread that is to wake it, and from the moment that
 * wakes_others is set, `wakes` belongs to its own thread.
 */

/* Whom this one was to wake, followed by the list. */
static struct fs_parker *take_wakes(struct fs_parker *parker, struct fs_parker *list)
{
    for (int i = 1; i >= 0; i--) {
        struct fs_parker *other = parker->wakes[i];

        if (other != NULL) {
            other->next = list;
            list = other;
        }
        parker->wakes[i] = NULL;
    }
    return list;
}

static void wake_list(struct fs_parker *list)
{
    while (list != NULL) {
        struct fs_parker *parker = list;
        bool wakes_others = parker->wakes[0] != NULL;

        list = parker->next;
        if (wake((struct fs_cond_parker *)parker, wakes_others) && wakes_others)
            continue;
        list = take_wakes(parker, list);
        leave_wake_queue(parker);
    }
}

/* The oldest wake the next oldest: those at 2 i + 1 and 2 i + 2 of the list are below that at i. */
void fs_unpark_many(struct fs_parker *first)
{
    struct fs_parker *above = first;

    for (struct fs_parker *p = first->next; p != NULL; above = above->next) {
        for (int i = 0; i < 2 && p != NULL; i++, p = p->next)
            above->wakes[i] = p;
    }
    first->next = NULL;
    wake_list(first);
}

/* Mutex held. */
FS_NOT_INLINE static void wake_up_and_help(struct fs_cond_parker *self)
{
    struct fs_parker *others = take_wakes(&self->queue, NULL);

    self->wakes_others = false;
    FS_MUST(pthread_mutex_unlock(&self->mutex));
    leave_wake_queue(&self->queue);
    wake_list(others);
}

/* The end of a park, also if it is canceled.  Mutex held. */
FS_REALIGN_STACK static void wake_up(void *arg)
{
    struct fs_cond_parker *self = arg;

    self->asleep_on = NULL;
    if (self->wakes_others)
        wake_up_and_help(self);
    else
        FS_MUST(pthread_mutex_unlock(&self->mutex));
}

static void nap(void)
{
    const struct timespec ts = { .tv_nsec = NAP_NS };
    int cancelable, disabled, error = errno;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    nanosleep(&ts, NULL);
    pthread_setcancelstate(cancelable, &disabled);
    errno = error;
}

static void sleep_on_own_cond(struct fs_cond_parker *self, const struct fs_deadline *deadline)
{
    FS_MUST(pthread_mutex_lock(&self->mutex));
    self->asleep_on = deadline != NULL && deadline->clock == CLOCK_REALTIME
                          ? &self->realtime : &self->monotonic;
    pthread_cleanup_push(wake_up, self);
    if (!self->permit) {
        if (deadline == NULL)
            pthread_cond_wait(self->asleep_on, &self->mutex);
        else
            fs_cond_sleep_until(self->asleep_on, &self->mutex, deadline);
    }
    self->permit = false;
    pthread_cleanup_pop(1);
}

void fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline)
{
    if (self != NULL) {
        sleep_on_own_cond((struct fs_cond_parker *)self, deadline);
    } else {
        /* Canceled after the nap, not in it: ThreadSanitizer loses track of a thread that
         * never returns from a sleep. */
        nap();
        pthread_testcancel();
    }
}
