/* SPDX-License-Identifier: MIT */
/* inspection.c - what is inspected is of one moment (I11), and comes with what was before. */
#include "world.h"

static void shrinks(int thread)
{
    (void)thread;
    if (fairsem_set_capacity(&w->sem, 1) != 0)
        say('e');
}

static void grows(int thread)
{
    (void)thread;
    if (fairsem_set_capacity(&w->sem, 3) != 0)
        say('e');
}

/*
 * Two units never fit before it grows, and are free after; they are free before it shrinks, and
 * never fit after.
 */
static void asks_for_two(int thread)
{
    (void)thread;
    say(fs_plainly_too_few(s(), 2) ? '1' : '0');
}

static void asks_for_the_capacity(int thread)
{
    (void)thread;
    if (fairsem_capacity(&w->sem) == 3)
        say((char)('0' + fairsem_available(&w->sem)));
    else
        say('-');
}

static void releases_two(int thread)
{
    (void)thread;
    if (fairsem_release(&w->sem, 2) != 0)
        say('e');
}

static void says_available(int thread)
{
    (void)thread;
    say((char)('0' + fairsem_available(&w->sem)));
}

static void leaves(int thread)
{
    struct fs_deferred deferred;

    (void)thread;
    fs_deferred_init(&deferred);
    (void)fs_abort_request(&w->wait, FS_ABANDONED, ECANCELED, &deferred);
}

/* Nobody is in the queue, so the waiter has been taken out. */
static void releases_past(int thread)
{
    (void)thread;
    if (fs_release_fast(s(), 1))
        say_state(fs_waiter_state(&w->wait.waiter));
    else
        say('-');
}

static void asks_who_waits(int thread)
{
    (void)thread;
    if (fairsem_waiters(&w->sem) == 0)
        say_state(fs_waiter_state(&w->wait.waiter));
    else
        say('-');
}

static void would_it_block(int thread)
{
    (void)thread;
    say_if(!fairsem_would_block(&w->sem, 1));
}

static void how_many(int thread)
{
    (void)thread;
    say_if(fairsem_available(&w->sem) == 1);
}

static void is_it_closed(int thread)
{
    (void)thread;
    say_if(fairsem_closed(&w->sem) == 5);
}

static void writes_and_retires(int thread)
{
    (void)thread;
    write_plain(&w->data, 1);
    if (!fs_retire(s(), &w->units))
        say('e');
}

/* As src/preload/slots.c does. */
static void is_it_retired(int thread)
{
    (void)thread;
    if (!fs_retired(s())) {
        say('-');
        return;
    }
    say((char)('0' + atomic_load_explicit(&w->units, memory_order_relaxed)));
    say_data();
}

static void asks_whether_it_waits(int thread)
{
    (void)thread;
    if (fairsem_waiters(&w->sem) == 1)
        say(fairsem_ticket_state(&w->ticket) == FAIRSEM_TICKET_WAITING ? '1' : '0');
    else
        say('-');
}

const struct test inspection[] = {
    { "inspection: try, while the capacity grows (I11)", "0", NULL, false,
      none, NULL, 2, { grows, asks_for_two } },
    { "inspection: try, while the capacity shrinks (I11)", "0", NULL, false,
      two_of_three, NULL, 2, { shrinks, asks_for_two } },
    { "inspection: the capacity, and then what is free (I11)", "- 2", NULL, false,
      none, NULL, 2, { grows, asks_for_the_capacity } },
    { "inspection: no number from the middle of a section (I11)", "0", NULL, false,
      two_queued, NULL, 2, { releases_two, says_available } },
    { "inspection: a ticket is counted, so it waits (I11)", "- 1", NULL, false,
      none, NULL, 2, { joins_by_ticket, asks_whether_it_waits } },
    { "inspection: a release, after a waiter has left", "- A", NULL, false,
      queued, NULL, 2, { leaves, releases_past } },
    { "inspection: nobody waits, so the waiter has its state (I11)", "- G", NULL, false,
      queued, finds_queue_empty, 2, { calls_release, asks_who_waits } },
    { "inspection: it would not block", "- 1", NULL, false,
      none, NULL, 2, { writes_and_releases, would_it_block } },
    { "inspection: a unit is available", "- 1", NULL, false,
      none, NULL, 2, { calls_release, how_many } },
    { "inspection: it is closed", "- 1", NULL, false,
      none, NULL, 2, { closes, is_it_closed } },
    { "inspection: it is retired, and its units are known", "- 11", NULL, false,
      one, NULL, 2, { writes_and_retires, is_it_retired } },
};

const int inspection_count = sizeof inspection / sizeof inspection[0];
