/* SPDX-License-Identifier: MIT */
/*
 * price.c - what strict order costs: holds per second of fairsem and of sem_t, in turn, from 2 to
 * 64 threads and from 1 to 50 us; then with several units, and with threads that do something else
 * between their holds.
 */
#define _POSIX_C_SOURCE 200809L

#include "arena.h"
#include "clock.h"
#include "data_file.h"
#include "peers.h"
#include "report.h"
#include "workloads.h"

#include <stdio.h>

#define GOAL      0.67
#define GOAL_OPEN 0.6
#define US NS_PER_US

enum { REPETITIONS = 5 };

static const int threads[] = { 2, 3, 4, 8, 16, 64 };
static const int64_t holds[] = { 1 * US, 2 * US, 5 * US, 10 * US, 50 * US };
enum { ROWS = sizeof(threads) / sizeof(*threads), COLUMNS = sizeof(holds) / sizeof(*holds) };

static const struct setting {
    const char *name, *title;
    struct arena_plan plan;
} open_loops[] = {
    { "2-units-hold-2us", "16 threads on two units, held 2 us",
      { .units = 2, .threads = 16, .hold_ns = 2 * US } },
    { "2-units-hold-5us", "16 threads on two units, held 5 us",
      { .units = 2, .threads = 16, .hold_ns = 5 * US } },
    { "4-units-hold-2us", "16 threads on four units, held 2 us",
      { .units = 4, .threads = 16, .hold_ns = 2 * US } },
    { "16-asleep-50us", "16 threads that sleep 50 us between holds of 5 us",
      { .units = 1, .threads = 16, .hold_ns = 5 * US, .between_ns = 50 * US,
        .between_asleep = true } },
    { "64-asleep-100us", "64 threads that sleep 100 us between holds of 2 us",
      { .units = 1, .threads = 64, .hold_ns = 2 * US, .between_ns = 100 * US,
        .between_asleep = true } },
    { "8-compute-10us", "8 threads that compute 10 us between holds of 2 us",
      { .units = 1, .threads = 8, .hold_ns = 2 * US, .between_ns = 10 * US } },
    { "16-compute-50us", "16 threads that compute 50 us between holds of 50 us",
      { .units = 1, .threads = 16, .hold_ns = 50 * US, .between_ns = 50 * US } },
};
enum { OPEN_LOOPS = sizeof(open_loops) / sizeof(*open_loops) };

/* Returns the ratio of the medians. */
static double measure(const struct setting *setting, double goal, bool quick, double done)
{
    static struct report_table t;
    static const struct sem_ops *const ops[] = { &ops_fairsem, &ops_posix };
    struct arena_plan plan = setting->plan;
    char title[100];

    snprintf(title, sizeof(title), "price: %s", setting->title);
    report_table_begin(&t, "price", setting->name, title, "thousand holds per second");
    plan.duration_ns = quick ? 2 * NS_PER_MS : 150 * NS_PER_MS;
    plan.warm_up_ns = plan.duration_ns / 5;
    t.more_is_better = t.contended = true;
    report_goal(&t, "fairsem", ops_posix.name, goal);
    arena_compare(&t, plan, ops, 2, quick ? 1 : REPETITIONS, done,
                  1.0 / (ROWS * COLUMNS + OPEN_LOOPS));
    return report_ratio(&t, "fairsem", ops_posix.name);
}

static double measure_cell(int row, int column, bool quick)
{
    char name[40], title[60];
    const struct setting setting = {
        name, title, { .units = 1, .threads = threads[row], .hold_ns = holds[column] }
    };
    const int us = (int)(holds[column] / US);

    snprintf(name, sizeof(name), "%d-threads-hold-%dus", threads[row], us);
    snprintf(title, sizeof(title), "%d threads, one unit, held %d us", threads[row], us);
    return measure(&setting, GOAL, quick,
                   (double)(row * COLUMNS + column) / (ROWS * COLUMNS + OPEN_LOOPS));
}

static void print_line(const char *text)
{
    if (!report_json())
        printf("  %s\n", text);
    data_printf("price.md", "%s\n", text);
}

static void print_all(double ratio[ROWS][COLUMNS], const double open_ratio[OPEN_LOOPS])
{
    char line[120];

    if (!report_json())
        printf("\nprice, all together: holds per second, fairsem / sem_t\n");
    print_line("| threads | held 1 us | 2 us | 5 us | 10 us | 50 us |");
    print_line("|---|---|---|---|---|---|");
    for (int row = 0; row < ROWS; row++) {
        int length = snprintf(line, sizeof(line), "| %d |", threads[row]);

        for (int column = 0; column < COLUMNS; column++)
            length += snprintf(line + length, sizeof(line) - (size_t)length, " %.2f |",
                               ratio[row][column]);
        print_line(line);
    }
    print_line("");
    print_line("| | of `sem_t` |");
    print_line("|---|---|");
    for (int i = 0; i < OPEN_LOOPS; i++) {
        snprintf(line, sizeof(line), "| %s | %.2f |", open_loops[i].title, open_ratio[i]);
        print_line(line);
    }
}

void price_run(bool quick)
{
    static double ratio[ROWS][COLUMNS], open_ratio[OPEN_LOOPS];

    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++)
            ratio[row][column] = measure_cell(row, column, quick);
    }
    for (int i = 0; i < OPEN_LOOPS; i++)
        open_ratio[i] = measure(&open_loops[i], GOAL_OPEN, quick,
                                (double)(ROWS * COLUMNS + i) / (ROWS * COLUMNS + OPEN_LOOPS));
    print_all(ratio, open_ratio);
}
