/* SPDX-License-Identifier: MIT */
/* shared_flow.c - order between clients of a segment; see shared_flow.h. */
#include "shared/shared_flow.h"

#include "shared/shared_queue.h"
#include "tag.h"

static uint64_t tag_of(const fairsem_shared_t *h, int index)
{
    return FS_GET(&h->slots[index].tag);
}

/* A flow without a share stores the weight 0, which counts as 1. */
static int64_t weight_for_tag(uint32_t weight)
{
    return weight == 0 ? 1 : weight;
}

static uint64_t after(uint64_t tag, int64_t units, uint32_t weight)
{
    int64_t rest = 0;

    return fs_tag_add(tag, units, weight_for_tag(weight), &rest);
}

/* ---- The table ---- */

static bool is_this_flow(const struct fs_flow_entry *flow, int priority, const struct fs_shared_share *share)
{
    return FS_GET(&flow->key) == share->key && FS_GET(&flow->priority) == priority
           && (FS_GET(&flow->weight) == 0) == (share->weight == 0);
}

static bool has_requests(const struct fs_flow_entry *flow)
{
    return FS_GET(&flow->requests) > 0;
}

/*
 * Returns the entry of the flow of this priority and share.  If there is none, sets *is_new, and returns an
 * entry for the new flow.  An entry of another epoch is unused, and ends the search, because within an epoch
 * no entry becomes unused.  If all entries are used, a new flow takes the entry of a flow without requests.
 * There is such a flow, because there is an entry for each slot, and the slot of this request is not counted
 * yet.
 */
static struct fs_flow_entry *find_flow(const fairsem_shared_t *h, int priority,
                                       const struct fs_shared_share *share, uint32_t epoch, bool *is_new)
{
    uint64_t hash = (share->key ^ (uint32_t)priority) * UINT64_C(0x9e3779b97f4a7c15);
    struct fs_flow_entry *idle = NULL;
    int at = (int)((hash >> 32) % (uint64_t)h->max_waiters);

    *is_new = false;
    for (int i = 0; i < h->max_waiters; i++) {
        struct fs_flow_entry *flow = &h->flows[at];

        if (FS_GET(&flow->epoch) != epoch) {
            *is_new = true;
            return flow;
        }
        if (is_this_flow(flow, priority, share))
            return flow;
        if (idle == NULL && !has_requests(flow))
            idle = flow;
        at = at + 1 < h->max_waiters ? at + 1 : 0;
    }
    *is_new = true;
    return idle != NULL ? idle : &h->flows[at];
}

/* If the index of the flow is damaged, any flow will do: only the order of grants changes. */
static struct fs_flow_entry *flow_of_slot(const fairsem_shared_t *h, int index)
{
    int flow = FS_GET(&h->flows[index].of_slot);

    return &h->flows[fs_index_valid(flow, h->max_waiters) ? flow : 0];
}

/* ---- Tags ---- */

static int first_slot_of(struct fs_shared_section *in, int priority)
{
    const fairsem_shared_t *h = in->handle;
    int at = fs_queue_front(in);

    for (int i = 0; at != FS_NOBODY && i < h->max_waiters; i++) {
        if (FS_GET(&h->slots[at].priority) >= priority)
            break;
        at = fs_queue_behind(in, at);
    }
    return at != FS_NOBODY && FS_GET(&h->slots[at].priority) == priority ? at : FS_NOBODY;
}

