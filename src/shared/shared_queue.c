/* SPDX-License-Identifier: MIT */
/* shared_queue.c - the wait queue: a list of slots, linked by index; see shared_queue.h. */
#include "shared/shared_queue.h"

#include <errno.h>

int fs_shared_is_damaged(fairsem_shared_t *h)
{
    FS_COMMIT(&h->segment->damaged, 1);
    /* From now on no process uses the fast path.  Release order: see fs_shared_section_end(). */
    atomic_fetch_or_explicit(&h->segment->word, FS_SLOW, memory_order_release);
    return ENOTRECOVERABLE;
}

/* Load a link: a valid index, or FS_NOBODY. */
static int load_link(fairsem_shared_t *h, const _Atomic int32_t *link, int *index)
{
    *index = FS_GET(link);
    if (*index == FS_NOBODY || fs_index_valid(*index, h->max_waiters))
        return 0;
    return fs_shared_is_damaged(h);
}

int fs_queue_head(fairsem_shared_t *h, int *head)
{
    return load_link(h, &h->segment->head, head);
}

int fs_queue_behind(fairsem_shared_t *h, int index, int *behind)
{
    return load_link(h, &h->slots[index].next, behind);
}

int fs_queue_leads(fairsem_shared_t *h, int priority, bool *leads)
{
    int head, error = fs_queue_head(h, &head);

    if (error == 0)
        *leads = head == FS_NOBODY || (FS_GET(&h->slots[head].old) == 0
                                       && priority < FS_GET(&h->slots[head].priority));
    return error;
}

static bool comes_before(const struct fs_slot *a, const struct fs_slot *b)
{
    int32_t pa = FS_GET(&a->priority), pb = FS_GET(&b->priority);
    bool old = FS_GET(&a->old) != 0;

    if (old != (FS_GET(&b->old) != 0))
        return old;
    return !old && pa != pb ? pa < pb : FS_GET(&a->seq) < FS_GET(&b->seq);
}

static void link_in(fairsem_shared_t *h, int ahead, int index, int behind)
{
    FS_PUT(&h->slots[index].prev, ahead);
    FS_PUT(&h->slots[index].next, behind);
    FS_PUT(ahead == FS_NOBODY ? &h->segment->head : &h->slots[ahead].next, index);
    FS_PUT(behind == FS_NOBODY ? &h->segment->tail : &h->slots[behind].prev, index);
}

static int link_out(fairsem_shared_t *h, int index)
{
    struct fs_slot *slot = &h->slots[index];
    int ahead, behind, error = load_link(h, &slot->prev, &ahead);

    if (error == 0)
        error = load_link(h, &slot->next, &behind);
    if (error != 0)
        return error;
    FS_PUT(ahead == FS_NOBODY ? &h->segment->head : &h->slots[ahead].next, behind);
    FS_PUT(behind == FS_NOBODY ? &h->segment->tail : &h->slots[behind].prev, ahead);
    return 0;
}

/* ---- In order of arrival, with aging_ns ---- */

static void link_arrival(fairsem_shared_t *h, int older, int index, int younger)
{
    FS_PUT(&h->slots[index].older, older);
    FS_PUT(&h->slots[index].younger, younger);
    FS_PUT(older == FS_NOBODY ? &h->segment->oldest : &h->slots[older].younger, index);
    FS_PUT(younger == FS_NOBODY ? &h->segment->youngest : &h->slots[younger].older, index);
}

/* In a repair, slots join in any order; else this is the youngest. */
static int join_arrivals(fairsem_shared_t *h, int index)
{
    int64_t seq = FS_GET(&h->slots[index].seq);
    int older, younger = FS_NOBODY, error = load_link(h, &h->segment->youngest, &older);

    for (int steps = 0; error == 0 && older != FS_NOBODY && FS_GET(&h->slots[older].seq) > seq;
         steps++) {
        if (steps == h->max_waiters)
            return fs_shared_is_damaged(h);
        younger = older;
        error = load_link(h, &h->slots[younger].older, &older);
    }
    if (error == 0)
        link_arrival(h, older, index, younger);
    return error;
}

static int leave_arrivals(fairsem_shared_t *h, int index)
{
    int older, younger, error = load_link(h, &h->slots[index].older, &older);

    if (error == 0)
        error = load_link(h, &h->slots[index].younger, &younger);
    if (error != 0)
        return error;
    FS_PUT(older == FS_NOBODY ? &h->segment->oldest : &h->slots[older].younger, younger);
    FS_PUT(younger == FS_NOBODY ? &h->segment->youngest : &h->slots[younger].older, older);
    return 0;
}

/* ---- Age ---- */

