/* SPDX-License-Identifier: MIT */
/*
 * threads.c - POSIX threads as far as the library uses them: mutexes, condition variables,
 * cancellation.
 *
 * The memory of a mutex has an int: 0, or 1 + the number of the mutex's owner, or MUTEX_DEAD.  A condition
 * variable has no state: struct thread records the condition variable on which a thread waits.
 */
#include "views.h"

#include <string.h>

/* Memory has changed: a nap may end. */
void thread_change(void)
{
    for (int i = 0; i < threads_count; i++) {
        if (&thread[i] != self)
            thread[i].restless = false;
    }
}

/* ---- Mutexes ---- */

static int *owner(pthread_mutex_t *mutex)
{
    oracle_touch(mutex, sizeof(int), false);
    return (int *)(void *)mutex;
}

/* Record that a mutex or a condition variable is made, used or destroyed. */
static void touched(const void *object, enum access kind, const void *pc)
{
    if (views_on())
        races_access(object, sizeof(int), kind, pc);
}

int my_number(void)
{
    return self != NULL ? id_of(self) + 1 : THREADS + 1;
}

int xp_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    (void)attr;
    touched(mutex, PLAIN_WRITE, CALLER);
    *(int *)(void *)mutex = 0;
    return 0;
}

int xp_mutex_destroy(pthread_mutex_t *mutex)
{
    step("destroys", mutex, CALLER);
    if (*owner(mutex) != 0 && *owner(mutex) != MUTEX_DEAD)
        return EBUSY;
    touched(mutex, PLAIN_WRITE, CALLER);
    *owner(mutex) = MUTEX_DEAD;
    return 0;
}

static void take_mutex(pthread_mutex_t *mutex, const void *pc)
{
    if (*owner(mutex) == MUTEX_DEAD)
        fail("lifetime", "a mutex is locked that was destroyed: %s", object_words(mutex));
    if (*owner(mutex) != 0)
        fail("explorer", "a mutex is taken that is not free: %s", object_words(mutex));
    touched(mutex, ATOMIC_WRITE, pc);
    if (views_on())
        views_acquire(mutex);
    *owner(mutex) = my_number();
    if (self != NULL)
        self->mutexes++;
    thread_change();
}

/* A destroyed mutex does not block a thread, so that take_mutex() can report the error. */
static void want_mutex(pthread_mutex_t *mutex, const char *doing, const void *pc)
{
    if (self == NULL)
        return;
    if (*owner(mutex) == my_number())
        fail("deadlock", "T%d locks a mutex that it has: %s", id_of(self), object_words(mutex));
    stop(*owner(mutex) == MUTEX_DEAD ? READY : WANTS_MUTEX, doing, mutex, pc);
}

int xp_mutex_lock(pthread_mutex_t *mutex)
{
    want_mutex(mutex, "locks", CALLER);
    take_mutex(mutex, CALLER);
    return 0;
}

static void drop_mutex(pthread_mutex_t *mutex, const void *pc)
{
    if (*owner(mutex) != my_number())
        fail("locks", "a mutex is unlocked by a thread that does not have it: %s",
             object_words(mutex));
    touched(mutex, ATOMIC_WRITE, pc);
    if (views_on())
        views_release(mutex);
    *owner(mutex) = 0;
    if (self != NULL)
        self->mutexes--;
    thread_change();
}

int xp_mutex_unlock(pthread_mutex_t *mutex)
{
    step("unlocks", mutex, CALLER);
    drop_mutex(mutex, CALLER);
    return 0;
}

/* Initialize a locked mutex again.  No other thread may wait for it. */
void xp_make_anew(pthread_mutex_t *mutex)
{
    step("makes anew", mutex, CALLER);
    for (int i = 0; i < THREADS; i++) {
        if (thread[i].at == WANTS_MUTEX && thread[i].object == mutex)
            fail("locks", "a mutex is made anew that T%d wants: %s", i, object_words(mutex));
    }
    touched(mutex, PLAIN_WRITE, CALLER);
    drop_mutex(mutex, CALLER);
}

/* ---- Cancellation ---- */

/* The thread of a scenario with `!` may be canceled at any point: both answers are tried. */
bool cancel_strikes(void)
{
    struct thread *t = self;

    if (t == NULL || t->cancel_disabled || t->canceled)
        return false;
    if (!t->cancel_pending && (!t->cancelable || choose(2) == 0))
        return false;
    t->canceled = true;
    trace("  ... and is canceled\n");
    return true;
}

void xp_testcancel(void)
{
    if (cancel_strikes())
        act_on_cancel();
}

/* ---- Condition variables ---- */

int xp_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    (void)attr;
    touched(cond, PLAIN_WRITE, CALLER);
    memset(cond, 0, sizeof *cond);
    return 0;
}

int xp_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

static int sleep_on_cond(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline,
                         const void *pc)
{
    enum reason reason;

    xp_testcancel();
    drop_mutex(mutex, pc);
    touched(cond, ATOMIC_WRITE, pc);
    self->deadline = deadline;
    stop(SLEEPS_ON_COND, "sleeps on", cond, pc);
    reason = self->reason;
    clock_after_sleep(reason);
    if (*owner(mutex) != 0)
        want_mutex(mutex, "locks again", pc);
    take_mutex(mutex, pc);
    if (reason == PTHREAD_CANCEL)
        act_on_cancel();
    return reason == TIME_OUT ? ETIMEDOUT : 0;
}

int xp_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return sleep_on_cond(cond, mutex, 0, CALLER);
}

int xp_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at)
{
    return sleep_on_cond(cond, mutex, (int64_t)at->tv_sec * 1000000000 + at->tv_nsec, CALLER);
}

static int sleepers_on(enum at at, const void *object, struct thread *sleeper[])
{
    int n = 0;

    for (int i = 0; i < threads_count; i++) {
        if (thread[i].at == at && thread[i].object == object && !thread[i].woken)
            sleeper[n++] = &thread[i];
    }
    return n;
}

/* Wake one of the sleepers: each of them is tried. */
void wake_one(enum at at, const void *object)
{
    struct thread *sleeper[THREADS];
    int n = sleepers_on(at, object, sleeper);

    if (n > 0) {
        struct thread *woken = sleeper[choose(n)];

        woken->woken = true;
        if (at == SLEEPS_ON_WORD && views_on())
            views_join_thread(self, woken);
    }
    thread_change();
}

int xp_cond_signal(pthread_cond_t *cond)
{
    oracle_touch(cond, sizeof(int), false);
    step("signals", cond, CALLER);
    touched(cond, ATOMIC_WRITE, CALLER);
    wake_one(SLEEPS_ON_COND, cond);
    return 0;
}

int xp_cond_broadcast(pthread_cond_t *cond)
{
    struct thread *sleeper[THREADS];
    int n;

    step("broadcasts", cond, CALLER);
    touched(cond, ATOMIC_WRITE, CALLER);
    n = sleepers_on(SLEEPS_ON_COND, cond, sleeper);
    for (int i = 0; i < n; i++)
        sleeper[i]->woken = true;
    thread_change();
    return 0;
}

void threads_reset(void)
{
    memset(thread, 0, sizeof thread);
}
