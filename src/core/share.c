/* SPDX-License-Identifier: MIT */
/* share.c - order between clients; see share.h. */
#include "share.h"

#include "tag.h"
#include "system/fork.h"
#include "tools/annotate.h"
#include "tools/compiler.h"
#include "tools/probes.h"

#include <assert.h>
#include <errno.h>

struct FS_MAY_ALIAS fs_share {
    struct fs_flow          flow;       /* under the mutex of `sem`; first */
    struct fs_tree_node     in_tree;    /* under that mutex; linked while the flow has requests */
    struct fs_sem *_Atomic  sem;        /* the semaphore whose queue has requests of this share; NULL: none */
    _Atomic int64_t         charged;    /* units to add to the tag: fairsem_share_charge() */
    uint32_t                epoch;      /* under that mutex; the epoch of the finish tag */
    _Atomic unsigned        generation; /* written under the lock of fork.c; see fork.h */
};

static_assert(sizeof(struct fs_share) <= sizeof(fairsem_share_t), "fairsem_share_t is too small");
static_assert(sizeof(fairsem_share_t) <= 64, "fairsem_share_t is larger than promised");
static_assert(_Alignof(struct fs_share) <= _Alignof(fairsem_share_t),
              "fairsem_share_t is not aligned enough");
static_assert(offsetof(struct fs_share, flow.weight) == offsetof(fairsem_share_t, fairsem_weight_),
              "FAIRSEM_SHARE_INITIALIZER does not fit");

/* ---- Tags ---- */

static void add_to_tag(struct fs_flow *flow, int64_t units)
{
    int64_t rest = flow->rest;

    flow->tag = fs_tag_add(flow->tag, units, flow->weight, &rest);
    flow->rest = (uint16_t)rest;
}

static void start_at(struct fs_flow *flow, uint64_t tag)
{
    if (flow->tag == tag)
        return;
    flow->tag = tag;
    flow->rest = 0;
}

/* ---- The order of the flows ---- */

static struct fs_share *share_in(const struct fs_tree_node *in_tree)
{
    return (struct fs_share *)(void *)((char *)(uintptr_t)in_tree - offsetof(struct fs_share, in_tree));
}

static const struct fs_waitq_node *first_request(const struct fs_flow *flow)
{
    return fs_rings_first(flow->requests);
}

/* Is flow a before flow b?  Both have requests. */
static bool flow_is_before(const struct fs_flow *a, const struct fs_flow *b)
{
    if (a->priority != b->priority)
        return a->priority < b->priority;
    if (a->tag != b->tag)
        return fs_tag_is_earlier(a->tag, b->tag);
    return first_request(a)->seq < first_request(b)->seq;
}

/* flow_is_before(), if the first request of a is the newest in the queue: if tags are equal, b is first. */
static bool newest_is_before(const struct fs_flow *a, const struct fs_flow *b)
{
    return a->priority != b->priority ? a->priority < b->priority : fs_tag_is_earlier(a->tag, b->tag);
}

static bool newest_is_before_in_tree(const struct fs_tree_node *a, const struct fs_tree_node *b)
{
    return newest_is_before(&share_in(a)->flow, &share_in(b)->flow);
}

static bool flow_is_before_in_tree(const struct fs_tree_node *a, const struct fs_tree_node *b)
{
    return flow_is_before(&share_in(a)->flow, &share_in(b)->flow);
}

/* A hash of the address, which does not change while the node is in the tree. */
static uint32_t flow_height(struct fs_tree_node *const *root, const struct fs_tree_node *in_tree)
{
    return fs_tree_hash(root, (uint32_t)((uintptr_t)in_tree >> 4));
}

static struct fs_flow *flow_in(struct fs_tree_node *in_tree)
{
    return in_tree != NULL ? &share_in(in_tree)->flow : NULL;
}

/* Returns the first of two flows; each may be NULL. */
static struct fs_flow *first_of_both(struct fs_flow *a, struct fs_flow *b)
{
    if (a == NULL || b == NULL)
        return a != NULL ? a : b;
    return flow_is_before(a, b) ? a : b;
}

/* Returns the common flow, or NULL if it has no requests. */
static struct fs_flow *common_of(const struct fs_sem *s)
{
    return s->common.requests != NULL ? (struct fs_flow *)(uintptr_t)&s->common : NULL;
}

