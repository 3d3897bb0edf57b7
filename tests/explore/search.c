/* SPDX-License-Identifier: MIT */
/*
 * search.c - all runs of a scenario, depth first: the decisions, and their other answers.
 *
 * A schedule is written SCENARIO:BOUND:DECISIONS, the decisions that were not the first answer
 * as NUMBER=ANSWER, with commas between them.  With weak memory the bound is PREEMPTIONS+STALE.
 */
#include "search.h"

#include "views.h"

#include <string.h>

enum { DECISIONS_MAX = 20000 };

struct limits limits;
static struct { short answer, answers; } decision[DECISIONS_MAX];
static int decisions, replayed;     /* in this run; and how many of them are given */

void decisions_begin(void)
{
    decisions = 0;
}

void decisions_forget(void)
{
    replayed = 0;
}

bool decisions_are_new(void)
{
    return decisions >= replayed;
}

/* Which of so many answers?  Each of them, in one run or another; the first one first. */
int choose(int answers)
{
    if (answers <= 1)
        return 0;
    if (decisions >= DECISIONS_MAX)
        fail("end", "more than %d decisions: does it ever end?", DECISIONS_MAX);
    if (decisions >= replayed) {
        decision[decisions].answer = 0;
        decision[decisions].answers = (short)answers;
    } else if (decision[decisions].answer >= answers) {
        fail("explorer", "the run cannot be repeated: decision %d has no answer %d", decisions,
             decision[decisions].answer);
    } else {
        decision[decisions].answers = (short)answers;
    }
    return decision[decisions++].answer;
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The next run: as the last one, but for its last decision that has another answer. */
bool decisions_next(void)
{
    while (decisions > 0 && decision[decisions - 1].answer + 1 >= decision[decisions - 1].answers)
        decisions--;
    if (decisions == 0)
        return false;
    decision[decisions - 1].answer++;
    replayed = decisions;
    return true;
}

static void print_schedule(void)
{
    const char *before = "";

    printf("%s:%d", scenario->name, limits.bound);
    if (limits.weak)
        printf("+%d", limits.stale);
    printf(":");
    for (int i = 0; i < decisions; i++) {
        if (decision[i].answer != 0) {
            printf("%s%d=%d", before, i, decision[i].answer);
            before = ",";
        }
    }
    printf("\n");
}

static void report_failure(void)
{
    printf("\n%s: FAILED: %s\n", scenario->name, failure);
    printf("once more, in words: explore --replay ");
    print_schedule();
    fflush(stdout);
}

static bool prepare(const struct scenario *what, struct limits with)
{
    scenario = what;
    limits = with;
    decisions_forget();
    states_forget();
    history_forget();
    views_forget();
    return script_read(what);
}

struct outcome explore(const struct scenario *what, struct limits with)
{
    struct outcome outcome = { 0 };
    double began = seconds_now();

    if (!prepare(what, with)) {
        outcome.failed = true;
        return outcome;
    }
    for (;;) {
        if (!run_once(&outcome)) {
            report_failure();
            break;
        }
        if (!decisions_next()) {
            outcome.complete = true;
            break;
        }
        if (with.seconds > 0 && (outcome.runs + outcome.merged) % 256 == 0
            && seconds_now() - began > with.seconds)
            break;
    }
    outcome.histories = history_count();
    outcome.seconds = seconds_now() - began;
    return outcome;
}

/* Once, by the first answers: so that threads have waited before. */
bool run_first(const struct scenario *what)
{
    struct outcome outcome = { 0 };

    if (prepare(what, (struct limits){ .bound = 0 }) && run_once(&outcome))
        return true;
    report_failure();
    return false;
}

/* The decisions of a schedule; all that it does not mention are 0. */
static bool read_decisions(const char *text)
{
    memset(decision, 0, sizeof decision);
    while (*text != '\0') {
        char *end;
        long number = strtol(text, &end, 10), answer;

        if (*end != '=' || number < 0 || number >= DECISIONS_MAX)
            return false;
        answer = strtol(end + 1, &end, 10);
        decision[number].answer = (short)answer;
        replayed = (int)number + 1;
        text = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != '\0')
            return false;
    }
    return true;
}

bool replay(const struct scenario *what, struct limits with, const char *text)
{
    struct outcome outcome = { 0 };

    if (!prepare(what, with) || !read_decisions(text)) {
        printf("this is no schedule: %s\n", text);
        return false;
    }
    tracing = true;
    if (run_once(&outcome))
        printf("\n%s: nothing was wrong\n", what->name);
    else
        report_failure();
    tracing = false;
    return !outcome.failed;
}
