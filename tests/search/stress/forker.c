/* SPDX-License-Identifier: MIT */
/*
 * forker.c - forks while the other threads work.  The child, and a child of the child, must find the same counts,
 * empty queues and no locked mutex, and must be able to use the semaphores.  And sends signals, with and without
 * SA_RESTART, to players.
 */
#include "actors.h"

#include "children.h"

#include <errno.h>
#include <signal.h>

#define BETWEEN_FORKS_NS   INT64_C(10000000)
#define BETWEEN_SIGNALS_NS INT64_C(300000)

/* The forking thread and a new one wait, each for one unit more than is free; then the unit is released. */
static void wait_in_child(struct arena *arena, int64_t left)
{
    fairsem_t *sem = &arena->sem;
    struct worker w = { 0 };
    int result = fairsem_acquire_for(sem, arena->kind->units + 1, 1000);

    CHILD_CHECK(result == (arena->kind->attr.capacity != 0 ? E2BIG : ETIMEDOUT));
    if (left < 0 || left == arena->kind->units)
        return;
    worker_queue(&w, sem, left + 1, 1);
    if (arena->kind->attr.bypass_ns == 0)
        CHILD_CHECK(fairsem_tryacquire(sem, 0) == EAGAIN);
    CHILD_CHECK(fairsem_release(sem, 1) == 0);
    CHILD_CHECK(worker_join(&w) == 0);
    CHILD_CHECK(fairsem_release(sem, left) == 0);
}

/* Units that are held by threads of the parent stay taken in the child. */
static void use_in_child(struct round *r, struct arena *arena)
{
    fairsem_t *sem = &arena->sem;
    const int64_t units = arena->kind->units;
    const fairsem_wait_t how = { .token = &r->never };
    fairsem_stat_t stat;
    int64_t left;

    CHILD_CHECK(fairsem_waiters(sem) == 0);
    if (fairsem_closed(sem) == 0) {
        /* The fork may have happened in a pause, with a debt, or with another capacity. */
        CHILD_CHECK(arena->kind->attr.capacity == 0 || fairsem_set_capacity(sem, units) == 0);
        left = fairsem_available(sem);
        CHILD_CHECK(left <= units);
        wait_in_child(arena, left);
        CHILD_CHECK(fairsem_stat(sem, &stat) == 0 && stat.available == left);
        CHILD_CHECK(stat.waits == stat.grants + stat.timeouts + stat.cancels);
        CHILD_CHECK(fairsem_acquire_with(sem, 1, &how) == CANCELED_BY_TOKEN);
        CHILD_CHECK(fairsem_tryacquire_upto(sem, units) == (left > 0 ? left : 0));
    }
    CHILD_CHECK(fairsem_destroy(sem) == 0);
}

static void be_child(struct round *r, bool forks)
{
    int status;

    hang_alarm();
    if (forks) {
        pid_t child = fork();

        CHILD_CHECK(child >= 0);
        if (child > 0)
            CHILD_CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    CHILD_CHECK(fairsem_token_cancel(&r->never, CANCELED_BY_TOKEN) == 0);
    for (int i = 0; i < 2; i++)
        use_in_child(r, &r->arenas[i]);
    _exit(0);
}

void fork_now_and_then(struct actor *a)
{
    struct round *r = a->round;

    for (int i = 0; !is_over(r); i++) {
        pid_t child = fork();
        int status = 0;

        if (child == 0)
            be_child(r, i % 3 == 0);
        if (child > 0) {
            while (waitpid(child, &status, 0) == -1 && errno == EINTR)
                continue;
            if (status != 0)
                complain(r, "a child ended with status %#x", (unsigned)status);
        }
        beat(a);
        rest(r, BETWEEN_FORKS_NS);
    }
}

/* ---- Signals ---- */

/* The handler takes and releases no units, which is not allowed if tickets have callbacks. */
static void take_signal(int sig)
{
    (void)sig;
}

static void install(int sig, int flags)
{
    struct sigaction action = { .sa_handler = take_signal, .sa_flags = flags };

    sigemptyset(&action.sa_mask);
    sigaction(sig, &action, NULL);
}

/* The players are started before this actor, and joined after it. */
void signal_now_and_then(struct actor *a)
{
    struct round *r = a->round;
    const uint32_t players = (uint32_t)r->arenas[0].kind->players;

    install(SIGUSR1, 0);
    install(SIGUSR2, SA_RESTART);
    while (!is_over(r)) {
        int sig = next(&a->seed) % 2 == 0 ? SIGUSR1 : SIGUSR2;

        pthread_kill(r->actors[next(&a->seed) % players].thread, sig);
        beat(a);
        rest(r, BETWEEN_SIGNALS_NS);
    }
}