static struct fs_flow *flow_of(struct fs_sem *s, const struct fs_waiter *w)
{
    return w->share != NULL ? &w->share->flow : &s->common;
}

/* Returns the flow that has the front, or NULL. */
static struct fs_flow *front_flow(struct fs_sem *s)
{
    return s->queue.front != NULL ? flow_of(s, fs_waiter_of(s->queue.front)) : NULL;
}

/* Returns the first flow of the tree that has this priority or a worse one, or NULL. */
static struct fs_flow *first_share_flow_from(const struct fs_sem *s, int priority)
{
    struct fs_tree_node *at = s->queue.root;
    struct fs_flow *first = NULL;

    while (at != NULL) {
        if (flow_in(at)->priority < priority) {
            at = at->worse;
        } else {
            first = flow_in(at);
            at = at->better;
        }
    }
    return first;
}

/* Returns the first flow of the tree that is behind `flow`, or NULL. */
static struct fs_flow *next_share_flow(const struct fs_sem *s, const struct fs_flow *flow)
{
    struct fs_tree_node *at = s->queue.root;
    struct fs_flow *next = NULL;

    while (at != NULL) {
        if (flow_is_before(flow, flow_in(at))) {
            next = flow_in(at);
            at = at->better;
        } else {
            at = at->worse;
        }
    }
    return next;
}

static struct fs_flow *next_flow(const struct fs_sem *s, const struct fs_flow *flow)
{
    struct fs_flow *common = common_of(s);

    if (common != NULL && (flow == common || !flow_is_before(flow, common)))
        common = NULL;
    return first_of_both(next_share_flow(s, flow), common);
}

/* ---- Flows come and go ---- */

static uint32_t new_epoch(void)
{
    static _Atomic uint32_t last;
    uint32_t epoch;

    do
        epoch = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    while (epoch < FS_FIRST_EPOCH);
    return epoch;
}

/* The requests that are in the queue already become the common flow. */
static void begin_flows(struct fs_sem *s)
{
    const struct fs_waitq_node *front = s->queue.front;

    s->epoch = new_epoch();
    s->virtual_time = 0;
    s->common = (struct fs_flow){ .weight = 1, .priority = front != NULL ? front->priority : 0,
                                  .requests = s->queue.root };
    s->queue.root = NULL;
}

/* Returns the first flow of this priority, or NULL.  first: the first of all flows. */
static const struct fs_flow *first_of_priority(const struct fs_sem *s, const struct fs_flow *first, int priority)
{
    if (first != NULL && first->priority < priority) {
        struct fs_flow *common = common_of(s);

        if (common != NULL && common->priority < priority)
            common = NULL;
        first = first_of_both(first_share_flow_from(s, priority), common);
    }
    return first != NULL && first->priority == priority ? first : NULL;
}

static const struct fs_flow *last_of_priority(const struct fs_sem *s, int priority)
{
    const struct fs_flow *last = NULL, *common = common_of(s);
    struct fs_tree_node *at = s->queue.root;

    while (at != NULL) {
        if (flow_in(at)->priority > priority) {
            at = at->better;
        } else {
            last = flow_in(at);
            at = at->worse;
        }
    }
    if (last != NULL && last->priority != priority)
        last = NULL;
    if (common != NULL && common->priority == priority && (last == NULL || flow_is_before(last, common)))
        last = common;
    return last;
}

/* Is a flow's tag valid?  UNKNOWN: no, its epoch has ended.  KNOWN_AT_ANOTHER: yes, at another priority. */
enum known { UNKNOWN, KNOWN, KNOWN_AT_ANOTHER };

static enum known known_tag(const struct fs_sem *s, const struct fs_flow *flow, const struct fs_share *share,
                            int priority)
{
    if (share != NULL && flow->requests == NULL && share->epoch != s->epoch)
        return UNKNOWN;
    return flow->priority == priority ? KNOWN : KNOWN_AT_ANOTHER;
}

static int64_t request_units(const struct fs_waitq_node *node)
{
    return fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node)->units;
}

