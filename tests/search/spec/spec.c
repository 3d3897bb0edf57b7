/* SPDX-License-Identifier: MIT */
/* spec.c - the specification of a semaphore, see spec.h. */
#include "spec.h"

#include <assert.h>
#include <errno.h>

bool spec_valid(int64_t n)
{
    return n >= 0 && n <= FAIRSEM_MAX_UNITS;
}

int spec_init(struct spec *s, int64_t units, const fairsem_attr_t *attr)
{
    const uint64_t flags = FAIRSEM_INTERRUPTIBLE | FAIRSEM_NO_SPIN | FAIRSEM_BOUNDED_BYPASS;
    bool bounded = attr->capacity > 0, bypass = attr->bypass_ns > 0;

    for (size_t i = 0; i < sizeof attr->reserved_ / sizeof attr->reserved_[0]; i++) {
        if (attr->reserved_[i] != 0)
            return EINVAL;
    }
    if (attr->max_waiters < 0 || attr->aging_ns < 0 || attr->bypass_ns < 0
        || (attr->flags & ~flags) != 0 || bypass != ((attr->flags & FAIRSEM_BOUNDED_BYPASS) != 0))
        return EINVAL;
    if (!spec_valid(units) || !spec_valid(attr->capacity) || (bounded && units > attr->capacity))
        return EINVAL;
    *s = (struct spec){
        .available = units, .capacity = bounded ? attr->capacity : FAIRSEM_MAX_UNITS,
        .max_waiters = attr->max_waiters, .bounded = bounded, .bypass = bypass,
    };
    return 0;
}

int spec_destroy(const struct spec *s)
{
    return s->waiters > 0 ? EBUSY : 0;
}

/* ---- The queue ---- */

/* In a pause (capacity 0) nothing fits, except a drain of a closed semaphore without units in use. */
static bool fits(const struct spec *s, int64_t n)
{
    return s->capacity != 0 ? n <= s->available : s->closed != 0 && s->available >= 0;
}

/* Returns why the request can never be granted, or 0.  A pause will end, so nothing is too large for it. */
static int refusal(const struct spec *s, const struct spec_request *r)
{
    if (!spec_valid(r->units))
        return EINVAL;
    if (s->closed != 0 && !r->drains)
        return s->closed;
    return r->units > s->capacity && s->capacity != 0 ? E2BIG : 0;
}

/*
 * The order is: old requests by arrival, then the others by priority, and those of one priority by arrival.
 * Returns the first request of all, or the first one that is refused.
 */
struct spec_request *spec_first(const struct spec *s, bool refused)
{
    struct spec_request *head = NULL;

    for (int i = 0; i < s->waiters; i++) {
        struct spec_request *r = s->queue[i];

        if (refused && refusal(s, r) == 0)
            continue;
        if (i < s->old)
            return r;
        if (head == NULL || r->priority < head->priority)
            head = r;
    }
    return head;
}

/* Must a request wait because of another one ahead of it? */
static bool must_wait(const struct spec *s, int64_t n, int priority)
{
    const struct spec_request *head = spec_first(s, false);

    return !fits(s, n) || s->old > 0 || (head != NULL && head->priority <= priority);
}

bool spec_is_full(const struct spec *s)
{
    return s->max_waiters != 0 && s->waiters >= s->max_waiters;
}

int spec_ask(struct spec *s, struct spec_request *r, int instead)
{
    int refused = refusal(s, r);

    if (refused != 0)
        return refused;
    if (!must_wait(s, r->units, r->priority)) {
        s->available -= r->drains ? 0 : r->units;
        return 0;
    }
    if (instead != 0)
        return instead;
    if (spec_is_full(s))
        return ENOBUFS;
    assert(s->waiters < SPEC_QUEUE);
    s->queue[s->waiters++] = r;
    return SPEC_WAITS;
}

void spec_leave(struct spec *s, const struct spec_request *r)
{
    int i = 0;

    while (s->queue[i] != r)
        i++;
    s->old -= i < s->old;
    for (s->waiters--; i < s->waiters; i++)
        s->queue[i] = s->queue[i + 1];
}

