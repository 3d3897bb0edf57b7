/* SPDX-License-Identifier: MIT */
/*
 * park_cond.c - parking on POSIX condition variables; see parking.h.
 *
 * No parker is ever freed (parking.h says why), not even in a forked child or at the end of the process.
 *
 * The clock of a condition variable is fixed, so each parker has two condition variables, one for each clock.
 * (pthread_cond_clockwait() does not exist everywhere, and tools that fake the time do not know it.)
 *
 * Lock order: a thread that holds a parker's mutex or the pool's mutex locks no other mutex.
 */
#include "tools/cleanup.h"            /* before <pthread.h> */
#include "system/parking.h"

#include "system/cond_clock.h"
#include "system/fork.h"
#include "tools/compiler.h"
#include "tools/invariant.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !defined(FS_INSTRUMENTED)
#define FS_GLIBC 1
#else
#define FS_GLIBC 0
#endif

#define SHORT_SLEEP_NS 1000000          /* one sleep of a thread without a parker */

struct fs_cond_parker {
    struct fs_parker       queue;           /* must be first; the part for wake queues */
    _Atomic unsigned       state;           /* ASLEEP, PERMIT and WAKER */
    pthread_mutex_t        mutex;
    pthread_cond_t         monotonic, realtime;
    pthread_cond_t        *asleep_on;       /* under `mutex`; NULL while awake */
    struct fs_cond_parker *next_in_pool;    /* under the pool's mutex */
    struct fs_cond_parker *next_made;       /* r/o once in the list `made` */
};

/*
 * The state of a parker has two bits, and above them a number of wakers.
 *
 *  - ASLEEP: the parker's thread sleeps.  The thread sets and clears the bit, with the mutex held.
 *  - PERMIT: the thread was woken while ASLEEP was clear, so the next park does not sleep.
 *  - WAKER: added once for each waker that has found ASLEEP set and may still use the mutex.  A waker that
 *    finds ASLEEP clear does not lock the mutex.
 *
 * All changes are read-modify-writes, so they have one order.  Release and acquire order: a thread that finds
 * a waker's change of the state also finds the waker's earlier change of the word (parking.h).
 * unlock_alone() may be a plain store to the mutex.  A waker locks the mutex only after it has found ASLEEP,
 * which the thread has set after that store, so the waker sees the store.
 */
#define ASLEEP 1u
#define PERMIT 2u
#define WAKER  4u

/* ---- The parkers ---- */

static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fs_cond_parker *pool; /* under pool_mutex: parkers of threads that have ended */
static struct fs_cond_parker *_Atomic made; /* all parkers; grows at the head only */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t  key;          /* r/o after `once`: the thread's parker */
static _Atomic int    key_usable;   /* set under `once`; cleared by unload().  (An int, because not every
                                     * machine has an atomic exchange of bytes.) */

static bool parker_init(struct fs_cond_parker *parker)
{
    bool done = false;

    if (pthread_mutex_init(&parker->mutex, NULL) == 0) {
        if (fs_cond_init(&parker->monotonic, CLOCK_MONOTONIC)) {
            if (fs_cond_init(&parker->realtime, CLOCK_REALTIME))
                done = true;
            else
                pthread_cond_destroy(&parker->monotonic);
        }
        if (!done)
            pthread_mutex_destroy(&parker->mutex);
    }
    parker->asleep_on = NULL;
    parker->state = 0;
    parker->queue.queued = false;
    return done;
}

/* Put a parker into the pool, for a later thread.  Called when the parker's thread ends, or set_key() fails. */
static void return_to_pool(void *arg)
{
    struct fs_cond_parker *parker = arg;

    FS_MUST(pthread_mutex_lock(&pool_mutex));
    parker->next_in_pool = pool;
    pool = parker;
    FS_MUST(pthread_mutex_unlock(&pool_mutex));
}

/*
 * The forking thread keeps its own parker, because it may have forked in a callback or a handler within a
 * wait.  All other parkers are free.  All parkers are initialized again, because a waker in the parent may
 * have held the mutex of any parker during the fork.
 */
