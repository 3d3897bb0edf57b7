/* SPDX-License-Identifier: MIT */
/* model.c - see model.h: the visible effects of the rules. */
#include "model.h"

#include <errno.h>
#include <string.h>

int64_t model_now_ns, model_ahead_ns;
struct model_wait *model_waits;
int model_call;
struct model_sem *model_sems;
int model_sems_count, model_weight[SPEC_FLOWS];
int (*model_calls_back)(void);
static unsigned dues;

/* ---- Errors of callers ---- */

bool model_valid_wait(const fairsem_wait_t *how)
{
    bool clock = how->clock == CLOCK_MONOTONIC || how->clock == CLOCK_REALTIME;

    for (size_t i = 0; i < sizeof how->reserved_ / sizeof how->reserved_[0]; i++) {
        if (how->reserved_[i] != 0)
            return false;
    }
    if (how->deadline == NULL)
        return clock || how->clock == 0;
    if (how->timeout_ns != 0)
        return false;
    return clock && how->deadline->tv_nsec >= 0 && how->deadline->tv_nsec <= 999999999;
}

bool model_passed(clockid_t clock, const struct timespec *deadline)
{
    int64_t now = model_now_ns + (clock == CLOCK_REALTIME ? model_ahead_ns : 0);

    if (deadline->tv_sec != now / 1000000000)
        return deadline->tv_sec < now / 1000000000;
    return deadline->tv_nsec <= now % 1000000000;
}

/* ---- The queue ---- */

static void end_waits(const struct model_request *r)
{
    for (struct model_wait *wait = model_waits; wait != NULL; wait = wait->older) {
        if (wait->request != r || wait->over)
            continue;
        wait->over = true;
        wait->result = r->state == FAIRSEM_TICKET_IDLE ? ECANCELED : r->reason;
    }
}

static void left(struct model_request *r, enum fairsem_ticket_state state, int reason)
{
    fairsem_stat_t *past = &r->sem->past;
    bool timed_out = state == FAIRSEM_TICKET_CANCELED && reason == ETIMEDOUT;
    int64_t waited = model_now_ns - r->enqueued_ns;
    int bucket = 0;

    r->state = state;
    r->reason = reason;
    ++*(state == FAIRSEM_TICKET_GRANTED ? &past->grants
        : timed_out ? &past->timeouts : &past->cancels);
    past->wait_ns_total = waited > INT64_MAX - past->wait_ns_total
                              ? INT64_MAX : past->wait_ns_total + waited;
    if (waited > past->wait_ns_max)
        past->wait_ns_max = waited;
    while (bucket < FAIRSEM_WAIT_BUCKETS - 1 && waited > INT64_C(1000) << bucket)
        bucket++;
    r->sem->counts[bucket]++;
    end_waits(r);
    if (r->notify && state != FAIRSEM_TICKET_IDLE) {
        r->due = model_calls_back();
        r->due_order = ++dues;
    }
}

static struct model_request *request_of(struct spec_request *r)
{
    return (struct model_request *)(void *)r;
}

int model_settle(struct model_sem *s, int result)
{
    struct spec_request *r;
    int why;

    while ((r = spec_next(&s->now, true, &why)) != NULL)
        left(request_of(r), why == 0 ? FAIRSEM_TICKET_GRANTED
                            : s->now.closed != 0 ? FAIRSEM_TICKET_CLOSED
                                                 : FAIRSEM_TICKET_CANCELED, why);
    return result;
}

/* ---- Shares ---- */

/* The semaphore in whose queue a request of the share is, or NULL. */
static struct model_sem *sem_of_share(int share)
{
    for (int i = 0; i < model_sems_count; i++) {
        if (spec_has_share(&model_sems[i].now, share))
            return &model_sems[i];
    }
    return NULL;
}

bool model_share_refused(const struct model_sem *s, int share)
{
    const struct model_sem *at = share != 0 ? sem_of_share(share) : NULL;

    return share != 0 && (model_weight[share] == 0 || !spec_takes_shares(&s->now) || (at != NULL && at != s));
}

int model_share_charge(int share, int64_t n)
{
    const struct model_sem *at = sem_of_share(share);

    if (model_weight[share] == 0 || n < -FAIRSEM_MAX_UNITS || n > FAIRSEM_MAX_UNITS)
        return EINVAL;
    for (int i = 0; i < model_sems_count; i++) {
        if (at == NULL || at == &model_sems[i])
            spec_charge(&model_sems[i].now, share, n);
    }
    return 0;
}

