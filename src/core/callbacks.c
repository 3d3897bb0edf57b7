/* SPDX-License-Identifier: MIT */
/*
 * callbacks.c - callbacks of tickets, run when no lock is held.
 *
 * A callback becomes pending in a critical section, together with its ticket's new state.  After the section
 * the same thread calls the pending callbacks one by one:
 *
 *      pending: in a queue --> running: a caller has the ticket's number --> done
 *        |                       |
 *        |                       +-- wait for: another thread waits until it is done
 *        +-- cancel: never called
 *
 * While a callback is pending, the semaphore's mutex is free, and the user may claim, return, take again or
 * free the ticket.  So another mutex, one for the whole process, protects the queues of pending callbacks.
 * This mutex is held for a few stores, and only if a ticket has a callback.
 *
 *  C1  A callback is pending only while its ticket is GRANTED, ENDED or CLOSED, with or without BUSY.  (A
 *      claim or a return cancels the callback before the ticket becomes NOT_QUEUED.)  So when a ticket
 *      is taken again, no callback of its earlier requests is pending.
 *  C2  A thread has one queue, and its callbacks never nest: a callback that becomes pending in another
 *      callback is appended to the queue, and called when the running callback has returned.  So any
 *      number of tickets whose callbacks grant each other need the stack of one callback.
 *  C3  Once a callback has begun, the calling thread does not touch the ticket: the ticket may have been
 *      freed, and its memory used again.  So a running callback is known by the number of its ticket
 *      (callbacks.h), not by an address.
 *  C4  While a ticket is being returned, its own callback cannot take the ticket again.  Otherwise the
 *      callback could enqueue the ticket, and the return, which waits for the callback, would end with
 *      a ticket in the queue.  (Linux has the same rule for work in cancel_work_sync().)
 */
#include "callbacks.h"

#include "system/deadline.h"
#include "system/fork.h"
#include "system/mutex.h"
#include "tools/annotate_valgrind.h"
#include "tools/compiler.h"
#include "tools/invariant.h"

/* Sleeps of a thread that waits for the end of a callback: each is twice as long as the one before. */
#define SHORTEST_SLEEP_NS 10000
#define LONGEST_SLEEP_NS  1000000

/* A thread that calls callbacks; the struct is on its stack. */
struct caller {
    struct fs_list pending;         /* under mutex */
    pthread_t      thread;      /* r/o */
    uint64_t       running;     /* under mutex: the number of the running callback; 0: none */
    uint64_t       waits_for;   /* under mutex: the number that this thread waits for; 0: none */
    bool           reached;     /* under mutex: scratch of waits_for_me() */
    struct caller *next;        /* under mutex */
    int            cancelable;  /* owner only: the thread's cancelability before the callbacks */
};

static pthread_mutex_t callbacks_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct caller  *callers;     /* under mutex */
static struct fs_return *returns;   /* under mutex: returns of tickets that are in progress */

static void callbacks_lock(void)
{
    FS_MUST(pthread_mutex_lock(&callbacks_mutex));
}

static void callbacks_unlock(void)
{
    FS_MUST(pthread_mutex_unlock(&callbacks_mutex));
}

/* Returns this thread's entry, or NULL if the thread is in no callback.  Mutex held. */
static struct caller *myself(void)
{
    struct caller *at = callers;

    while (at != NULL && !pthread_equal(at->thread, pthread_self()))
        at = at->next;
    return at;
}

/* Remove the returns of other threads, which do not exist in the child. */
static void reset_returns(void)
{
    struct fs_return **at = &returns;

    while (*at != NULL) {
        if (pthread_equal((*at)->thread, pthread_self()))
            at = &(*at)->next;
        else
            *at = (*at)->next;
    }
}

/*
 * In the child, a callback that this thread is in goes on.  Pending callbacks run in the parent: the fork may
 * have copied the queue half changed, so the child empties it.
 */