static bool is_old_enough(const fairsem_shared_t *h, int index, int64_t now_ns)
{
    return fs_since(now_ns, FS_GET(&h->slots[index].joined_ns)) >= h->aging_ns;
}

bool fs_queue_is_age_due(const fairsem_shared_t *h, int64_t now_ns)
{
    int oldest = h->aging_ns != 0 ? FS_GET(&h->segment->oldest) : FS_NOBODY;

    return fs_index_valid(oldest, h->max_waiters) && oldest != FS_GET(&h->segment->head)
           && is_old_enough(h, oldest, now_ns);
}

int fs_queue_note_age(fairsem_shared_t *h, int64_t now_ns, bool *watched)
{
    int oldest, head, error = load_link(h, &h->segment->oldest, &oldest);

    *watched = false;
    if (error != 0 || oldest == FS_NOBODY || FS_GET(&h->slots[oldest].old) != 0
        || !is_old_enough(h, oldest, now_ns))
        return error;
    /* First: if we die now, a repair puts it where it belongs. */
    FS_PUT(&h->slots[oldest].old, 1);
    error = fs_queue_head(h, &head);
    if (error != 0 || head == oldest)
        return error;
    *watched = fs_queue_keeps_watch(h, oldest);
    error = link_out(h, oldest);
    if (error == 0)
        error = fs_queue_head(h, &head);
    if (error == 0)
        link_in(h, FS_NOBODY, oldest, head);
    return error;
}

bool fs_queue_head_passes(const fairsem_shared_t *h, int head)
{
    int next = FS_GET(&h->slots[head].next);

    return FS_GET(&h->slots[head].old) != 0 && fs_index_valid(next, h->max_waiters)
           && FS_GET(&h->slots[next].priority) < FS_GET(&h->slots[head].priority);
}

/* ---- Join, leave ---- */

/* Searches from the tail, because nearly every request joins there. */
int fs_queue_join(fairsem_shared_t *h, int index)
{
    int ahead, behind = FS_NOBODY, error = load_link(h, &h->segment->tail, &ahead);

    for (int steps = 0; error == 0 && ahead != FS_NOBODY
                        && comes_before(&h->slots[index], &h->slots[ahead]); steps++) {
        if (steps == h->max_waiters)
            return fs_shared_is_damaged(h);
        behind = ahead;
        error = load_link(h, &h->slots[behind].prev, &ahead);
    }
    if (error == 0 && h->aging_ns != 0)
        error = join_arrivals(h, index);
    if (error != 0)
        return error;
    link_in(h, ahead, index, behind);
    FS_COUNT_UP(&h->segment->waiters, 1);
    return 0;
}

int fs_queue_leave(fairsem_shared_t *h, int index)
{
    int error = link_out(h, index);

    if (error == 0 && h->aging_ns != 0)
        error = leave_arrivals(h, index);
    if (error == 0)
        FS_COUNT_UP(&h->segment->waiters, -1);
    return error;
}

void fs_queue_clear(fairsem_shared_t *h)
{
    FS_PUT(&h->segment->head, FS_NOBODY);
    FS_PUT(&h->segment->tail, FS_NOBODY);
    if (h->aging_ns != 0) {
        FS_PUT(&h->segment->oldest, FS_NOBODY);
        FS_PUT(&h->segment->youngest, FS_NOBODY);
    }
    FS_PUT(&h->segment->waiters, 0);
}

int fs_queue_last_two(fairsem_shared_t *h, int last[2])
{
    int n = 0;

    for (int at = FS_GET(&h->segment->tail); n < 2 && fs_index_valid(at, h->max_waiters);
         at = FS_GET(&h->slots[at].prev))
        last[n++] = at;
    return n;
}

#define MOST_LEFT 16       /* with so many left behind it, a waiter keeps watch in any case */

bool fs_queue_keeps_watch(const fairsem_shared_t *h, int index)
{
    int behind = 0;

    /* Without the lock, these are hints.  Slots that were left to others do not count. */
    for (int i = 0; i < MOST_LEFT && behind < 2; i++) {
        index = FS_GET(&h->slots[index].next);
        if (!fs_index_valid(index, h->max_waiters))
            return true;
        behind += FS_GET(&h->slots[index].state) == FS_SLOT_WAITING;
    }
    return behind < 2;
}

int fs_slot_process(fairsem_shared_t *h, int index, int *process)
{
    *process = FS_GET(&h->slots[index].process);
    return fs_index_valid(*process, h->max_processes) ? 0 : fs_shared_is_damaged(h);
}

/* Starts at the slot that was freed last, so that the search is short. */
int fs_slot_find_free(fairsem_shared_t *h)
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
