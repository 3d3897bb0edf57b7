/* SPDX-License-Identifier: MIT */
/* change.c - the commit points; see change.h. */
#include "shared/change.h"

#include "shared/shared_queue.h"

#include <errno.h>

int fs_shared_load_available(fairsem_shared_t *h, int64_t *available)
{
    *available = fs_word_available(FS_GET(&h->segment->word));
    if (*available >= 0 && *available <= h->capacity)
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
    return *held >= 0 && *held <= h->capacity ? 0 : fs_shared_is_damaged(h);
}

int fs_shared_load_units(fairsem_shared_t *h, int slot, int64_t *units)
{
    *units = FS_GET(&h->slots[slot].units);
    return *units >= 0 && *units <= h->capacity ? 0 : fs_shared_is_damaged(h);
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
    if (error != 0 || held > h->capacity - n)
        return error != 0 ? error : fs_shared_is_damaged(h);
    if (held == 0)
        FS_PUT(&self->since_ns, fs_tick_ns());
    FS_COMMIT(&self->held, held + n);
    fs_shared_put_available(h, available - n);
    return 0;
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
        return EPERM;
    if (n > h->capacity - available)
        return fs_shared_is_damaged(h);
    FS_COMMIT(&self->held, held - n);
    fs_shared_put_available(h, available + n);
    return 0;
}

/* ---- Changes of two words ---- */

int fs_shared_redo(fairsem_shared_t *h)
{
    struct fs_redo *redo = &h->segment->redo;
    int slot = FS_GET(&redo->slot), process = FS_GET(&redo->process);
    int state = FS_GET(&redo->slot_state);
    int64_t held = FS_GET(&redo->held), word = FS_GET(&redo->word);

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
        if (!fs_index_valid(process, h->max_processes) || held < 0 || held > h->capacity)
            return fs_shared_is_damaged(h);
        FS_PUT(&h->processes[process].held, held);
    }
    if (FS_GET(&redo->has_word) != 0) {
        if (word < 0 || word > h->capacity)
            return fs_shared_is_damaged(h);
        fs_shared_put_available(h, word);
    }
    FS_COMMIT(&h->slots[slot].state, state);
    FS_COMMIT(&redo->slot, 0);
    return 0;
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
    FS_COMMIT(&h->slots[slot].state, FS_SLOT_GRANTED);
    return 0;
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
    if (error != 0 || held > h->capacity - units)
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
    int64_t available, units;
    int error = fs_shared_load_units(h, slot, &units);

    if (error != 0)
        return error;
    available = fs_word_available(FS_GET(&h->segment->word));
    if (available < 0 || available > h->capacity)
        available = 0;
    if (units > h->capacity - available)
        units = h->capacity - available;
    if (!h->undo)
        return change_both(h, slot, FS_SLOT_FREE, FS_NOBODY, 0, true, available + units);
    fs_shared_free_slot(h, slot);
    fs_shared_put_available(h, available + units);
    return 0;
}
