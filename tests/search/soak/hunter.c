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
    bool          too_many;     /* units were held when it got its own */
};

/*
 * The acquire is the only cancellation point: between it and the release there is none.  So the
 * prey does not write a complaint itself, which would be one, with the lock of stderr held.
 */
static void *be_prey(void *arg)
{
    struct prey *p = arg;

    do {
        if (fairsem_acquire(&p->arena->sem, p->n) != 0)
            continue;
        p->too_many = !arena_pick_up(p->arena, p->n);
        arena_put_down(p->arena, p->n);
        fairsem_release(&p->arena->sem, p->n);
    } while (!p->once && !p->too_many && !is_over(p->hunter->soak));
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
        if (prey.too_many)
            complain(a->soak, "%s: more units are held than there are", prey.arena->name);
        atomic_fetch_add(&a->soak->threads, 1);
        beat(a);
    }
}
