/* SPDX-License-Identifier: MIT */
/* fast.c - units without a section: the fast path, SLOW, and the bypass. */
#include "world.h"

static void writes_and_releases_two(int thread)
{
    (void)thread;
    write_plain(&w->data, 1);
    if (!fs_release_fast(s(), 2))
        say('f');
}

static void writes_more_and_releases(int thread)
{
    (void)thread;
    write_plain(&w->more, 1);
    if (!fs_release_fast(s(), 1))
        say('f');
}

static void takes(int thread)
{
    (void)thread;
    say_if(fs_acquire_fast(s(), 1));
}

static void takes_both(int thread)
{
    bool got = fs_acquire_fast(s(), 2);

    (void)thread;
    say_if(got);
    if (got)
        say((char)('0' + read_plain(&w->more)));
}

static void takes_upto(int thread)
{
    (void)thread;
    say_if(fairsem_tryacquire_upto(&w->sem, 1) == 1);
}

static void takes_in_a_section(int thread)
{
    (void)thread;
    say_if(fs_acquire_contended(s(), 1, 0, FS_TRIES, NULL, NULL) == 0);
}

/* As a lock: changes the data while it has the unit. */
static void locks(int thread)
{
    (void)thread;
    if (!fs_acquire_fast(s(), 1)) {
        say('-');
        return;
    }
    say_data();
    write_plain(&w->data, 1);
    if (!fs_release_fast(s(), 1))
        say('f');
}

static void takes_and_destroys(int thread)
{
    bool got = fs_acquire_fast(s(), 1);

    (void)thread;
    say_if(got);
    if (got)
        destroys();
}

static void stays_inside(int thread)
{
    struct fs_deferred deferred;

    (void)thread;
    say((char)('0' + fs_enter(s(), &deferred)));
}

static void says_released(int thread)
{
    (void)thread;
    say(fs_release_fast(s(), 1) ? '1' : '0');
}

static void says_acquired(int thread)
{
    (void)thread;
    say(fs_acquire_fast(s(), 1) ? '1' : '0');
}

static void takes_one_inside(int thread)
{
    struct fs_deferred deferred;
    int64_t available = fs_enter(s(), &deferred);

    (void)thread;
    say((char)('0' + available));
    fs_exit(s(), available > 0 ? available - 1 : 0, &deferred);
}

static void writes_and_returns(int thread)
{
    (void)thread;
    write_plain(&w->data, 1);
    if (!fs_bypass_release(&s()->word, 1, 1))
        say('f');
}

static void passes(int thread)
{
    (void)thread;
    say_if(fs_bypass_acquire(&s()->word, 1));
}

static void passes_upto(int thread)
{
    (void)thread;
    say_if(fs_bypass_acquire_upto(&s()->word, 1) == 1);
}

static void returns_the_ticket(int thread)
{
    (void)thread;
    (void)fairsem_ticket_return(&w->ticket);
}

/* Where the queue is open, no ticket waits. */
static void returns_past(int thread)
{
    (void)thread;
    if (fs_bypass_release(&s()->word, 1, 2))
        say(claim() == EAGAIN ? 'w' : 'i');
    else
        say('-');
}

static void is_there_one(int thread)
{
    struct fs_deferred deferred;

    (void)thread;
    say_if(fs_enter(s(), &deferred) == 1);
}

const struct test fast[] = {
    { "fast path: a unit, and what was written before its release", "- 1", NULL, false,
      none, NULL, 2, { writes_and_releases, takes } },
    { "fast path: the same, as many as there are", "- 1", NULL, false,
      none, NULL, 2, { writes_and_releases, takes_upto } },
    { "fast path: a unit that is a lock", "-0 0- 01 10", NULL, false,
      one, NULL, 2, { locks, locks } },
    { "fast path: two units of one release, for two threads", "-- -1 1- 11", NULL, false,
      none_of_two, NULL, 3, { writes_and_releases_two, takes, takes } },
    { "fast path: two units of two releases, for one thread", "- 11", NULL, false,
      none_of_two, NULL, 3, { writes_and_releases, writes_more_and_releases, takes_both } },
    { "fast path: the last access, and then the semaphore goes (I8)", "- 1", NULL, false,
      none, NULL, 2, { calls_release, takes_and_destroys } },
    { "SLOW: no unit is left idle (I2)", "00 11", NULL, false,
      none, NULL, 2, { says_released, stays_inside } },
    { "SLOW: one unit is taken once (I1, I3)", "01 10", NULL, false,
      one, NULL, 2, { takes_one_inside, says_acquired } },
    { "SLOW: a section takes what was released without one", "- 1 f-", NULL, false,
      none, NULL, 2, { writes_and_releases, takes_in_a_section } },
    { "bypass: a unit, and what was written before its return", "- 1", NULL, false,
      open_queue, NULL, 2, { writes_and_returns, passes } },
    { "bypass: the same, as many as there are", "- 1", NULL, false,
      open_queue, NULL, 2, { writes_and_returns, passes_upto } },
    { "bypass: a section closes the queue", "1 f-", NULL, false,
      open_queue, NULL, 2, { writes_and_returns, is_there_one } },
    { "bypass: a return, after a ticket has left", "- i", NULL, false,
      ticket_before_a_sleeper, NULL, 2, { returns_the_ticket, returns_past } },
};

const int fast_count = sizeof fast / sizeof fast[0];
