/* SPDX-License-Identifier: MIT */
/*
 * promises.c - which of the results that include/fairsem.h lists were seen, for each operation.
 *
 * It is an error if one was never seen, unless verbs.h says why no scenario can have it.
 */
#include "coverage.h"

#include <string.h>

static long sum(int verb, int result)
{
    long all = 0;

    for (int variant = 0; variant < VARIANTS; variant++) {
        for (int state = 0; state < STATES; state++)
            all += seen[verb][variant][state][result];
    }
    return all;
}

static void print_seen(int verb, int variant)
{
    static const char *const with[VARIANTS] = { "", " token", " calls" };

    for (int state = 0; state < STATES; state++) {
        bool any = false;

        for (int result = 0; result < RESULTS; result++) {
            long count = seen[verb][variant][state][result];

            if (count == 0)
                continue;
            if (!any)
                printf("%-9s%-7s%-18s", verbs[verb].word, with[variant], state_name[state]);
            printf(" %s:%ld", result_name[result], count);
            any = true;
        }
        if (any)
            printf("\n");
    }
}

/* Print the states in which the operation has begun, but never had this result. */
static void print_states_without(int verb, int only)
{
    printf("%-9s %-15s", verbs[verb].word, result_name[only]);
    for (int state = 0; state < STATES; state++) {
        long here = 0, any = 0;

        for (int variant = 0; variant < VARIANTS; variant++) {
            here += seen[verb][variant][state][only];
            for (int result = 0; result < RESULTS; result++)
                any += seen[verb][variant][state][result];
        }
        if (any != 0 && here == 0)
            printf(" %s;", state_name[state]);
    }
    printf("\n");
}

static bool has_been(int kind)
{
    for (int other = 0; other < KINDS; other++) {
        if (met[kind][other] != 0)
            return true;
    }
    return false;
}

static void print_never_met(void)
{
    int pairs = 0, never = 0;

    printf("\nOperations that never were at the same time in two threads\n\n");
    for (int a = 0; a < KINDS; a++) {
        bool any = false;
        char text[40];

        for (int b = 0; b <= a && has_been(a); b++) {
            if (!has_been(b))
                continue;
            pairs++;
            if (met[a][b] != 0)
                continue;
            never++;
            if (!any)
                printf("%-24s", kind_words(a, text));
            printf("%s %s", any ? "," : "", kind_words(b, text));
            any = true;
        }
        if (any)
            printf("\n");
    }
    printf("\n%d pairs of operations, with or without a token or a callback, failing or not;\n"
           "%d of them met, %d never\n", pairs, pairs - never, never);
}

/* The next of all results that the header lists: verb * RESULTS + result; -1: there is no more. */
static int next_promise(int last)
{
    while (++last < VERBS * RESULTS) {
        if ((verbs[last / RESULTS].returns >> last % RESULTS & 1) != 0)
            return last;
    }
    return -1;
}

bool print_promises(void)
{
    bool all = true;

    printf("What each operation returned, by the state it found\n\n");
    for (int verb = 0; verb < VERBS; verb++) {
        for (int variant = 0; variant < VARIANTS; variant++)
            print_seen(verb, variant);
    }
    printf("\nResults that the header lists, and the states in which they never came\n\n");
    for (int i = -1; (i = next_promise(i)) >= 0;)
        print_states_without(i / RESULTS, i % RESULTS);
    print_never_met();
    printf("\nResults that the header lists and that never came at all\n\n");
    for (int i = -1; (i = next_promise(i)) >= 0;) {
        const struct verb_row *verb = &verbs[i / RESULTS];
        bool never = (verb->never >> i % RESULTS & 1) != 0;

        if (sum(i / RESULTS, i % RESULTS) != 0)
            continue;
        printf("%-9s %-15s %s\n", verb->word, result_name[i % RESULTS],
               never ? verb->why_never : "MISSING");
        all = all && never;
    }
    return all;
}
