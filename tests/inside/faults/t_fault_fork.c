/* SPDX-License-Identifier: MIT */
/*
 * t_fault_fork.c - a process forks again and again, from several threads at once, while others
 * wait, time out, are canceled by tokens and use tickets.  In each child, and in each child of a
 * child, the semaphore must work; in the parent nothing may be lost.
 */
#include "children.h"
#include "faults.h"
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include "parking.h"

#include <errno.h>
#include <stdio.h>

#define UNITS   3
#define PLAYERS 4
#define FORKERS 2

struct ground {
    fairsem_t       sem;
    fairsem_token_t token;
    _Atomic int     stop, granted, unexpected;
};

struct player {
    pthread_t      thread;
    struct ground *ground;
    uint32_t       seed;
};

struct forker {
    pthread_t      thread;
    struct ground *ground;
    int            forks, forked, bad_status;   /* every third child forks, too */
};

static void use_a_ticket(struct ground *g)
{
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };

    if (!was_taken(fairsem_ticket_take(&ticket, &g->sem, 1, 0, NULL, NULL)))
        atomic_store(&g->unexpected, 1);
    moment();
    if (fairsem_ticket_claim(&ticket, &units) == 0)
        atomic_fetch_add(&g->granted, 1);
    fairsem_units_release(&units);
    fairsem_ticket_return(&ticket);
}

static void *play(void *arg)
{
    struct player *p = arg;
    struct ground *g = p->ground;
    const fairsem_wait_t how = { .token = &g->token };

    while (!atomic_load(&g->stop)) {
        int64_t n = 1 + next(&p->seed) % UNITS;
        int result;

        switch (next(&p->seed) % 3) {
        case 0:
            use_a_ticket(g);
            continue;
        case 1:
            result = fairsem_acquire_for(&g->sem, n, 20000);
            break;
        default:
            result = fairsem_acquire_with(&g->sem, n, &how);
        }
        if (result == 0) {
            atomic_fetch_add(&g->granted, 1);
            fairsem_release(&g->sem, n);
        } else if (result != ETIMEDOUT) {
            atomic_store(&g->unexpected, result);
        }
    }
    return NULL;
}

/* The forking thread waits, and a new one, each for more units than are free. */
static void wait_in_child(struct ground *g, int64_t available)
{
    struct worker w = { 0 };

    CHILD_CHECK(fairsem_acquire_for(&g->sem, UNITS + 1, 1000) == ETIMEDOUT);
    worker_queue(&w, &g->sem, available + 1, 1);
    CHILD_CHECK(fairsem_tryacquire(&g->sem, 0) == EAGAIN);
    CHILD_CHECK(fairsem_release(&g->sem, 1) == 0);
    CHILD_CHECK(worker_join(&w) == 0);
    CHILD_CHECK(fairsem_release(&g->sem, available) == 0);
}

/* In the child: the queue is empty and no lock is held, whatever the other threads were doing. */
static void use_in_child(struct ground *g)
{
    int64_t available = fairsem_available(&g->sem);
    fairsem_wait_t how = { .token = &g->token };
    fairsem_stat_t stat;

    hang_alarm();
    CHILD_CHECK(available >= 0 && available <= UNITS);
    CHILD_CHECK(fairsem_waiters(&g->sem) == 0);
    if (!UNDER_ASAN)        /* its allocator does not survive such a fork */
        wait_in_child(g, available);
    CHILD_CHECK(fairsem_stat(&g->sem, &stat) == 0 && stat.available == available);
    CHILD_CHECK(stat.waits == stat.grants + stat.timeouts + stat.cancels);
    CHILD_CHECK(fairsem_token_cancel(&g->token, 4711) == 0);
    CHILD_CHECK(fairsem_acquire_with(&g->sem, 1, &how) == 4711);
    CHILD_CHECK(fairsem_tryacquire_upto(&g->sem, UNITS) == available);
    CHILD_CHECK(fairsem_destroy(&g->sem) == 0);
}

/* The child, or a child of the child. */
static void be_child(struct ground *g, bool forks)
{
    int status;

    if (forks) {
        pid_t child = fork();

        CHILD_CHECK(child >= 0);
        if (child > 0)
            CHILD_CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    use_in_child(g);
    _exit(0);
}

static void *fork_often(void *arg)
{
    struct forker *f = arg;

    for (int i = 0; i < f->forks; i++) {
        pid_t child = fork();
        int status = -1;

        if (child == 0)
            be_child(f->ground, i % 3 == 0);
        if (child > 0 && waitpid(child, &status, 0) == child)
            f->forked++;
        if (status != 0)
            f->bad_status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    return NULL;
}

static void storm(unsigned flags)
{
    const fairsem_attr_t attr = { .flags = flags };
    struct ground g = { .stop = 0 };
    const uint32_t seed = test_seed();
    struct player players[PLAYERS];
    struct forker forkers[FORKERS];

    ck_assert_int_eq(fairsem_init(&g.sem, UNITS, &attr), 0);
    ck_assert_int_eq(fairsem_token_init(&g.token), 0);
    for (int i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){ .ground = &g, .seed = seed + (uint32_t)i };
        start_thread(&players[i].thread, play, &players[i]);
    }
    for (int i = 0; i < FORKERS; i++) {
        forkers[i] = (struct forker){ .ground = &g, .forks = fault_times(60) };
        start_thread(&forkers[i].thread, fork_often, &forkers[i]);
    }
    for (int i = 0; i < FORKERS; i++) {
        pthread_join(forkers[i].thread, NULL);
        ck_assert_int_eq(forkers[i].bad_status, 0);
        ck_assert_int_eq(forkers[i].forked, forkers[i].forks);
    }
    while (atomic_load(&g.granted) == 0)
        moment();
    atomic_store(&g.stop, 1);
    for (int i = 0; i < PLAYERS; i++)
        pthread_join(players[i].thread, NULL);
    ck_assert_int_eq(g.unexpected, 0);
    ck_assert_int_eq(fairsem_waiters(&g.sem), 0);
    ck_assert_int_eq(fairsem_available(&g.sem), UNITS);
    ck_assert_int_eq(fairsem_token_destroy(&g.token), 0);
    ck_assert_int_eq(fairsem_destroy(&g.sem), 0);
}

START_TEST(in_every_child_of_a_storm_of_forks_the_semaphore_works)
{
    storm(0);
}
END_TEST

START_TEST(in_every_child_an_interruptible_semaphore_works)
{
    if (FS_HAS_FUTEX)
        storm(FAIRSEM_INTERRUPTIBLE);
}
END_TEST

int main(void)
{
    if (UNDER_TSAN)
        return program_not_here("ThreadSanitizer does not follow a fork of a threaded process");
    RUN_SUITE("fault fork", in_every_child_of_a_storm_of_forks_the_semaphore_works,
              in_every_child_an_interruptible_semaphore_works);
}
