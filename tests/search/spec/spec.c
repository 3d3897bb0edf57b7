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
        .aging = attr->aging_ns > 0,
    };
    return 0;
}

int spec_destroy(const struct spec *s)
{
    return s->waiters > 0 ? EBUSY : 0;
}

/* ---- The queue ---- */

/* In a pause (capacity 0) nothing fits, except a drain (after its close) when no unit is in use. */
static bool fits(const struct spec *s, int64_t n)
{
    return s->capacity != 0 ? n <= s->available : s->closed != 0 && s->available >= 0;
}

/*
 * Returns why the request can never be granted, or 0.  A pause will end, so no request is too large during a
 * pause.
 */
static int refusal(const struct spec *s, const struct spec_request *r)
{
    if (!spec_valid(r->units))
        return EINVAL;
    if (s->closed != 0 && !r->drains)
        return s->closed;
    return r->units > s->capacity && s->capacity != 0 ? E2BIG : 0;
}

/* ---- Shares: the requests of each, and those without one, are a flow ---- */

/* The index in s->queue of the flow's first request (by priority, then by arrival), or -1. */
static int first_of(const struct spec *s, int flow)
{
    int first = -1;

    for (int i = 0; i < s->waiters; i++) {
        if (s->queue[i]->share == flow && (first < 0 || s->queue[i]->priority < s->queue[first]->priority))
            first = i;
    }
    return first;
}

static bool is_earlier(struct spec_tag a, struct spec_tag b)
{
    return a.whole != b.whole ? a.whole < b.whole : a.part / SPEC_STEP < b.part / SPEC_STEP;
}

/* By priority, then by tag, then by arrival.  Both flows have requests. */
static bool comes_first(const struct spec *s, int a, int b)
{
    int at = first_of(s, a), other = first_of(s, b);

    if (s->queue[at]->priority != s->queue[other]->priority)
        return s->queue[at]->priority < s->queue[other]->priority;
    if (is_earlier(s->flow[a].tag, s->flow[b].tag) || is_earlier(s->flow[b].tag, s->flow[a].tag))
        return is_earlier(s->flow[a].tag, s->flow[b].tag);
    return at < other;
}

/* Returns the next flow after `behind`, or NO_FLOW after the last flow.  After NO_FLOW comes the first flow. */
enum { NO_FLOW = -1 };
static int next_flow(const struct spec *s, int behind)
{
    int next = NO_FLOW;

    for (int f = 0; f < SPEC_FLOWS; f++) {
        if (first_of(s, f) >= 0 && f != behind && (behind == NO_FLOW || comes_first(s, behind, f))
            && (next == NO_FLOW || comes_first(s, f, next)))
            next = f;
    }
    return next;
}

/* One grant adds at most 2^40 to a tag, so it counts as at most 2^40 * weight units. */
static int64_t limited(const struct spec_flow *flow, int64_t units)
{
    const int64_t most = (INT64_C(1) << 40) * flow->weight;

    return units > most ? most : units < -most ? -most : units;
}

/* Add units / weight to the tag. */
static void count(struct spec *s, struct spec_flow *flow, int64_t units)
{
    int64_t part = flow->tag.part + units % flow->weight * (SPEC_PARTS / flow->weight);

    flow->tag.whole += units / flow->weight + (part >= SPEC_PARTS) - (part < 0);
    flow->tag.part = (int32_t)(part - (part >= SPEC_PARTS) * SPEC_PARTS + (part < 0) * SPEC_PARTS);
    flow->counted += units;
    if (flow->counted > flow->largest)
        flow->largest = flow->counted;
    s->charged_back = s->charged_back || units < 0;
}

static struct spec_tag whole_steps(struct spec_tag tag, int steps)
{
    tag.part += steps * SPEC_STEP - tag.part % SPEC_STEP;
    tag.whole += tag.part >= SPEC_PARTS;
    tag.part -= (tag.part >= SPEC_PARTS) * SPEC_PARTS;
    return tag;
}

/* Units / weight, rounded down to whole steps. */
static struct spec_tag steps_of(int64_t units, int weight)
{
    const int64_t most = (INT64_C(1) << 40) * weight, n = units > most ? most : units;
    const struct spec_tag exact = { n / weight, (int32_t)(n % weight * (SPEC_PARTS / weight)) };

    return whole_steps(exact, 0);
}

/*
 * The start tag of a new flow with request r: behind that of flow `first` by the smaller of both first
 * requests, less one step.
 */