static void forget_share(int share, const struct model_sem *except)
{
    for (int i = 0; i < model_sems_count; i++) {
        if (&model_sems[i] != except)
            spec_forget_share(&model_sems[i].now, share);
    }
}

int model_share_destroy(int share)
{
    if (sem_of_share(share) != NULL)
        return EBUSY;
    forget_share(share, NULL);
    model_weight[share] = 0;
    return 0;
}

/* ---- Requests ---- */

/* Like spec_ask(). */
static int ask(struct model_sem *s, struct model_request *r, int64_t n, int priority, int share, int instead)
{
    int result;

    *r = (struct model_request){
        .ask = { .units = n, .priority = priority, .share = share, .weight = model_weight[share] },
        .state = FAIRSEM_TICKET_IDLE, .sem = s,
        .enqueued_ns = model_now_ns, .notify = r->notify, .called_by = r->called_by,
    };
    result = spec_ask(&s->now, &r->ask, instead);
    if (result == 0) {
        r->state = FAIRSEM_TICKET_GRANTED;
    } else if (result == SPEC_WAITS) {
        r->state = FAIRSEM_TICKET_WAITING;
        s->past.waits++;
        if (s->now.waiters > s->past.waiters_max)
            s->past.waiters_max = s->now.waiters;
        forget_share(share, s);
        model_settle(s, 0);     /* a request of a share that was granted less may be granted at once */
    } else if (result == ENOBUFS && s->now.closed == 0) {
        s->past.refused++;
    }
    return result;
}

/* ---- The semaphore ---- */

/*
 * No valid semaphore of the fuzzer has a bypass or aging.  With FAIRSEM_BOUNDED_BYPASS, the time at which a
 * sleeping thread runs decides who overtakes.  With aging, other calls decide when the library notices an aged
 * request.  The explorer tests both.
 */
int model_init(struct model_sem *s, int64_t units, const fairsem_attr_t *attr)
{
    *s = (struct model_sem){ .interruptible = (attr->flags & FAIRSEM_INTERRUPTIBLE) != 0 };
    return spec_init(&s->now, units, attr);
}

int model_release(struct model_sem *s, int64_t n)
{
    int error = spec_release(&s->now, n);

    s->past.over_releases += error == EOVERFLOW;
    return model_settle(s, error);
}

static void regain(struct model_sem *s, const struct model_request *granted)
{
    s->past.over_releases += spec_regain(&s->now, &granted->ask);
    model_settle(s, 0);
}

void model_stat(const struct model_sem *s, fairsem_stat_t *stat)
{
    *stat = s->past;
    stat->available = s->now.available;
    stat->capacity = s->now.bounded ? s->now.capacity : -1;
    stat->waiters = s->now.waiters;
    stat->shares = spec_shares(&s->now);
    for (int i = 0; i < s->now.waiters; i++) {
        const struct model_request *r = request_of(s->now.queue[i]);

        if (r->ask.units > INT64_MAX - stat->waiting_units)
            stat->waiting_units = INT64_MAX;
        else
            stat->waiting_units += r->ask.units;
        if (model_now_ns - r->enqueued_ns > stat->oldest_wait_ns)
            stat->oldest_wait_ns = model_now_ns - r->enqueued_ns;
    }
}

/* ---- Waits, and how they end ---- */

static void begin(struct model_wait *wait, int *token)
{
    wait->token = token;
    wait->over = false;
    wait->older = model_waits;
    model_waits = wait;
}

static void returns(struct model_wait *wait, int result)
{
    wait->over = true;
    wait->result = result;
}

void model_wait_ends(struct model_wait *wait)
{
    if (model_waits == wait)
        model_waits = wait->older;
}

void model_acquire(struct model_sem *s, struct model_wait *wait, int64_t n,
                   const fairsem_wait_t *how, int share, int *token)
{
    bool past = how->deadline != NULL && model_valid_wait(how)
                && model_passed(how->clock, how->deadline);

    wait->request = &wait->own;
    if (!spec_valid(n) || !model_valid_wait(how) || model_share_refused(s, share)) {
        returns(wait, EINVAL);
    } else if (token != NULL && *token != 0) {
        returns(wait, *token);
    } else {
        returns(wait, ask(s, &wait->own, n, how->priority, share, past ? ETIMEDOUT : 0));
        if (wait->own.state == FAIRSEM_TICKET_GRANTED)
            wait->result = 0;
        if (wait->own.state == FAIRSEM_TICKET_WAITING)
            begin(wait, token);
    }
}

