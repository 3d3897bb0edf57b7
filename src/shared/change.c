/* SPDX-License-Identifier: MIT */
/* change.c - the commit points; see change.h. */
#include "shared/change.h"

#include <errno.h>

int fs_shared_set_damaged(fairsem_shared_t *h)
{
    FS_PUT(&h->segment->damaged, 1);
    /* CONTENDED ends the fast path in all processes.  Release order: see fs_shared_section_end(). */
    atomic_fetch_or_explicit(&h->segment->word, FS_CONTENDED, memory_order_release);
    return ENOTRECOVERABLE;
}

int64_t fs_shared_total(const fairsem_shared_t *h)
{
    int64_t total = h->undo ? FS_GET(&h->segment->total) : h->capacity;

    return fs_count_valid(total) ? total : -1;
}

void fs_shared_set_available(struct fs_shared_section *in, int64_t available)
{
    struct fs_segment *s = in->handle->segment;

    in->available = available;
    FS_COMMIT(in, &s->word, fs_word_of(available, FS_CONTENDED));
    if (in->handle->undo)
        FS_PUT(&s->outstanding, in->total - available);
}

int64_t fs_shared_count_outstanding(struct fs_shared_section *in)
{
    const fairsem_shared_t *h = in->handle;
    int64_t outstanding = 0;

    for (int i = 0; i < h->max_processes; i++) {
        if (FS_GET(&h->processes[i].state) != FS_PROCESS_FREE)
            outstanding = fs_checked(in, outstanding + fs_load_units(in, &h->processes[i].held), 0,
                                     in->high_water);
    }
    for (int i = 0; i < h->max_waiters; i++) {
        int state = FS_GET(&h->slots[i].state);

        /* TO_RETURN: the thread has abandoned its grant, but the units are not returned yet. */
        if (state == FS_SLOT_GRANTED || state == FS_SLOT_TO_RETURN)
            outstanding = fs_checked(in, outstanding + fs_load_units(in, &h->slots[i].units), 0,
                                     in->high_water);
    }
    return outstanding;
}

void fs_shared_resize(struct fs_shared_section *in, int64_t total)
{
    struct fs_segment *s = in->handle->segment;
    int64_t available = in->available + total - in->total;

    if (total > in->high_water) {
        in->high_water = total;
        FS_PUT(&s->high_water, total);
    }
    FS_COMMIT(in, &s->total, total);
    in->total = total;
    fs_shared_set_available(in, available);
}

/* ---- Units of this process ---- */

/*
 * With undo: returns how many units this process will hold with n more.  If the process holds none yet,
 * stores now_ns as the time since which it holds units.
 */
static int64_t held_with(struct fs_shared_section *in, int64_t n, int64_t now_ns)
{
    struct fs_process *self = &in->handle->processes[FS_GET(&in->handle->self)];
    int64_t held = fs_load_units(in, &self->held);

    if (held == 0)
        FS_PUT(&self->since_ns, now_ns);
    return fs_checked(in, held + n, 0, in->high_water);
}

void fs_shared_take(struct fs_shared_section *in, int64_t n)
{
    fairsem_shared_t *h = in->handle;

    if (h->undo) {
        /* No need to read the clock: fs_shared_look_at_file() stored the time when this acquire began. */
        int64_t held = held_with(in, n, FS_GET(&h->looked_ns));

        FS_COMMIT(in, &h->processes[FS_GET(&h->self)].held, held);
    }
    fs_shared_set_available(in, in->available - n);
}

int fs_shared_give_back(struct fs_shared_section *in, int64_t n)
{
    fairsem_shared_t *h = in->handle;
    struct fs_process *self = &h->processes[FS_GET(&h->self)];

    if (h->undo) {
        int64_t held = fs_load_units(in, &self->held);

        if (n > held) {
            /* `held` may be too small because it is damaged (R8). */
            if (fs_shared_count_outstanding(in) != in->total - in->available)
                fs_damaged(in);
            return EPERM;
        }
        if (n > in->total - in->available)
            fs_damaged(in);
        FS_COMMIT(in, &self->held, held - n);
    } else if (n > h->capacity - in->available) {
        return EOVERFLOW;
    }
    fs_shared_set_available(in, in->available + n);
    return 0;
}

/*
 * If we die between the stores to `keeps` and `keepers`, `keepers` is too large, and other processes search for
 * kept entries without need.
 */
void fs_shared_set_keeps(fairsem_shared_t *h, int process, bool keeps)
{
    _Atomic int32_t *now = &h->processes[process].keeps, *keepers = &h->segment->keepers;

    if ((FS_GET(now) != 0) == keeps)
        return;
    if (keeps)
        atomic_fetch_add_explicit(keepers, 1, memory_order_release);
    FS_PUT(now, keeps);
    if (!keeps)
        atomic_fetch_sub_explicit(keepers, 1, memory_order_release);
}

/* ---- Changes of two authoritative members (R1) ---- */

/* As struct fs_redo, but with plain indices. */
struct change {
    int     slot, state;
    int     process;            /* or FS_NOBODY if no `held` changes */
    bool    has_word;
    int64_t held, word;
};

/*
 * The commit point of a grant.  Returns false if the slot was abandoned before the grant.  A repair may redo
 * a grant that was already made.  If the slot's thread has abandoned the slot after that first grant, the
 * state is TO_RETURN, or without undo TO_FREE, and the result is true.
 */
