/* SPDX-License-Identifier: MIT */
/*
 * minimize.c - see minimize.h.
 *
 * Every smaller scenario is tried: without a thread, an operation, a word of one or a setting, or
 * with a smaller number.  One that fails by the same oracle replaces the larger one, and all is
 * tried again, until no smaller one fails.  Then the schedule is minimized: the fewest preemptions,
 * and as few decisions as possible that are not the first answer.
 */
#include "minimize.h"

#include "draft.h"

#include <string.h>

enum { RUNS = 60000, BOUND = 2 };

static struct limits memory; /* weak or not, and how many old loads */
static struct draft best;

/* Returns the fewest preemptions with which it fails by the oracle; -1: it does not fail. */
static int fails(const struct scenario *what)
{
    struct limits with = memory;
    bool complete = true;

    for (; what != NULL && with.bound <= BOUND; with.bound++) {
        struct outcome outcome = explore(what, with);

        if (outcome.failed)
            return same_oracle() ? with.bound : -1;
        complete = outcome.complete;
    }
    if (what == NULL || complete)
        return -1;
    with = memory;
    with.bound = BOUND;
    with.merge = false;
    with.by_chance = true;
    return explore(what, with).failed && same_oracle() ? BOUND : -1;
}

static bool try(const struct draft *smaller)
{
    if (fails(draft_put(smaller, "smaller")) < 0)
        return false;
    best = *smaller;
    return true;
}

/* ---- The scenario ---- */

static void renumber(struct op *op, int without)
{
    if (op->ticket > without)
        op->ticket--;
}

static bool names(const struct draft *d, int t)
{
    for (int u = 0; u < d->threads; u++) {
        for (int k = 0; k < d->ops[u] && u != t; k++) {
            const struct op *op = &d->op[u][k];

            if (op->ticket == t && (verbs[op->verb].of & (A_TICKET | A_THREAD)) != 0)
                return true;
        }
    }
    return false;
}

static bool drop_thread(int t)
{
    struct draft d = best;

    if (d.threads == 1 || names(&d, t))
        return false;
    for (int u = t; u + 1 < d.threads; u++) {
        memcpy(d.op[u], d.op[u + 1], sizeof d.op[u]);
        d.ops[u] = d.ops[u + 1];
        d.cancelable[u] = d.cancelable[u + 1];
    }
    d.threads--;
    for (int u = 0; u < d.threads; u++) {
        for (int k = 0; k < d.ops[u]; k++)
            renumber(&d.op[u][k], t);
    }
    for (int c = 1; c < d.callbacks; c++) {
        for (int k = 0; k < d.callback_ops[c]; k++)
            renumber(&d.callback[c][k], t);
    }
    return try(&d);
}

static bool drop_op(int t, int k)
{
    struct draft d = best;

    d.ops[t]--;
    for (int i = k; i < d.ops[t]; i++)
        d.op[t][i] = d.op[t][i + 1];
    return try(&d);
}

static bool drop_callback_op(int c, int k)
{
    struct draft d = best;

    d.callback_ops[c]--;
    for (int i = k; i < d.callback_ops[c]; i++)
        d.callback[c][i] = d.callback[c][i + 1];
    if (d.callback_ops[c] > 0)
        return try(&d);
    for (int t = 0; t < d.threads; t++) {
        for (int i = 0; i < d.ops[t]; i++) {
            if (d.op[t][i].callback == c)
                d.op[t][i].callback = 0;
        }
    }
    return try(&d);
}

/* A smaller value in place of one: 0, then half, then one less. */
#define SMALLER(member)                                             \
    do {                                                            \
        const int64_t before = (int64_t)best.member;                \
        for (int way = 0; way < 3 && before > 0; way++) {           \
            struct draft d = best;                                  \
                                                                    \
            d.member = way == 0 ? 0 : way == 1 ? before / 2 : before - 1; \
            if ((int64_t)d.member < before && try(&d))              \
                return true;                                        \
        }                                                           \
    } while (0)

#define WITHOUT(member)                                             \
    do {                                                            \
        if (best.member) {                                          \
            struct draft d = best;                                  \
                                                                    \
            d.member = 0;                                           \
            if (try(&d))                                            \
                return true;                                        \
        }                                                           \
    } while (0)

static bool smaller_op(int t, int k)
{
    WITHOUT(op[t][k].token);
    WITHOUT(op[t][k].timed);
    WITHOUT(op[t][k].calls);
    WITHOUT(op[t][k].if_held);
    WITHOUT(op[t][k].priority);
    WITHOUT(op[t][k].sem);
    WITHOUT(op[t][k].callback);
    if (best.op[t][k].n < 0)
        WITHOUT(op[t][k].n);
    SMALLER(op[t][k].n);
    return false;
}

/* Try a simpler verb. */
static bool simpler_op(int t, int k)
{
    struct draft d = best;

    d.op[t][k].verb = verbs[d.op[t][k].verb].simpler;
    return d.op[t][k].verb != NO_VERB && try(&d);
}

static bool smaller_setting(void)
{
    WITHOUT(what.closed);
    WITHOUT(what.canceled);
    WITHOUT(what.paused);
    WITHOUT(what.cold);
    WITHOUT(handler[0]);
    WITHOUT(what.signals);
    WITHOUT(what.flags);
    WITHOUT(what.bypass_ns);
    WITHOUT(what.aging_ns);
    WITHOUT(what.spurious);
    SMALLER(what.no_memory);
    SMALLER(what.max_waiters);
    SMALLER(what.debt);
    SMALLER(what.capacity);
    SMALLER(what.units);
    WITHOUT(what.may_block);
    return false;
}

/* One step.  False: no smaller scenario fails. */
static bool smaller(void)
{
    for (int t = 0; t < best.threads; t++) {
        if (drop_thread(t))
            return true;
    }
    for (int t = 0; t < best.threads; t++) {
        for (int k = best.ops[t] - 1; k >= 0; k--) {
            if (drop_op(t, k) || simpler_op(t, k) || smaller_op(t, k))
                return true;
        }
        WITHOUT(cancelable[t]);
    }
    for (int c = 1; c < best.callbacks; c++) {
        for (int k = best.callback_ops[c] - 1; k >= 0; k--) {
            if (drop_callback_op(c, k))
                return true;
        }
    }
    return smaller_setting();
}

/* ---- The schedule ---- */

static void report(void)
{
    struct limits with = memory;
    char words[700], schedule[2000];
    const struct scenario *what = draft_put(&best, "smallest");

    scenario_words(what, words, sizeof words);
    what = scenario_of_words(words);
    with.bound = fails(what);
    snprintf(schedule, sizeof schedule, "%s", failed_schedule());
    shorten(what, with, schedule, sizeof schedule);
    printf("the shortest that fails by the same oracle, for scenarios.c:\n\n");
    print_for_table(what);
    printf("\n");
    replay(what, with, schedule);
    fflush(stdout);
}

void minimize_failure(const struct scenario *what, struct limits with)
{
    static char words[700];

    scenario_words(what, words, sizeof words);
    printf("%s: FAILED: %s\n    %s\n", what->name, why_failed, words);
    fflush(stdout);
    note_oracle();
    memory = (struct limits){ .merge = true, .quiet = true, .runs = RUNS, .own = with.own,
                              .own_bound = with.own_bound };
    if (!draft_read(&best, what))
        return;
    while (smaller())
        continue;
    if (fails(draft_put(&best, "smallest")) < 0)
        printf("it does not fail again\n");
    else
        report();
}
