/* SPDX-License-Identifier: MIT */
/*
 * order.c - checks strict FIFO on the histories of real threads: `make check-order`.
 *
 * Rounds of threads that acquire in every way and release, on one semaphore; then the history
 * of the round is checked (history.h says what a pass is, record.h how it is observed).  The
 * arrival order is that of the sequence numbers, which the queue itself gives out.
 *
 *     order [OPERATIONS]
 */
#include "doctored.h"
#include "record.h"

#include "stress.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#define DEFAULT_OPERATIONS 200000
#define ROUND_OPERATIONS   50000    /* of all threads together */

/* The kinds of rounds, which take turns. */
static const struct kind {
    int     threads;
    int64_t units, most_wanted;
    int     priorities;
} kinds[] = {
    { 2, 1, 1, 1 }, { 4, 1, 1, 1 }, { 4, 3, 3, 1 }, { 8, 2, 2, 3 }, { 16, 5, 4, 1 }, { 3, 2, 1, 2 },
};

struct round {
    const struct kind *kind;
    fairsem_t          sem;
    int64_t            operations_each;
};

struct taker {
    pthread_t     thread;
    struct round *round;
    int           number;
    uint32_t      seed;
    int64_t       operations;       /* r/o after join */
    int           unexpected;       /* r/o after join: a result that no call may give */
};

/* One acquire of n units, or of up to n: *n is what it got, when it returns 0. */
static int acquire_somehow(struct taker *t, fairsem_t *sem, int64_t *n, int *priority)
{
    fairsem_wait_t how = {
        .priority = (int)(next(&t->seed) % (uint32_t)t->round->kind->priorities) };

    *priority = INT_MAX;
    switch (next(&t->seed) % 8) {
    case 0:
        return fairsem_tryacquire(sem, *n);
    case 1:
        *n = fairsem_tryacquire_upto(sem, *n);
        return *n > 0 ? 0 : EAGAIN;
    case 2:
        *priority = 0;
        return fairsem_acquire_for(sem, *n, next(&t->seed) % 100 * 1000);
    case 3:
    case 4:
        *priority = 0;
        return fairsem_acquire(sem, *n);
    default:
        *priority = how.priority;
        return fairsem_acquire_with(sem, *n, &how);
    }
}

static void *take(void *arg)
{
    struct taker *t = arg;
    struct round *r = t->round;

    while (t->operations < r->operations_each && record_has_room(t->number)) {
        int64_t n = 1 + next(&t->seed) % (uint32_t)r->kind->most_wanted;
        uint32_t before = record_before();
        int priority, result = acquire_somehow(t, &r->sem, &n, &priority);

        record_after(t->number, before, priority, result == 0);
        t->operations++;
        if (result == 0) {
            if (next(&t->seed) % 8 == 0)
                moment();
            fairsem_release(&r->sem, n);
        } else if (result != EAGAIN && result != ETIMEDOUT) {
            t->unexpected = result;
        }
    }
    return NULL;
}

/* Returns the number of operations; -1 after an error other than of the order. */
static int64_t play_round(const struct kind *kind, uint32_t seed, struct verdict *verdict,
                          int64_t *changes)
{
    struct round round = { .kind = kind, .operations_each = ROUND_OPERATIONS / kind->threads };
    struct taker takers[THREADS_MOST];
    int64_t operations = 0;
    bool right = true;

    if (fairsem_init(&round.sem, kind->units, NULL) != 0
        || !record_begin(&round.sem, kind->threads))
        return -1;
    for (int i = 0; i < kind->threads; i++) {
        takers[i] = (struct taker){ .round = &round, .number = i, .seed = seed + (uint32_t)i };
        start_thread(&takers[i].thread, take, &takers[i]);
    }
    for (int i = 0; i < kind->threads; i++) {
        pthread_join(takers[i].thread, NULL);
        operations += takers[i].operations;
        right &= takers[i].unexpected == 0;
    }
    right &= history_check(record_end(), verdict);
    *changes += record_changes();
    right &= fairsem_available(&round.sem) == kind->units && fairsem_destroy(&round.sem) == 0;
    return right ? operations : -1;
}

int main(int argc, char *argv[])
{
    int64_t wanted = argc > 1 ? strtoll(argv[1], NULL, 10) : DEFAULT_OPERATIONS;
    int64_t done = 0, changes = 0;
    uint32_t seed = test_seed();
    struct verdict v = { 0 };
    bool right = doctored_histories_are_judged_rightly();

    for (size_t i = 0; done < wanted && right; i++) {
        int64_t n = play_round(&kinds[i % (sizeof kinds / sizeof kinds[0])],
                               seed + (uint32_t)i * 1000, &v, &changes);

        right = n > 0;
        done += n;
    }
    printf("%" PRId64 " operations: %" PRId64 " joined the queue, %" PRId64 " of them waited; %"
           PRId64 " were granted there, %" PRId64 " took beside it\n"
           "passes in the queue %" PRId64 ", beside it %" PRId64 ", word changed from outside %"
           PRId64 ", histories malformed %" PRId64 "\n", done, v.joined, v.waited, v.granted,
           v.taken, v.passes_in_queue, v.passes_beside, changes, v.malformed);
    right = right && v.passes_in_queue == 0 && v.passes_beside == 0 && changes == 0
            && v.malformed == 0 && v.waited > 0 && v.taken > 0;
    puts(right ? "ok: 0 passes" : "FAILED");
    return right ? 0 : 1;
}