static struct spec_tag start_of_new(const struct spec *s, const struct spec_request *r, int first)
{
    const struct spec_request *other = s->queue[first_of(s, first)];
    struct spec_tag from = s->flow[first].tag, own = steps_of(r->units, r->share != 0 ? r->weight : 1),
                    theirs = steps_of(other->units, other->share != 0 ? other->weight : 1);

    own = is_earlier(theirs, own) ? theirs : own;
    if (own.whole == 0 && own.part == 0)
        return from;
    from = whole_steps(from, 0);
    from.whole += own.whole;
    from.part += own.part;
    from.whole += from.part >= SPEC_PARTS;
    from.part -= (from.part >= SPEC_PARTS) * SPEC_PARTS;
    return from.part >= SPEC_STEP ? whole_steps(from, -1)
                                  : (struct spec_tag){ from.whole - 1, SPEC_PARTS - SPEC_STEP };
}

/*
 * r is the new first request of its flow: set the flow's start tag.  Compared are the tags of the other flows
 * whose first requests have the priority of r.
 *   - The flow knows its tag, and had this priority before: it keeps its tag, but not less than the virtual
 *     time or the first tag of the others, whichever is earlier.
 *   - The flow knows its tag, and had another priority: it keeps its tag, but not less than the first tag of
 *     the others, and not more than a step behind their last tag.  Without others: not less than the virtual
 *     time.
 *   - The flow does not know its tag: a little behind the first tag of the others, see start_of_new().  Without
 *     others: the virtual time.
 */
static void start(struct spec *s, const struct spec_request *r, bool knows)
{
    const int share = r->share, priority = r->priority;
    struct spec_flow *flow = &s->flow[share];
    struct spec_tag from = s->virtual_time, to = flow->tag;
    bool moves = knows && flow->priority != priority, others = false;

    for (int other = next_flow(s, NO_FLOW); other != NO_FLOW; other = next_flow(s, other)) {
        const struct spec_tag tag = s->flow[other].tag;

        if (other == share || s->queue[first_of(s, other)]->priority != priority)
            continue;
        if (!others && (moves || (knows && is_earlier(tag, from))))
            from = tag;
        if (!others && !knows)
            from = start_of_new(s, r, other);
        if (moves && is_earlier(tag, flow->tag))
            to = whole_steps(tag, 1);
        else
            to = flow->tag;
        others = true;
    }
    if (is_earlier(flow->tag, from) || (!knows && is_earlier(from, flow->tag)))
        flow->tag = whole_steps(from, 0);
    else if (others && moves && is_earlier(to, flow->tag))
        flow->tag = to;
    flow->priority = priority;
}

/* The first request with a share arrives.  Requests that are in the queue already become the common flow. */
static void begin_flows(struct spec *s)
{
    int front = first_of(s, 0);

    s->flows = true;
    s->virtual_time = (struct spec_tag){ 0, 0 };
    s->flow[0] = (struct spec_flow){
        .priority = front >= 0 ? s->queue[front]->priority : 0, .weight = 1, .knows = true,
    };
}

/* Finish tags stay valid until the queue is empty, or the virtual time reaches a further multiple of 2^40. */
static void forget_tags(struct spec *s)
{
    for (int f = 1; f < SPEC_FLOWS; f++)
        s->flow[f].knows = false;
}

/* r arrives, and becomes the first request of its flow.  `idle`: the flow has no other requests. */
static void flow_comes(struct spec *s, const struct spec_request *r, bool idle)
{
    struct spec_flow *flow = &s->flow[r->share];
    bool knows = !idle || flow->knows;

    flow->weight = r->share != 0 ? r->weight : 1;
    if (knows && idle)
        count(s, flow, limited(flow, flow->charged));
    if (idle)
        flow->charged = 0;
    start(s, r, knows);
}

/*
 * The flow's first request is granted.  The grant counts its units and the units charged since the last grant.
 * Returns true if this sum is negative.
 */
static bool count_grant(struct spec *s, const struct spec_request *r)
{
    struct spec_flow *flow = &s->flow[r->share];
    int64_t before = s->virtual_time.whole >> 40, units = limited(flow, r->units + flow->charged);

    if (is_earlier(s->virtual_time, flow->tag))
        s->virtual_time = (struct spec_tag){ flow->tag.whole, flow->tag.part - flow->tag.part % SPEC_STEP };
    if (s->virtual_time.whole >> 40 != before) {
        forget_tags(s);
        if (first_of(s, 0) < 0 && is_earlier(s->flow[0].tag, s->virtual_time))
            s->flow[0].tag = s->virtual_time;
    }
    flow->charged = 0;
    flow->counted = 0;
    count(s, flow, units);
    flow->given += units * SPEC_STEP / flow->weight;
    return units < 0;
}

