/* SPDX-License-Identifier: MIT */
/* change.c - the commit points; see change.h. */
#include "shared/change.h"

#include "shared/shared_queue.h"

#include <errno.h>

/* -1 is damage, and no sum or difference of it overflows. */
int64_t fs_shared_total(const fairsem_shared_t *h)
{
    int64_t total = h->undo ? FS_GET(&h->segment->total) : h->capacity;

    return fs_count_valid(total) ? total : -1;
}

int64_t fs_shared_most(const fairsem_shared_t *h)
{
    int64_t most = h->undo ? FS_GET(&h->segment->most) : h->capacity;

    return fs_count_valid(most) ? most : 0;
}

int fs_shared_load_available(fairsem_shared_t *h, int64_t *available)
{
    const int64_t total = fs_shared_total(h), most = fs_shared_most(h);
    const int64_t out = h->undo ? FS_GET(&h->segment->out) : 0;

    *available = fs_word_available(FS_GET(&h->segment->word));
    if (!h->undo && *available >= 0 && *available <= total)
        return 0;
    /* In this order, no difference overflows. */
    if (h->undo && total >= 0 && total <= most && out >= 0 && out <= most
        && *available == total - out)
        return 0;
    return fs_shared_is_damaged(h);
}

static void store_word(fairsem_shared_t *h, int64_t available)
{
    atomic_store_explicit(&h->segment->word, available * 2 + FS_SLOW, memory_order_release);
}

void fs_shared_put_available(fairsem_shared_t *h, int64_t available)
{
    FS_STEP("put available");
    store_word(h, available);
    if (h->undo)
        FS_PUT(&h->segment->out, fs_shared_total(h) - available);
}

/* Without undo, the count is part of the truth, so this is a commit point. */
static void commit_available(fairsem_shared_t *h, int64_t available)
{
    FS_STEP("commit available");
    store_word(h, available);
}

int fs_shared_load_held(fairsem_shared_t *h, int process, int64_t *held)
{
    *held = FS_GET(&h->processes[process].held);
    return *held >= 0 && *held <= fs_shared_most(h) ? 0 : fs_shared_is_damaged(h);
}

int fs_shared_load_units(fairsem_shared_t *h, int slot, int64_t *units)
{
    *units = FS_GET(&h->slots[slot].units);
    return *units >= 0 && *units <= fs_shared_most(h) ? 0 : fs_shared_is_damaged(h);
}

static int add_out(fairsem_shared_t *h, int64_t units, int64_t *out)
{
    if (units > fs_shared_most(h) - *out)
        return fs_shared_is_damaged(h);
    *out += units;
    return 0;
}

int fs_shared_count_out(fairsem_shared_t *h, int64_t *out)
{
    int64_t units;
    int error = 0;

    *out = 0;
    for (int i = 0; i < h->max_processes && error == 0; i++) {
        if (FS_GET(&h->processes[i].state) == FS_PROCESS_FREE)
            continue;
        error = fs_shared_load_held(h, i, &units);
        if (error == 0)
            error = add_out(h, units, out);
    }
    for (int i = 0; i < h->max_waiters && error == 0; i++) {
        int state = FS_GET(&h->slots[i].state);

        /* Its thread may leave a granted slot at any moment. */
        if (state != FS_SLOT_GRANTED && state != FS_SLOT_TO_RETURN)
            continue;
        error = fs_shared_load_units(h, i, &units);
        if (error == 0)
            error = add_out(h, units, out);
    }
    return error;
}

int fs_shared_resize(fairsem_shared_t *h, int64_t total)
{
    int64_t available;
    int error = fs_shared_load_available(h, &available);

    if (error != 0)
        return error;
    available += total - fs_shared_total(h);
    if (total > fs_shared_most(h))
        FS_PUT(&h->segment->most, total);
    FS_COMMIT(&h->segment->total, total);
    fs_shared_put_available(h, available);
    return 0;
}

int fs_shared_take(fairsem_shared_t *h, int64_t n)
{
    struct fs_process *self = &h->processes[FS_GET(&h->self)];
    int64_t available, held;
    int error = fs_shared_load_available(h, &available);

    if (error != 0 || n > available)
        return error != 0 ? error : fs_shared_is_damaged(h);
    if (!h->undo) {
        commit_available(h, available - n);
        return 0;
    }
    error = fs_shared_load_held(h, FS_GET(&h->self), &held);
    if (error != 0 || held > fs_shared_most(h) - n)
        return error != 0 ? error : fs_shared_is_damaged(h);
    if (held == 0)
        FS_PUT(&self->since_ns, FS_GET(&h->looked_ns));     /* now: fs_shared_look_at_file() */
    FS_COMMIT(&self->held, held + n);
    fs_shared_put_available(h, available - n);
    return 0;
}

/* Is it refused because it holds fewer, or because somebody has changed what it holds (R8)? */
static int refuse(fairsem_shared_t *h)
{
    int64_t out;
    int error = fs_shared_count_out(h, &out);

    if (error != 0)
        return error;
    return out == FS_GET(&h->segment->out) ? EPERM : fs_shared_is_damaged(h);
}

int fs_shared_give_back(fairsem_shared_t *h, int64_t n)
{
    struct fs_process *self = &h->processes[FS_GET(&h->self)];
    int64_t available, held;
    int error = fs_shared_load_available(h, &available);

    if (error == 0 && h->undo)
        error = fs_shared_load_held(h, FS_GET(&h->self), &held);
    if (error != 0)
        return error;
    if (!h->undo) {
        if (n > h->capacity - available)
            return EOVERFLOW;
        commit_available(h, available + n);
        return 0;
    }
    if (n > held)
        return refuse(h);
    if (n > fs_shared_total(h) - available)
        return fs_shared_is_damaged(h);
    FS_COMMIT(&self->held, held - n);
    fs_shared_put_available(h, available + n);
    return 0;
}

