/* SPDX-License-Identifier: MIT */
/*
 * wake.c - several ways to wake thousands of sleeping threads: how long the call takes, and how
 * long it takes until the last of them runs.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "crowd.h"
#include "die.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <errno.h>
#include <fairsem.h>
#include <semaphore.h>
#include <stdio.h>

struct bed {
    fairsem_t sem;
    fairsem_token_t token;
    sem_t shared;
    sem_t own[CROWD_MOST];
};

static void sleep_in_line(struct crowd_member *self)
{
    struct bed *bed = self->crowd->arg;
    const fairsem_wait_t how = { .token = &bed->token };
    int error = fairsem_acquire_with(&bed->sem, 1, &how);

    if (error != 0 && error != ECANCELED)
        die("fairsem_acquire_with", error);
}

static void sleep_shared(struct crowd_member *self)
{
    struct bed *bed = self->crowd->arg;

    while (sem_wait(&bed->shared) != 0)
        continue;
}

static void sleep_own(struct crowd_member *self)
{
    struct bed *bed = self->crowd->arg;

    while (sem_wait(&bed->own[self->place]) != 0)
        continue;
}

static void one_release(struct bed *bed, int count)
{
    fairsem_release(&bed->sem, count);
}

static void one_cancel(struct bed *bed, int count)
{
    (void)count;
    fairsem_token_cancel(&bed->token, 0);
}

static void post_shared(struct bed *bed, int count)
{
    for (int i = 0; i < count; i++)
        sem_post(&bed->shared);
}

static void post_own(struct bed *bed, int count)
{
    for (int i = 0; i < count; i++)
        sem_post(&bed->own[i]);
}

static const struct way {
    const char *name;
    void (*sleep)(struct crowd_member *self);
    void (*wake)(struct bed *bed, int count);
} ways[] = {
    { "one release", sleep_in_line, one_release },
    { "token_cancel", sleep_in_line, one_cancel },
    { "sem_posts", sleep_shared, post_shared },
    { "sem_t for each", sleep_own, post_own },
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

static void bed_make(struct bed *bed, int count)
{
    if (fairsem_init(&bed->sem, 0, NULL) != 0)
        die("fairsem_init", 0);
    fairsem_token_init(&bed->token);
    sem_init(&bed->shared, 0, 0);
    for (int i = 0; i < count; i++)
        sem_init(&bed->own[i], 0, 0);
}

static void bed_clear(struct bed *bed, int count)
{
    if (fairsem_destroy(&bed->sem) != 0)
        die("fairsem_destroy", 0);
    fairsem_token_destroy(&bed->token);
    sem_destroy(&bed->shared);
    for (int i = 0; i < count; i++)
        sem_destroy(&bed->own[i]);
}

/* Returns nanoseconds per thread. */
static void wake_all(const struct way *way, int count, double *call, double *last)
{
    static struct crowd crowd;
    static struct bed bed;
    int64_t start, returned;

    bed_make(&bed, count);
    crowd_start(&crowd, count, way->sleep, &bed);
    crowd_settle();
    start = now_ns();
    way->wake(&bed, count);
    returned = now_ns();
    *last = (double)(crowd_end(&crowd) - start) / count;
    *call = (double)(returned - start) / count;
    bed_clear(&bed, count);
}

static void measure(int count, int repetitions)
{
    static struct report_table call, last;
    char settings[2][32], titles[2][80];

    snprintf(settings[0], sizeof(settings[0]), "last-of-%d", count);
    snprintf(settings[1], sizeof(settings[1]), "call-%d", count);
    snprintf(titles[0], sizeof(titles[0]), "wake: %d sleepers, until the last one runs", count);
    snprintf(titles[1], sizeof(titles[1]), "wake: %d sleepers, until the call returns", count);
    report_table_begin(&last, "wake", settings[0], titles[0], "ns per sleeper");
    report_table_begin(&call, "wake", settings[1], titles[1], "ns per sleeper");
    last.repetition_ns = call.repetition_ns = 50 * NS_PER_MS;
    report_goal(&last, "one release", "sem_posts", 1.1);
    report_goal(&last, "one release", "sem_t for each", 1.1);
    for (int i = 0; i < repetitions; i++) {
        progress_show(last.title, (double)i / repetitions);
        for (int w = 0; w < WAYS; w++) {
            struct report_row *c = report_row(&call, ways[w].name);
            struct report_row *l = report_row(&last, ways[w].name);

            wake_all(&ways[w], count, &c->samples[c->n++], &l->samples[l->n++]);
        }
    }
    report_table(&last);
    report_table(&call);
}

void wake_run(bool quick)
{
    measure(quick ? 100 : 1000, quick ? 1 : 15);
    if (!quick)
        measure(CROWD_MOST, 3);
}
