/* SPDX-License-Identifier: MIT */
/* victim.c - the hog and the victim (hog_victim.c), all peers in turn. */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "data_file.h"
#include "die.h"
#include "duration_text.h"
#include "hog_victim.h"
#include "peers.h"
#include "progress.h"
#include "report.h"
#include "report_json.h"
#include "stats.h"
#include "workloads.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPETITIONS = 8 };
#define GOAL_LONGEST_NS 10e6

/* One peer: all repetitions together. */
struct tally {
    const struct sem_ops *ops;
    struct hog_victim_result all;
    double longest[MAX_REPETITIONS]; /* one for each repetition */
    size_t repetitions;
};

static void add(struct tally *t, const struct hog_victim_result *r)
{
    struct hog_victim_result *all = &t->all;
    size_t before = all->victim_served, n = r->victim_served;
    double *waits = realloc(all->waits, (before + n + 1) * sizeof(*waits));

    if (!waits)
        die("victim", ENOMEM);
    if (n)
        memcpy(waits + before, r->waits, n * sizeof(*waits));
    all->waits = waits;
    all->victim_served += n;
    all->hog_served += r->hog_served;
    all->passes += r->passes;
    all->waits_passed += r->waits_passed;
    all->pinned = r->pinned;
    t->longest[t->repetitions++] = n ? r->waits[n - 1] : NAN;
}

static double wait_quantile(const struct tally *t, double p)
{
    return stats_quantile(t->all.waits, t->all.victim_served, p);
}

/* Our longest wait in the median repetition, divided by theirs. */
static double ratio(const struct tally *ours, const struct tally *theirs)
{
    double median = stats_median(theirs->longest, theirs->repetitions);

    return median > 0 ? stats_median(ours->longest, ours->repetitions) / median : NAN;
}

static void print_json(struct tally *tallies, struct tally *t)
{
    struct summary longest = stats_summary(t->longest, t->repetitions);

    report_json_object("victim", t->all.pinned ? "two-cores" : "not-pinned");
    report_json_string("peer", t->ops->name);
    report_json_number("repetitions", (double)t->repetitions);
    report_json_number("victim_served", (double)t->all.victim_served);
    report_json_number("hog_served", (double)t->all.hog_served);
    report_json_number("victim_share", hog_victim_share(&t->all));
    report_json_number("median_wait_ns", wait_quantile(t, 0.5));
    report_json_number("p99_wait_ns", wait_quantile(t, 0.99));
    report_json_number("longest_wait_ns", longest.max);
    report_json_number("longest_wait_min_ns", longest.min);
    report_json_number("longest_wait_median_ns", longest.median);
    report_json_number("passes", (double)t->all.passes);
    report_json_number("waits_passed", (double)t->all.waits_passed);
    if (t != tallies)
        report_json_number("fairsem_to_this", ratio(tallies, t));
    printf("}");
}

static void print_head(int repetitions, int64_t repetition_ns, bool pinned)
{
    printf("\nvictim: a hog holds the only unit %s at a time, a victim wants it now and then\n",
           duration_text((double)HOG_HOLD_NS).text);
    printf("  %s; %d repetitions of %s, peers in turn, waits pooled\n",
           pinned ? "hog on core 0, victim on core 1" : "not pinned", repetitions,
           duration_text((double)repetition_ns).text);
    printf("  %-16s %7s %7s %9s %9s %9s   %-21s %13s %8s\n", "", "served", "share", "median",
           "p99", "longest", "longest in repetitions", "passed (in)", "fairsem/");
}

static void print_row(struct tally *tallies, struct tally *t)
{
    struct summary longest = stats_summary(t->longest, t->repetitions);
    char span[64], passed[40];

    if (t->repetitions == 0) {
        printf("  %-16s %7s  not on this system\n", t->ops->name, "-");
        return;
    }
    snprintf(span, sizeof(span), "%s .. %s", duration_text(longest.min).text,
             duration_text(longest.max).text);
    snprintf(passed, sizeof(passed), "%ld (%ld)", t->all.passes, t->all.waits_passed);
    printf("  %-16s %7zu %5.1f %% %9s %9s %9s   %-21s %14s", t->ops->name, t->all.victim_served,
           100 * hog_victim_share(&t->all), duration_text(wait_quantile(t, 0.5)).text,
           duration_text(wait_quantile(t, 0.99)).text,
           duration_text(longest.max).text, span, passed);
    if (t != tallies && isnan(ratio(tallies, t)))
        printf(" %8s", "-");
    else if (t != tallies)
        printf(" %8.4f", ratio(tallies, t));
    printf("\n");
}

static void print_goals(const struct tally *ours)
{
    double longest = wait_quantile(ours, 1);

    printf("  fairsem: longest wait %s, goal < %s: %s; passed %ld times, goal 0: %s\n",
           duration_text(longest).text, duration_text(GOAL_LONGEST_NS).text,
           report_verdict(longest < GOAL_LONGEST_NS), ours->all.passes,
           report_verdict(ours->all.passes == 0));
    printf("  passed (in): times the hog got the unit although the victim had waited for a whole\n"
           "  hold (in how many waits); fairsem/: longest wait of the median repetition\n");
}

/* For each wait, the share of the waits that are at least as long: a few hundred points. */
static void write_data(const struct tally *t)
{
    const size_t step = t->all.victim_served / 400 + 1;

    for (size_t i = 0; i < t->all.victim_served; i++) {
        /* All of the tail; of the rest, one in `step`. */
        if (i % step == 0 || i + 50 > t->all.victim_served)
            data_printf("victim.tsv", "%s\t%g\t%g\n", t->ops->name, t->all.waits[i],
                        (double)(t->all.victim_served - i) / (double)t->all.victim_served);
    }
}

static void print_all(struct tally *tallies, int repetitions, int64_t repetition_ns)
{
    progress_clear();
    if (!report_json())
        print_head(repetitions, repetition_ns, tallies[0].all.pinned);
    for (int p = 0; p < PEERS; p++) {
        stats_sort(tallies[p].all.waits, tallies[p].all.victim_served);
        if (report_json())
            print_json(tallies, &tallies[p]);
        else
            print_row(tallies, &tallies[p]);
    }
    for (int p = 0; p < PEERS; p++)
        write_data(&tallies[p]);
    if (!report_json())
        print_goals(&tallies[0]);
    fflush(stdout);
}

void victim_run(bool quick)
{
#define ENTRY(peer) { .ops = &ops_##peer },
    struct tally tallies[PEERS] = { FOR_EACH_PEER(ENTRY) };
    const int repetitions = quick ? 2 : 5;
    const int64_t repetition_ns = quick ? 60 * NS_PER_MS : 1000 * NS_PER_MS;

    for (int i = 0; i < repetitions; i++) {
        for (int p = 0; p < PEERS; p++) {
            struct hog_victim_result r;
            int err;

            progress_show("victim: a hog and a victim",
                          (double)(i * PEERS + p) / (repetitions * PEERS));
            err = hog_victim_run(tallies[p].ops, repetition_ns, NULL, NULL, &r);
            if (err == ENOSYS)
                continue;
            if (err)
                die("cannot run the two threads", err);
            add(&tallies[p], &r);
            hog_victim_free(&r);
        }
    }
    print_all(tallies, repetitions, repetition_ns);
    for (int p = 0; p < PEERS; p++)
        hog_victim_free(&tallies[p].all);
}
