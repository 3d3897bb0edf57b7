/* SPDX-License-Identifier: MIT */
/* stores.c - atomic locations: their stores, and the choice of the store that a load sees; see views.h. */
#include "views.h"

#include <stdatomic.h>
#include <string.h>

struct location location[LOCATIONS_MAX];
int locations;

void stores_forget(void)
{
    memset(location, 0, sizeof location);
    locations = 0;
}

void stores_reset(void)
{
    for (int l = 0; l < locations; l++)
        location[l].count = 0;
}

/* ---- Locations ---- */

static int64_t value_at(const void *at, size_t size)
{
    switch (size) {
    case 1:  return *(const int8_t *)at;
    case 2:  return *(const int16_t *)at;
    case 4:  return *(const int32_t *)at;
    default: return *(const int64_t *)at;
    }
}

/* An address has the same index in all runs of a scenario, so that states of different runs can be compared. */
static struct location *location_of(const void *at, size_t size)
{
    int l = 0;

    while (l < locations && location[l].at != at)
        l++;
    if (l == LOCATIONS_MAX)
        fail("explorer", "more than %d atomic locations", l);
    if (l == locations)
        location[locations++] = (struct location){ .at = at, .size = size };
    if (location[l].count == 0) {
        location[l].count = 1;
        location[l].last_sc = 0;
        location[l].store[0] = (struct store){ .value = value_at(at, size) };
    }
    return &location[l];
}

static uint8_t *known(struct view *view, const struct location *l)
{
    return &view->store[l - location];
}

/* Update all views: the stores of l from index `from` on have moved up by one, or all have been forgotten. */
static void renumber(const struct location *l, int from, bool forget)
{
    size_t k = (size_t)(l - location);

#define ADAPT(view) \
    ((view)->store[k] = (uint8_t)(forget ? 0 : (view)->store[k] + ((view)->store[k] >= from)))
    for (int t = 0; t < THREADS; t++)
        ADAPT(&view_of[t]);
    for (int i = 0; i < syncs; i++)
        ADAPT(&sync_object[i].view);
    for (int n = 0; n < locations; n++) {
        for (int i = 0; i < location[n].count; i++)
            ADAPT(&location[n].store[i].view);
    }
#undef ADAPT
}

/* A plain write: forget the earlier stores.  An access that is not ordered after the write is a race anyway. */
void views_plainly_written(const void *at, size_t size)
{
    for (int l = 0; l < locations; l++) {
        if (location[l].count > 0 && (uintptr_t)location[l].at + location[l].size > (uintptr_t)at
            && (uintptr_t)at + size > (uintptr_t)location[l].at) {
            location[l].count = 0;
            renumber(&location[l], 0, true);
        }
    }
}

/* ---- Decisions ---- */

/* After the last stale load of the run, only the newest store of each location is needed. */
static void spend(void)
{
    run.stale++;
    self->behind = true;
    if (!views_spent())
        return;
    for (int l = 0; l < locations; l++) {
        if (location[l].count > 1) {
            location[l].store[0] = location[l].store[location[l].count - 1];
            location[l].count = 1;
        }
    }
}

/*
 * Is a newer store with the same value as good as store i, for this load?  Not if a later load may be stale.  A
 * relaxed load learns only the value; for an acquire load the views must be equal, too.
 */
static bool repeats(const struct location *l, int i, bool acquire)
{
    if (run.stale + 1 < limits.own_bound)
        return false;
    for (int newer = i + 1; newer < l->count; newer++) {
        if (l->store[newer].value == l->store[i].value
            && (!acquire || memcmp(&l->store[newer].view, &l->store[i].view,
                                   sizeof(struct view)) == 0))
            return true;
    }
    return false;
}

