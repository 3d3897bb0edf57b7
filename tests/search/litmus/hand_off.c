/* SPDX-License-Identifier: MIT */
/* hand_off.c - a grant, from the thread that makes it to the one that waits. */
#include "world.h"

static void sleeps_and_destroys(int thread)
{
    sleeps(thread);
    destroys();
}

static void wakes_early_and_grants(int thread)
{
    struct fs_deferred deferred;

    (void)thread;
    write_plain(&w->data, 1);
    fs_deferred_init(&deferred);
    w->wait.waiter.complete(&w->wait.waiter, FS_WOKEN, &deferred);
    w->wait.waiter.complete(&w->wait.waiter, FS_GRANTED, &deferred);
}

/* Grants, in a section, what another thread has released without one. */
static void passes_on(int thread)
{
    struct fs_deferred deferred;
    int64_t available = fs_enter(s(), &deferred);

    (void)thread;
    if (available > 0) {
        available--;
        w->wait.waiter.complete(&w->wait.waiter, FS_GRANTED, &deferred);
    }
    fs_exit(s(), available, &deferred);
}

/* The parker stays in this wake queue until its thread has been woken. */
static void completes_and_wakes(int thread)
{
    struct fs_deferred deferred;

    (void)thread;
    fs_deferred_init(&deferred);
    w->wait.waiter.complete(&w->wait.waiter, FS_GRANTED, &deferred);
    fs_deferred_run(&deferred);
}

/* And joins another queue. */
static void sleeps_and_joins(int thread)
{
    bool woken;

    (void)thread;
    say_state(fs_sleep(&w->wait, &woken));
    lock(&fs_inside(&w->other)->mutex);
    write_plain(&w->data, 1);
    unlock(&fs_inside(&w->other)->mutex);
}

static void wakes_from_the_other(int thread)
{
    struct fs_wake_queue wakes;
    bool joined;

    (void)thread;
    fs_wake_queue_init(&wakes);
    lock(&fs_inside(&w->other)->mutex);
    joined = read_plain(&w->data) == 1;
    if (joined)
        fs_wake_queue_add_parker(&wakes, &w->parks.parker);
    unlock(&fs_inside(&w->other)->mutex);
    say(!joined ? '-' : wakes.n_elsewhere != 0 ? 'e' : 'q');
}

const struct test hand_off[] = {
    { "hand-off: to a thread that is awake", "G1", NULL, false,
      queued, NULL, 2, { calls_release, sleeps } },
    { "hand-off: to a thread that may sleep", "G1", NULL, false,
      parked, NULL, 2, { calls_release, sleeps } },
    { "hand-off: to a thread that was woken early", "G1", NULL, false,
      parked, NULL, 2, { wakes_early_and_grants, sleeps } },
    { "hand-off: and then the semaphore goes (I8)", "G1", NULL, false,
      queued, finds_queue_empty, 2, { calls_release, sleeps_and_destroys } },
    { "hand-off: and then the semaphore goes, after a sleep (I8)", "G1", NULL, false,
      parked, finds_queue_empty, 2, { calls_release, sleeps_and_destroys } },
    { "hand-off: of a unit that a third thread released on the fast path", "G1", NULL, false,
      queued_nowhere, NULL, 3, { writes_and_releases, passes_on, sleeps } },
    { "hand-off: a parker, while it is in another wake queue", "G- Ge Gq", NULL, false,
      with_parker, NULL, 3, { completes_and_wakes, sleeps_and_joins, wakes_from_the_other } },
};

const int hand_off_count = sizeof hand_off / sizeof hand_off[0];