/* ---- Changes of two words ---- */

/*
 * The commit point of a grant.  EAGAIN: its thread has gone meanwhile, without the lock.  When this
 * is done again, it may have been granted before, and may have gone since; without undo, with its units.
 */
static int commit_grant(fairsem_shared_t *h, struct fs_slot *slot)
{
    int state = FS_SLOT_WAITING;

    FS_STEP("commit grant");
    if (atomic_compare_exchange_strong_explicit(&slot->state, &state, FS_SLOT_GRANTED,
                                                memory_order_release, memory_order_relaxed)
        || state == FS_SLOT_GRANTED || state == FS_SLOT_TO_RETURN
        || (state == FS_SLOT_TO_FREE && !h->undo))
        return 0;
    return state == FS_SLOT_TO_UNLINK ? EAGAIN : fs_shared_is_damaged(h);
}

int fs_shared_redo(fairsem_shared_t *h)
{
    struct fs_redo *redo = &h->segment->redo;
    int slot = FS_GET(&redo->slot), process = FS_GET(&redo->process);
    int state = FS_GET(&redo->slot_state);
    int64_t held = FS_GET(&redo->held), word = FS_GET(&redo->word);
    int error = 0;

    if (slot == 0)
        return 0;
    if (slot < 0 || process < 0)
        return fs_shared_is_damaged(h);
    slot--;
    process--;
    if (!fs_index_valid(slot, h->max_waiters)
        || (state != FS_SLOT_FREE && state != FS_SLOT_GRANTED))
        return fs_shared_is_damaged(h);
    if (process != FS_NOBODY) {
        if (!fs_index_valid(process, h->max_processes) || held < 0 || held > fs_shared_most(h))
            return fs_shared_is_damaged(h);
        FS_PUT(&h->processes[process].held, held);
    }
    if (FS_GET(&redo->has_word) != 0 && (word < 0 || word > h->capacity))
        return fs_shared_is_damaged(h);
    if (state == FS_SLOT_GRANTED)
        error = commit_grant(h, &h->slots[slot]);
    if (error == 0 && FS_GET(&redo->has_word) != 0)
        fs_shared_put_available(h, word);
    if (state == FS_SLOT_FREE)
        FS_COMMIT(&h->slots[slot].state, state);
    if (error == 0 || error == EAGAIN)
        FS_COMMIT(&redo->slot, 0);
    return error;
}

/* If `process` is FS_NOBODY, no `held` changes; if has_word is false, the count does not change. */
static int change_both(fairsem_shared_t *h, int slot, enum fs_slot_state state, int process,
                       int64_t held, bool has_word, int64_t word)
{
    struct fs_redo *redo = &h->segment->redo;

    FS_PUT(&redo->slot_state, (int32_t)state);
    FS_PUT(&redo->process, process + 1);
    FS_PUT(&redo->held, held);
    FS_PUT(&redo->has_word, has_word);
    FS_PUT(&redo->word, word);
    FS_COMMIT(&redo->slot, slot + 1);
    return fs_shared_redo(h);
}

int fs_shared_grant_slot(fairsem_shared_t *h, int slot)
{
    int64_t available, units;
    int error = fs_shared_load_available(h, &available);

    if (error == 0)
        error = fs_shared_load_units(h, slot, &units);
    if (error != 0 || units > available)
        return error != 0 ? error : fs_shared_is_damaged(h);
    if (!h->undo)
        return change_both(h, slot, FS_SLOT_GRANTED, FS_NOBODY, 0, true, available - units);
    fs_shared_put_available(h, available - units);
    error = commit_grant(h, &h->slots[slot]);
    if (error == EAGAIN)
        fs_shared_put_available(h, available);
    return error;
}

void fs_shared_free_slot(fairsem_shared_t *h, int slot)
{
    FS_COMMIT(&h->slots[slot].state, FS_SLOT_FREE);
    FS_PUT(&h->segment->free_hint, slot);
}

int fs_shared_receive(fairsem_shared_t *h, int slot, int64_t now_ns)
{
    const int self = FS_GET(&h->self);
    int64_t held, units;
    int error;

    if (!h->undo) {
        fs_shared_free_slot(h, slot);
        return 0;
    }
    error = fs_shared_load_units(h, slot, &units);
    if (error == 0)
        error = fs_shared_load_held(h, self, &held);
    if (error != 0 || held > fs_shared_most(h) - units)
        return error != 0 ? error : fs_shared_is_damaged(h);
    if (held == 0)
        FS_PUT(&h->processes[self].since_ns, now_ns);
    error = change_both(h, slot, FS_SLOT_FREE, self, held + units, false, 0);
    FS_PUT(&h->segment->free_hint, slot);
    return error;
}

/* With undo the count may have any value during a repair, which computes it again at the end. */
int fs_shared_return_grant(fairsem_shared_t *h, int slot)
{
    const int64_t total = fs_shared_total(h), least = h->undo ? -fs_shared_most(h) : 0;
    int64_t available, units;
    int error = fs_shared_load_units(h, slot, &units);

    if (error != 0)
        return error;
    available = fs_word_available(FS_GET(&h->segment->word));
    if (available < least || available > total)
        available = 0;
    if (units > total - available)
        units = total - available;
    if (!h->undo)
        return change_both(h, slot, FS_SLOT_FREE, FS_NOBODY, 0, true, available + units);
    fs_shared_free_slot(h, slot);
    fs_shared_put_available(h, available + units);
    return 0;
}
