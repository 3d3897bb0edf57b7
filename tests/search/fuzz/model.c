/* SPDX-License-Identifier: MIT */
/* model.c - the specification of fairsem, see model.h. */
#include "model.h"

#include <errno.h>
#include <string.h>

int64_t model_now_ns, model_ahead_ns;
struct model_wait *model_waits;
int model_call;
int (*model_calls_back)(void);
static unsigned dues;

/* ---- Errors of callers ---- */

static bool valid(int64_t n)
{
    return n >= 0 && n <= FAIRSEM_MAX_UNITS;
}

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

static int64_t length(const struct model_sem *s)
{
    int64_t n = 0;

    for (const struct model_request *r = s->head; r != NULL; r = r->behind)
        n++;
    return n;
}

/* A request waits behind those of the same or a better priority. */
static bool must_wait(const struct model_sem *s, int64_t n, int priority)
{
    return s->capacity == 0 || n > s->available
           || (s->head != NULL && s->head->priority <= priority);
}

static void end_waits(const struct model_request *r)
{
    for (struct model_wait *wait = model_waits; wait != NULL; wait = wait->older) {
        if (wait->request != r || wait->over)
            continue;
        wait->over = true;
        if (r->state == FAIRSEM_TICKET_GRANTED)
            wait->result = 0;
        else
            wait->result = r->state == FAIRSEM_TICKET_IDLE ? ECANCELED : r->reason;
    }
}

static void leave(struct model_request *r, enum fairsem_ticket_state state, int reason,
                  int64_t *counter)
{
    struct model_sem *s = r->sem;
    struct model_request **at = &s->head;
    int64_t waited = model_now_ns - r->joined_ns;

    while (*at != r)
        at = &(*at)->behind;
    *at = r->behind;
    r->state = state;
    r->reason = reason;
    if (r->had_to_wait) {
        ++*counter;
        s->past.wait_ns_total = waited > INT64_MAX - s->past.wait_ns_total
                                    ? INT64_MAX : s->past.wait_ns_total + waited;
        if (waited > s->past.wait_ns_max)
            s->past.wait_ns_max = waited;
    }
    end_waits(r);
    if (r->notify && r->had_to_wait && state != FAIRSEM_TICKET_IDLE) {
        r->due = model_calls_back();
        r->due_order = ++dues;
    }
}

/* Grants the head while it fits. */
static void grant_heads(struct model_sem *s)
{
    while (s->head != NULL && s->capacity != 0 && s->head->units <= s->available) {
        s->available -= s->head->units;
        leave(s->head, FAIRSEM_TICKET_GRANTED, 0, &s->past.grants);
    }
}

/* `refusal`, if not 0, is returned instead of waiting. */
static int join(struct model_sem *s, struct model_request *r, int64_t n, int priority, int refusal)
{
    struct model_request **at = &s->head;
    bool waits = must_wait(s, n, priority);

    if (s->closed != 0)
        return s->closed;
    if (n > s->capacity && s->capacity != 0)
        return E2BIG;
    if (waits && refusal != 0)
        return refusal;
    if (waits && s->max_waiters != 0 && length(s) >= s->max_waiters) {
        s->past.refused++;
        return ENOBUFS;
    }
    while (*at != NULL && (*at)->priority <= priority)
        at = &(*at)->behind;
    *r = (struct model_request){
        .state = FAIRSEM_TICKET_WAITING, .sem = s, .units = n, .priority = priority,
        .joined_ns = model_now_ns, .had_to_wait = waits, .notify = r->notify,
        .called_by = r->called_by, .behind = *at,
    };
    *at = r;
    s->past.waits += waits;
    if (waits && length(s) > s->past.waiters_max)
        s->past.waiters_max = length(s);
    grant_heads(s);
    return 0;
}

/* ---- The semaphore ---- */

/*
 * Semaphores with FAIRSEM_BOUNDED_BYPASS are not in this model: which thread passes depends on
 * which threads sleep.  Nor do requests become old: when that is noted depends on what else the
 * library is called for.  The explorer has both.
 */
