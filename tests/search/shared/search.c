/* SPDX-License-Identifier: MIT */
/*
 * search.c - all runs of a scenario, depth first.
 *
 * A schedule is written SCENARIO:BOUND:DECISIONS, as in ../core/search.c.
 */
#include "dies.h"

#include <string.h>

enum { DECISIONS_MAX = 20000 };

struct limits limits;
static struct { short answer, answers; } decision[DECISIONS_MAX];
static int decisions, replayed;     /* in this run; and how many of them are prescribed */

void decisions_begin(void)
{
    decisions = 0;
}

bool decisions_are_new(void)
{
    return decisions >= replayed;
}

/* Choose one of so many answers.  The first run takes the first; other runs take the others. */
int choose(int answers)
{
    if (answers <= 1 || quiet)
        return 0;
    if (decisions >= DECISIONS_MAX)
        fail("end", "more than %d decisions: does it ever end?", DECISIONS_MAX);
    if (decisions >= replayed)
        decision[decisions].answer = 0;
    else if (decision[decisions].answer >= answers)
        fail("explorer", "the run cannot be repeated: decision %d", decisions);
    decision[decisions].answers = (short)answers;
    return decision[decisions++].answer;
}

/* The next run: as the last one, up to its last decision that has another answer. */
static bool next_run(void)
{
    while (decisions > 0 && decision[decisions - 1].answer + 1 >= decision[decisions - 1].answers)
        decisions--;
    if (decisions == 0)
        return false;
    decision[decisions - 1].answer++;
    replayed = decisions;
    return true;
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void print_failure(void)
{
    bool first = true;

    printf("\n%s: FAILED: %s\nonce more, in words: dies --replay '%s:%d:", scenario->name,
           why_failed, scenario->name, limits.bound);
    for (int i = 0; i < decisions; i++) {
        if (decision[i].answer == 0)
            continue;
        printf("%s%d=%d", first ? "" : ",", i, decision[i].answer);
        first = false;
    }
    printf("'\n");
}

static bool prepare(const struct scenario *what)
{
    scenario = what;
    replayed = 0;
    states_forget();
    return script_read(what);
}

bool explore(const struct scenario *what)
{
    long runs = 0, merges = 0;
    double began = seconds_now();
    const char *end = "";
    bool merged, good = true;

    if (!prepare(what))
        return false;
    do {
        good = run_once(&merged);
        runs += !merged;
        merges += merged;
        if (limits.seconds > 0 && seconds_now() - began > limits.seconds) {
            end = "  not all";
            break;
        }
    } while (good && next_run());
    if (!good)
        print_failure();
    printf("%-34s %9ld %9ld %7.1f%s\n", what->name, runs, merges, seconds_now() - began,
           good ? end : "  FAILED");
    fflush(stdout);
    return good;
}

/* Decisions that the schedule does not mention take the first answer. */
static bool read_decisions(const char *text)
{
    memset(decision, 0, sizeof decision);
    while (*text != '\0') {
        char *end;
        long number = strtol(text, &end, 10);

        if (*end != '=' || number < 0 || number >= DECISIONS_MAX)
            return false;
        decision[number].answer = (short)strtol(end + 1, &end, 10);
        replayed = (int)number + 1;
        text = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != '\0')
            return false;
    }
    return true;
}

bool replay(const struct scenario *what, const char *text)
{
    bool good, merged;

    if (!prepare(what) || !read_decisions(text)) {
        printf("not a schedule: %s\n", text);
        return false;
    }
    tracing = true;
    limits.merge = false;
    good = run_once(&merged);
    printf("%s\n", good ? "no failure" : why_failed);
    return good;
}