/* Choose the store that a load sees: the newest, or an older store that does not have the value *but. */
static int pick(struct location *l, int order, const int64_t *but)
{
    int may[STORES_MAX], n = 0, oldest = *known(view_mine(), l), picked;

    if (views_spent())
        return l->count - 1;
    if (order == memory_order_seq_cst && oldest < l->last_sc)
        oldest = l->last_sc;
    for (int i = l->count - 1; i >= oldest; i--) {
        if (i == l->count - 1 || ((but == NULL || l->store[i].value != *but)
                                  && !repeats(l, i, order_acquires(order))))
            may[n++] = i;
    }
    picked = may[choose(n)];
    if (picked != l->count - 1)
        trace("  ... and sees an older value: %lld, not %lld\n",
                    (long long)l->store[picked].value, (long long)l->store[l->count - 1].value);
    return picked;
}

/* ---- Accesses ---- */

static int64_t see(struct location *l, int i, int order)
{
    struct store seen = l->store[i];
    bool newest = i == l->count - 1;

    if (!views_spent() && *known(view_mine(), l) < i)
        *known(view_mine(), l) = (uint8_t)i;
    if (order_acquires(order))
        view_join(view_mine(), &seen.view);
    if (!newest)
        spend();
    return seen.value;
}

int64_t views_load(const void *at, size_t size, int order)
{
    struct location *l = location_of(at, size);

    return see(l, pick(l, order, NULL), order);
}

bool views_swap_fails(const void *at, size_t size, int64_t expected, int order, int64_t *sees)
{
    struct location *l = location_of(at, size);
    int i = pick(l, order, &expected);

    if (l->store[i].value == expected)
        return false;
    *sees = see(l, i, order);
    return true;
}

/* Insert a store at index i, with the view that an acquire load of the store adds. */
static struct store *insert(struct location *l, int i, int64_t value, int order)
{
    struct store *store;

    if (l->count == STORES_MAX)
        fail("explorer", "more than %d stores to %s", STORES_MAX, object_words(l->at));
    if (i < l->count) {
        memmove(&l->store[i + 1], &l->store[i], (size_t)(l->count - i) * sizeof l->store[0]);
        l->last_sc += l->last_sc >= i;
    }
    l->count++;
    store = &l->store[i];
    *store = (struct store){ .value = value };
    if (i < l->count - 1)
        renumber(l, i, false);
    if (order == memory_order_seq_cst)
        l->last_sc = i;
    *known(view_mine(), l) = (uint8_t)i;
    if (order_releases(order))
        store->view = *view_publish();
    return store;
}

/* Choose an index in the modification order, but not between a read-modify-write and the store that it read. */
static int choose_place(struct location *l, int order)
{
    int may[STORES_MAX], n = 0, chosen;

    if (views_spent())
        return l->count;
    may[n++] = l->count;
    for (int i = l->count - 1; i > *known(view_mine(), l) && order != memory_order_seq_cst; i--) {
        if (!l->store[i].rmw)
            may[n++] = i;
    }
    chosen = may[choose(n)];
    if (chosen != l->count)
        trace("  ... and comes before the store of %lld\n",
                    (long long)l->store[chosen].value);
    return chosen;
}

/* Make room for one more store.  Without further stale loads, only the new store is needed. */
static void make_room(struct location *l)
{
    if (views_spent())
        l->count = 0;
    else if (l->count == STORES_MAX)
        views_prune();
}

bool views_store(const void *at, size_t size, int64_t value, int order)
{
    struct location *l = location_of(at, size);
    bool newest;
    int i;

    make_room(l);
    i = choose_place(l, order);
    newest = i == l->count;
    insert(l, i, value, order);
    if (!newest)
        spend();
    return newest;
}

/* The new store also has the view of the store that was read. */
void views_change(const void *at, size_t size, int64_t value, int order)
{
    struct location *l = location_of(at, size);
    struct view read;
    struct store *store;

    see(l, l->count - 1, order);
    read = l->store[l->count - 1].view;
    make_room(l);
    store = insert(l, l->count, value, order);
    store->rmw = true;
    view_join(&store->view, &read);
}

void views_kernel_looks(const void *at, size_t size)
{
    struct location *l = location_of(at, size);

    see(l, l->count - 1, memory_order_relaxed);
}
