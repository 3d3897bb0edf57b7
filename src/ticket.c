/* SPDX-License-Identifier: MIT */
/*
 * ticket.c - a place in line without a blocked thread.
 *
 * A ticket is a waiter like any other, with a different way of being told (tell_ticket):
 * it wakes the threads that watch it in fairsem_ticket_wait, if any, and its callback is due
 * in the thread that told it, when that holds no lock.
 *
 * THE STATE is the waiter's: IDLE, QUEUED (which users call WAITING), and GRANTED, REFUSED
 * or CLOSED until the ticket is claimed or returned, which is IDLE again.  It changes under
 * the semaphore's mutex, with two exceptions:
 *
 *      IDLE -------------------------> TAKING ----> QUEUED, or IDLE if the semaphore refuses
 *      IDLE, GRANTED, REFUSED, CLOSED -> CLAIMING --> IDLE     by a claim or a return
 *
 * Each first step is one compare-and-swap: of two threads that take, claim or return a
 * ticket, one does, and has it for itself until the second step.  Meanwhile it is idle to
 * all others, but cannot be taken.
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

/* There is nothing to claim or to return: idle, or in the hands of a take or a claim. */
static bool has_nothing(int state)
{
    return state == FS_IDLE || state == FS_TAKING || state == FS_CLAIMING;
}

static int state_of(const struct fs_ticket *t)
{
    int state = atomic_load_explicit(&t->waiter.state, memory_order_acquire);

    if (fs_watched)
        fs_tell_after(&t->waiter);
    return state;
}

/* Acquire order: who sees where it is being taken must see that it is, see in_line_of(). */
static struct fs_sem *sem_of(const struct fs_ticket *t)
{
    return atomic_load_explicit(&t->sem, memory_order_acquire);
}

/* The second step.  Release order: whoever takes it next changes what we have read. */
static void become_idle(struct fs_ticket *t)
{
    atomic_store_explicit(&t->waiter.state, FS_IDLE, memory_order_release);
}

/* Most tickets have no callback and never had one: nothing to drop, nor to wait for. */
static uint64_t number_of(const struct fs_ticket *t)
{
    return atomic_load_explicit(&t->number, memory_order_relaxed);
}

static void drop_callback(struct fs_ticket *t)
{
    if (number_of(t) != 0)
        fs_callbacks_drop(t);
}

static void await_callbacks(void *number)
{
    if (*(uint64_t *)number != 0)
        fs_callbacks_await(*(uint64_t *)number);
}

/* A ticket that waited when this process was forked waits in the parent, not here. */
static struct fs_ticket *inside(fairsem_ticket_t *ticket)
{
    struct fs_ticket *t = (struct fs_ticket *)(void *)ticket;
    unsigned generation = fs_fork_generation();

    if (atomic_load_explicit(&t->waiter.generation, memory_order_acquire) != generation) {
        fs_fork_lock();
        if (atomic_load_explicit(&t->waiter.generation, memory_order_relaxed) != generation) {
            if (fs_in_line(&t->waiter) || has_nothing(state_of(t)))
                atomic_store_explicit(&t->waiter.state, FS_IDLE, memory_order_relaxed);
            t->watchers = NULL;
            t->waiter.due = false;
            atomic_store_explicit(&t->waiter.generation, generation, memory_order_release);
        }
        fs_fork_unlock();
    }
    return t;
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
    int reason = state == FS_IDLE ? ECANCELED : fs_result(w, state);

    t->watchers = NULL;
    t->sem->tickets--;
    if (t->notify != NULL && state != FS_IDLE && w->since_ns != 0)
        fs_callbacks_add(&after->callbacks, t);
    atomic_store_explicit(&w->state, state, memory_order_release);
    for (; watcher != NULL; watcher = next) {
        next = watcher->in_line.next != NULL ? fs_waiter_of(watcher->in_line.next) : NULL;
        fs_set_reason(watcher, reason);
        watcher->tell(watcher, state == FS_IDLE ? FS_REFUSED : state, after);
    }
}

/* It is still idle for those who ask, and nobody else takes it. */
static bool begin_to_take(struct fs_ticket *t)
{
    int state = FS_IDLE;

    return atomic_compare_exchange_strong_explicit(&t->waiter.state, &state, FS_TAKING,
                                                   memory_order_acquire, memory_order_relaxed);
}

/*
 * The semaphore's mutex held.  Returns EINPROGRESS if the ticket has to wait.
 *
 * While a ticket is in line nobody is called to come for units, see fs_bypass_over(); a waiter
 * that has been must be served now, so that it is known whether the ticket has to wait.
 */
static int join_line(struct fs_sem *s, int64_t *available, struct fs_ticket *t, int priority,
                     struct fs_aftermath *after)
{
    bool called, waits;
    int error;

    s->tickets++;
    if (s->bypass_ns != 0)
        *available = fs_serve(s, *available, &called, after);
    waits = fs_must_wait(s, *available, t->waiter.units, priority);
    error = fs_admit(s, t->waiter.units, waits, 0);
    if (error != 0) {
        s->tickets--;
        become_idle(t);
        return error;
    }
    fs_join(s, &t->waiter, priority, waits);
    return waits ? EINPROGRESS : 0;
}