static void callbacks_reset_in_child(void)
{
    struct caller *self;

    fs_mutex_init(&callbacks_mutex);
    self = myself();
    callers = self;
    reset_returns();
    if (self != NULL) {
        self->next = NULL;
        fs_list_init(&self->pending);
    }
}

FS_WHEN_LOADED static void callbacks_initialize(void)
{
    static struct fs_fork_hook hook = { .in_child = callbacks_reset_in_child };

    fs_mutex_init(&callbacks_mutex);
    fs_fork_register(&hook);
}

/*
 * Every user of callbacks calls this function first.  So it can initialize this file where the compiler has
 * no constructors.
 */
uint64_t fs_callbacks_number(void)
{
    static _Atomic uint64_t last;

#if !defined(__GNUC__)
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    FS_MUST(pthread_once(&once, callbacks_initialize));
#endif
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

/* ---- Pending ---- */

void fs_callbacks_add(struct fs_callbacks *callbacks, struct fs_callback *callback)
{
    if (!callbacks->any)
        fs_list_init(&callbacks->pending);
    callbacks->any = true;
    callbacks_lock();
    fs_list_append(&callbacks->pending, &callback->in_pending);
    callback->waiter.in_queue.pending = true;
    callbacks_unlock();
}

/* Mutex held. */
static void remove_from_queue(struct fs_callback *callback)
{
    fs_list_remove(&callback->in_pending);
    callback->waiter.in_queue.pending = false;
}

/*
 * `state` includes BUSY, set by the caller or by another thread.  So if the ticket is in `state` under the
 * mutex, the pending callback belongs to the request that is being claimed or returned (C1), not to a later
 * request.
 */
void fs_callbacks_cancel(struct fs_callback *callback, int state)
{
    callbacks_lock();
    if (callback->waiter.in_queue.pending
        && fs_waiter_state(&callback->waiter) == state)
        remove_from_queue(callback);
    callbacks_unlock();
}

/* ---- Running ---- */

struct call {
    fairsem_notify_fn *notify;
    fairsem_ticket_t  *ticket;
    void              *arg;
};

/*
 * Make the next pending callback the running one.  If there is none, take the thread off the list of
 * callers, and return false.
 */
static bool begin_next(struct caller *self, struct call *call)
{
    struct caller **at = &callers;
    struct fs_callback *next;
    bool any;

    callbacks_lock();
    any = !fs_list_empty(&self->pending);
    if (any) {
        next = (struct fs_callback *)(void *)self->pending.next;
        remove_from_queue(next);
        *call = (struct call){ next->notify, (fairsem_ticket_t *)(void *)next, next->arg };
        self->running = atomic_load_explicit(&next->number, memory_order_relaxed);
    } else {
        while (*at != self)
            at = &(*at)->next;
        *at = self->next;
    }
    callbacks_unlock();
    return any;
}

static void has_ended(struct caller *self)
{
    callbacks_lock();
    self->running = 0;
    callbacks_unlock();
}

static void go_on_without(void *self);

static void make_call(const struct call *call)
{
    struct fs_ignored ignored;

    if (fs_under_valgrind)
        fs_heed_all(&ignored);
    call->notify(call->ticket, call->arg);
    if (fs_under_valgrind)
        fs_ignore_again(&ignored);
}

static void make_calls(struct caller *self)
{
    struct call call;

    pthread_cleanup_push(go_on_without, self);
    while (begin_next(self, &call)) {
        make_call(&call);
        has_ended(self);
    }
    pthread_cleanup_pop(0);
}

/*
 * A C++ exception has left a callback.  Call the remaining callbacks first, because no other thread would.
 * Then the exception goes on to the caller of the library.  (This needs -fexceptions.)
 */
FS_REALIGN_STACK static void go_on_without(void *arg)
{
    struct caller *self = arg;
    int disabled;

    has_ended(self);
    make_calls(self);
    pthread_setcancelstate(self->cancelable, &disabled);
}

void fs_callbacks_run(struct fs_callbacks *callbacks)
{
    struct caller self = { .thread = pthread_self() }, *outer;
    int disabled;

    callbacks_lock();
    outer = myself();
    if (outer != NULL) {
        fs_list_move_all(&outer->pending, &callbacks->pending);
    } else {
        fs_list_init(&self.pending);
        fs_list_move_all(&self.pending, &callbacks->pending);
        self.next = callers;
        callers = &self;
    }
    callbacks_unlock();
    if (outer != NULL)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &self.cancelable);
    make_calls(&self);
    pthread_setcancelstate(self.cancelable, &disabled);
}

