/* SPDX-License-Identifier: MIT */
/*
 * search.c - all runs of a scenario, depth first: their decisions, and all answers to each decision.
 *
 * A schedule is written as SCENARIO:BOUND:DECISIONS.  DECISIONS lists, with commas, the decisions that do not
 * have the first answer (number 0), as NUMBER=ANSWER.  BOUND is PREEMPTIONS, or PREEMPTIONS+OWN if the
 * explorer's own bound applies.
 */
#include "explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DECISIONS_MAX = 20000 };

struct limits limits;
static struct { short answer, answers; } decision[DECISIONS_MAX];
static int decisions, replayed;     /* number of decisions in this run so far; of prescribed decisions */

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

/* Random answers, for limits.by_chance: one answer in `patience` is random, the others are the first answer. */
static uint64_t dice;
static int patience;

static int below(int n)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((dice >> 33) % (uint64_t)n);
}

static int any(int answers)
{
    return below(patience) > 0 ? 0 : below(answers);
}

/* The first run takes the first answer of each decision; other runs take other answers. */
int choose(int answers)
{
    if (answers <= 1)
        return 0;
    if (decisions >= DECISIONS_MAX)
        fail("end", "more than %d decisions: does it ever end?", DECISIONS_MAX);
    if (decisions >= replayed) {
        decision[decisions].answer = limits.by_chance ? (short)any(answers) : 0;
        decision[decisions].answers = (short)answers;
    } else if (decision[decisions].answer >= answers) {
        fail("explorer", "the run cannot be repeated: decision %d has no answer %d", decisions,
             decision[decisions].answer);
    } else {
        decision[decisions].answers = (short)answers;
    }
    return decision[decisions++].answer;
}

double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The next run repeats the last run up to its last decision with an untried answer, and takes that answer. */
bool decisions_next(void)
{
    static const int patient[] = { 2, 4, 8, 16 };

    if (limits.by_chance) {
        patience = patient[below(4)];
        replayed = 0;
        return true;
    }
    while (decisions > 0 && decision[decisions - 1].answer + 1 >= decision[decisions - 1].answers)
        decisions--;
    if (decisions == 0)
        return false;
    decision[decisions - 1].answer++;
    replayed = decisions;
    return true;
}

const char *failed_schedule(void)
{
    static char text[2000];
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0; i < decisions && length < sizeof text; i++) {
        if (decision[i].answer != 0)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%d=%d",
                                       length > 0 ? "," : "", i, decision[i].answer);
    }
    return text;
}

/* In the command that is printed, a scenario in words needs quotes for the shell. */
static void report_failure(void)
{
    const char *quote = strpbrk(scenario->name, " |;") != NULL ? "'" : "";

    printf("\n%s: FAILED: %s\n", scenario->name, why_failed);
    printf("once more, in words: %s --replay %s%s:%d", program_name, quote, scenario->name,
           limits.bound);
    if (limits.own)
        printf("+%d", limits.own_bound);
    printf(":%s%s\n", failed_schedule(), quote);
    fflush(stdout);
}

static bool prepare(const struct scenario *what, struct limits with)
{
    scenario = what;
    limits = with;
    decisions_forget();
    dice = 1;
    patience = 4;
    states_forget();
    search_begins();
    return script_read(what);
}

struct outcome explore(const struct scenario *what, struct limits with)
{
    struct outcome outcome = { .failed = true };
    double began = seconds_now();
    bool merged;

    if (!prepare(what, with))
        return outcome;
    for (;;) {
        outcome.failed = !run_once(&merged);
        outcome.runs += !merged;
        outcome.merged += merged;
        if (outcome.failed) {
            if (!with.quiet)
                report_failure();
            break;
        }
        if (!decisions_next()) {
            outcome.complete = true;
            break;
        }
        if (with.runs > 0 && outcome.runs + outcome.merged >= with.runs)
            break;
        if (with.seconds > 0 && (outcome.runs + outcome.merged) % 256 == 0
            && seconds_now() - began > with.seconds)
            break;
    }
    outcome.seconds = seconds_now() - began;
    return outcome;
}

/* Read the decisions of a schedule.  A decision that the schedule does not list has answer 0. */
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

bool fails_at(const struct scenario *what, struct limits with, const char *text)
{
    bool merged;

    return prepare(what, with) && read_decisions(text) && !run_once(&merged);
}

bool replay(const struct scenario *what, struct limits with, const char *text)
{
    bool merged, good;

    if (!prepare(what, with) || !read_decisions(text))
        refuse("not a schedule:", text);
    tracing = true;
    good = run_once(&merged);
    if (good)
        printf("\n%s: no failure\n", what->name);
    else
        report_failure();
    tracing = false;
    return good;
}
