/* SPDX-License-Identifier: MIT */
/*
 * hog-and-victim.c - show what fairness means: one greedy thread and one patient thread.
 *
 * The hog holds the only unit for 0.2 ms, releases it and asks for it again at once.  The victim
 * wants the unit now and then.  The two run with the system's own sem_t first, then with fairsem.  The
 * program shows the victim's waits as a table and a picture in the terminal, and as an SVG file.
 * The workload itself is in bench/hog_victim.c.
 */
#define _POSIX_C_SOURCE 200809L

#include "../bench/clock.h"
#include "../bench/duration_text.h"
#include "../bench/hog_victim.h"
#include "../bench/machine.h"
#include "../bench/peer_fairsem.h"
#include "../bench/peer_posix.h"
#include "../bench/progress.h"
#include "../bench/stats.h"
#include "wait_plot_svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOTH = 2 };

static const struct sem_ops *const ops[BOTH] = { &ops_posix, &ops_fairsem };

static double wait_quantile(const struct hog_victim_result *r, double p)
{
    return stats_quantile(r->waits, r->victim_served, p);
}

/* Running */

static void show_progress(void *arg, double done)
{
    progress_show(arg, done);
}

/* Returns 0 or an errno value.  If the system does not have this semaphore, the result is empty. */
static int run_one(const struct sem_ops *which, double seconds, struct hog_victim_result *r)
{
    char what[40];
    int err;

    snprintf(what, sizeof(what), "hog and victim with %s", which->name);
    if (!progress_visible()) {
        printf("%s, %g s ...\n", what, seconds);
        fflush(stdout);
    }
    err = hog_victim_run(which, (int64_t)(seconds * (double)NS_PER_S), show_progress, what, r);
    progress_clear();
    if (err == ENOSYS) {
        printf("%s: not on this system\n", which->name);
        return 0;
    }
    return err;
}

/* The table */

static void duration_row(const char *what, const struct hog_victim_result *r, double p)
{
    printf("  %-34s", what);
    for (int i = 0; i < BOTH; i++)
        printf("%18s", duration_text(wait_quantile(&r[i], p)).text);
    printf("\n");
}

static void percent_row(const char *what, double left, double right)
{
    printf("  %-34s%16.1f %%%16.1f %%\n", what, 100 * left, 100 * right);
}

static void print_table(const struct hog_victim_result *r, int cores)
{
    printf("\n  %-34s%18s%18s\n", "the victim", ops[0]->name, ops[1]->name);
    printf("  %-34s%18zu%18zu\n", "times served", r[0].victim_served, r[1].victim_served);
    percent_row("its share of all times served", hog_victim_share(&r[0]), hog_victim_share(&r[1]));
    percent_row("share of its time spent waiting", r[0].waiting, r[1].waiting);
    duration_row("median wait", r, 0.5);
    duration_row("99th percentile", r, 0.99);
    duration_row("longest wait", r, 1);
    printf("  %-34s%18ld%18ld\n", "times the hog passed it in waiting", r[0].passes, r[1].passes);
    printf("\n  The hog held the unit %s at a time; %s.\n",
           duration_text((double)HOG_HOLD_NS).text,
           r[1].pinned ? "it ran on core 0, the victim on core 1" : "threads not pinned");
    if (cores == 1)
        printf("  On one core this shows little: the kernel mostly runs the woken victim before the hog\n"
               "  asks again, so sem_t seldom makes it wait, either.  Two cores show the difference.\n");
}

/* The picture: a row for each step 1, 2, 5, 10, ..., with the share of the waits in that step. */

enum { STEPS_PER_DECADE = 3, DECADES = 11, BAR = 20 };

static double step_start(int step) /* nanoseconds, from 100 ns on */
{
    static const double within[STEPS_PER_DECADE] = { 1, 2, 5 };

    return 100 * pow(10, step / STEPS_PER_DECADE) * within[step % STEPS_PER_DECADE];
}

static void print_step_start(int step)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    double value = step_start(step);
    int unit = 0;

    while (value > 999 && unit < 3) {
        value /= 1000;
        unit++;
    }
    printf("%5.0f %-2s", value, units[unit]);
}

/* The share of the waits in one step; the first step includes all shorter waits. */
static double share_in_step(const struct hog_victim_result *r, int step)
{
    size_t count = 0;

    for (size_t i = 0; i < r->victim_served; i++) {
        if (r->waits[i] < step_start(step + 1) && (step == 0 || r->waits[i] >= step_start(step)))
            count++;
    }
    return r->victim_served ? (double)count / (double)r->victim_served : 0;
}

