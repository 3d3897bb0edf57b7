/* SPDX-License-Identifier: MIT */
/*
 * park_cond.c - parking on POSIX condition variables.
 *
 * A condition variable has one clock, fixed when it is made; each parker therefore has
 * two, and a sleeper says which one it sleeps on.  (pthread_cond_clockwait would do with
 * one, but is not everywhere, and tools that fake the time do not know it.)
 *
 * Locks: a parker's mutex is a leaf, taken with the semaphore's mutex held or not.  The
 * pool's mutex is taken alone.
 */
#include "park.h"

#include "invariant.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define NAP_NS 1000000          /* without a parker: how long a waiter sleeps between looks */

struct fs_parker {
    pthread_mutex_t   mutex;
    pthread_cond_t    monotonic, realtime;
    pthread_cond_t   *asleep_on;    /* under mutex; NULL: awake */
    bool              token;        /* under mutex; unparked since the last park */
    struct fs_parker *next_in_pool; /* under pool_mutex */
    struct fs_parker *next_made;    /* under pool_mutex until linked, then r/o */
};

static pthread_mutex_t   pool_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fs_parker *pool;      /* under pool_mutex: parkers of threads that ended */
static struct fs_parker *made;      /* under pool_mutex: every parker there is */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t  key;          /* r/o after once: the thread's parker */
static bool           key_usable;   /* r/o after once */

static bool parker_init(struct fs_parker *parker)
{
    pthread_condattr_t attr;
    bool done = false;

    if (pthread_condattr_init(&attr) != 0)
        return false;
    if (pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0
        && pthread_mutex_init(&parker->mutex, NULL) == 0) {
        if (pthread_cond_init(&parker->monotonic, &attr) == 0) {
            if (pthread_cond_init(&parker->realtime, NULL) == 0)
                done = true;
            else
                pthread_cond_destroy(&parker->monotonic);
        }
        if (!done)
            pthread_mutex_destroy(&parker->mutex);
    }
    pthread_condattr_destroy(&attr);
    parker->asleep_on = NULL;
    parker->token = false;
    return done;
}

/* The thread ends; its parker serves another one. */
static void return_to_pool(void *arg)
{
    struct fs_parker *parker = arg;

    FS_MUST(pthread_mutex_lock(&pool_mutex));
    parker->next_in_pool = pool;
    pool = parker;
    FS_MUST(pthread_mutex_unlock(&pool_mutex));
}

static void before_fork(void)
{
    FS_MUST(pthread_mutex_lock(&pool_mutex));
}

static void after_fork_in_parent(void)
{
    FS_MUST(pthread_mutex_unlock(&pool_mutex));
}

/*
 * Only one thread exists now and it is not parked, so every parker is free: those of the
 * parent's other threads too, and even this thread's own, which somebody may have been
 * unparking, its mutex locked, when the process was copied.  All are made anew.
 */
static void after_fork_in_child(void)
{
    pool = NULL;
    for (struct fs_parker *p = made; p != NULL; p = p->next_made) {
        if (parker_init(p)) {
            p->next_in_pool = pool;
            pool = p;
        }
    }
    if (key_usable)
        pthread_setspecific(key, NULL);
    FS_MUST(pthread_mutex_unlock(&pool_mutex));
}

static void initialise(void)
{
    key_usable = pthread_key_create(&key, return_to_pool) == 0;
    /* If this fails, for want of memory, a forked child can hang in its first wait. */
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static struct fs_parker *take_from_pool(void)
{
    struct fs_parker *parker;

    FS_MUST(pthread_mutex_lock(&pool_mutex));
    parker = pool;
    if (parker != NULL)
        pool = parker->next_in_pool;
    FS_MUST(pthread_mutex_unlock(&pool_mutex));
    return parker;
}

static struct fs_parker *make_parker(void)
{
    struct fs_parker *parker = malloc(sizeof *parker);

    if (parker == NULL)
        return NULL;
    if (!parker_init(parker)) {
        free(parker);
        return NULL;
    }
    FS_MUST(pthread_mutex_lock(&pool_mutex));
    parker->next_made = made;
    made = parker;
    FS_MUST(pthread_mutex_unlock(&pool_mutex));
    return parker;
}

struct fs_parker *fs_parker_self(void)
{
    struct fs_parker *parker;

    FS_MUST(pthread_once(&once, initialise));
    if (!key_usable)
        return NULL;
    parker = pthread_getspecific(key);
    if (parker != NULL)
        return parker;
    parker = take_from_pool();
    if (parker == NULL)
        parker = make_parker();
    if (parker != NULL && pthread_setspecific(key, parker) != 0) {
        return_to_pool(parker);
        parker = NULL;
    }
    return parker;
}

/* With the mutex held: at the end of a park, and when it is cancelled. */
static void wake_up(void *arg)
{
    struct fs_parker *self = arg;

    self->asleep_on = NULL;
    FS_MUST(pthread_mutex_unlock(&self->mutex));
}

static void nap(void)
{
    const struct timespec ts = { .tv_nsec = NAP_NS };
    int cancelable;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    nanosleep(&ts, NULL);
    pthread_setcancelstate(cancelable, NULL);
}

static void sleep_on_own_cond(struct fs_parker *self, const struct fs_deadline *deadline)
{
    FS_MUST(pthread_mutex_lock(&self->mutex));
    self->asleep_on = deadline != NULL && deadline->clock == CLOCK_REALTIME
                          ? &self->realtime : &self->monotonic;
    pthread_cleanup_push(wake_up, self);
    if (!self->token) {
        if (deadline == NULL)
            pthread_cond_wait(self->asleep_on, &self->mutex);
        else
            pthread_cond_timedwait(self->asleep_on, &self->mutex, &deadline->at);
    }
    self->token = false;
    pthread_cleanup_pop(1);
}

void fs_park(struct fs_parker *self, const struct fs_deadline *deadline)
{
    if (self != NULL) {
        sleep_on_own_cond(self, deadline);
    } else {
        /* Canceled after the nap, not in it: ThreadSanitizer loses track of a thread that
         * never returns from a sleep. */
        nap();
        pthread_testcancel();
    }
}

void fs_unpark(struct fs_parker *parker)
{
    pthread_cond_t *asleep_on;

    FS_MUST(pthread_mutex_lock(&parker->mutex));
    parker->token = true;
    asleep_on = parker->asleep_on;
    FS_MUST(pthread_mutex_unlock(&parker->mutex));
    /*
     * After the unlock, or the woken thread would run into the mutex: half the speed of a
     * hand-off on one core.  The condition variable cannot have died, see park.h.
     */
    if (asleep_on != NULL)
        pthread_cond_signal(asleep_on);
}
