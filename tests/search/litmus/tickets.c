/* SPDX-License-Identifier: MIT */
/* tickets.c - tokens, tickets, and objects in the child of a fork. */
#include "world.h"

static void cancels(int thread)
{
    (void)thread;
    write_plain(&w->data, 1);
    if (fairsem_token_cancel(&w->token, 5) != 0)
        say('e');
}

static void is_it_canceled(int thread)
{
    (void)thread;
    say_if(fairsem_token_reason(&w->token) == 5);
}

static void claims(int thread)
{
    (void)thread;
    say_if(claim() == 0);
}

static void says_claimed(int thread)
{
    (void)thread;
    say(claim() == 0 ? 'c' : '-');
}

static void takes_the_ticket(int thread)
{
    (void)thread;
    say(fairsem_ticket_take(&w->ticket, &w->other, 1, 0, NULL, NULL) == EINPROGRESS ? 't' : '-');
}

static void moves_the_ticket(int thread)
{
    (void)thread;
    if (fairsem_release(&w->other, 1) != 0 || claim() != 0
        || fairsem_ticket_take(&w->ticket, &w->sem, 1, 0, NULL, NULL) != EINPROGRESS)
        say('e');
}

static void asks_where_it_waits(int thread)
{
    const struct fs_ticket *t = (const struct fs_ticket *)(const void *)&w->ticket;

    (void)thread;
    if (fs_ticket_state(t) == FS_TICKET_WAITING)
        say(fs_ticket_sem(t) == s() ? '1' : '0');
    else
        say('-');
}

static void claims_or_says_why(int thread)
{
    int error = claim();

    (void)thread;
    say(error == EAGAIN ? 'w' : (char)('0' + error));
}

/* In its queue exactly if it has joined in an earlier section. */
static void looks_for_the_ticket(int thread)
{
    struct fs_ticket *t = (struct fs_ticket *)(void *)&w->ticket;

    (void)thread;
    lock(&s()->mutex);
    say(fs_ticket_waits_in(s(), t) ? '1' : '0');
    say((char)('0' + atomic_load_explicit(&s()->waiters, memory_order_relaxed)));
    unlock(&s()->mutex);
}

static void resets(void *object)
{
    (void)object;
    write_plain(&w->data, 1);
}

static void checks_for_a_fork(int thread)
{
    (void)thread;
    fs_fork_check(&s()->generation, resets, s());
    say_data();
}

const struct test tickets[] = {
    { "token: canceled", "- 1", NULL, false,
      none, NULL, 2, { cancels, is_it_canceled } },
    { "ticket: granted, and claimed", "- 1", NULL, false,
      ticket_waits, NULL, 2, { calls_release, claims } },
    { "ticket: refused, and why", "5 w", NULL, false,
      ticket_waits, NULL, 2, { closes, claims_or_says_why } },
    { "ticket: it waits, and it is known where", "- 1", NULL, false,
      none, NULL, 2, { joins_by_ticket, asks_where_it_waits } },
    { "ticket: claimed by one thread, taken again by another", "c- ct", NULL, false,
      ticket_granted, NULL, 2, { says_claimed, takes_the_ticket } },
    { "ticket: moved to the queue in which a thread looks for it", "00 11", NULL, false,
      ticket_waits_elsewhere, NULL, 2, { moves_the_ticket, looks_for_the_ticket } },
    { "fork: two threads of the child find an object of the parent", "11", NULL, false,
      copied, NULL, 2, { checks_for_a_fork, checks_for_a_fork } },
};

const int tickets_count = sizeof tickets / sizeof tickets[0];
