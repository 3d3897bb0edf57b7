/* SPDX-License-Identifier: MIT */
/*
 * lines.c - what the length of the line costs: tickets in a line of 10 and of 100,000, and
 * one call that wakes thousands.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <fairsem.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 100000, SHORT = 10, PAIRS = 2000, MANY = 10000, STACK = 65536 };

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
        report_die("memory for tickets", 0);
    memset(tickets, 0, size);
    return tickets;
}

static void line_begin(struct line *line, int length)
{
    fairsem_init(&line->sem, 0, NULL);
    line->tickets = tickets_new(length);
    line->length = length;
    for (int i = 0; i < length; i++)
        fairsem_ticket_take(&line->tickets[i], &line->sem, 1, 0, NULL, NULL);
}

static void line_end(struct line *line)
{
    for (int i = 0; i < line->length; i++)
        fairsem_ticket_return(&line->tickets[i]);
    fairsem_destroy(&line->sem);
    free(line->tickets);
}

/* A newcomer stands in line and leaves it again. */
static double take_and_return(struct line *line)
{
    fairsem_ticket_t ticket = { 0 };
    int64_t start = now_ns();

    for (int i = 0; i < PAIRS; i++) {
        fairsem_ticket_take(&ticket, &line->sem, 1, 0, NULL, NULL);
        fairsem_ticket_return(&ticket);
    }
    return (double)(now_ns() - start) / PAIRS;
}

/* The head is granted, takes its unit, and stands in line again. */
static double grant_and_take(struct line *line)
{
    fairsem_units_t units = { 0 };
    int64_t start = now_ns();

    for (int i = 0; i < PAIRS; i++) {
        fairsem_ticket_t *head = &line->tickets[i % line->length];

        fairsem_release(&line->sem, 1);
        if (fairsem_ticket_claim(head, &units) != 0)
            report_die("the head was not granted", 0);
        fairsem_units_forget(&units);
        fairsem_ticket_take(head, &line->sem, 1, 0, NULL, NULL);
    }
    return (double)(now_ns() - start) / PAIRS;
}

/* Many threads asleep, and three ways to wake them all: nanoseconds of the call per thread. */
enum way { CANCEL, RELEASE, POST_EACH };

struct sleeper {
    pthread_t thread;
    enum way way;
    fairsem_t *sem;
    fairsem_wait_t how;
    sem_t own;
    _Atomic int *ready;
};

static void *sleep_here(void *arg)
{
    struct sleeper *self = arg;

    atomic_fetch_add(self->ready, 1);
    if (self->way == POST_EACH) {
        while (sem_wait(&self->own) != 0)
            continue;
    } else {
        fairsem_acquire_with(self->sem, 1, &self->how);
    }
    return NULL;
}

/* 0: there are too few threads to be had. */
static double wake_all(enum way way, int count)
{
    static struct sleeper sleepers[MANY];
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    const struct timespec moment = { .tv_nsec = 20000000 };
    _Atomic int ready = 0;
    pthread_attr_t attr;
    int64_t start;
    int made = 0;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    for (; made < count; made++) {
        struct sleeper *s = &sleepers[made];

        *s = (struct sleeper){ .way = way, .sem = &sem, .how = { .token = &token },
                               .ready = &ready };
        sem_init(&s->own, 0, 0);
        if (pthread_create(&s->thread, &attr, sleep_here, s) != 0)
            break;
    }
    pthread_attr_destroy(&attr);
    while (ready < made || (way != POST_EACH && fairsem_waiters(&sem) < made))
        sched_yield();
    nanosleep(&moment, NULL); /* the last ones fall asleep */
    start = now_ns();
    if (way == CANCEL)
        fairsem_token_cancel(&token, 0);
    else if (way == RELEASE)
        fairsem_release(&sem, made);
    else
        for (int i = 0; i < made; i++)
            sem_post(&sleepers[i].own);
    start = now_ns() - start;
    for (int i = 0; i < made; i++)
        pthread_join(sleepers[i].thread, NULL);
    for (int i = 0; i < made; i++)
        sem_destroy(&sleepers[i].own);
    fairsem_token_destroy(&token);
    fairsem_destroy(&sem);
    return made == count ? (double)start / count : 0;
}

static void table_begin(struct report_table *t, const char *setting, const char *title,
                        const char *unit, const char *small)
{
    memset(t, 0, sizeof(*t));
    t->workload = "lines";
    t->setting = setting;
    t->title = title;
    t->unit = unit;
    t->pinning = "not pinned";
    t->goal_peer = small;
    t->goal = 1.5;
}

static void add(struct report_table *t, const char *row, double value)
{
    struct report_row *r = report_row(t, row);

    if (value == 0)
        report_die("this system does not allow so many threads", 0);
    r->samples[r->n++] = value;
}

void lines_run(bool quick)
{
    static struct report_table join, grant, wake[2];
    static const char *const settings[] = { "wake-1000", "wake-10000" };
    static const char *const titles[] = {
        "lines: 1,000 sleeping threads are woken", "lines: 10,000 sleeping threads are woken",
    };
    int repetitions = quick ? 2 : 41;

    table_begin(&join, "take-return", "lines: a ticket joins the line and leaves it", "ns per pair",
                "line of 10");
    table_begin(&grant, "grant-claim-take", "lines: the head is granted and joins again",
                "ns per turn", "line of 10");
    for (int w = 0; w < 2; w++) {
        table_begin(&wake[w], settings[w], titles[w], "ns of the call per thread",
                    "sem_post, each its own");
        wake[w].goal = 1.1;
        wake[w].repetition_ns = 100 * NS_PER_MS;
    }
    for (int i = 0; i < repetitions; i++) {
        struct line line;

        progress_show("lines", (double)i / repetitions);
        line_begin(&line, LONG);
        add(&join, "line of 100,000", take_and_return(&line));
        add(&grant, "line of 100,000", grant_and_take(&line));
        line_end(&line);
        line_begin(&line, SHORT);
        add(&join, "line of 10", take_and_return(&line));
        add(&grant, "line of 10", grant_and_take(&line));
        line_end(&line);
    }
    repetitions = quick ? 1 : 7;
    for (int i = 0; i < repetitions; i++) {
        progress_show("lines", (double)i / repetitions);
        for (int w = 0; w < (quick ? 1 : 2); w++) {
            int count = w == 0 ? MANY / 10 : MANY;

            add(&wake[w], "one release", wake_all(RELEASE, count));
            add(&wake[w], "one token_cancel", wake_all(CANCEL, count));
            add(&wake[w], "sem_post, each its own", wake_all(POST_EACH, count));
        }
    }
    join.repetition_ns = grant.repetition_ns = NS_PER_MS;
    report_table(&join);
    report_table(&grant);
    for (int w = 0; w < (quick ? 1 : 2); w++)
        report_table(&wake[w]);
}
