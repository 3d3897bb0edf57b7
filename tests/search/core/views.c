/* SPDX-License-Identifier: MIT */
/* views.c - the views of threads, and of mutexes and other objects; stores.c has the stores.  See views.h. */
#include "views.h"

#include <stdatomic.h>
#include <string.h>

struct sync sync_object[SYNCS_MAX];
int syncs;
struct view view_of[THREADS];

bool order_acquires(int order)
{
    return order == memory_order_acquire || order == memory_order_consume
           || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

bool order_releases(int order)
{
    return order == memory_order_release || order == memory_order_acq_rel
           || order == memory_order_seq_cst;
}

/* Has the thread published its view since its last access?  Then the next access needs a new epoch. */
static bool published[THREADS];

const struct view *view_publish(void)
{
    published[id_of(self)] = true;
    return view_mine();
}

uint16_t views_epoch(void)
{
    int me = id_of(self);

    view_of[me].clock[me] = (uint16_t)(view_of[me].clock[me] + published[me]);
    published[me] = false;
    return view_of[me].clock[me];
}

void view_join(struct view *to, const struct view *from)
{
    if (!views_spent()) {
        for (int i = 0; i < LOCATIONS_MAX; i++)
            to->store[i] = to->store[i] > from->store[i] ? to->store[i] : from->store[i];
    }
    for (int t = 0; t < THREADS; t++)
        to->clock[t] = to->clock[t] > from->clock[t] ? to->clock[t] : from->clock[t];
    to->began |= from->began;
    to->returned |= from->returned;
}

void views_forget(void)
{
    memset(sync_object, 0, sizeof sync_object);
    syncs = 0;
    stores_forget();
}

void views_reset(void)
{
    stores_reset();
    for (int i = 0; i < syncs; i++)
        sync_object[i].used = false;
    memset(view_of, 0, sizeof view_of);
    memset(published, 0, sizeof published);
    for (int t = 0; t < THREADS; t++)
        view_of[t].clock[t] = 1;
}

/* ---- Other objects with views ---- */

static struct sync *sync_of(const void *object)
{
    int i = 0;

    while (i < syncs && sync_object[i].at != object)
        i++;
    if (i == SYNCS_MAX)
        fail("explorer", "more than %d mutexes", i);
    if (i == syncs)
        sync_object[syncs++] = (struct sync){ .at = object };
    if (!sync_object[i].used) {
        sync_object[i].used = true;
        memset(&sync_object[i].view, 0, sizeof sync_object[i].view);
    }
    return &sync_object[i];
}

void views_release(const void *object)
{
    view_join(&sync_of(object)->view, view_publish());
}

void views_acquire(const void *object)
{
    view_join(view_mine(), &sync_of(object)->view);
}

void views_join_thread(const struct thread *from, struct thread *to)
{
    view_join(&view_of[id_of(to)], &view_of[id_of(from)]);
    published[id_of(from)] = true;
}

/* ---- Calls ---- */

uint64_t views_begin_call(int number)
{
    view_mine()->began |= UINT64_C(1) << number;
    return view_mine()->returned;
}

uint64_t views_end_call(int number)
{
    view_mine()->returned |= UINT64_C(1) << number;
    return view_mine()->began;
}
