/* SPDX-License-Identifier: MIT */
/*
 * ticket.c - a place in line without a blocked thread.
 *
 * A ticket is a waiter like any other, with a different way of being told (tell_ticket):
 * it wakes the threads that watch it in fairsem_ticket_wait, if any, and puts its callback
 * on the list of notices of whoever told it, to be called when no lock is held.
 *
 * THE STATE is the waiter's: IDLE, QUEUED (which users call WAITING), and GRANTED, REFUSED
 * or CLOSED until the ticket is claimed or returned, which is IDLE again.  It changes under
 * the semaphore's mutex, but for GRANTED -> IDLE by a claim, one compare-and-swap.
 */
#include "ticket.h"

#include "fork.h"
#include "token.h"

#include <errno.h>

static_assert(sizeof(struct fs_ticket) <= sizeof(fairsem_ticket_t),
              "fairsem_ticket_t is too small");
static_assert(_Alignof(struct fs_ticket) <= _Alignof(fairsem_ticket_t),
              "fairsem_ticket_t is not aligned enough");
static_assert(sizeof(fairsem_ticket_t) <= 128, "fairsem_ticket_t is larger than promised");

/* A ticket that waited when this process was forked waits in the parent, not here. */
static struct fs_ticket *inside(fairsem_ticket_t *ticket)
{
    struct fs_ticket *t = (struct fs_ticket *)(void *)ticket;

    if (t->waiter.generation != fs_fork_generation()) {
        fs_fork_lock();
        if (t->waiter.generation != fs_fork_generation()) {
            if (fs_in_line(&t->waiter))
                atomic_store_explicit(&t->waiter.state, FS_IDLE, memory_order_relaxed);
            t->watchers = NULL;
            t->notices = NULL;
            t->waiter.generation = fs_fork_generation();
        }
        fs_fork_unlock();
    }
    return t;
}

static int state_of(const struct fs_ticket *t)
{
    return atomic_load_explicit(&t->waiter.state, memory_order_acquire);
}

/*
 * The semaphore's mutex held.  IDLE as the state means that the ticket was returned.
 *
 * The ticket first: a watcher that is told returns without the mutex, and may claim.  From
 * then on the ticket is not touched (I8), and those who watch it cannot go before they
 * have been told, or have the mutex.
 */
static void tell_ticket(struct fs_waiter *w, enum fs_state state, struct fs_aftermath *after)
{
    struct fs_ticket *t = fs_ticket_of(&w->in_line);
    struct fs_waiter *watcher = t->watchers, *next;
    int reason = state == FS_IDLE ? ECANCELED : w->reason;

    t->watchers = NULL;
    if (t->notify != NULL && state != FS_IDLE && w->since_ns != 0)
        fs_notices_add(&after->notices, t);
    atomic_store_explicit(&w->state, state, memory_order_release);
    for (; watcher != NULL; watcher = next) {
        next = watcher->in_line.next != NULL ? fs_waiter_of(watcher->in_line.next) : NULL;
        watcher->reason = reason;
        watcher->tell(watcher, state == FS_IDLE ? FS_REFUSED : state, after);
    }
}

int fairsem_ticket_take(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n, int priority,
                        fairsem_notify_fn *notify, void *arg)
{
    struct fs_ticket *t = inside(ticket);
    struct fs_sem *s = fs_inside(sem);
    struct fs_aftermath after;
    int64_t available;
    int error;

    if (!fs_count_valid(n) || state_of(t) != FS_IDLE)
        return EINVAL;
    fs_notices_withdraw(t);
    t->waiter.tell = tell_ticket;
    t->waiter.units = n;
    t->sem = s;
    t->notify = notify;
    t->arg = arg;
    t->watchers = NULL;

    available = fs_enter(s, &after);
    error = fs_join(s, available, &t->waiter, priority, 0);
    fs_exit(s, available, &after);
    return error;
}

enum fairsem_ticket_state fairsem_ticket_state(const fairsem_ticket_t *ticket)
{
    switch (state_of(inside((fairsem_ticket_t *)(uintptr_t)ticket))) {
    case FS_QUEUED:  return FAIRSEM_TICKET_WAITING;
    case FS_GRANTED: return FAIRSEM_TICKET_GRANTED;
    case FS_REFUSED: return FAIRSEM_TICKET_CANCELED;
    case FS_CLOSED:  return FAIRSEM_TICKET_CLOSED;
    default:         return FAIRSEM_TICKET_IDLE;
    }
}

/*
 * One compare-and-swap, without the semaphore: storing GRANTED was the granter's last
 * touch.  Acquire order: what the releasers of these units wrote is ours to read.
 */
int fairsem_ticket_claim(fairsem_ticket_t *ticket, fairsem_units_t *into)
{
    struct fs_ticket *t = inside(ticket);
    const fairsem_units_t units = { (fairsem_t *)(void *)t->sem, t->waiter.units };
    int state = FS_GRANTED;

    if (into->n != 0)
        return EBUSY;
    if (atomic_compare_exchange_strong_explicit(&t->waiter.state, &state, FS_IDLE,
                                                memory_order_acquire, memory_order_acquire)) {
        *into = units;
        return 0;
    }
    switch (state) {
    case FS_QUEUED: return EAGAIN;
    case FS_IDLE:   return EINVAL;
    default:        return t->waiter.reason;
    }
}