int fairsem_ticket_take(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n, int priority,
                        fairsem_notify_fn *notify, void *arg)
{
    struct fs_ticket *t = inside(ticket);
    struct fs_sem *s = fs_inside(sem);
    struct fs_aftermath after;
    int64_t available;
    int result;

    if (!fs_count_valid(n) || !begin_to_take(t))
        return EINVAL;
    if (notify != NULL && number_of(t) == 0)
        atomic_store_explicit(&t->number, fs_callbacks_number(), memory_order_relaxed);
    t->waiter.tell = tell_ticket;
    t->waiter.units = n;
    atomic_store_explicit(&t->sem, s, memory_order_release);    /* see in_line_of() */

    available = fs_enter(s, &after);
    result = join_line(s, &available, t, priority, &after);
    if (result == 0 || result == EINPROGRESS) {
        t->notify = notify;
        t->arg = arg;
    }
    fs_exit(s, available, &after);
    return result;
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

/* What is said of a ticket that is not in line, in this state. */
static int outcome(const struct fs_ticket *t, int state)
{
    return has_nothing(state) ? EINVAL : fs_result(&t->waiter, state);
}

/*
 * Without the semaphore: storing GRANTED was the granter's last touch.  Acquire order: what
 * the releasers of these units wrote is ours to read.  A callback that has not begun has nothing
 * to say any more.
 */
int fairsem_ticket_claim(fairsem_ticket_t *ticket, fairsem_units_t *into)
{
    struct fs_ticket *t = inside(ticket);
    int state = FS_GRANTED;

    if (into->n != 0)
        return EBUSY;
    if (atomic_compare_exchange_strong_explicit(&t->waiter.state, &state, FS_CLAIMING,
                                                memory_order_acquire, memory_order_acquire)) {
        if (fs_watched)
            fs_tell_after(&t->waiter);
        drop_callback(t);
        *into = (fairsem_units_t){ (fairsem_t *)(void *)t->sem, t->waiter.units };
        become_idle(t);
        return 0;
    }
    return state == FS_QUEUED ? EAGAIN : outcome(t, state);
}

/*
 * In the line of s, whose mutex is held?  Of a ticket that is in another line the state and
 * the semaphore may change between two looks: it may be taken for s by now.  But then it is
 * TAKING until its taker gets our mutex, which the second look at the state finds out.
 */
static bool in_line_of(const struct fs_sem *s, const struct fs_ticket *t)
{
    return state_of(t) == FS_QUEUED && sem_of(t) == s && state_of(t) == FS_QUEUED;
}

static bool take_out_of_line(struct fs_ticket *t, uint64_t *number)
{
    struct fs_sem *s = sem_of(t);
    struct fs_aftermath after;
    int64_t available = fs_enter(s, &after);
    bool is_there = in_line_of(s, t);

    if (is_there) {
        *number = number_of(t);
        fs_leave(s, &t->waiter, FS_IDLE, &after);
    }
    fs_exit(s, available, &after);
    return is_there;
}

/* Idle before others are called back: they may want to take it. */
static void give_back_grant(struct fs_ticket *t)
{
    struct fs_sem *s = sem_of(t);
    struct fs_aftermath after;
    int64_t available = fs_enter(s, &after);

    fs_regain(s, &available, t->waiter.units);
    become_idle(t);
    fs_exit(s, available, &after);
}

/*
 * False if the ticket has changed meanwhile.  One that another thread is claiming or returning
 * is no longer ours to give back, but when we return its callback must not be due any more.
 *
 * *number is set while the ticket cannot be taken: once it is idle, who we call back may take it
 * anew, and a callback of that free it.
 */
static bool take_back(struct fs_ticket *t, uint64_t *number)
{
    int state = state_of(t);

    if (state == FS_QUEUED)
        return take_out_of_line(t, number);
    if (state == FS_TAKING || state == FS_CLAIMING) {
        *number = number_of(t);
        if (state == FS_CLAIMING)
            drop_callback(t);
        return true;
    }
    if (!atomic_compare_exchange_strong_explicit(&t->waiter.state, &state, FS_CLAIMING,
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    *number = number_of(t);
    drop_callback(t);
    if (state == FS_GRANTED)
        give_back_grant(t);
    else
        become_idle(t);
    return true;
}

/* Waits also when an exception ends it: who catches that may free the ticket. */
int fairsem_ticket_return(fairsem_ticket_t *ticket)
{
    struct fs_ticket *t = inside(ticket);
    uint64_t number = 0;

    pthread_cleanup_push(await_callbacks, &number);
    while (!take_back(t, &number))
        continue;
    pthread_cleanup_pop(1);
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
        fs_set_reason(w, reason);
        w->tell(w, why, after);
        state = why;
    }
    fs_serve_and_unlock(s, available, after);
    return state;
}

/* The semaphore's mutex held.  The watcher joins, or is in a final state. */
static void join_watchers(struct fs_sem *s, struct fs_ticket *t, struct fs_waiter *w)
{
    int state = state_of(t), error;

    if (in_line_of(s, t)) {
        link_watcher(t, w);
        return;
    }
    /* QUEUED: it was claimed meanwhile, and taken elsewhere. */
    error = state == FS_QUEUED ? EINVAL : outcome(t, state);
    if (error != 0)
        fs_refuse(w, error);
    else
        atomic_store_explicit(&w->state, FS_GRANTED, memory_order_relaxed);
}

static int watch_ticket(struct watch *watch)
{
    struct fs_wait *wait = &watch->wait;
    struct fs_aftermath after;
    int64_t available = fs_enter(wait->sem, &after);

    /* Not IDLE: CANCELED by the token, a moment ago. */
    if (atomic_load_explicit(&wait->waiter.state, memory_order_relaxed) == FS_IDLE)
        join_watchers(wait->sem, watch->ticket, &wait->waiter);
    fs_exit(wait->sem, available, &after);
    return fs_wait(wait);
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
            .give_up = give_up_watch,
        },
    };
    int error, state;

    if (how == NULL)
        how = &for_ever;
    if (fs_check_wait(how) != 0 || how->priority != 0)
        return EINVAL;
    state = state_of(t);
    if (state != FS_QUEUED)
        return outcome(t, state);
    watch.wait.sem = sem_of(t); /* not before the state: it has one now */
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
