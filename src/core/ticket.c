/* SPDX-License-Identifier: MIT */
/*
 * ticket.c - a place in the queue without a blocked thread.
 *
 * A ticket is a waiter like any other, except that resolve_ticket() resolves it.  This function also
 * resolves the ticket's watchers, which are threads in fairsem_ticket_wait, and makes the ticket's callback
 * pending.  The thread that resolves the ticket calls the callback when it holds no lock.
 */
#include "ticket.h"

#include "acquire.h"
#include "queue.h"
#include "section.h"
#include "share.h"
#include "system/fork.h"
#include "tools/annotate.h"
#include "tools/compiler.h"

#include <errno.h>

static_assert(sizeof(struct fs_ticket) <= sizeof(fairsem_ticket_t),
              "fairsem_ticket_t is too small");
static_assert(_Alignof(struct fs_ticket) <= _Alignof(fairsem_ticket_t),
              "fairsem_ticket_t is not aligned enough");
static_assert(sizeof(fairsem_ticket_t) <= 128, "fairsem_ticket_t is larger than promised");
static_assert(offsetof(struct fs_ticket, callback.waiter) == 0, "a waiter is its ticket");

/* Release order: a thread that takes the ticket next overwrites members that we have read. */
static void become_idle(struct fs_ticket *t)
{
    fs_set_state(&t->callback.waiter, FS_NOT_QUEUED, memory_order_release);
}

/* Returns true if the ticket was in *state: this call owns the ticket now. */
static bool make_busy(struct fs_ticket *t, int *state)
{
    return fs_try_state(&t->callback.waiter, state, *state | FS_BUSY, memory_order_acquire,
                        memory_order_acquire);
}

/*
 * Returns the number that identifies the ticket's callbacks, or 0 if the ticket has never had a callback.
 * With 0 there is no callback to cancel or to wait for.
 */
static uint64_t number_of(const struct fs_ticket *t)
{
    return atomic_load_explicit(&t->callback.number, memory_order_relaxed);
}

/* Cancel the callback, if it is pending.  state: the ticket's state, with BUSY, set by this or another call. */
static void cancel_callback(struct fs_ticket *t, int state)
{
    if (number_of(t) != 0)
        fs_callbacks_cancel(&t->callback, state);
}

/* In a forked child, no ticket is in a queue, and no other thread uses one. */
static void ticket_reset_in_child(void *ticket)
{
    struct fs_ticket *t = ticket;
    _Atomic int *state = &t->callback.waiter.state;

    if (*state == FS_QUEUED || fs_ticket_has_nothing(*state))
        atomic_store_explicit(state, FS_NOT_QUEUED, memory_order_relaxed);
    t->watchers = NULL;
    t->callback.waiter.in_queue.pending = false;
}

struct fs_ticket *fs_ticket_inside(fairsem_ticket_t *ticket)
{
    struct fs_ticket *t = (struct fs_ticket *)(void *)ticket;

    fs_fork_check(&t->generation, ticket_reset_in_child, t);
    return t;
}

/*
 * Resolve a ticket and its watchers.  state: the ticket's new state, NOT_QUEUED if the ticket is returned.
 *
 * The ticket is resolved before its watchers: the thread of a resolved watcher returns without the mutex, and
 * may claim the ticket at once.  After the store of the ticket's state, the ticket is not touched (I8).  A
 * watcher remains valid until this function resolves it: to leave the ring earlier, it needs the mutex.
 */
static void resolve_ticket(struct fs_waiter *w, enum fs_waiter_state state, struct fs_section *in)
{
    struct fs_ticket *t = (struct fs_ticket *)(void *)w;
    struct fs_list *watchers = t->watchers;
    bool returned = state == FS_NOT_QUEUED, closed = state == FS_ENDED && t->sem->closed != 0;
    int reason = returned ? ECANCELED : fs_result(w, state);

    fs_assert_held(t->sem);
    t->watchers = NULL;
    t->sem->tickets--;
    if (t->callback.notify != NULL && !returned)
        fs_callbacks_add(&in->after.callbacks, &t->callback);
    fs_set_state(w, closed ? FS_CLOSED : (int)state, memory_order_release);
    while (watchers != NULL) {
        struct fs_watcher *watcher = fs_watcher_of(watchers);

        fs_ring_remove(&watchers, &watcher->in_ring);
        fs_set_reason(&watcher->wait.waiter, reason);
        if (fs_instrumented)
            fs_happens_before(&watcher->wait.waiter);
        fs_resolve(&watcher->wait.waiter, returned ? FS_ENDED : state, in);
    }
}