int fairsem_ticket_return(fairsem_ticket_t *ticket)
{
    struct fs_ticket *t = inside(ticket);

    if (state_of(t) != FS_IDLE) {
        struct fs_sem *s = t->sem;
        struct fs_aftermath after;
        int64_t available;

        available = fs_enter(s, &after);
        if (fs_in_line(&t->waiter)) {
            fs_leave(s, &t->waiter, FS_IDLE, &after);
        } else if (atomic_exchange_explicit(&t->waiter.state, FS_IDLE, memory_order_acquire)
                   == FS_GRANTED) {
            /* Fails only if by now more units have been made than can ever be free. */
            (void)fs_give_back(s, &available, t->waiter.units);
        }
        fs_exit(s, available, &after);
    }
    fs_notices_withdraw(t);
    return 0;
}

/* ---- Waiting for a ticket: a thread on the ticket's list of watchers ---- */

struct watch {
    struct fs_wait    wait;     /* first */
    struct fs_ticket *ticket;
};

/* The semaphore's mutex held. */
static void unlink_watcher(struct fs_ticket *t, struct fs_waiter *w)
{
    if (w->in_line.prev != NULL)
        w->in_line.prev->next = w->in_line.next;
    else
        t->watchers = w->in_line.next != NULL ? fs_waiter_of(w->in_line.next) : NULL;
    if (w->in_line.next != NULL)
        w->in_line.next->prev = w->in_line.prev;
}

static void link_watcher(struct fs_ticket *t, struct fs_waiter *w)
{
    w->in_line.prev = NULL;
    w->in_line.next = t->watchers != NULL ? &t->watchers->in_line : NULL;
    if (t->watchers != NULL)
        t->watchers->in_line.prev = &w->in_line;
    t->watchers = w;
    atomic_store_explicit(&w->state, FS_QUEUED, memory_order_relaxed);
}

/* Whatever the reason, the ticket keeps its place: only the watcher goes. */
static int give_up_watch(struct fs_wait *wait, enum fs_state why, int reason,
                         struct fs_aftermath *after)
{
    struct fs_sem *s = wait->sem;
    struct fs_waiter *w = &wait->waiter;
    int64_t available = fs_lock_line(s, after);
    int state = atomic_load_explicit(&w->state, memory_order_relaxed);

    if (fs_in_line(w) || state == FS_IDLE) {
        if (state != FS_IDLE)
            unlink_watcher(((struct watch *)wait)->ticket, w);
        w->reason = reason;
        w->tell(w, why, after);
        state = why;
    }
    fs_serve_and_unlock(s, available, after);
    return state;
}

/* What a wait for a ticket that is no longer in line returns. */
static int outcome(const struct fs_ticket *t, int state)
{
    switch (state) {
    case FS_IDLE:    return EINVAL;
    case FS_GRANTED: return 0;
    default:         return t->waiter.reason;
    }
}

static int watch_ticket(struct watch *watch)
{
    struct fs_wait *wait = &watch->wait;
    struct fs_ticket *t = watch->ticket;
    struct fs_aftermath after;
    int64_t available;
    int state, error = 0;

    available = fs_enter(wait->sem, &after);
    state = state_of(t);
    if (atomic_load_explicit(&wait->waiter.state, memory_order_relaxed) == FS_CANCELED)
        error = wait->waiter.reason;    /* by the token, a moment ago */
    else if (state == FS_QUEUED)
        link_watcher(t, &wait->waiter);
    else
        error = outcome(t, state);
    fs_exit(wait->sem, available, &after);

    if (error != 0 || state != FS_QUEUED)
        return error;
    return fs_wait(wait) == FS_GRANTED ? 0 : wait->waiter.reason;
}

int fairsem_ticket_wait(fairsem_ticket_t *ticket, const fairsem_wait_t *how)
{
    static const fairsem_wait_t for_ever;
    struct fs_ticket *t = inside(ticket);
    struct fs_deadline deadline;
    struct watch watch = {
        .ticket = t,
        .wait = {
            .waiter = { .state = FS_IDLE },
            .sem = t->sem, .give_up = give_up_watch,
        },
    };
    int error = 0, state;

    if (how == NULL)
        how = &for_ever;
    if (fs_check_wait(how) != 0 || how->priority != 0)
        return EINVAL;
    state = state_of(t);
    if (state != FS_QUEUED)
        return outcome(t, state);
    if (how->deadline != NULL) {
        deadline = (struct fs_deadline){ .clock = how->clock, .at = *how->deadline };
        watch.wait.deadline = &deadline;
    }
    if (how->token != NULL)
        watch.wait.token = fs_token_inside(how->token);
    fs_prepare_to_sleep(&watch.wait);
    error = fs_token_attach(&watch.wait);
    if (error != 0)
        return error;
    error = watch_ticket(&watch);
    fs_token_detach(&watch.wait);
    return error;
}
