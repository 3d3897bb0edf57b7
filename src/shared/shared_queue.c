/* SPDX-License-Identifier: MIT */
/* shared_queue.c - the wait queue; see shared_queue.h. */
#include "shared/shared_queue.h"

#include "tag.h"

/*
 * Two chains of the waiting slots: BY_POSITION is the queue; BY_ARRIVAL exists only with aging_ns.  FS_NOBODY
 * is both ends of a chain: the first slot is behind it, the last slot ahead of it.
 */
enum chain { BY_POSITION, BY_ARRIVAL };

static _Atomic int32_t *behind_of(const fairsem_shared_t *h, enum chain chain, int index)
{
    if (index == FS_NOBODY)
        return chain == BY_POSITION ? &h->segment->head : &h->segment->oldest;
    return chain == BY_POSITION ? &h->slots[index].next : &h->slots[index].younger;
}

static _Atomic int32_t *ahead_of(const fairsem_shared_t *h, enum chain chain, int index)
{
    if (index == FS_NOBODY)
        return chain == BY_POSITION ? &h->segment->tail : &h->segment->youngest;
    return chain == BY_POSITION ? &h->slots[index].prev : &h->slots[index].older;
}

static void link_in(const fairsem_shared_t *h, enum chain chain, int ahead, int index, int behind)
{
    FS_PUT(ahead_of(h, chain, index), ahead);
    FS_PUT(behind_of(h, chain, index), behind);
    FS_PUT(behind_of(h, chain, ahead), index);
    FS_PUT(ahead_of(h, chain, behind), index);
}

static void link_out(struct fs_shared_section *in, enum chain chain, int index)
{
    const fairsem_shared_t *h = in->handle;
    int ahead = fs_load_link(in, ahead_of(h, chain, index));
    int behind = fs_load_link(in, behind_of(h, chain, index));

    FS_PUT(behind_of(h, chain, ahead), behind);
    FS_PUT(ahead_of(h, chain, behind), ahead);
}

/* Are the slots of one priority in the order of their tags? */
static bool has_tags(const fairsem_shared_t *h)
{
    return h->aging_ns == 0 && FS_GET(&h->segment->epoch) != 0;
}

static bool comes_before(const fairsem_shared_t *h, int index, int other, enum chain chain)
{
    const struct fs_slot *a = &h->slots[index], *b = &h->slots[other];
    int32_t pa = FS_GET(&a->priority), pb = FS_GET(&b->priority);
    bool aged = FS_GET(&a->aged) != 0;

    if (chain == BY_POSITION && aged != (FS_GET(&b->aged) != 0))
        return aged;
    if (chain == BY_POSITION && !aged && pa != pb)
        return pa < pb;
    if (has_tags(h) && FS_GET(&a->tag) != FS_GET(&b->tag))
        return fs_tag_is_earlier(FS_GET(&a->tag), FS_GET(&b->tag));
    return FS_GET(&a->seq) < FS_GET(&b->seq);
}

/*
 * Is the slot's tag nearer to the first tag of the queue than to the last?  Usually yes, if the slot's client
 * has no other requests.
 */
static bool is_near_front(struct fs_shared_section *in, int index)
{
    const fairsem_shared_t *h = in->handle;
    int front = fs_queue_front(in), last = fs_load_link(in, &h->segment->tail);
    uint64_t tag;

    if (!has_tags(h) || front == FS_NOBODY || last == FS_NOBODY)
        return false;
    tag = FS_GET(&h->slots[index].tag);
    return fs_tag_is_earlier(tag - FS_GET(&h->slots[front].tag), FS_GET(&h->slots[last].tag) - tag);
}

static void enqueue_from_front(struct fs_shared_section *in, int index)
{
    const fairsem_shared_t *h = in->handle;
    int ahead = FS_NOBODY, behind = fs_queue_front(in), steps = 0;

    while (behind != FS_NOBODY && !comes_before(h, index, behind, BY_POSITION)) {
        if (steps++ == h->max_waiters) {
            fs_damaged(in);
            break;
        }
        ahead = behind;
        behind = fs_load_link(in, behind_of(h, BY_POSITION, ahead));
    }
    link_in(h, BY_POSITION, ahead, index, behind);
}

/* Search from the end, where nearly every new request belongs. */
static void enqueue_in_chain(struct fs_shared_section *in, enum chain chain, int index)
{
    const fairsem_shared_t *h = in->handle;
    int behind = FS_NOBODY, ahead = fs_load_link(in, ahead_of(h, chain, FS_NOBODY)), steps = 0;

    while (ahead != FS_NOBODY && comes_before(h, index, ahead, chain)) {
        if (steps++ == h->max_waiters) {
            fs_damaged(in);
            break;
        }
        behind = ahead;
        ahead = fs_load_link(in, ahead_of(h, chain, behind));
    }
    link_in(h, chain, ahead, index, behind);
}

/* ---- The queue ---- */

int fs_queue_front(struct fs_shared_section *in)
{
    return fs_load_link(in, &in->handle->segment->head);
}

int fs_queue_behind(struct fs_shared_section *in, int index)
{
    return fs_load_link(in, &in->handle->slots[index].next);
}