static void parkers_reset_in_child(void)
{
    const struct fs_cond_parker *own = key_usable ? pthread_getspecific(key) : NULL;

    pool_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool = NULL;
    for (struct fs_cond_parker *p = made; p != NULL; p = p->next_made) {
        if (!parker_init(p)) {
            if (p == own)
                pthread_setspecific(key, NULL);     /* a later wait gets another parker */
        } else if (p == own) {
            p->queue.thread = fs_thread_id();
        } else {
            p->next_in_pool = pool;
            pool = p;
        }
    }
}

FS_WHEN_LOADED static void parkers_register_hook(void)
{
    static struct fs_fork_hook hook = { .in_child = parkers_reset_in_child };

    fs_fork_register(&hook);
}

static void parkers_initialize(void)
{
    parkers_register_hook();    /* no change if the hook is registered already */
    key_usable = pthread_key_create(&key, return_to_pool) == 0;
}

#if defined(__GNUC__)
static void no_key(void)
{
}

#if defined(FS_WEAK)
/* A function of LeakSanitizer; its address is NULL if the program does not contain it. */
void __lsan_ignore_object(const void *block) FS_WEAK;
#endif

/*
 * Runs in two cases.  First, a plugin that contains libfairsem.a is closed, so this code is being unloaded.
 * Threads that have waited live on, and must not call the key's destructor when they end.  Second, the process
 * ends, while other threads may wait and release.  A wait that has begun keeps its parker, which still works; a
 * thread that begins a wait from now on polls: see fs_park_on_cond().
 *
 * The function cannot tell the two cases apart.  So the parkers are not freed, and a plugin leaks about
 * 200 bytes for each parker.
 */
__attribute__((destructor)) static void unload(void)
{
    FS_MUST(pthread_once(&once, no_key));
    if (atomic_exchange(&key_usable, 0))
        pthread_key_delete(key);
#if defined(FS_WEAK)
    if (__lsan_ignore_object != NULL) {
        for (const struct fs_cond_parker *p = made; p != NULL; p = p->next_made)
            __lsan_ignore_object(p);
    }
#endif
}
#endif

/*
 * Returns false if this thread cannot keep the parker.
 *
 * After the caller has loaded key_usable, unload() may have deleted the key, and other code may have created a
 * key with the same number.  In that case this thread's value must be NULL again before the thread ends:
 * otherwise the other code's destructor would get the parker.
 */
static bool set_key(struct fs_cond_parker *parker)
{
    if (pthread_setspecific(key, parker) != 0)
        return false;
    if (atomic_load(&key_usable))
        return true;
    pthread_setspecific(key, NULL);
    return false;
}

static struct fs_cond_parker *take_from_pool(void)
{
    struct fs_cond_parker *parker;

    FS_MUST(pthread_mutex_lock(&pool_mutex));
    parker = pool;
    if (parker != NULL)
        pool = parker->next_in_pool;
    FS_MUST(pthread_mutex_unlock(&pool_mutex));
    return parker;
}

static struct fs_cond_parker *make_parker(void)
{
    struct fs_cond_parker *parker = malloc(sizeof *parker);

    if (parker == NULL)
        return NULL;
    if (!parker_init(parker)) {
        free(parker);
        return NULL;
    }
    /* Link the parker before it is published: a fork may copy the list at any moment. */
    parker->next_made = made;
    while (!atomic_compare_exchange_weak(&made, &parker->next_made, parker))
        continue;
    return parker;
}

/* Hold the parker's mutex: otherwise DRD reports a race with the former thread of the parker. */
static void belongs_to_this_thread(struct fs_cond_parker *parker)
{
    FS_MUST(pthread_mutex_lock(&parker->mutex));
    parker->queue.thread = fs_thread_id();
    FS_MUST(pthread_mutex_unlock(&parker->mutex));
}

struct fs_parker *fs_parker_self(void)
{
    struct fs_cond_parker *parker;
    int error = errno;          /* malloc may change errno, also in pthread_setspecific */

    if (!key_usable)            /* in the first wait of the process, or while the process ends */
        FS_MUST(pthread_once(&once, parkers_initialize));
    if (!key_usable)
        return NULL;
    parker = pthread_getspecific(key);
    if (parker != NULL)
        return &parker->queue;
    parker = take_from_pool();
    if (parker == NULL)
        parker = make_parker();
    if (parker != NULL && !set_key(parker)) {
        return_to_pool(parker);
        parker = NULL;
    }
    if (parker != NULL)
        belongs_to_this_thread(parker);
    errno = error;
    return (struct fs_parker *)parker;
}