/*
 * Set the start tag of a flow whose first request will be `node`: see share.h.  This flow is not in the
 * queue.  first: the first flow of the queue, or NULL.
 */
static void start_flow(const struct fs_sem *s, struct fs_flow *flow, const struct fs_flow *first,
                       const struct fs_waitq_node *node, enum known known)
{
    const int priority = node->priority;
    const struct fs_flow *other = first_of_priority(s, first, priority), *last;
    uint64_t tag = s->virtual_time;

    if (other != NULL && (known != KNOWN || fs_tag_is_earlier(other->tag, tag)))
        tag = other->tag;
    if (other != NULL && known == UNKNOWN)
        tag = fs_tag_of_new(request_units(node), flow->weight, tag, request_units(first_request(other)), other->weight);
    if (known == UNKNOWN || fs_tag_is_earlier(flow->tag, tag))
        start_at(flow, tag);
    else if (known == KNOWN_AT_ANOTHER && (last = last_of_priority(s, priority)) != NULL
             && fs_tag_is_earlier(last->tag, flow->tag))
        start_at(flow, last->tag + 1);
    flow->priority = priority;
}

static void insert_flow(struct fs_sem *s, struct fs_share *share)
{
    if (share != NULL)
        fs_tree_insert(&s->queue.root, &share->in_tree, flow_is_before_in_tree, flow_height);
}

static void insert_newest(struct fs_sem *s, struct fs_share *share)
{
    if (share != NULL)
        fs_tree_insert(&s->queue.root, &share->in_tree, newest_is_before_in_tree, flow_height);
}

/* Remove a flow from the queue.  Returns the first of the other flows, or NULL. */
static struct fs_flow *remove_flow(struct fs_sem *s, const struct fs_flow *flow, struct fs_share *share)
{
    struct fs_tree_node **link = &s->queue.root, *first = NULL;
    struct fs_flow *front = front_flow(s);

    if (share == NULL)
        return front != flow ? front : flow_in(fs_tree_first(s->queue.root));
    if (front != flow) {
        link = fs_tree_link_to(link, &share->in_tree, flow_is_before_in_tree);
        fs_tree_replace_by_children(&s->queue.root, link, flow_height);
        return front;
    }
    /* The flow is the first of the tree, so no comparisons are needed. */
    for (; *link != &share->in_tree; link = &first->better)
        first = *link;
    fs_tree_replace_by_children(&s->queue.root, link, flow_height);
    if (*link != NULL)
        first = fs_tree_first(*link);
    return first_of_both(flow_in(first), common_of(s));
}

/* Returns the units that fairsem_share_charge() has stored in the share, and resets them to 0. */
static int64_t take_charged(struct fs_share *share)
{
    if (share == NULL || atomic_load_explicit(&share->charged, memory_order_relaxed) == 0)
        return 0;
    return atomic_exchange_explicit(&share->charged, 0, memory_order_relaxed);
}

/* Enqueue a request as the first of its flow: the flow has no request of this priority or a better one. */
static void enqueue_first(struct fs_sem *s, struct fs_flow *flow, struct fs_share *share,
                          struct fs_waitq_node *node)
{
    bool idle = flow->requests == NULL;
    struct fs_tree_node *others = flow->requests;
    const struct fs_flow *first = idle ? front_flow(s) : remove_flow(s, flow, share);
    enum known known = known_tag(s, flow, share, node->priority);
    int64_t charged = idle ? take_charged(share) : 0;

    if (known != UNKNOWN)
        add_to_tag(flow, charged);
    flow->requests = NULL;
    start_flow(s, flow, first, node, known);
    flow->requests = others;
    fs_rings_enqueue(&flow->requests, node);
    insert_newest(s, share);
    if (first == NULL || newest_is_before(flow, first))
        s->queue.front = node;
}

void fs_flow_enqueue(struct fs_sem *s, struct fs_waiter *w, int priority)
{
    struct fs_flow *flow = flow_of(s, w);

    w->in_queue.priority = priority;
    w->in_queue.seq = s->queue.next_seq++;
    if (flow->requests == NULL || priority < flow->priority)
        enqueue_first(s, flow, w->share, &w->in_queue);
    else
        fs_rings_enqueue(&flow->requests, &w->in_queue);
}