/*
 * FAIRSEM_BOUNDED_BYPASS: free units stay available to all until the head takes them.  A ticket cannot do that,
 * so while one is in the queue, the head is granted as without a bypass.
 */
static bool stays_open(const struct spec *s)
{
    bool ticket = false;

    for (int i = 0; i < s->waiters; i++)
        ticket = ticket || s->queue[i]->ticket;
    return s->bypass && s->closed == 0 && !ticket;
}

/* May a request for n units barge?  (For how long is not specified here.) */
bool spec_may_pass(const struct spec *s, int64_t n)
{
    return stays_open(s) && s->waiters > 0 && n > 0 && fits(s, n);
}

/* A change of the capacity or a close refuses some requests; the others are granted from the head on. */
struct spec_request *spec_next(struct spec *s, bool claims, int *result)
{
    struct spec_request *r = spec_first(s, true);

    if (r != NULL) {
        *result = refusal(s, r);
    } else {
        r = spec_first(s, false);
        if (r == NULL || !fits(s, r->units) || (claims && stays_open(s)))
            return NULL;
        s->available -= r->drains ? 0 : r->units;
        *result = 0;
    }
    spec_leave(s, r);
    return r;
}

/* ---- Calls that do not wait have the worst possible priority, and overtake no waiter ---- */

int spec_try(struct spec *s, int64_t n)
{
    struct spec_request r = { .units = n, .priority = INT32_MAX };

    return spec_ask(s, &r, EAGAIN);
}

bool spec_would_block(const struct spec *s, int64_t n)
{
    struct spec copy = *s;

    return s->closed == 0 && spec_try(&copy, n) == EAGAIN;
}

int64_t spec_upto(struct spec *s, int64_t max)
{
    int64_t n = max < s->available ? max : s->available;

    if (n <= 0 || s->closed != 0 || must_wait(s, n, INT32_MAX))
        return 0;
    s->available -= n;
    return n;
}

/* ---- Units ---- */

int spec_release(struct spec *s, int64_t n)
{
    if (!spec_valid(n))
        return EINVAL;
    if (n > s->capacity - s->available)
        return EOVERFLOW;
    s->available += n;
    return 0;
}

/* Return a grant, as far as there is room: an over-release may have filled its place. */
bool spec_regain(struct spec *s, const struct spec_request *granted)
{
    int64_t n = granted->drains ? 0 : granted->units, room = s->capacity - s->available;

    s->available += n <= room ? n : room > 0 ? room : 0;
    return n > room;
}

/* Units in use stay in use: the difference becomes available, or a debt. */
int spec_set_capacity(struct spec *s, int64_t capacity)
{
    if (!s->bounded || !spec_valid(capacity))
        return EINVAL;
    s->available += capacity - s->capacity;
    s->capacity = capacity;
    return 0;
}

int spec_consume(struct spec *s, int64_t n)
{
    if (!spec_valid(n))
        return EINVAL;
    if (s->available - n < -FAIRSEM_MAX_UNITS)
        return EOVERFLOW;
    s->available -= n;
    return 0;
}

int spec_close(struct spec *s, int reason)
{
    return spec_reason(&s->closed, reason, ESHUTDOWN);
}

/* A drain closes, even a closed semaphore, and then asks for units. */
int spec_close_to_drain(struct spec *s, const struct spec_request *r)
{
    int refused = refusal(s, r);

    if (refused == 0)
        (void)spec_close(s, 0);
    return refused;
}

/* ---- Tickets, and reasons ---- */

int spec_ticket(enum fairsem_ticket_state state, int reason)
{
    switch (state) {
    case FAIRSEM_TICKET_IDLE:
        return EINVAL;
    case FAIRSEM_TICKET_WAITING:
        return SPEC_WAITS;
    case FAIRSEM_TICKET_GRANTED:
        return 0;
    default:
        return reason;
    }
}

int spec_reason(int *reason, int given, int usual)
{
    if (given < 0)
        return EINVAL;
    if (*reason != 0)
        return EALREADY;
    *reason = given != 0 ? given : usual;
    return 0;
}