/* ---- Sleeping, and waking one ---- */

/* Note a wake.  Returns the previous state.  If ASLEEP was set, this thread now counts as a waker. */
static unsigned note_wake(struct fs_cond_parker *p)
{
    unsigned before = atomic_load_explicit(&p->state, memory_order_relaxed), after;

    do
        after = (before & ASLEEP) != 0 ? before + WAKER : before | PERMIT;
    while (!atomic_compare_exchange_weak_explicit(&p->state, &before, after, memory_order_acq_rel,
                                                  memory_order_relaxed));
    return before;
}

/* The last store has release order: see fs_wake_queue_add_parker(). */
void fs_unpark(struct fs_parker *parker, bool leaves_queue)
{
    struct fs_cond_parker *p = (struct fs_cond_parker *)parker;

    if ((note_wake(p) & ASLEEP) != 0) {
        pthread_cond_t *asleep_on;

        FS_MUST(pthread_mutex_lock(&p->mutex));
        asleep_on = p->asleep_on;
        FS_MUST(pthread_mutex_unlock(&p->mutex));
        atomic_fetch_sub_explicit(&p->state, WAKER, memory_order_release);
        /*
         * Signal after the unlock: otherwise the woken thread blocks on the mutex, which halves the speed of a
         * hand-off on one core.  The condition variable still exists: no parker is ever freed.
         */
        if (asleep_on != NULL)
            pthread_cond_signal(asleep_on);
    }
    if (leaves_queue)
        atomic_store_explicit(&parker->queued, false, memory_order_release);
}

/*
 * Unlock a mutex that no other thread uses during the unlock.
 *
 * pthread_cond_wait() of glibc always marks the mutex as contended.  So an unlock would call the kernel, which
 * would search all sleepers in a bucket of its hash table, without success.  Initializing the mutex again
 * saves that call.  But a tool that instruments mutexes must see an unlock.
 */
static void unlock_alone(pthread_mutex_t *mutex)
{
#if defined(FS_MAKE_ANEW)           /* the explorer also checks that no other thread uses the mutex */
    FS_MAKE_ANEW(mutex);
#else
    if (FS_GLIBC && !fs_instrumented)
        *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    else
        FS_MUST(pthread_mutex_unlock(mutex));
#endif
}

/* End a park that returns or is canceled.  The mutex is held. */
FS_REALIGN_STACK static void wake_up(void *arg)
{
    struct fs_cond_parker *self = arg;
    bool is_marked = self->asleep_on != NULL;
    unsigned before;

    self->asleep_on = NULL;
    before = atomic_fetch_and_explicit(&self->state, ~(ASLEEP | PERMIT), memory_order_acq_rel);
    if (before >= WAKER || !is_marked)
        FS_MUST(pthread_mutex_unlock(&self->mutex));
    else
        unlock_alone(&self->mutex);
}

static void sleep_on_own_cond(struct fs_cond_parker *self, const struct fs_deadline *deadline)
{
    FS_MUST(pthread_mutex_lock(&self->mutex));
    pthread_cleanup_push(wake_up, self);
    if ((atomic_fetch_or_explicit(&self->state, ASLEEP, memory_order_acq_rel) & PERMIT) == 0) {
        self->asleep_on = deadline != NULL && deadline->clock == CLOCK_REALTIME
                              ? &self->realtime : &self->monotonic;
        if (deadline == NULL)
            pthread_cond_wait(self->asleep_on, &self->mutex);
        else
            fs_cond_sleep_until(self->asleep_on, &self->mutex, deadline);
    }
    pthread_cleanup_pop(1);
}

void fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline)
{
    if (self != NULL) {
        sleep_on_own_cond((struct fs_cond_parker *)self, deadline);
    } else {
        /* Cancel only after the sleep: ThreadSanitizer loses track of a thread that is canceled in a sleep. */
        fs_sleep_shortly(SHORT_SLEEP_NS);
        pthread_testcancel();
    }
}
