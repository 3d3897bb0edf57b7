/* SPDX-License-Identifier: MIT */
/*
 * views_state.c - hashes weak memory as a part of a state (states.c), so that two runs with the same possible
 * continuations have the same hash.
 *
 * Knowledge that all living threads share makes no difference.  So stores that are older than this common
 * knowledge are forgotten, and the common knowledge is added to each view before it is hashed.  Accesses that
 * all threads know of can no longer race, and are forgotten.  The epochs of the remaining accesses are
 * renumbered, in their order.
 */
#include "views.h"

#include <string.h>

static struct view known_to_all;

static uint8_t least(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* Compute the common knowledge.  Of a thread's accesses, only the knowledge of the other threads counts. */
static void learn_known_to_all(void)
{
    memset(&known_to_all, 0xff, sizeof known_to_all);
    for (int t = 0; t < threads_count; t++) {
        const struct view *view = &view_of[t];

        if (thread[t].at == ENDED)
            continue;
        for (int l = 0; l < locations; l++)
            known_to_all.store[l] = least(known_to_all.store[l], view->store[l]);
        for (int i = 0; i < THREADS; i++) {
            if (i != t && view->clock[i] < known_to_all.clock[i])
                known_to_all.clock[i] = view->clock[i];
        }
        known_to_all.began &= view->began;
        known_to_all.returned &= view->returned;
    }
}

static void subtract(struct view *view, const uint8_t by[LOCATIONS_MAX])
{
    for (int l = 0; l < LOCATIONS_MAX; l++)
        view->store[l] = (uint8_t)(view->store[l] > by[l] ? view->store[l] - by[l] : 0);
}

static void drop_stores(struct location *l, int n)
{
    l->count -= n;
    l->last_sc = l->last_sc > n ? l->last_sc - n : 0;
    memmove(&l->store[0], &l->store[n], (size_t)l->count * sizeof l->store[0]);
    l->store[0].rmw = false;
}

void views_prune(void)
{
    uint8_t by[LOCATIONS_MAX] = { 0 };
    bool any = false;

    learn_known_to_all();
    if (views_spent())
        return;
    for (int l = 0; l < locations; l++) {
        if (location[l].count > 1 && known_to_all.store[l] > 0) {
            by[l] = least(known_to_all.store[l], (uint8_t)(location[l].count - 1));
            drop_stores(&location[l], by[l]);
            any = true;
        }
    }
    if (!any)
        return;
    for (int t = 0; t < THREADS; t++)
        subtract(&view_of[t], by);
    for (int i = 0; i < syncs; i++)
        subtract(&sync_object[i].view, by);
    for (int l = 0; l < locations; l++) {
        for (int i = 0; i < location[l].count; i++)
            subtract(&location[l].store[i].view, by);
    }
    subtract(&known_to_all, by);
}

/* `own` is the thread whose view this is, or -1 for the view of a store or an object. */
static uint64_t mix_view(uint64_t hash, const struct view *view, int own)
{
    struct view plain = *view;

    view_join(&plain, &known_to_all);
    for (int t = 0; t < THREADS; t++)
        plain.clock[t] = t == own ? 0 : races_rank(t, plain.clock[t]);
    if (!views_spent())
        hash = mix(hash, plain.store, (size_t)locations);
    return mix(hash, plain.clock, sizeof plain - offsetof(struct view, clock));
}

static bool is_news(const struct view *view)
{
    bool news = (view->began & ~known_to_all.began) != 0
                || (view->returned & ~known_to_all.returned) != 0;

    for (int t = 0; t < THREADS && !news; t++)
        news = view->clock[t] > known_to_all.clock[t];
    for (int l = 0; l < locations && !news && !views_spent(); l++)
        news = view->store[l] > known_to_all.store[l];
    return news;
}

static uint64_t mix_location(uint64_t hash, const struct location *l)
{
    const int in[] = { (int)(l - location), l->count, l->last_sc };

    if (l->count == 0 || (l->count == 1 && !is_news(&l->store[0].view)))
        return hash;
    hash = mix(hash, in, sizeof in);
    for (int i = 0; i < l->count; i++) {
        const int64_t store[] = { l->store[i].value, l->store[i].rmw };

        if (l->count > 1)
            hash = mix(hash, store, sizeof store);
        if (is_news(&l->store[i].view))
            hash = mix_view(hash ^ 1, &l->store[i].view, -1);
    }
    return hash;
}

/* If the scenario has `after`, the view of an ended thread still counts: another thread may join it. */
uint64_t views_hash(void)
{
    uint64_t hash = 3;

    views_prune();
    races_prune(known_to_all.clock);
    for (int t = 0; t < threads_count; t++) {
        if (thread[t].at != ENDED || script_uses(AFTER))
            hash = mix_view(hash, &view_of[t], t);
    }
    for (int i = 0; i < syncs; i++) {
        if (sync_object[i].used && is_news(&sync_object[i].view))
            hash = mix_view(mix(hash, &i, sizeof i), &sync_object[i].view, -1);
    }
    for (int l = 0; l < locations; l++)
        hash = mix_location(hash, &location[l]);
    return races_hash() ^ hash;
}