/*
 * Forget the finish tags of all idle flows.  The common flow has no epoch of its own: if it is idle and
 * its tag is earlier than the virtual time, the virtual time becomes its tag.
 */
static void renew_epoch(struct fs_sem *s)
{
    s->epoch = new_epoch();
    if (s->common.requests == NULL && fs_tag_is_earlier(s->common.tag, s->virtual_time))
        start_at(&s->common, s->virtual_time);
}

/*
 * Count a grant: the virtual time advances to the start tag, and the finish tag becomes the tag of the
 * flow.  Returns false if the finish tag is earlier than the start tag.
 */
static bool count_in_flow(struct fs_sem *s, struct fs_flow *flow, const struct fs_waiter *w)
{
    uint64_t before = s->virtual_time, start = flow->tag;

    fs_probe_share(s, s->name, w->in_queue.seq, w->share, flow->weight, flow->tag);
    if (fs_tag_is_earlier(before, flow->tag))
        s->virtual_time = flow->tag;
    if (FS_TAG_EPOCH(before) != FS_TAG_EPOCH(s->virtual_time))
        renew_epoch(s);
    add_to_tag(flow, w->units + take_charged(w->share));
    return !fs_tag_is_earlier(flow->tag, start);
}

/*
 * Detach a share whose last request has been dequeued.  This last access to the share comes before the
 * request's waiter is resolved, because the thread of a resolved waiter may destroy the share.  Release order:
 * a thread that finds NULL in `sem` must see all that we wrote to the share.
 */
static void detach(struct fs_sem *s, struct fs_share *share)
{
    if (share == NULL)
        return;
    share->epoch = s->epoch;
    atomic_store_explicit(&share->sem, NULL, memory_order_release);
}

static void dequeue_first(struct fs_sem *s, struct fs_waiter *w, bool granted)
{
    struct fs_flow *flow = flow_of(s, w), *first = remove_flow(s, flow, w->share);
    const struct fs_waitq_node *next;
    struct fs_tree_node *others;
    bool advances = true;

    fs_rings_dequeue(&flow->requests, &w->in_queue);
    if (granted)
        advances = count_in_flow(s, flow, w);
    others = flow->requests;
    next = fs_rings_first(others);
    if (next == NULL) {
        detach(s, w->share);
    } else {
        flow->requests = NULL;
        /* A negative charge gives no credit: if the tag moved back, start the flow like an idle flow. */
        if (next->priority != flow->priority || !advances)
            start_flow(s, flow, first, next,
                       next->priority == flow->priority ? KNOWN : KNOWN_AT_ANOTHER);
        flow->requests = others;
        insert_flow(s, w->share);
        if (first == NULL || flow_is_before(flow, first))
            first = flow;
    }
    s->queue.front = first != NULL ? fs_rings_first(first->requests) : NULL;
    if (s->queue.front == NULL)
        s->epoch = FS_BY_PRIORITY;
}

void fs_flow_dequeue(struct fs_sem *s, struct fs_waiter *w, bool granted)
{
    struct fs_flow *flow = flow_of(s, w);

    if (first_request(flow) == &w->in_queue)
        dequeue_first(s, w, granted);
    else
        fs_rings_dequeue(&flow->requests, &w->in_queue);
}

struct fs_waitq_node *fs_flow_next_in_tree(const struct fs_sem *s, const struct fs_waitq_node *leader)
{
    const struct fs_waiter *w = fs_waiter_of((struct fs_waitq_node *)(uintptr_t)leader);
    const struct fs_flow *flow = flow_of((struct fs_sem *)(uintptr_t)s, w);
    struct fs_waitq_node *next = fs_rings_next(flow->requests, leader);

    if (next != NULL)
        return next;
    flow = next_flow(s, flow);
    return flow != NULL ? fs_rings_first(flow->requests) : NULL;
}

struct fs_waitq_node *fs_flow_behind(const struct fs_sem *s, const struct fs_waitq_node *node)
{
    struct fs_waitq_node *next = fs_waitq_next_in_ring(node);

    return next->kind == FS_LEADS ? fs_flow_next_in_tree(s, next) : next;
}

