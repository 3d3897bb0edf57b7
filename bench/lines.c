/* SPDX-License-Identifier: MIT */
/*
 * lines.c - the cost of a long queue, with 10 to 100,000 tickets in it; and the cost of joining if each waiter has
 * a priority of its own.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "die.h"
#include "report.h"
#include "workloads.h"

#include <errno.h>
#include <fairsem.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 2000 };

struct line {
    fairsem_t         sem;
    fairsem_ticket_t *tickets;
    int               length;
};

static fairsem_ticket_t *tickets_new(int count)
{
    size_t size = (size_t)count * sizeof(fairsem_ticket_t);
    void *tickets;

    if (posix_memalign(&tickets, _Alignof(fairsem_ticket_t), size) != 0)
        die("no memory for tickets", 0);
    memset(tickets, 0, size);
    return tickets;
}

/* The nth priority: if `different`, all differ, and are in no order: the step is a prime number. */
static int priority_of(int nth, int length, bool different)
{
    return different ? (int)((int64_t)nth * 104729 % length) : 0;
}

static void join(struct line *line, fairsem_ticket_t *ticket, int priority)
{
    if (fairsem_ticket_take(ticket, &line->sem, 1, priority, NULL, NULL) != EINPROGRESS)
        die("a ticket was not enqueued", 0);
}

/* Returns nanoseconds per ticket.  With by_age nobody becomes old, but the queue is kept in both orders. */
static double line_begin(struct line *line, int length, bool different, bool by_age)
{
    const fairsem_attr_t attr = { .aging_ns = by_age ? INT64_MAX : 0 };
    int64_t start;

    if (fairsem_init(&line->sem, 0, &attr) != 0)
        die("fairsem_init failed", 0);
    line->tickets = tickets_new(length);
    line->length = length;
    start = now_ns();
    for (int i = 0; i < length; i++)
        join(line, &line->tickets[i], priority_of(i, length, different));
    return (double)(now_ns() - start) / length;
}

static void line_end(struct line *line)
{
    for (int i = 0; i < line->length; i++)
        fairsem_ticket_return(&line->tickets[i]);
    if (fairsem_destroy(&line->sem) != 0)
        die("fairsem_destroy failed", 0);
    free(line->tickets);
}

/* A newcomer joins the queue and leaves it again. */
static double take_and_return(struct line *line)
{
    fairsem_ticket_t ticket = { 0 };
    int64_t start = now_ns();

    for (int i = 0; i < PAIRS; i++) {
        join(line, &ticket, 0);
        fairsem_ticket_return(&ticket);
    }
    return (double)(now_ns() - start) / PAIRS;
}

/* The head is granted, claims its unit and joins the queue again. */
static double grant_and_take(struct line *line)
{
    fairsem_units_t units = { 0 };
    int64_t start = now_ns();

    for (int i = 0; i < PAIRS; i++) {
        fairsem_ticket_t *head = &line->tickets[i % line->length];

        fairsem_release(&line->sem, 1);
        if (fairsem_ticket_claim(head, &units) != 0)
            die("the front was not granted", 0);
        fairsem_units_forget(&units);
        join(line, head, 0);
    }
    return (double)(now_ns() - start) / PAIRS;
}

static double inspect(struct line *line)
{
    fairsem_stat_t stat;
    int64_t start = now_ns();

    for (int i = 0; i < PAIRS; i++)
        fairsem_stat(&line->sem, &stat);
    return (double)(now_ns() - start) / PAIRS;
}

static void measure_lengths(int repetitions)
{
    static const struct {
        int tickets;
        const char *name;
    } lengths[] = {
        { 100000, "100,000 tickets" }, { 10000, "10,000 tickets" }, { 1000, "1,000 tickets" },
        { 100, "100 tickets" }, { 10, "10 tickets" },
    };

    for (int i = 0; i < repetitions; i++) {
        for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++) {
            struct line line;

            line_begin(&line, lengths[l].tickets, false, false);
            REPORT("lines", "join and leave", lengths[l].name, { "pair_ns", take_and_return(&line) });
            REPORT("lines", "the head is granted and joins again", lengths[l].name,
                   { "turn_ns", grant_and_take(&line) });
            REPORT("lines", "fairsem_stat", lengths[l].name, { "call_ns", inspect(&line) });
            line_end(&line);
        }
    }
}

static void measure_priorities(int repetitions)
{
    static const struct {
        const char *name;
        int tickets;
        bool different, by_age;
    } crowds[] = {
        { "40,000 priorities", 40000, true, false },
        { "4,000 priorities", 4000, true, false },
        { "400 priorities", 400, true, false },
        { "40,000 of one priority", 40000, false, false },
        { "40,000, by age", 40000, true, true },
        { "40,000 of one, by age", 40000, false, true },
    };

    for (int i = 0; i < repetitions; i++) {
        for (size_t c = 0; c < sizeof(crowds) / sizeof(*crowds); c++) {
            struct line line;

            REPORT("lines", "priorities", crowds[c].name,
                   { "join_ns", line_begin(&line, crowds[c].tickets, crowds[c].different,
                                           crowds[c].by_age) });
            line_end(&line);
        }
    }
}

void lines_run(bool quick)
{
    const int repetitions = quick ? 1 : 21;

    measure_lengths(repetitions);
    measure_priorities(repetitions);
}
