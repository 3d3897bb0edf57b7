/* SPDX-License-Identifier: MIT */
/*
 * hunter.c - starts threads that wait and are canceled or end, and replaces them by others.
 *
 * When a canceled thread has been joined, it must have left the queue, or the next one must have
 * its units: the wardens count them.  A thread that ends right after its grant passes its parker
 * on.
 */
#include "soak.h"


struct prey {
    pthread_t     thread;
    struct actor *hunter;
    struct arena *arena;
    int64_t       n;
    bool          once;         /* ends when it has been granted */
};

/* The acquire is the only cancellation point: between it and the release there is none. */
static void *be_prey(void *arg)
{
    struct prey *p = arg;
    struct soak *s = p->hunter->soak;

    do {
        if (fairsem_acquire(&p->arena->sem, p->n) != 0)
            continue;
        if (!arena_pick_up(p->arena, p->n))
            complain(s, "%s: more units are held than there are", p->arena->name);
        arena_put_down(p->arena, p->n);
        fairsem_release(&p->arena->sem, p->n);
    } while (!p->once && !is_over(s));
    return NULL;
}

void hunt(struct actor *a)
{
    while (!is_over(a->soak)) {
        struct prey prey = { .hunter = a, .arena = any_arena(a), .once = next(&a->seed) % 4 == 0 };

        prey.n = 1 + next(&a->seed) % (uint32_t)prey.arena->units;
        start_thread(&prey.thread, be_prey, &prey);
        for (uint32_t i = next(&a->seed) % 400; i > 0; i--)
            moment();
        if (!prey.once)
            pthread_cancel(prey.thread);
        pthread_join(prey.thread, NULL);
        atomic_fetch_add(&a->soak->threads, 1);
        beat(a);
    }
}