bool fs_queue_leads(struct fs_shared_section *in, int priority)
{
    const struct fs_slot *slots = in->handle->slots;
    int front = fs_queue_front(in);

    return front == FS_NOBODY
           || (FS_GET(&slots[front].aged) == 0 && priority < FS_GET(&slots[front].priority));
}

void fs_queue_enqueue(struct fs_shared_section *in, int index)
{
    if (in->handle->aging_ns != 0)
        enqueue_in_chain(in, BY_ARRIVAL, index);
    if (is_near_front(in, index))
        enqueue_from_front(in, index);
    else
        enqueue_in_chain(in, BY_POSITION, index);
    FS_COUNT_UP(&in->handle->segment->waiters, 1);
}

void fs_queue_dequeue(struct fs_shared_section *in, int index)
{
    link_out(in, BY_POSITION, index);
    if (in->handle->aging_ns != 0)
        link_out(in, BY_ARRIVAL, index);
    FS_COUNT_UP(&in->handle->segment->waiters, -1);
}

/* The search starts at the slot, which usually moves only a few places. */
bool fs_queue_move_ahead(struct fs_shared_section *in, int index)
{
    const fairsem_shared_t *h = in->handle;
    int old = fs_load_link(in, &h->slots[index].prev), ahead = old, steps = 0;

    while (ahead != FS_NOBODY && comes_before(h, index, ahead, BY_POSITION) && steps++ < h->max_waiters)
        ahead = fs_load_link(in, &h->slots[ahead].prev);
    if (ahead == old)
        return false;
    link_out(in, BY_POSITION, index);
    link_in(h, BY_POSITION, ahead, index, fs_load_link(in, behind_of(h, BY_POSITION, ahead)));
    return true;
}

void fs_queue_clear(struct fs_shared_section *in)
{
    struct fs_segment *s = in->handle->segment;

    FS_PUT(&s->head, FS_NOBODY);
    FS_PUT(&s->tail, FS_NOBODY);
    if (in->handle->aging_ns != 0) {
        FS_PUT(&s->oldest, FS_NOBODY);
        FS_PUT(&s->youngest, FS_NOBODY);
    }
    FS_PUT(&s->waiters, 0);
}

int fs_queue_last_two(struct fs_shared_section *in, int last[2])
{
    const fairsem_shared_t *h = in->handle;
    int n = 0;

    for (int at = fs_load_link(in, &h->segment->tail); n < 2 && at != FS_NOBODY;
         at = fs_load_link(in, &h->slots[at].prev))
        last[n++] = at;
    return n;
}

#define ABANDONED_MAX 16   /* limit of the search for two waiters behind a slot */

bool fs_queue_is_detector(const fairsem_shared_t *h, int index)
{
    int behind = 0;

    /* Abandoned slots do not count: their threads are no longer detectors. */
    for (int i = 0; i < ABANDONED_MAX && behind < 2; i++) {
        index = FS_GET(&h->slots[index].next);
        if (!fs_index_valid(index, h->max_waiters))
            return true;
        behind += FS_GET(&h->slots[index].state) == FS_SLOT_WAITING;
    }
    return behind < 2;
}

/* ---- Age ---- */

static bool has_aged(const fairsem_shared_t *h, int index, int64_t now_ns)
{
    return fs_since(now_ns, FS_GET(&h->slots[index].enqueued_ns)) >= h->aging_ns;
}

bool fs_queue_is_age_due(const fairsem_shared_t *h, int64_t now_ns)
{
    int oldest = h->aging_ns != 0 ? FS_GET(&h->segment->oldest) : FS_NOBODY;

    return fs_index_valid(oldest, h->max_waiters) && oldest != FS_GET(&h->segment->head)
           && has_aged(h, oldest, now_ns);
}

bool fs_queue_note_age(struct fs_shared_section *in, int64_t now_ns)
{
    const fairsem_shared_t *h = in->handle;
    int oldest = fs_load_link(in, &h->segment->oldest);
    bool was_detector;

    if (oldest == FS_NOBODY || FS_GET(&h->slots[oldest].aged) != 0
        || !has_aged(h, oldest, now_ns))
        return false;
    /* Store `aged` first: if we die before the move, a repair puts the slot at the front. */
    FS_PUT(&h->slots[oldest].aged, 1);
    if (fs_queue_front(in) == oldest)
        return false;
    was_detector = fs_queue_is_detector(h, oldest);
    link_out(in, BY_POSITION, oldest);
    link_in(h, BY_POSITION, FS_NOBODY, oldest, fs_queue_front(in));
    return was_detector;
}

bool fs_queue_front_passes(struct fs_shared_section *in, int front)
{
    const struct fs_slot *slots = in->handle->slots;
    int next = fs_queue_behind(in, front);

    return FS_GET(&slots[front].aged) != 0 && next != FS_NOBODY
           && FS_GET(&slots[next].priority) < FS_GET(&slots[front].priority);
}

/* ---- Slots ---- */

/* The search starts at the slot that was freed last. */
int fs_slot_find_free(const fairsem_shared_t *h)
{
    int at = FS_GET(&h->segment->free_hint);

    if (!fs_index_valid(at, h->max_waiters))
        at = 0;
    for (int i = 0; i < h->max_waiters; i++) {
        if (FS_GET(&h->slots[at].state) == FS_SLOT_FREE)
            return at;
        at = at + 1 < h->max_waiters ? at + 1 : 0;
    }
    return FS_NOBODY;
}