static bool commit_grant(struct fs_shared_section *in, int slot)
{
    int state = FS_SLOT_WAITING;

    if (fs_commit_state(in, slot, &state, FS_SLOT_GRANTED)
        || state == FS_SLOT_GRANTED || state == FS_SLOT_TO_RETURN
        || (state == FS_SLOT_TO_FREE && !in->handle->undo))
        return true;
    if (in->error == 0 && !fs_is_abandoned_in_queue(state))
        fs_damaged(in);
    return false;
}

/* Returns false if a slot to be granted has been abandoned. */
static bool complete_change(struct fs_shared_section *in, const struct change *change)
{
    fairsem_shared_t *h = in->handle;
    bool done = true;

    if (change->process != FS_NOBODY)
        FS_COMMIT(in, &h->processes[change->process].held, change->held);
    if (change->state == FS_SLOT_GRANTED)
        done = commit_grant(in, change->slot);
    if (done && change->has_word)
        fs_shared_set_available(in, change->word);
    if (change->state == FS_SLOT_FREE)
        FS_COMMIT(in, &h->slots[change->slot].state, FS_SLOT_FREE);
    FS_COMMIT(in, &h->segment->redo.slot, 0);
    return done;
}

void fs_shared_redo(struct fs_shared_section *in)
{
    const fairsem_shared_t *h = in->handle;
    const struct fs_redo *redo = &h->segment->redo;
    const struct change change = {
        .slot = (int)fs_checked(in, FS_GET(&redo->slot), 0, h->max_waiters) - 1,
        .state = FS_GET(&redo->slot_state),
        .process = (int)fs_checked(in, FS_GET(&redo->process), 0, h->max_processes) - 1,
        .has_word = FS_GET(&redo->has_word) != 0,
        .held = fs_load_units(in, &redo->held),
        .word = fs_checked(in, FS_GET(&redo->word), 0, h->capacity),
    };

    if (change.slot == FS_NOBODY)
        return;
    if (change.state != FS_SLOT_FREE && change.state != FS_SLOT_GRANTED)
        fs_damaged(in);
    (void)complete_change(in, &change);
}

static bool change_both(struct fs_shared_section *in, const struct change *change)
{
    struct fs_redo *redo = &in->handle->segment->redo;

    FS_PUT(&redo->slot_state, change->state);
    FS_PUT(&redo->process, change->process + 1);
    FS_PUT(&redo->held, change->held);
    FS_PUT(&redo->has_word, change->has_word);
    FS_PUT(&redo->word, change->word);
    FS_COMMIT(in, &redo->slot, change->slot + 1);
    return complete_change(in, change);
}

bool fs_shared_grant_slot(struct fs_shared_section *in, int slot, int64_t units)
{
    const int64_t before = in->available;
    const struct change change = { .slot = slot, .state = FS_SLOT_GRANTED, .process = FS_NOBODY,
                                   .has_word = true, .word = before - units };

    if (!in->handle->undo)
        return change_both(in, &change);
    fs_shared_set_available(in, before - units);
    if (commit_grant(in, slot))
        return true;
    fs_shared_set_available(in, before);
    return false;
}

static void free_slot(struct fs_shared_section *in, int slot)
{
    FS_COMMIT(in, &in->handle->slots[slot].state, FS_SLOT_FREE);
    FS_PUT(&in->handle->segment->free_hint, slot);
}

void fs_shared_receive(struct fs_shared_section *in, int slot, int64_t now_ns)
{
    const fairsem_shared_t *h = in->handle;
    struct change change = { .slot = slot, .state = FS_SLOT_FREE, .process = FS_GET(&h->self) };

    if (!h->undo) {
        free_slot(in, slot);
        return;
    }
    change.held = held_with(in, fs_load_units(in, &h->slots[slot].units), now_ns);
    change_both(in, &change);
    FS_PUT(&h->segment->free_hint, slot);
}

/* Put the units of a grant back, as many as fit: without undo, other processes may have released too many. */
static int64_t return_grant(struct fs_shared_section *in, int slot)
{
    const int64_t units = fs_load_units(in, &in->handle->slots[slot].units);
    const int64_t room = in->total - in->available;
    struct change change = { .slot = slot, .state = FS_SLOT_FREE, .process = FS_NOBODY,
                             .has_word = true,
                             .word = in->available + (units < room ? units : room) };

    if (in->handle->undo) {
        free_slot(in, slot);
        fs_shared_set_available(in, change.word);
    } else {
        change_both(in, &change);
    }
    return units;
}

int64_t fs_shared_clean_up(struct fs_shared_section *in, int slot)
{
    struct fs_shared_counters *count = &in->handle->segment->count;

    switch (FS_GET(&in->handle->slots[slot].state)) {
    case FS_SLOT_GRANTED:
    case FS_SLOT_TO_RETURN:
        return return_grant(in, slot);
    case FS_SLOT_WAITING:
        FS_COUNT_UP(&count->lost, 1);
        break;
    case FS_SLOT_TO_UNLINK:
        FS_COUNT_UP(&count->timeouts, 1);
        break;
    case FS_SLOT_TO_CANCEL:
        FS_COUNT_UP(&count->cancels, 1);
        break;
    default:
        break;
    }
    free_slot(in, slot);
    return 0;
}