int model_init(struct model_sem *s, int64_t units, const fairsem_attr_t *attr)
{
    for (int i = 0; i < 5; i++) {
        if (attr->reserved_[i] != 0)
            return EINVAL;
    }
    if (attr->aging_ns < 0 || attr->bypass_ns != 0)
        return EINVAL;
    if ((attr->flags & ~(FAIRSEM_INTERRUPTIBLE | FAIRSEM_NO_SPIN)) != 0)
        return EINVAL;
    if (!valid(units) || !valid(attr->capacity) || attr->max_waiters < 0)
        return EINVAL;
    if (attr->capacity > 0 && units > attr->capacity)
        return EINVAL;
    *s = (struct model_sem){
        .bounded = attr->capacity > 0,
        .interruptible = (attr->flags & FAIRSEM_INTERRUPTIBLE) != 0,
        .capacity = attr->capacity > 0 ? attr->capacity : FAIRSEM_MAX_UNITS,
        .available = units, .max_waiters = attr->max_waiters,
    };
    return 0;
}

int model_destroy(const struct model_sem *s)
{
    return s->head != NULL ? EBUSY : 0;
}

int model_try(struct model_sem *s, int64_t n)
{
    struct model_request r = { .state = FAIRSEM_TICKET_IDLE };

    /* The worst possible priority: it passes no waiter. */
    return valid(n) ? join(s, &r, n, INT32_MAX, EAGAIN) : EINVAL;
}

bool model_would_block(const struct model_sem *s, int64_t n)
{
    struct model_sem copy = *s;

    copy.max_waiters = 0;
    return model_try(&copy, n) == EAGAIN;
}

int64_t model_upto(struct model_sem *s, int64_t max)
{
    int64_t n = max < s->available ? max : s->available;

    if (n <= 0 || s->closed != 0 || s->head != NULL || s->capacity == 0)
        return 0;
    s->available -= n;
    return n;
}

int model_release(struct model_sem *s, int64_t n)
{
    if (!valid(n))
        return EINVAL;
    if (n > s->capacity - s->available) {
        s->past.over_releases++;
        return EOVERFLOW;
    }
    s->available += n;
    grant_heads(s);
    return 0;
}

/* A grant is given back; units that do not fit any more, after an over-release, are lost. */
static void regain(struct model_sem *s, int64_t n)
{
    int64_t room = s->capacity - s->available;

    if (n > room) {
        s->past.over_releases++;
        n = room > 0 ? room : 0;
    }
    s->available += n;
    grant_heads(s);
}

int model_set_capacity(struct model_sem *s, int64_t capacity)
{
    if (!s->bounded || !valid(capacity))
        return EINVAL;
    s->available += capacity - s->capacity;
    s->capacity = capacity;
    for (struct model_request *r = s->head, *behind; r != NULL && capacity != 0; r = behind) {
        behind = r->behind;
        if (r->units > capacity)
            leave(r, FAIRSEM_TICKET_CANCELED, E2BIG, &s->past.cancels);
    }
    grant_heads(s);
    return 0;
}

int model_consume(struct model_sem *s, int64_t n)
{
    if (!valid(n))
        return EINVAL;
    if (s->available - n < -FAIRSEM_MAX_UNITS)
        return EOVERFLOW;
    s->available -= n;
    return 0;
}

int model_close(struct model_sem *s, int reason)
{
    if (reason < 0)
        return EINVAL;
    if (s->closed != 0)
        return EALREADY;
    s->closed = reason != 0 ? reason : ESHUTDOWN;
    while (s->head != NULL)
        leave(s->head, FAIRSEM_TICKET_CLOSED, s->closed, &s->past.cancels);
    return 0;
}

void model_stat(const struct model_sem *s, fairsem_stat_t *stat)
{
    *stat = s->past;
    stat->available = s->available;
    stat->capacity = s->bounded ? s->capacity : -1;
    stat->waiters = length(s);
    for (const struct model_request *r = s->head; r != NULL; r = r->behind) {
        if (r->units > INT64_MAX - stat->waiting_units)
            stat->waiting_units = INT64_MAX;
        else
            stat->waiting_units += r->units;
        if (model_now_ns - r->joined_ns > stat->oldest_wait_ns)
            stat->oldest_wait_ns = model_now_ns - r->joined_ns;
    }
}

/* ---- Waits, and how they end ---- */

static void begin(struct model_wait *wait, struct model_token *token)
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
                   const fairsem_wait_t *how, struct model_token *token)
{
    bool past = how->deadline != NULL && model_valid_wait(how)
                && model_passed(how->clock, how->deadline);

    wait->request = &wait->own;
    if (!valid(n) || !model_valid_wait(how)) {
        returns(wait, EINVAL);
    } else if (token != NULL && token->reason != 0) {
        returns(wait, token->reason);
    } else {
        returns(wait, join(s, &wait->own, n, how->priority, past ? ETIMEDOUT : 0));
        if (wait->own.state == FAIRSEM_TICKET_WAITING)
            begin(wait, token);
    }
}