#if FS_CHECKED
void fs_check_flows(const struct fs_sem *s)
{
    const struct fs_flow *flow, *next;

    flow = first_of_both(flow_in(fs_tree_first(s->queue.root)), common_of(s));
    FS_INVARIANT(s->queue.front == (flow != NULL ? first_request(flow) : NULL),
                 "share.h: the front is not the first flow's");
    for (; flow != NULL; flow = next) {
        next = next_flow(s, flow);
        FS_INVARIANT(flow->priority == first_request(flow)->priority, "share.h: the priority of a flow is wrong");
        FS_INVARIANT(next == NULL || flow_is_before(flow, next), "share.h: the flows are not in order");
        FS_INVARIANT(flow == &s->common || ((const struct fs_share *)(const void *)flow)->sem == s,
                     "share.h: a flow does not know its semaphore");
    }
}
#endif

/* ---- A request with a share ---- */

unsigned fs_share_weight(const struct fs_share *share)
{
    return share->flow.weight;
}

/* In a forked child, the share has no requests: they wait in the parent. */
static void share_reset_in_child(void *object)
{
    struct fs_share *share = object;

    share->flow.requests = NULL;
    share->epoch = FS_BY_PRIORITY;
    atomic_store_explicit(&share->sem, NULL, memory_order_relaxed);
}

static void check_generation(struct fs_share *share)
{
    fs_fork_check(&share->generation, share_reset_in_child, share);
}

int fs_share_check(const struct fs_sem *s, fairsem_share_t *share)
{
    struct fs_share *sh = fs_share_inside(share);
    const struct fs_sem *at;

    if (sh->flow.weight == 0 || (s->options & (FS_BYPASS | FS_AGING)) != 0)
        return EINVAL;
    if (fs_under_valgrind)
        fs_ignore_share(sh);
    check_generation(sh);
    at = atomic_load_explicit(&sh->sem, memory_order_relaxed);
    return at == NULL || at == s ? 0 : EINVAL;
}

/* Acquire order: see detach(). */
int fs_share_attach(struct fs_section *in, struct fs_share *share)
{
    struct fs_sem *s = in->sem, *at = NULL;

    fs_assert_held(s);
    if (!atomic_compare_exchange_strong_explicit(&share->sem, &at, s, memory_order_acquire,
                                                 memory_order_relaxed)
        && at != s)
        return EINVAL;
    if (!fs_has_flows(s))
        begin_flows(s);
    return 0;
}

int fairsem_share_init(fairsem_share_t *share, uint32_t weight)
{
    if (weight == 0 || weight > FAIRSEM_MAX_WEIGHT)
        return EINVAL;
    *share = (fairsem_share_t)FAIRSEM_SHARE_INITIALIZER((uint16_t)weight);
    fs_share_inside(share)->generation = fs_fork_generation();
    return 0;
}

/* Acquire order: see detach().  The weight becomes 0, so that a later use is an error. */
int fairsem_share_destroy(fairsem_share_t *share)
{
    struct fs_share *sh = fs_share_inside(share);

    check_generation(sh);
    if (atomic_load_explicit(&sh->sem, memory_order_acquire) != NULL)
        return EBUSY;
    sh->flow.weight = 0;
    return 0;
}

/*
 * The tag is under the semaphore's mutex, which cannot be locked here: an idle share may have outlived its
 * semaphore.  So the charge is stored until the next grant adds it to the tag.  If the share is idle, the next
 * request adds the charge, or drops it if the epoch of the finish tag has ended.
 */
int fairsem_share_charge(fairsem_share_t *share, int64_t n)
{
    struct fs_share *sh = fs_share_inside(share);
    int64_t now = atomic_load_explicit(&sh->charged, memory_order_relaxed), sum;

    if (sh->flow.weight == 0 || n < -FAIRSEM_MAX_UNITS || n > FAIRSEM_MAX_UNITS)
        return EINVAL;
    do {
        sum = now + n;
        if (sum > FAIRSEM_MAX_UNITS)
            sum = FAIRSEM_MAX_UNITS;
        if (sum < -FAIRSEM_MAX_UNITS)
            sum = -FAIRSEM_MAX_UNITS;
    } while (!atomic_compare_exchange_weak_explicit(&sh->charged, &now, sum, memory_order_relaxed,
                                                    memory_order_relaxed));
    return 0;
}
