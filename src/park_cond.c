/* SPDX-License-Identifier: MIT */
/*
 * park_cond.c - parking on POSIX condition variables.
 *
 * A condition variable has one clock, fixed when it is made; each parker therefore has
 * two, and a sleeper says which one it sleeps on.  (pthread_cond_clockwait would do with
 * one, but is not everywhere, and tools that fake the time do not know it.)
 *
 * A parker that has been noted (fs_wake_later) is on its waker's chain until that one comes
 * by.  Its thread may have noticed the reason before, gone on, and wait for something else;
 * whoever wants to wake it then finds it on a chain, leaves it there, and wakes it once more.
 * So no thread depends on a waker that is held up, least of all on one that only alerted it.
 *
 * Locks: a parker's mutex and the pool's are leaves.
 */
#include "park.h"

#include "invariant.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#define NAP_NS 1000000          /* without a parker: how long a waiter sleeps between looks */

struct fs_parker {
    pthread_mutex_t   mutex;
    pthread_cond_t    monotonic, realtime;
    pthread_cond_t   *asleep_on;    /* under mutex; NULL: awake */
    bool              token;        /* under mutex; woken since the last park */
    _Atomic bool      chained;      /* set by the waker; cleared under mutex, when woken */
    struct fs_parker *next_wake;    /* the waker's, while chained */
    struct fs_parker *next_in_pool; /* under pool_mutex */
    struct fs_parker *next_made;    /* r/o once in the list */
};

static pthread_mutex_t   pool_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fs_parker *pool;      /* under pool_mutex: parkers of threads that ended */
static struct fs_parker *_Atomic made; /* every parker there is; grows at the head only */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t  key;          /* r/o after once: the thread's parker */
static _Atomic bool   key_usable;   /* set by once; cleared when the library is unloaded */

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
    parker->chained = false;
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

/*
 * Only this thread exists now, so every parker is free: those of the parent's other threads
 * and this one's own, which somebody may have been waking, its mutex locked, when the
 * process was copied.  All are made anew.
 */
void fs_parkers_in_child(void)
{
    pool_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool = NULL;
    for (struct fs_parker *p = made; p != NULL; p = p->next_made) {
        if (parker_init(p)) {
            p->next_in_pool = pool;
            pool = p;
        }
    }
    if (key_usable)
        pthread_setspecific(key, NULL);
}

static void initialize(void)
{
    key_usable = pthread_key_create(&key, return_to_pool) == 0;
}

#if defined(__GNUC__)
static void no_key(void)
{
}

/* Of LeakSanitizer, where a program has it. */
void __lsan_ignore_object(const void *block) __attribute__((weak));

/*
 * Our code goes away: libfairsem.a was in a plugin that is closed.  Threads that have waited
 * live on, and at their end the key must not lead into nowhere.
 *
 * The same happens at the end of the process, while other threads wait and release.  They have
 * what they need to be woken; who begins a wait from now on polls, see fs_park().  Because
 * nothing tells the one from the other, the parkers are not freed: some 200 bytes for each are
 * lost with a plugin.
 */
__attribute__((destructor)) static void unload(void)
{
    FS_MUST(pthread_once(&once, no_key));
    if (atomic_exchange(&key_usable, false))
        pthread_key_delete(key);
    if (__lsan_ignore_object != NULL) {
        for (const struct fs_parker *p = made; p != NULL; p = p->next_made)
            __lsan_ignore_object(p);
    }
}
#endif

/*
 * Between the two looks the key may have been deleted, and made again by somebody else: it
 * is theirs then, and what we have set must be gone before this thread ends.
 */
static bool keep(struct fs_parker *parker)
{
    if (pthread_setspecific(key, parker) != 0)
        return false;
    if (atomic_load(&key_usable))
        return true;
    pthread_setspecific(key, NULL);
    return false;
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
    /* Linked before it is published: a fork may copy the list at any moment. */
    parker->next_made = made;
    while (!atomic_compare_exchange_weak(&made, &parker->next_made, parker))
        continue;
    return parker;
}

struct fs_parker *fs_parker_self(void)
{
    struct fs_parker *parker;
    int error = errno;          /* malloc's is not for our caller, here or in setspecific */

    FS_MUST(pthread_once(&once, initialize));
    if (!key_usable)
        return NULL;
    parker = pthread_getspecific(key);
    if (parker != NULL)
        return parker;
    parker = take_from_pool();
    if (parker == NULL)
        parker = make_parker();
    if (parker != NULL && !keep(parker)) {
        return_to_pool(parker);
        parker = NULL;
    }
    errno = error;
    return parker;
}

/* With the mutex held: at the end of a park, and when it is canceled. */
static void wake_up(void *arg)
{
    struct fs_parker *self = arg;

    self->asleep_on = NULL;
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

static void wake(struct fs_parker *parker, bool off_chain)
{
    pthread_cond_t *asleep_on;

    FS_MUST(pthread_mutex_lock(&parker->mutex));
    parker->token = true;
    asleep_on = parker->asleep_on;
    if (off_chain)
        atomic_store_explicit(&parker->chained, false, memory_order_release);
    FS_MUST(pthread_mutex_unlock(&parker->mutex));
    /*
     * After the unlock, or the woken thread would run into the mutex: half the speed of a
     * hand-off on one core.  The condition variable cannot have died, see park.h.
     */
    if (asleep_on != NULL)
        pthread_cond_signal(asleep_on);
}

/* They stay on the other waker's chain. */
static void wake_agains(struct fs_wakes *wakes)
{
    for (int i = 0; i < wakes->agains; i++)
        wake(wakes->again[i], false);
    wakes->agains = 0;
}

/* The caller makes this visible to the thread together with what ends its wait. */
void fs_wake_later(struct fs_wakes *wakes, struct fs_parker *parker)
{
    /* Acquire order: whose chain it was has read next_wake before. */
    if (atomic_load_explicit(&parker->chained, memory_order_acquire)) {
        if (wakes->agains == (int)(sizeof wakes->again / sizeof wakes->again[0]))
            wake_agains(wakes);
        wakes->again[wakes->agains++] = parker;
        return;
    }
    atomic_store_explicit(&parker->chained, true, memory_order_relaxed);
    parker->next_wake = NULL;
    if (wakes->last != NULL)
        wakes->last->next_wake = parker;
    else
        wakes->first = parker;
    wakes->last = parker;
}

static void wake_words(struct fs_wakes *wakes)
{
    for (int i = 0; i < wakes->words; i++)
        fs_futex_wake(wakes->word[i]);
    wakes->words = 0;
}

void fs_wake_word_later(struct fs_wakes *wakes, const _Atomic int *word)
{
    if (wakes->words == (int)(sizeof wakes->word / sizeof wakes->word[0]))
        wake_words(wakes);
    wakes->word[wakes->words++] = word;
}

void fs_wake_all(struct fs_wakes *wakes)
{
    struct fs_parker *parker = wakes->first, *next;

    wake_words(wakes);
    wake_agains(wakes);
    for (; parker != NULL; parker = next) {
        next = parker->next_wake;
        wake(parker, true);
    }
    wakes->first = wakes->last = NULL;
}
