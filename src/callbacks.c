/* SPDX-License-Identifier: MIT */
/*
 * callbacks.c - the callbacks of tickets, called when no lock is held.
 *
 * A call becomes due in a critical section, together with the ticket's new state.  When the
 * section has been left its thread makes the calls one after the other:
 *
 *      due: in a queue --> running: a caller has its ticket's number --> done
 *                |                    |
 *                |                    +-- await: wait until it is done
 *                +-- drop: never made
 *
 * Between the first moment and the last no lock is held that the user could know of, and the
 * user may claim, return, take again or free the ticket.  So the queues are under a mutex of
 * their own.  It is one for the whole process, held for a few stores, and only where tickets with
 * callbacks are.
 *
 *  C1  A call is due only while its ticket is GRANTED, REFUSED or CLOSED, or, as CLAIMING, on its
 *      way from there to IDLE.  (Who claims or returns a ticket drops its call before it is
 *      IDLE.)  So an idle ticket that is taken anew leaves nothing behind, and each call is that
 *      of the take it was asked for by.
 *  C2  A thread has one queue, and calls are never nested: what becomes due while its thread is
 *      in a callback is appended, and called when that one has returned.  So a line of tickets
 *      whose callbacks serve each other needs the stack of one.
 *  C3  From the moment a callback begins the caller does not touch the ticket, which may have
 *      been freed, and its memory used for another one.  What is running is named by the
 *      ticket's number, not by its address.
 */
#include "callbacks.h"

#include "annotate.h"
#include "ticket.h"

#include "invariant.h"

/* A thread that makes calls, on its stack. */
struct caller {
    struct fs_list due;         /* under mutex */
    pthread_t      thread;      /* r/o */
    uint64_t       running;     /* under mutex: the number of the ticket; 0: none */
    uint64_t       awaited;     /* under mutex: the number of which it waits for a call; 0: none */
    bool           reached;     /* under mutex: in one search for a circle */
    struct caller *next;        /* under mutex */
    int            cancelable;  /* its own: what it was before */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  one_is_done = PTHREAD_COND_INITIALIZER;
static struct caller  *callers;     /* under mutex */

static void lock(void)
{
    FS_MUST(pthread_mutex_lock(&mutex));
}

static void unlock(void)
{
    FS_MUST(pthread_mutex_unlock(&mutex));
}

uint64_t fs_callbacks_number(void)
{
    static _Atomic uint64_t last;

    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

/* Mutex held.  This thread, if it is in a callback; else NULL. */
static struct caller *myself(void)
{
    struct caller *at = callers;

    while (at != NULL && !pthread_equal(at->thread, pthread_self()))
        at = at->next;
    return at;
}

/*
 * Of what was running only our own callback, if we are in one, goes on in the child.  What
 * was to follow it is called in the parent, and the copy of the queue may be half changed.
 */
void fs_callbacks_in_child(void)
{
    struct caller *self;

    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    one_is_done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    self = myself();
    callers = self;
    if (self != NULL) {
        self->next = NULL;
        fs_list_init(&self->due);
    }
}

/* ---- Due ---- */

void fs_callbacks_add(struct fs_callbacks *callbacks, struct fs_ticket *t)
{
    if (!callbacks->any)
        fs_list_init(&callbacks->due);
    callbacks->any = true;
    lock();
    fs_list_append(&callbacks->due, &t->waiter.in_queue);
    t->waiter.due = true;
    unlock();
}

/* Mutex held. */
static void remove_from_queue(struct fs_ticket *t)
{
    fs_list_remove(&t->waiter.in_queue);
    t->waiter.due = false;
}

/*
 * Whoever has made the ticket CLAIMING, or has found it so: with the mutex held, this state says
 * that the call is that of the take which ends (C1), and not of the next.
 */
void fs_callbacks_drop(struct fs_ticket *t)
{
    lock();
    if (t->waiter.due
        && atomic_load_explicit(&t->waiter.state, memory_order_relaxed) == FS_CLAIMING)
        remove_from_queue(t);
    unlock();
}

/* ---- Running ---- */

struct call {
    fairsem_notify_fn *notify;
    fairsem_ticket_t  *ticket;
    void              *arg;
};

/* The next one that is due is running from now on; or there is none, and the caller is done. */
static bool begin_next(struct caller *self, struct call *call)
{
    struct caller **at = &callers;
    struct fs_ticket *t;
    bool any;

    lock();
    any = !fs_list_empty(&self->due);
    if (any) {
        t = fs_ticket_of_queue(self->due.next);
        remove_from_queue(t);
        *call = (struct call){ t->notify, (fairsem_ticket_t *)(void *)t, t->arg };
        self->running = atomic_load_explicit(&t->number, memory_order_relaxed);
    } else {
        while (*at != self)
            at = &(*at)->next;
        *at = self->next;
    }
    unlock();
    return any;
}

static void has_ended(struct caller *self)
{
    lock();
    self->running = 0;
    FS_MUST(pthread_cond_broadcast(&one_is_done));
    unlock();
}

static void go_on_without(void *self);

static void make_call(const struct call *call)
{
    struct fs_hidden hidden;

    if (fs_under_valgrind)
        fs_unhide_all(&hidden);
    call->notify(call->ticket, call->arg);
    if (fs_under_valgrind)
        fs_hide_again(&hidden);
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
 * A C++ exception has left a callback, and goes on to whoever called the library: after the
 * others have been called, for nobody else would.  (This library is compiled with -fexceptions
 * where that exists.)
 */
static void go_on_without(void *arg)
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

    lock();
    outer = myself();
    if (outer != NULL) {
        fs_list_move_all(&outer->due, &callbacks->due);
    } else {
        fs_list_init(&self.due);
        fs_list_move_all(&self.due, &callbacks->due);
        self.next = callers;
        callers = &self;
    }
    unlock();
    if (outer != NULL)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &self.cancelable);
    make_calls(&self);
    pthread_setcancelstate(self.cancelable, &disabled);
}

/* ---- Awaited ---- */

/*
 * Mutex held.  Does `who` wait, itself or through others, for the call that `self` is in?  Then
 * its own call will not end before ours does.
 *
 * From thread to thread, and each only once: a ticket can have two calls at a time, and a thread
 * that is in one of them and waits for the other has the number that it waits for.
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
                if (!from->reached || from->awaited == 0 || to->running != from->awaited
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

/* Mutex held.  Is another thread in a call for this number that can end before ours does? */
static bool must_wait(uint64_t number, const struct caller *self)
{
    for (struct caller *at = callers; at != NULL; at = at->next) {
        if (at->running == number && at != self && (self == NULL || !waits_for_me(at, self)))
            return true;
    }
    return false;
}

void fs_callbacks_await(uint64_t number)
{
    struct caller *self;
    int cancelable, disabled;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    lock();
    self = myself();
    while (must_wait(number, self)) {
        if (self != NULL)
            self->awaited = number;
        pthread_cond_wait(&one_is_done, &mutex);
        if (self != NULL)
            self->awaited = 0;
    }
    unlock();
    pthread_setcancelstate(cancelable, &disabled);
}