/* The rules for start tags are in share.h. */
static uint64_t start_tag(struct fs_shared_section *in, const struct fs_flow_entry *flow, int index,
                          const struct fs_shared_share *share, bool is_new)
{
    const fairsem_shared_t *h = in->handle;
    const struct fs_slot *slots = h->slots;
    uint64_t tag = FS_GET(&h->segment->virtual_time);
    int front = first_slot_of(in, FS_GET(&slots[index].priority));

    if (front != FS_NOBODY && (is_new || fs_tag_is_earlier(tag_of(h, front), tag)))
        tag = tag_of(h, front);
    if (front != FS_NOBODY && front != index && is_new)
        tag = fs_tag_of_new(FS_GET(&slots[index].units), weight_for_tag(share->weight), tag,
                            fs_load_units(in, &slots[front].units),
                            weight_for_tag(FS_GET(&flow_of_slot(h, front)->weight)));
    return is_new || fs_tag_is_earlier(FS_GET(&flow->finish), tag) ? tag : FS_GET(&flow->finish);
}

/* The finish tag is at most 2^62 after the virtual time, so that all tags can be compared (tag.h). */
static uint64_t finish_tag(const fairsem_shared_t *h, uint64_t tag, int64_t units, uint32_t weight)
{
    uint64_t most = FS_GET(&h->segment->virtual_time) + (UINT64_C(1) << 62), finish = after(tag, units, weight);

    return fs_tag_is_earlier(finish, most) ? finish : most;
}

/*
 * Add a request to its flow, and store the tag of its slot.  In a new entry `epoch` is stored last, because
 * it makes the entry valid.
 */
static void add_to_flow(struct fs_shared_section *in, int index, const struct fs_shared_share *share, uint32_t epoch)
{
    const fairsem_shared_t *h = in->handle;
    struct fs_slot *slot = &h->slots[index];
    int32_t priority = FS_GET(&slot->priority);
    uint64_t tag;
    bool is_new;
    struct fs_flow_entry *flow = find_flow(h, priority, share, epoch, &is_new);

    tag = start_tag(in, flow, index, share, is_new);
    if (is_new || !has_requests(flow))
        FS_PUT(&flow->start, tag);
    FS_PUT(&flow->finish, finish_tag(h, tag, FS_GET(&slot->units), share->weight));
    FS_PUT(&flow->weight, (uint16_t)share->weight);
    FS_PUT(&flow->requests, (int16_t)(is_new ? 1 : FS_GET(&flow->requests) + 1));
    if (is_new) {
        FS_PUT(&flow->key, share->key);
        FS_PUT(&flow->priority, priority);
        FS_PUT(&flow->epoch, epoch);
    }
    FS_PUT(&slot->tag, tag);
    FS_PUT(&h->flows[index].of_slot, (int16_t)(flow - h->flows));
}

/* Give tags to the slots in the queue, none of which has a share.  The epoch begins with the last store. */
static void begin_epoch(struct fs_shared_section *in)
{
    static const struct fs_shared_share common = { .weight = 0 };
    const fairsem_shared_t *h = in->handle;
    struct fs_segment *s = h->segment;
    uint32_t epoch = FS_GET(&s->last_epoch) + 1;
    int at = fs_queue_front(in);

    epoch += epoch == 0;
    FS_PUT(&s->last_epoch, epoch);
    FS_PUT(&s->virtual_time, 0);
    for (int i = 0; at != FS_NOBODY && i < h->max_waiters; i++) {
        FS_PUT(&h->slots[at].tag, 0);
        add_to_flow(in, at, &common, epoch);
        at = fs_queue_behind(in, at);
    }
    FS_PUT(&s->epoch, epoch);
}

void fs_flow_tag(struct fs_shared_section *in, int index, const struct fs_shared_share *share)
{
    const struct fs_segment *s = in->handle->segment;

    if (share->weight != 0 && FS_GET(&s->epoch) == 0)
        begin_epoch(in);
    if (FS_GET(&s->epoch) != 0)
        add_to_flow(in, index, share, FS_GET(&s->epoch));
}

/*
 * Advance the tags of idle flows to the virtual time.  A finish tag in the past has no effect; but tags
 * wrap, and a very old finish tag would seem to be in the future.
 */