/* ---- Waited for ---- */

/*
 * Does `who` wait, directly or through other threads, for the callback that `self` is in?  If so, the
 * callback of `who` cannot end before the callback of `self`.  Mutex held.
 *
 * Each thread is visited once.  A thread that waits for the number of its own callback does not wait for itself
 * (`to == from`): another thread is in a callback of the same ticket, with the same number.
 */
static bool waits_for_me(const struct caller *who, const struct caller *self)
{
    bool more = true;

    for (struct caller *at = callers; at != NULL; at = at->next)
        at->reached = at == who;
    while (more) {
        more = false;
        for (struct caller *from = callers; from != NULL; from = from->next) {
            for (struct caller *to = callers; to != NULL; to = to->next) {
                if (!from->reached || from->waits_for == 0 || to->running != from->waits_for
                    || to == from || to->reached)
                    continue;
                if (to == self)
                    return true;
                to->reached = more = true;
            }
        }
    }
    return false;
}

/*
 * Is another thread in a callback with this number?  A callback that waits for the callback of `self` does
 * not count: the waiting callback cannot end first.  self: NULL if this thread is in no callback.  Mutex held.
 */
static bool callback_must_wait(uint64_t number, const struct caller *self)
{
    for (struct caller *at = callers; at != NULL; at = at->next) {
        if (at->running == number && at != self && (self == NULL || !waits_for_me(at, self)))
            return true;
    }
    return false;
}

/*
 * Wait until no other thread is in a callback with this number.  Mutex held, except in the sleeps.
 *
 * Such a wait is rare, so the thread polls.  A condition variable has two faults: pthread_cond_wait() is a
 * cancellation point even with cancellation disabled (see fs_sleep_shortly()); and if a signal handler forks
 * during the wait, no thread of the child wakes the child's copy of the wait.
 */
static void wait_until_done(uint64_t number)
{
    struct caller *self = myself();
    int64_t sleep_ns = SHORTEST_SLEEP_NS;

    while (callback_must_wait(number, self)) {
        if (self != NULL)
            self->waits_for = number;
        callbacks_unlock();
        fs_sleep_shortly(sleep_ns);
        callbacks_lock();
        if (sleep_ns < LONGEST_SLEEP_NS)
            sleep_ns *= 2;
    }
    if (self != NULL)
        self->waits_for = 0;
}

void fs_callbacks_wait_for(uint64_t number)
{
    callbacks_lock();
    wait_until_done(number);
    callbacks_unlock();
}

/* ---- Tickets that are being returned (C4) ---- */

void fs_callbacks_begin_return(struct fs_return *call)
{
    call->thread = pthread_self();
    callbacks_lock();
    call->next = returns;
    returns = call;
    callbacks_unlock();
}

void fs_callbacks_end_return(struct fs_return *call)
{
    struct fs_return **at = &returns;

    callbacks_lock();
    wait_until_done(call->number);
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    callbacks_unlock();
}

bool fs_callbacks_is_returned(uint64_t number)
{
    const struct caller *self;
    const struct fs_return *call;

    callbacks_lock();
    self = myself();
    call = self != NULL && self->running == number ? returns : NULL;
    while (call != NULL && call->number != number)
        call = call->next;
    callbacks_unlock();
    return call != NULL;
}
