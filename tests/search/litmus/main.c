/* SPDX-License-Identifier: MIT */
/*
 * main.c - litmus [--quiet [--patterns]] [NAME...]: the classics, then the tests of the library
 * (only these: --patterns), or those whose names begin like that.  Each must have exactly its
 * outcomes, without and with load buffering.  Exit status 1: one has not; 2: could not run.
 */
#include "explorer.h"

#include <stdio.h>
#include <string.h>

enum { OUTCOMES = 64, SIZE = 24 };

static char outcome[OUTCOMES][SIZE];
static int outcomes;
static char race[160];
static long total;

static void note(const char *text, const char *why)
{
    int at = outcomes;

    if (why != NULL && race[0] == '\0')
        snprintf(race, sizeof race, "%s", why);
    for (int i = 0; i < outcomes; i++) {
        if (strcmp(outcome[i], text) == 0)
            return;
    }
    if (outcomes == OUTCOMES)
        return;         /* no test expects so many */
    for (outcomes++; at > 0 && strcmp(outcome[at - 1], text) > 0; at--)
        memcpy(outcome[at], outcome[at - 1], SIZE);
    snprintf(outcome[at], SIZE, "%s", text);
}

/* Does the test have exactly these outcomes? */
static bool holds(const struct test *test, bool thin_air, const char *expected)
{
    char all[OUTCOMES * (SIZE + 1)] = "";
    bool good, races = strcmp(expected, "race") == 0;

    outcomes = 0;
    race[0] = '\0';
    executions(test, thin_air, note);
    total += executions_count;
    for (int i = 0; i < outcomes; i++) {
        strcat(all, i > 0 ? " " : "");
        strcat(all, outcome[i]);
    }
    good = races ? race[0] != '\0' : race[0] == '\0' && strcmp(all, expected) == 0;
    if (!good)
        printf("FAILED: %s%s\n    has %s%s%s\n    and not %s\n", test->name,
               thin_air ? ", with load buffering" : "", all,
               race[0] != '\0' ? ", a race: " : ", no race", race, expected);
    return good;
}

static bool one(const struct test *test, bool quiet)
{
    long before = total;
    bool good;
    int n = 1;

    record_all(test);
    for (int t = 0; t < test->threads; t++)
        n *= runs_count[t];
    good = holds(test, false, test->outcomes);
    good = holds(test, true, test->more != NULL ? test->more : test->outcomes) && good;
    if (!quiet)
        printf("%-76s %8d %7ld%s\n", test->name, n, total - before, good ? "" : "  FAILED");
    return good;
}

static struct test test_of(int n)
{
    const struct {
        const struct test *table;
        int                count;
    } in[] = {
        { fast, fast_count }, { hand_off, hand_off_count }, { inspection, inspection_count },
        { tickets, tickets_count },
    };
    struct test test = { .name = NULL };
    int i = 0;

    if (n < classics_count()) {
        classic(n, &test);
        return test;
    }
    for (n -= classics_count(); n >= in[i].count; i++)
        n -= in[i].count;
    return in[i].table[n];
}

static bool wanted(const char *name, int n, char **names)
{
    for (int i = 0; i < n; i++) {
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    }
    return n == 0;
}

int main(int argc, char **argv)
{
    bool quiet = argc > 1 && strcmp(argv[1], "--quiet") == 0;
    bool first = quiet && argc > 2 && strcmp(argv[2], "--patterns") == 0;
    int n = argc - 1 - quiet - first, ran = 0, good = 0;
    char **names = argv + 1 + quiet + first;
    int all = classics_count() + fast_count + hand_off_count + inspection_count + tickets_count;

    setvbuf(stdout, NULL, _IOLBF, 0);

    for (int i = first ? classics_count() : 0; i < all; i++) {
        struct test test = test_of(i);

        if (wanted(test.name, n, names)) {
            ran++;
            good += one(&test, quiet);
        }
    }
    if (ran == 0) {
        printf("COULD NOT RUN: there is no test of this name\n");
        return 2;
    }
    printf("%d of %d litmus tests have exactly the expected outcomes, in %ld executions\n", good,
           ran, total);
    return good == ran ? 0 : 1;
}