static int64_t largest_of(const struct spec_flow *flow)
{
    return flow->weight != 0 ? flow->largest * SPEC_STEP / flow->weight : 0;
}

/*
 * The bound, for an interval in which two flows always have first requests of one priority in the queue: the
 * units granted to them, divided by weights, differ by at most the largest request of each, plus that of any
 * third flow, behind whose tag one of the two may have started.
 */
static bool within_bound(const struct spec *s, int f, int other)
{
    int64_t most = largest_of(&s->flow[f]) + largest_of(&s->flow[other]), third = 0;

    for (int k = 0; k < SPEC_FLOWS; k++) {
        if (k != f && k != other && largest_of(&s->flow[k]) > third)
            third = largest_of(&s->flow[k]);
    }
    return s->lead[f][other].most - s->lead[f][other].least <= most + third;
}

static void check_bound(struct spec *s)
{
    for (int f = 0; f < SPEC_FLOWS && s->flows; f++) {
        for (int other = 0; other < f; other++) {
            struct spec_lead *lead = &s->lead[f][other];
            int i = first_of(s, f), k = first_of(s, other);
            int64_t now = s->flow[f].given - s->flow[other].given;
            bool both = i >= 0 && k >= 0 && s->queue[i]->priority == s->queue[k]->priority;

            if (both && !lead->both)
                lead->least = lead->most = now;
            lead->both = both;
            if (!both)
                continue;
            lead->least = now < lead->least ? now : lead->least;
            lead->most = now > lead->most ? now : lead->most;
            s->unfair = s->unfair || (!s->charged_back && !within_bound(s, f, other));
        }
    }
}

/* ---- Into the queue, and out of it ---- */

static void enqueue(struct spec *s, struct spec_request *r)
{
    int first = first_of(s, r->share);
    bool idle = first < 0, better = idle || r->priority < s->queue[first]->priority;

    assert(s->waiters < SPEC_QUEUE);
    if (!s->flows && r->share != 0)
        begin_flows(s);
    if (s->flows && better)
        flow_comes(s, r, idle);
    s->queue[s->waiters++] = r;
    if (limited(&s->flow[r->share], r->units) > s->flow[r->share].largest)
        s->flow[r->share].largest = limited(&s->flow[r->share], r->units);
    check_bound(s);
}

static void leave(struct spec *s, const struct spec_request *r, bool granted)
{
    bool first = s->flows && s->queue[first_of(s, r->share)] == r, credited = false;
    struct spec_flow *flow = &s->flow[r->share];
    int i = 0;

    if (first && granted)
        credited = count_grant(s, r);
    check_bound(s);
    while (s->queue[i] != r)
        i++;
    s->aged -= i < s->aged;
    for (s->waiters--; i < s->waiters; i++)
        s->queue[i] = s->queue[i + 1];
    i = first_of(s, r->share);
    if (first && i < 0)
        flow->knows = true;
    else if (first && s->queue[i]->priority != flow->priority)
        start(s, s->queue[i], true);
    else if (credited)
        start(s, s->queue[i], true);
    check_bound(s);
    if (s->waiters == 0) {
        s->flows = false;
        forget_tags(s);
    }
}

void spec_leave(struct spec *s, const struct spec_request *r)
{
    leave(s, r, false);
}

/*
 * The order of the queue: aged requests by arrival; then the others by priority, and within a priority by
 * arrival.  With shares: by flow, and within a flow in this order.
 */
static bool is_before(const struct spec *s, int a, int b)
{
    if (a < s->aged || b < s->aged)
        return a < b;
    if (s->flows && s->queue[a]->share != s->queue[b]->share)
        return comes_first(s, s->queue[a]->share, s->queue[b]->share);
    return s->queue[a]->priority != s->queue[b]->priority ? s->queue[a]->priority < s->queue[b]->priority : a < b;
}

struct spec_request *spec_behind(const struct spec *s, const struct spec_request *r)
{
    int next = -1, at = -1;