void model_ticket_wait(struct model_request *ticket, struct model_wait *wait,
                       const fairsem_wait_t *how, int *token)
{
    wait->request = ticket;
    if (!model_valid_wait(how) || how->priority != 0 || how->share != NULL)
        returns(wait, EINVAL);
    else if (ticket->state != FAIRSEM_TICKET_WAITING)
        returns(wait, spec_ticket(ticket->state, ticket->reason));
    else if (token != NULL && *token != 0)
        returns(wait, *token);
    else if (how->deadline != NULL && model_passed(how->clock, how->deadline))
        returns(wait, ETIMEDOUT);
    else
        begin(wait, token);
}

/*
 * The first event counts: a thread keeps units that were granted before the deadline, or before the cancel of its
 * token.  The units of a canceled thread go to the next request.  If a thread waits for a ticket, only the wait
 * ends, and the ticket stays in the queue.
 */
void model_abort(struct model_wait *wait, int reason)
{
    struct model_request *r = wait->request;
    struct model_sem *s = r->sem;

    if (reason == MODEL_ABANDONED)
        wait->token = NULL;     /* a canceled wait leaves its token before any callback runs */
    if (r == &wait->own && r->state == FAIRSEM_TICKET_WAITING) {
        spec_leave(&s->now, &r->ask);
        left(r, FAIRSEM_TICKET_CANCELED, reason);
        model_settle(s, 0);
    } else if (r == &wait->own && r->state == FAIRSEM_TICKET_GRANTED
               && reason == MODEL_ABANDONED) {
        regain(s, r);
    }
    if (!wait->over)
        returns(wait, reason);
}

/* The waits of a token end one by one, newest first.  Between two of them, requests behind may be granted. */
int model_token_cancel(int *token, int reason)
{
    int error = spec_reason(token, reason, ECANCELED);

    for (struct model_wait *wait = model_waits; error == 0 && wait != NULL; wait = wait->older) {
        if (wait->token == token && !wait->over) {
            wait->token = NULL;     /* the wait has left the token's list, but has not returned yet */
            model_abort(wait, *token);
        }
    }
    return error;
}

int model_token_destroy(const int *token)
{
    for (const struct model_wait *wait = model_waits; wait != NULL; wait = wait->older) {
        if (wait->token == token)
            return EBUSY;
    }
    return 0;
}

/* ---- Tickets ---- */

int model_ticket_take(struct model_request *t, struct model_sem *s, int64_t n, int priority, int share,
                      bool notify)
{
    int result;

    if (!spec_valid(n) || model_share_refused(s, share) || t->state != FAIRSEM_TICKET_IDLE)
        return EINVAL;
    t->notify = notify;
    result = ask(s, t, n, priority, share, 0);
    return result == SPEC_WAITS ? EINPROGRESS : result;
}

int model_ticket_return(struct model_request *t)
{
    struct model_sem *s = t->sem;

    if (t->state == FAIRSEM_TICKET_WAITING) {
        spec_leave(&s->now, &t->ask);
        left(t, FAIRSEM_TICKET_IDLE, 0);
        model_settle(s, 0);
    } else if (t->state == FAIRSEM_TICKET_GRANTED) {
        t->state = FAIRSEM_TICKET_IDLE;
        regain(s, t);
    }
    t->state = FAIRSEM_TICKET_IDLE;
    t->due = 0;
    return 0;
}

int model_ticket_claim(struct model_request *t)
{
    int result = spec_ticket(t->state, t->reason);

    if (result == 0) {
        t->state = FAIRSEM_TICKET_IDLE;
        t->due = 0;
    }
    return result == SPEC_WAITS ? EAGAIN : result;
}

struct model_request *model_next_due(struct model_request *all, int count)
{
    struct model_request *next = NULL;

    for (int i = 0; i < count; i++) {
        if (all[i].due == model_call
            && (next == NULL || all[i].due_order < next->due_order))
            next = &all[i];
    }
    return next;
}