void model_ticket_wait(struct model_request *ticket, struct model_wait *wait,
                       const fairsem_wait_t *how, struct model_token *token)
{
    wait->request = ticket;
    if (!model_valid_wait(how) || how->priority != 0 || ticket->state == FAIRSEM_TICKET_IDLE)
        returns(wait, EINVAL);
    else if (ticket->state != FAIRSEM_TICKET_WAITING)
        returns(wait, ticket->reason);
    else if (token != NULL && token->reason != 0)
        returns(wait, token->reason);
    else if (how->deadline != NULL && model_passed(how->clock, how->deadline))
        returns(wait, ETIMEDOUT);
    else
        begin(wait, token);
}

/*
 * The first event counts: a thread keeps units that were granted before the deadline, or before its
 * token was canceled.  Those of a canceled thread go to the next in the queue.  If a thread waits
 * for a ticket, only its wait ends, and the ticket stays.
 */
void model_abort(struct model_wait *wait, int reason)
{
    struct model_request *r = wait->request;
    struct model_sem *s = r->sem;

    if (reason == MODEL_ABANDONED)
        wait->token = NULL;     /* before any callback */
    if (r == &wait->own && r->state == FAIRSEM_TICKET_WAITING) {
        leave(r, FAIRSEM_TICKET_CANCELED, reason,
              reason == ETIMEDOUT ? &s->past.timeouts : &s->past.cancels);
        grant_heads(s);
    } else if (r == &wait->own && r->state == FAIRSEM_TICKET_GRANTED
               && reason == MODEL_ABANDONED) {
        regain(s, r->units);
    }
    if (!wait->over)
        returns(wait, reason);
}

/* Waits end one by one, the newest first: others behind one may be granted in between. */
int model_token_cancel(struct model_token *token, int reason)
{
    if (reason < 0)
        return EINVAL;
    if (token->reason != 0)
        return EALREADY;
    token->reason = reason != 0 ? reason : ECANCELED;
    for (struct model_wait *wait = model_waits; wait != NULL; wait = wait->older) {
        if (wait->token == token && !wait->over) {
            wait->token = NULL;     /* it has left the list, but has not returned yet */
            model_abort(wait, token->reason);
        }
    }
    return 0;
}

int model_token_destroy(const struct model_token *token)
{
    for (const struct model_wait *wait = model_waits; wait != NULL; wait = wait->older) {
        if (wait->token == token)
            return EBUSY;
    }
    return 0;
}

/* ---- Tickets ---- */

int model_ticket_take(struct model_request *t, struct model_sem *s, int64_t n, int priority,
                      bool notify)
{
    int error;

    if (!valid(n) || t->state != FAIRSEM_TICKET_IDLE)
        return EINVAL;
    t->notify = notify;
    error = join(s, t, n, priority, 0);
    return error == 0 && t->had_to_wait ? EINPROGRESS : error;
}

void model_ticket_return(struct model_request *t)
{
    struct model_sem *s = t->sem;

    if (t->state == FAIRSEM_TICKET_WAITING) {
        leave(t, FAIRSEM_TICKET_IDLE, 0, &s->past.cancels);
        grant_heads(s);
    } else if (t->state == FAIRSEM_TICKET_GRANTED) {
        t->state = FAIRSEM_TICKET_IDLE;
        regain(s, t->units);
    }
    t->state = FAIRSEM_TICKET_IDLE;
    t->due = 0;
}

int model_ticket_claim(struct model_request *t)
{
    switch (t->state) {
    case FAIRSEM_TICKET_IDLE:
        return EINVAL;
    case FAIRSEM_TICKET_WAITING:
        return EAGAIN;
    case FAIRSEM_TICKET_GRANTED:
        t->state = FAIRSEM_TICKET_IDLE;
        t->due = 0;
        return 0;
    default:
        return t->reason;
    }
}

struct model_request *model_next_due(struct model_request *tickets, int count)
{
    struct model_request *next = NULL;

    for (int i = 0; i < count; i++) {
        if (tickets[i].due == model_call
            && (next == NULL || tickets[i].due_order < next->due_order))
            next = &tickets[i];
    }
    return next;
}