    for (int i = 0; r != NULL && i < s->waiters; i++)
        at = s->queue[i] == r ? i : at;
    for (int i = 0; i < s->waiters; i++) {
        if ((at < 0 || is_before(s, at, i)) && (next < 0 || is_before(s, i, next)))
            next = i;
    }
    return next >= 0 ? s->queue[next] : NULL;
}

struct spec_request *spec_first(const struct spec *s)
{
    return spec_behind(s, NULL);
}

/*
 * Returns the next refused request, or NULL.  Refused requests leave from the front to the end.  When the first
 * request of a flow leaves, the flow may move behind other flows, so a second pass follows.
 */
static struct spec_request *next_refused(struct spec *s)
{
    struct spec_request *r = s->behind;

    for (int passes = 1 + (r != NULL); passes > 0; passes--) {
        for (r = r != NULL ? r : spec_first(s); r != NULL; r = spec_behind(s, r)) {
            s->behind = spec_behind(s, r);
            if (refusal(s, r) != 0)
                return r;
        }
    }
    s->behind = NULL;
    return NULL;
}

/* Must a new request wait, for units or because of a request ahead of it? */
static bool must_wait(const struct spec *s, int64_t n, int priority)
{
    const struct spec_request *head = spec_first(s);

    return !fits(s, n) || s->aged > 0 || (head != NULL && head->priority <= priority);
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
    if (r->drains)
        r->share = 0;
    if (!must_wait(s, r->units, r->priority)) {
        s->available -= r->drains ? 0 : r->units;
        return 0;
    }
    if (instead != 0)
        return instead;
    if (spec_is_full(s))
        return ENOBUFS;
    enqueue(s, r);
    return SPEC_WAITS;
}

/*
 * With a bypass, free units stay available to all threads until the front takes them.  A ticket cannot take
 * units by itself: while a ticket is in the queue, the front is granted, as without a bypass.
 */
static bool stays_open(const struct spec *s)
{
    bool ticket = false;

    for (int i = 0; i < s->waiters; i++)
        ticket = ticket || s->queue[i]->ticket;
    return s->bypass && s->closed == 0 && !ticket;
}

bool spec_may_pass(const struct spec *s, int64_t n)
{
    return stays_open(s) && s->waiters > 0 && n > 0 && fits(s, n);
}

/* Requests that a smaller capacity or a close refuses come first, then grants, from the front on. */
struct spec_request *spec_next(struct spec *s, bool claims, int *result)
{
    struct spec_request *r = next_refused(s);

    if (r != NULL) {
        *result = refusal(s, r);
    } else {
        r = spec_first(s);
        if (r == NULL || !fits(s, r->units) || (claims && stays_open(s)))
            return NULL;
        s->available -= r->drains ? 0 : r->units;
        *result = 0;
    }
    leave(s, r, *result == 0 && !r->drains);
    return r;
}

/* ---- Shares are used by several semaphores, one after the other ---- */

bool spec_has_share(const struct spec *s, int share)
{
    return first_of(s, share) >= 0;
}

bool spec_takes_shares(const struct spec *s)
{
    return !s->bypass && !s->aging;
}

void spec_forget_share(struct spec *s, int share)
{
    s->flow[share].knows = share == 0;      /* the common flow is never at another semaphore */
    s->flow[share].charged = 0;
}

void spec_charge(struct spec *s, int share, int64_t n)
{
    int64_t sum = s->flow[share].charged + n;

    s->flow[share].charged = sum > FAIRSEM_MAX_UNITS ? FAIRSEM_MAX_UNITS
                             : sum < -FAIRSEM_MAX_UNITS ? -FAIRSEM_MAX_UNITS : sum;
}

int spec_shares(const struct spec *s)
{
    int shares = 0;

    for (int f = 1; f < SPEC_FLOWS; f++)
        shares += spec_has_share(s, f);
    return shares;
}

/* ---- Calls that do not wait have the worst possible priority, so they overtake no waiter ---- */

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

/* Return a grant.  Some units are lost if an over-release has left no room for them below the capacity. */
bool spec_regain(struct spec *s, const struct spec_request *granted)
{
    int64_t n = granted->drains ? 0 : granted->units, room = s->capacity - s->available;

    s->available += n <= room ? n : room > 0 ? room : 0;
    return n > room;
}

/* Units in use stay in use: the difference is added to the available units, and may make a debt. */
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

/* A drain first closes the semaphore, if it is still open; then it asks for units. */
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
