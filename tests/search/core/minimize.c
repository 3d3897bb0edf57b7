/* SPDX-License-Identifier: MIT */
/*
 * minimize.c - the shortest scenario, and schedule, that still fails.
 *
 * This file works on the scenario in words.  It tries smaller scenarios: without a thread, without some
 * consecutive words, with a simpler verb or a smaller number.  If a smaller scenario fails by the same oracle,
 * this file goes on with it, until no smaller scenario fails.  Then the schedule is minimized: first the number
 * of preemptions, then the number of decisions that do not have the first answer.
 */
#include "explorer.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS = 60000, BOUND = 2, ROW_MAX = 10 };

static struct limits memory; /* of each search; weak memory, and the number of stale loads, as in the failure */
static char best[TEXT_MAX];  /* the smallest failing scenario so far */

/* Returns the smallest bound of preemptions with which the scenario fails by the noted oracle, or -1. */
static int fails(const struct scenario *what)
{
    int complete, bound = search_deeper(what, memory, &complete);

    return bound >= 0 && same_oracle() ? bound : -1;
}

/* A scenario that fails becomes the best scenario. */
static bool try_script(const struct scenario *settings)
{
    const struct scenario *what = scenario_of_script(settings, "smaller");
    char words[TEXT_MAX];

    if (what == NULL)
        return false;
    scenario_words(what, words, sizeof words);
    if (strcmp(words, best) == 0 || fails(what) < 0)
        return false;
    memcpy(best, words, sizeof best);
    return true;
}

/* Try the best scenario with its text between two positions replaced by `instead`. */
static bool try_with(const char *instead, size_t from, size_t to)
{
    char words[TEXT_MAX];
    const struct scenario *what;

    snprintf(words, sizeof words, "%.*s%s%s", (int)from, best, instead, best + to);
    what = scenario_of_words(words);
    return what != NULL && try_script(what);
}

/* ---- Words; each sign is a word, too ---- */

static size_t word_begin(size_t at)
{
    return at + strspn(best + at, " ");
}

static size_t word_end(size_t at)
{
    size_t begin = word_begin(at), length = strcspn(best + begin, " ,:;|!=+.");

    return begin + (length > 0 ? length : best[begin] != '\0');
}

/* Most of the shorter texts are not scenarios. */
static bool fewer_words(int n)
{
    bool any = false;

    for (size_t from = 0; from < strlen(best);) {
        size_t to = from;

        for (int i = 0; i < n; i++)
            to = word_end(to);
        if (try_with("", from, to))
            any = true;
        else
            from = word_end(from);
    }
    return any;
}

static bool smaller_number(size_t from, size_t to)
{
    bool max = strncmp(best + from, "max", to - from) == 0;
    char *end = NULL, text[30];
    long long n = max ? 2 : strtoll(best + from, &end, 10);
    const long long smaller[] = { 0, n < 1000 ? n / 2 : 0, n > 0 && n < 1000 ? n - 1 : 0 };

    if (n == 0 || (!max && end != best + to))
        return false;
    for (int i = 0; i < 3; i++) {
        if (i > 0 && smaller[i] == smaller[i - 1])
            continue;
        snprintf(text, sizeof text, "%lld", smaller[i]);
        if (try_with(text, from, to))
            return true;
    }
    return false;
}

static bool simpler_verb(size_t from, size_t to)
{
    for (int verb = NO_VERB + 1; verb < VERBS; verb++) {
        const struct verb_row *row = &verbs[verb];

        if (row->simpler != NO_VERB && strlen(row->word) == to - from
            && strncmp(row->word, best + from, to - from) == 0)
            return try_with(verbs[row->simpler].word, from, to);
    }
    return false;
}

static bool smaller_words(void)
{
    bool any = false;

    for (size_t at = 0; at < strlen(best);) {
        size_t from = word_begin(at), to = word_end(at);

        if (smaller_number(from, to) || simpler_verb(from, to))
            any = true;
        else
            at = to;
    }
    return any;
}

/* ---- Threads: without a thread, the threads behind it get smaller numbers ---- */

/* Does another thread use thread t or its ticket? */
static bool is_named(int t)
{
    for (int k = 0; k < places; k++) {
        const struct op *op = op_of(place[k]);

        if (place[k] / OPS_MAX != t && op->ticket == t
            && (verbs[op->verb].of & (A_TICKET | A_THREAD)) != 0)
            return true;
    }
    return false;
}

static bool without_thread(int t)
{
    const struct scenario *what = scenario_of_words(best);

    if (threads_count == 1 || is_named(t))
        return false;
    threads_count--;
    for (int u = t; u < threads_count; u++) {
        memcpy(script[u], script[u + 1], sizeof script[u]);
        ops_count[u] = ops_count[u + 1];
        script_cancelable[u] = script_cancelable[u + 1];
    }
    for (int i = 0; i < THREADS * OPS_MAX; i++)
        script[i / OPS_MAX][i % OPS_MAX].ticket -= script[i / OPS_MAX][i % OPS_MAX].ticket > t;
    for (int i = 0; i < CALLBACKS_MAX * CALLBACK_OPS; i++)
        callback_script[i / CALLBACK_OPS][i % CALLBACK_OPS].ticket -=
            callback_script[i / CALLBACK_OPS][i % CALLBACK_OPS].ticket > t;
    return try_script(what);
}

static bool fewer_threads(void)
{
    for (int t = 0; t < THREADS; t++) {
        if (t < threads_count && without_thread(t))
            return true;
    }
    return false;
}

static bool smaller(void)
{
    bool any = fewer_threads();

    for (int n = ROW_MAX; n > 0; n--)
        any |= fewer_words(n);
    return any | smaller_words();
}

/* ---- The schedule ---- */

static void report(const struct scenario *what, struct limits with)
{
    char schedule[2000];

    snprintf(schedule, sizeof schedule, "%s", failed_schedule());
    shorten(what, with, schedule, sizeof schedule);
    printf("the shortest that fails by the same oracle:\n\n    %s\n\n", what->name);
    replay(what, with, schedule);
    fflush(stdout);
}

void minimize_failure(const struct scenario *what, struct limits with)
{
    scenario_words(what, best, sizeof best);
    printf("%s: FAILED: %s\n    %s\n", what->name, why_failed, best);
    fflush(stdout);
    note_oracle();
    memory = (struct limits){ .bound = BOUND, .merge = true, .quiet = true, .runs = RUNS,
                              .own = with.own, .own_bound = with.own_bound };
    while (smaller())
        continue;
    what = scenario_of_words(best);
    with = memory;
    with.bound = what != NULL ? fails(what) : -1;
    if (with.bound < 0)
        printf("it does not fail again\n");
    else
        report(what, with);
}