static void renew_idle_flows(const fairsem_shared_t *h, uint64_t virtual_time)
{
    for (int i = 0; i < h->max_waiters; i++) {
        struct fs_flow_entry *flow = &h->flows[i];

        if (has_requests(flow) || !fs_tag_is_earlier(FS_GET(&flow->finish), virtual_time))
            continue;
        FS_PUT(&flow->start, virtual_time);
        FS_PUT(&flow->finish, virtual_time);
    }
}

static void end_epoch_if_empty(struct fs_shared_section *in)
{
    if (fs_queue_front(in) == FS_NOBODY)
        FS_PUT(&in->handle->segment->epoch, 0);
}

void fs_flow_granted(struct fs_shared_section *in, int index, int64_t units)
{
    const fairsem_shared_t *h = in->handle;
    struct fs_flow_entry *flow = flow_of_slot(h, index);
    uint64_t tag = tag_of(h, index), before = FS_GET(&h->segment->virtual_time);

    if (FS_GET(&h->segment->epoch) == 0)
        return;
    FS_PUT(&flow->start, after(tag, units, FS_GET(&flow->weight)));
    FS_PUT(&flow->requests, (int16_t)(FS_GET(&flow->requests) - 1));
    if (fs_tag_is_earlier(before, tag)) {
        FS_PUT(&h->segment->virtual_time, tag);
        if (FS_TAG_EPOCH(before) != FS_TAG_EPOCH(tag))
            renew_idle_flows(h, tag);
    }
    end_epoch_if_empty(in);
}

/* If the flow has no other request, there is no gap to close. */
void fs_flow_left(struct fs_shared_section *in, int index)
{
    const fairsem_shared_t *h = in->handle;
    struct fs_flow_entry *flow = flow_of_slot(h, index);

    if (FS_GET(&h->segment->epoch) == 0)
        return;
    FS_PUT(&flow->requests, (int16_t)(FS_GET(&flow->requests) - 1));
    if (has_requests(flow))
        in->gaps = true;
    else
        FS_PUT(&flow->finish, FS_GET(&flow->start));
    end_epoch_if_empty(in);
}

static void forget_requests(struct fs_flow_entry *flow)
{
    FS_PUT(&flow->requests, 0);
    FS_PUT(&flow->finish, FS_GET(&flow->start));
}

/* The tags of each flow are computed again, from flow->start. */
bool fs_flow_close_gaps(struct fs_shared_section *in)
{
    const fairsem_shared_t *h = in->handle;
    int at = fs_queue_front(in), next;
    bool moved = false;

    in->gaps = false;
    if (FS_GET(&h->segment->epoch) == 0)
        return false;
    for (int i = 0; at != FS_NOBODY && i < h->max_waiters; i++, at = fs_queue_behind(in, at))
        forget_requests(flow_of_slot(h, at));
    at = fs_queue_front(in);
    for (int i = 0; at != FS_NOBODY && i < h->max_waiters; i++, at = next) {
        struct fs_flow_entry *flow = flow_of_slot(h, at);
        uint64_t tag = FS_GET(&flow->finish);

        next = fs_queue_behind(in, at);
        if (fs_tag_is_earlier(tag, tag_of(h, at))) {
            FS_PUT(&h->slots[at].tag, tag);
            moved |= fs_queue_move_ahead(in, at);
        }
        FS_PUT(&flow->requests, (int16_t)(FS_GET(&flow->requests) + 1));
        FS_PUT(&flow->finish, finish_tag(h, tag_of(h, at), FS_GET(&h->slots[at].units), FS_GET(&flow->weight)));
    }
    return moved;
}

void fs_flow_recount(struct fs_shared_section *in)
{
    const fairsem_shared_t *h = in->handle;

    if (FS_GET(&h->segment->epoch) == 0)
        return;
    for (int i = 0; i < h->max_waiters; i++)
        forget_requests(&h->flows[i]);
    (void)fs_flow_close_gaps(in);
    end_epoch_if_empty(in);
}