/* ---- Take ---- */

/*
 * Returns 0, EINPROGRESS if the ticket has to wait, or an error.
 *
 * With bounded bypass, no waiter is woken to compete while a ticket is queued: see bypass.c.  If a waiter has
 * been woken to compete already, fs_grant() grants that waiter, if it fits, before the ticket may take units.
 */
static int ticket_take_or_enqueue(struct fs_section *in, struct fs_ticket *t, int priority)
{
    struct fs_waiter *w = &t->callback.waiter;
    int result;

    fs_assert_held(in->sem);
    in->sem->tickets++;
    if ((in->sem->options & FS_BYPASS) != 0)
        (void)fs_grant(in);
    result = fs_take_now(in, w->units, priority, false);
    if (result == FS_MUST_WAIT && (result = fs_may_enqueue(in, w->share)) == 0) {
        fs_enqueue_ticket(in, w, priority);
        return EINPROGRESS;
    }
    in->sem->tickets--;
    if (result == 0) {
        if (fs_instrumented)
            fs_happens_before(t);
        fs_set_state(w, FS_GRANTED, memory_order_release);
    } else {
        become_idle(t);
    }
    return result;
}

/*
 * Store the pointer in the first take only: a store in each take would take the pointer's cache line away
 * from all threads that resolve tickets.  Helgrind would report a plain store as a race with the load of
 * another thread, so use a compare-and-swap.
 */
static void register_resolve(void)
{
    fs_resolve_fn *none = NULL;

    if (atomic_load_explicit(&fs_resolve_ticket, memory_order_relaxed) == NULL)
        (void)atomic_compare_exchange_strong_explicit(&fs_resolve_ticket, &none, resolve_ticket,
                                                      memory_order_relaxed, memory_order_relaxed);
}

FS_ALWAYS_INLINE static int take_ticket(struct fs_ticket *t, const fairsem_request_t *request, int priority,
                       fairsem_notify_fn *notify, void *arg)
{
    struct fs_sem *s = fs_inside(request->sem);
    struct fs_section in;
    uint64_t number;
    int result, state = FS_NOT_QUEUED;
    bool taken;

    if (!fs_count_valid(request->units))
        return EINVAL;
    if (request->share != NULL && fs_share_check(s, request->share) != 0)
        return EINVAL;
    taken = make_busy(t, &state);
    /*
     * Look for a return of this ticket (C4) only after make_busy().  Either the return has registered itself
     * before this look, which finds it; or the return loads the state later, and finds BUSY: see take_back().
     */
    number = number_of(t);
    if (number != 0 && fs_callbacks_is_returned(number)) {
        if (taken)
            become_idle(t);
        return ECANCELED;
    }
    if (!taken)
        return EINVAL;
    if (notify != NULL && number == 0)
        atomic_store_explicit(&t->callback.number, fs_callbacks_number(), memory_order_relaxed);
    register_resolve();
    t->callback.waiter.units = request->units;
    t->callback.waiter.share = fs_share_inside(request->share);
    /* Release order: see fs_ticket_waits_in(). */
    atomic_store_explicit(&t->sem, s, memory_order_release);

    fs_section_begin(&in, s);
    result = ticket_take_or_enqueue(&in, t, priority);
    if (result == EINPROGRESS) {
        t->callback.notify = notify;
        t->callback.arg = arg;
    }
    fs_section_end(&in);
    return result;
}

int fairsem_ticket_take(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n, int priority,
                        fairsem_notify_fn *notify, void *arg)
{
    const fairsem_request_t request = { .sem = sem, .units = n };

    return take_ticket(fs_ticket_inside(ticket), &request, priority, notify, arg);
}

int fairsem_ticket_take_with(fairsem_ticket_t *ticket, const fairsem_request_t *request, int priority,
                             fairsem_notify_fn *notify, void *arg)
{
    if (request->sem == NULL)
        return EINVAL;
    return take_ticket(fs_ticket_inside(ticket), request, priority, notify, arg);
}

enum fairsem_ticket_state fairsem_ticket_state(const fairsem_ticket_t *ticket)
{
    switch (fs_ticket_state(fs_ticket_inside((fairsem_ticket_t *)(uintptr_t)ticket))) {
    case FS_QUEUED:  return FAIRSEM_TICKET_WAITING;
    case FS_GRANTED: return FAIRSEM_TICKET_GRANTED;
    case FS_ENDED:   return FAIRSEM_TICKET_CANCELED;
    case FS_CLOSED:  return FAIRSEM_TICKET_CLOSED;
    default:         return FAIRSEM_TICKET_IDLE;
    }
}