static void print_bar(double share)
{
    static const char full[] = "####################";
    int n = (int)(share * BAR + 0.5);

    if (share > 0)
        printf("|%5.1f %% %-*.*s", 100 * share, BAR, n > 0 ? n : 1, n > 0 ? full : ".");
    else
        printf("|%*s", BAR + 8, "");
}

static void print_histogram(const struct hog_victim_result *r)
{
    int first = STEPS_PER_DECADE * DECADES, last = -1;

    for (int step = 0; step < STEPS_PER_DECADE * DECADES; step++) {
        if (share_in_step(&r[0], step) + share_in_step(&r[1], step) == 0)
            continue;
        first = step < first ? step : first;
        last = step;
    }
    printf("\n  %-18s| %-*s| %-*s|\n", "share of waits of", BAR + 7, ops[0]->name, BAR + 7,
           ops[1]->name);
    for (int step = first; step <= last; step++) {
        printf(" ");
        print_step_start(step);
        printf(" -");
        print_step_start(step + 1);
        printf(" ");
        print_bar(share_in_step(&r[0], step));
        print_bar(share_in_step(&r[1], step));
        printf("|\n");
    }
}

/* The file */

static int write_svg(const char *path, const struct machine *machine,
                     const struct hog_victim_result *r)
{
    char caption[640], notes[BOTH][160];
    struct wait_plot plot = {
        .title = "How long a victim waits beside a hog",
        .subtitle = "The hog holds the only unit for 0.2 ms and asks again at once; the victim"
                    " asks now and then.",
        .caption = caption,
        .mark_ns = (double)HOG_HOLD_NS,
        .mark_label = "one hold of the hog: 0.2 ms",
    };

    for (int i = 0; i < BOTH; i++) {
        double longest_ms = wait_quantile(&r[i], 1) / 1e6;

        snprintf(notes[i], sizeof(notes[i]),
                 "served %zu times, longest wait %.*f ms, passed by the hog %ld times",
                 r[i].victim_served, longest_ms < 10 ? 1 : 0, longest_ms, r[i].passes);
        plot.curves[i] = (struct wait_curve){ ops[i]->name, notes[i], r[i].waits,
                                              r[i].victim_served };
    }
    machine_line(machine, caption, sizeof(caption));
    return wait_plot_svg(path, &plot);
}

/* The command line */

static void usage(FILE *to)
{
    fprintf(to, "usage: hog-and-victim [--seconds S] [--svg FILE]\n\n"
                "Run a thread that always wants the unit beside one that waits its turn, first\n"
                "with sem_t, then with fairsem.\n\n"
                "  --seconds S  run each of the two for S seconds (4)\n"
                "  --svg FILE   write the picture to FILE (hog-and-victim.svg)\n"
                "  --help       print this text\n");
}

static int wrong(const char *what, const char *arg)
{
    fprintf(stderr, "hog-and-victim: %s '%s'\nTry 'hog-and-victim --help'.\n", what, arg);
    return 2;
}

/* Returns 0 to go on, -1 after --help, or the exit status after an error. */
static int parse(int argc, char **argv, double *seconds, const char **svg)
{
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        char *end;

        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            usage(stdout);
            return -1;
        }
        if (strcmp(option, "--seconds") != 0 && strcmp(option, "--svg") != 0)
            return wrong("unknown argument", option);
        if (!value || !*value)
            return wrong("a value is missing after", option);
        i++;
        if (strcmp(option, "--svg") == 0) {
            *svg = value;
            continue;
        }
        *seconds = strtod(value, &end);
        if (*end || !(*seconds >= 0.01 && *seconds <= 3600))
            return wrong("--seconds wants a number from 0.01 to 3600, not", value);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct hog_victim_result results[BOTH];
    struct machine machine;
    const char *svg = "hog-and-victim.svg";
    double seconds = 4;
    int err = parse(argc, argv, &seconds, &svg);

    if (err)
        return err > 0 ? err : 0;
    machine_look(&machine); /* before the run, which itself loads the machine */
    memset(results, 0, sizeof(results));
    for (int i = 0; i < BOTH && !err; i++)
        err = run_one(ops[i], seconds, &results[i]);
    if (err) {
        fprintf(stderr, "hog-and-victim: cannot run the two threads: %s\n", strerror(err));
    } else {
        print_table(results, machine.cores);
        print_histogram(results);
        err = write_svg(svg, &machine, results);
        if (err)
            fprintf(stderr, "hog-and-victim: cannot write %s: %s\n", svg, strerror(err));
        else
            printf("\n  The waits as a picture: %s\n", svg);
    }
    for (int i = 0; i < BOTH; i++)
        hog_victim_free(&results[i]);
    return err ? 1 : 0;
}
