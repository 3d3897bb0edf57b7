/* SPDX-License-Identifier: MIT */
/*
 * hunter.c - starts many threads at once, which wait in each kind of wait, and are canceled or end.
 *
 * When a canceled thread has been joined, it must have left the queue, and its units must have gone on: the
 * wardens count them.  A thread that ends right after its grant passes its parker on.
 */
#include "actors.h"

#define PACK 8

struct prey {
    pthread_t        thread;
    struct round    *round;
    struct arena    *arena;
    uint32_t         seed;
    bool             once;      /* the thread ends when it has been granted */
    bool             in_a_wait; /* the thread is canceled only in a wait */
    fairsem_ticket_t ticket;
    fairsem_units_t  units;
};

/* There is no cancellation point from here to the release. */
static void use(struct prey *p)
{
    pick_up(p->arena, p->units.n);
    put_down(p->arena, p->units.n);
    fairsem_units_release(&p->units);
}

static void use_in_with(void *arg)
{
    struct prey *p = arg;

    pick_up(p->arena, 1);
    put_down(p->arena, 1);
    pthread_testcancel();
}

/*
 * musl (1.2.3) runs the handlers of a thread that is canceled on a futex with a stack that is not aligned as the
 * x86 ABI requires.  wait.c aligns the stack of its own handler, too.
 */
#if !defined(__GLIBC__) && defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
__attribute__((force_align_arg_pointer))
#endif
static void clean_up(void *arg)
{
    struct prey *p = arg;

    fairsem_ticket_return(&p->ticket);
    fairsem_units_release(&p->units);
}

/* Returns false if it was not granted. */
static bool wait_once(struct prey *p)
{
    fairsem_t *sem = &p->arena->sem;
    const struct timespec at = from_now(CLOCK_REALTIME, 3600 * 1000);
    const fairsem_wait_t how = { .clock = CLOCK_REALTIME, .deadline = &at, .token = &p->round->never,
                                 .priority = (int)(next(&p->seed) % 2) };
    const int64_t n = 1 + next(&p->seed) % (uint32_t)p->arena->kind->units;
    int result;

    switch (next(&p->seed) % (p->in_a_wait ? 4 : 5)) {
    case 0:
        result = fairsem_units_acquire(&p->units, sem, n, &how);
        break;
    case 1:
        result = fairsem_acquire_for(sem, n, 30000);
        if (result == 0)
            insist(0, fairsem_units_adopt(&p->units, sem, n));
        break;
    case 2:
        result = -1;
        if (was_taken(fairsem_ticket_take(&p->ticket, sem, 1, 0, NULL, NULL))
            && fairsem_ticket_wait(&p->ticket, &how) == 0)
            result = fairsem_ticket_claim(&p->ticket, &p->units);
        fairsem_ticket_return(&p->ticket);
        break;
    case 3:
        result = fairsem_acquire(sem, n);
        if (result == 0)
            insist(0, fairsem_units_adopt(&p->units, sem, n));
        break;
    default:
        return fairsem_with(sem, 1, use_in_with, p) == 0;
    }
    if (result == 0)
        use(p);
    return result == 0;
}

static void *be_prey(void *arg)
{
    struct prey *p = arg;

    pthread_cleanup_push(clean_up, p);
    while (!is_over(p->round)) {
        if (!wait_once(p))
            moment();       /* while the capacity is too small, calls fail at once */
        else if (p->once)
            break;
        if (!p->in_a_wait)
            pthread_testcancel();
    }
    pthread_cleanup_pop(1);
    return NULL;
}

void hunt(struct actor *a)
{
    struct round *r = a->round;
    struct prey prey[PACK];

    while (!is_over(r)) {
        const int many = 1 + (int)(next(&a->seed) % PACK);

        for (int i = 0; i < many; i++) {
            prey[i] = (struct prey){ .round = r, .arena = &r->arenas[next(&a->seed) % 4 == 0],
                                     .seed = next(&a->seed), .once = next(&a->seed) % 4 == 0,
                                     .in_a_wait = next(&a->seed) % 2 == 0 };
            start_thread(&prey[i].thread, be_prey, &prey[i]);
        }
        moments(&a->seed);
        for (int i = 0; i < many; i++) {
            if (!prey[i].once)
                pthread_cancel(prey[i].thread);
        }
        for (int i = 0; i < many; i++) {
            void *result;

            pthread_join(prey[i].thread, &result);
            if (result == PTHREAD_CANCELED)
                atomic_fetch_add(&r->canceled, 1);
            else if (!prey[i].once && !is_over(r))
                complain(r, "a canceled thread was not canceled");
        }
        beat(a);
    }
}