/* ---- Claim, return ---- */

/*
 * A claim changes only the ticket: the granter has reserved the units, and after the store of GRANTED
 * touches only a pending callback, which the claim cancels.  Acquire order: the caller must see what the
 * releasers of these units wrote.
 */
int fairsem_ticket_claim(fairsem_ticket_t *ticket, fairsem_units_t *into)
{
    struct fs_ticket *t = fs_ticket_inside(ticket);
    int state = FS_GRANTED;

    if (into->n != 0)
        return EBUSY;
    if (make_busy(t, &state)) {
        if (fs_instrumented)
            fs_happens_after(t);
        cancel_callback(t, FS_GRANTED | FS_BUSY);
        *into = (fairsem_units_t){ (fairsem_t *)(void *)t->sem, t->callback.waiter.units };
        become_idle(t);
        return 0;
    }
    return state == FS_QUEUED ? EAGAIN : fs_ticket_outcome(t, state);
}

/*
 * If the ticket has a callback number, and *call has none yet, copy the number and register *call.  From then
 * on, the ticket's callbacks cannot take the ticket again (C4).  Returns true if *call was registered now.
 */
static bool learn_number(struct fs_return *call, const struct fs_ticket *t)
{
    if (call->number != 0 || number_of(t) == 0)
        return false;
    call->number = number_of(t);
    fs_callbacks_begin_return(call);
    return true;
}

static bool take_out_of_queue(struct fs_ticket *t, struct fs_return *call)
{
    struct fs_sem *s = fs_ticket_sem(t);
    struct fs_section in;
    bool is_there;

    fs_section_begin(&in, s);
    is_there = fs_ticket_waits_in(s, t);
    if (is_there) {
        (void)learn_number(call, t);
        fs_dequeue(&in, &t->callback.waiter, FS_BY_RETURN);
    }
    fs_section_end(&in);
    return is_there;
}

/* The ticket becomes idle before callbacks run, because a callback may take the ticket again. */
static void return_ticket_grant(struct fs_ticket *t)
{
    struct fs_section in;

    fs_section_begin(&in, fs_ticket_sem(t));
    fs_return_grant(&in, t->callback.waiter.units);
    become_idle(t);
    fs_section_end(&in);
}

/*
 * Try once to return the ticket.  Returns false if the caller must try again: the state has changed since
 * its load, or this load found idle or BUSY before *call was registered.
 *
 * If another thread is claiming or returning the ticket, that thread does the work.  This call only cancels
 * the callback, which must not be pending when this call returns.  If another thread is taking the ticket, this
 * call may end as if the take came later.  But a take by the ticket's own callback came first: this callback
 * began before *call was registered (C4).  So wait for the callback's end, and load the state again.
 *
 * After a result of true, the ticket is not touched again: a callback that this function has run may have
 * taken the ticket, and the next callback may have freed the ticket.
 */
static bool take_back(struct fs_ticket *t, struct fs_return *call)
{
    int state = fs_ticket_state(t);

    if (state == FS_QUEUED)
        return take_out_of_queue(t, call);
    if (fs_ticket_has_nothing(state)) {
        if (learn_number(call, t))
            return false;
        if (state == FS_BUSY && call->number != 0)
            fs_callbacks_wait_for(call->number);
        else if (state != FS_BUSY && state != FS_NOT_QUEUED)
            cancel_callback(t, state);
        return (state != FS_BUSY || fs_ticket_state(t) == FS_BUSY) && number_of(t) == call->number;
    }
    if (!make_busy(t, &state))
        return false;
    (void)learn_number(call, t);
    cancel_callback(t, state | FS_BUSY);
    if (state == FS_GRANTED)
        return_ticket_grant(t);
    else
        become_idle(t);
    return true;
}

FS_REALIGN_STACK static void end_return(void *call)
{
    if (((struct fs_return *)call)->number != 0)
        fs_callbacks_end_return(call);
}

/*
 * The clean-up waits for the end of the ticket's callback even if another callback, which take_back() runs,
 * throws: the code that catches the exception may free the ticket.
 */
int fairsem_ticket_return(fairsem_ticket_t *ticket)
{
    struct fs_ticket *t = fs_ticket_inside(ticket);
    struct fs_return call = { .number = 0 };

    pthread_cleanup_push(end_return, &call);
    (void)learn_number(&call, t);
    while (!take_back(t, &call))
        continue;
    pthread_cleanup_pop(1);
    return 0;
}
