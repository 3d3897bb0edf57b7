/* SPDX-License-Identifier: MIT */
/*
 * litmus.c - does the memory model of views.c allow what views.h says?
 *
 * Runs small programs under every schedule, with any number of old loads.  Their outcomes must be
 * exactly the expected set: with one too many the model reports false errors, with one too few it
 * misses faults.
 *
 * An outcome lists the values that the loads have seen, thread by thread, with `-` for a load that
 * was not made; then, if the test asks for it, `/` and the last values of x and y.
 */
#include "litmus.h"
#include "litmus_program.h"
#include "explorer.h"
#include "views.h"

#include <stdatomic.h>
#include <string.h>

enum { OUTCOMES_MAX = 64, OUTCOME_SIZE = 16 };

static struct litmus_program program;

/* ---- A run ---- */

static int64_t cell[26];
static int mutex_of;                            /* the thread that has it; -1: none */
static int next[THREADS], last[THREADS];    /* instruction; value */
static char saw[THREADS][LITMUS_INSTRUCTIONS];

static void write_cell(const struct litmus_instruction *in, int64_t value, bool change)
{
    int64_t *at = &cell[in->location];

    races_access(at, sizeof *at, ATOMIC_WRITE, NULL);
    if (change)
        views_change(at, sizeof *at, value, in->order);
    if (change || views_store(at, sizeof *at, value, in->order))
        *at = value;
}

static int64_t read_cell(const struct litmus_instruction *in)
{
    int64_t *at = &cell[in->location], value = *at;

    races_access(at, sizeof *at, in->what == LITMUS_READ ? PLAIN_READ : ATOMIC_READ, NULL);
    if (in->what == LITMUS_LOAD)
        return views_load(at, sizeof *at, in->order);
    if (in->what == LITMUS_SWAP && views_swap_fails(at, sizeof *at, in->n, in->failure, &value))
        return value;
    if (in->what != LITMUS_READ)
        write_cell(in, in->what == LITMUS_ADD ? value + in->n : in->m, true);
    return value;
}

static void execute(int t)
{
    const struct litmus_instruction *in = &program.of[t][next[t]++];

    switch (in->what) {
    case LITMUS_STORE:
        write_cell(in, in->n, false);
        break;
    case LITMUS_WRITE:
        races_access(&cell[in->location], sizeof cell[0], PLAIN_WRITE, NULL);
        cell[in->location] = in->n;
        break;
    case LITMUS_FENCE:
        views_fence(in->order);
        break;
    case LITMUS_LOCK:
        mutex_of = t;
        views_acquire(&mutex_of);
        break;
    case LITMUS_UNLOCK:
        mutex_of = -1;
        views_release(&mutex_of);
        break;
    case LITMUS_IF:
        next[t] = last[t] == in->n ? next[t] : program.length[t];
        break;
    default:
        last[t] = (int)read_cell(in);
        saw[t][next[t] - 1] = (char)('0' + last[t]);
        break;
    }
}

static bool sees(enum litmus_what what)
{
    return what == LITMUS_LOAD || what == LITMUS_ADD || what == LITMUS_SWAP || what == LITMUS_READ;
}

static void begin(void)
{
    decisions_begin();
    memset(&run, 0, sizeof run);
    memset(cell, 0, sizeof cell);
    memset(next, 0, sizeof next);
    memset(last, 0, sizeof last);
    mutex_of = -1;
    views_reset();
    races_reset();
    for (int t = 0; t < threads_count; t++) {
        for (int i = 0; i < program.length[t]; i++)
            saw[t][i] = sees(program.of[t][i].what) ? '-' : '\0';
    }
}

static void run_to_its_end(void)
{
    for (;;) {
        int may[THREADS], n = 0;

        for (int t = 0; t < threads_count; t++) {
            if (next[t] < program.length[t]
                && (program.of[t][next[t]].what != LITMUS_LOCK || mutex_of < 0))
                may[n++] = t;
        }
        if (n == 0)
            break;
        n = may[choose(n)];
        self = &thread[n];
        execute(n);
        self = NULL;
    }
}

static void say_outcome(char *text, size_t size, bool last_values)
{
    size_t n = 0;

    for (int t = 0; t < threads_count; t++) {
        for (int i = 0; i < program.length[t] && n + 1 < size; i++) {
            if (saw[t][i] != '\0')
                text[n++] = saw[t][i];
        }
    }
    snprintf(text + n, size - n, last_values ? "/%d%d" : "", (int)cell['x' - 'a'],
             (int)cell['y' - 'a']);
}

/* ---- All runs ---- */

static char outcome[OUTCOMES_MAX][OUTCOME_SIZE];
static int outcomes;

static void note_outcome(const char *text)
{
    int at = outcomes;

    for (int i = 0; i < outcomes; i++) {
        if (strcmp(outcome[i], text) == 0)
            return;
    }
    if (outcomes == OUTCOMES_MAX)
        return;     /* one too many: no test expects that */
    for (outcomes++; at > 0 && strcmp(outcome[at - 1], text) > 0; at--)
        memcpy(outcome[at], outcome[at - 1], sizeof outcome[0]);
    snprintf(outcome[at], sizeof outcome[0], "%s", text);
}

static void say_all(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int k = 0; k < outcomes; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", k > 0 ? " " : "", outcome[k]);
}

static bool one(const struct litmus_test *test)
{
    char all[OUTCOMES_MAX * (OUTCOME_SIZE + 1) + 1], text[OUTCOME_SIZE];
    long runs = 0;
    bool good;

    views_forget();
    threads_count = litmus_read(&program, test->threads);
    outcomes = races_noted = 0;
    decisions_forget();
    do {
        begin();
        run_to_its_end();
        say_outcome(text, sizeof text, test->last_values);
        note_outcome(text);
        runs++;
    } while (decisions_next());
    say_all(all, sizeof all);
    good = test->race ? races_noted > 0
                        : races_noted == 0 && strcmp(all, test->outcomes) == 0;
    printf("%-76s %6ld runs%s\n", test->name, runs, good ? "" : "  FAILED");
    if (!good)
        printf("    %s\n    %s, %d races, expected: %s%s\n", test->threads, all, races_noted,
               test->outcomes, test->race ? "a race" : "");
    return good;
}

bool litmus(void)
{
    int good = 0;

    limits = (struct limits){ .own = true, .own_bound = 1000 };
    views_fences = races_only_noted = true;
    for (int i = 0; i < litmus_tests_count; i++)
        good += one(&litmus_test[i]);
    printf("%d of %d litmus tests have exactly the outcomes that RC11 allows\n", good,
           litmus_tests_count);
    return good == litmus_tests_count;
}
