/* SPDX-License-Identifier: MIT */
/* pairs.c - counts the scenarios in which two operations meet. */
#include "explorer.h"

#include <string.h>

/* The verb that an operation counts as; NO_VERB: it changes no semaphore. */
static enum verb kind_of(enum verb verb)
{
    const struct verb_row *row = &verbs[verb];

    if (verb != KILL && (row->returns == 0 || row->inspects || verb == CLAIM || verb == WATCH))
        return NO_VERB;
    return row->counts_as != NO_VERB ? row->counts_as : verb;
}

static unsigned kinds_of_thread(int i)
{
    unsigned kinds = script_cancelable[i] ? 1u << KILL : 0;

    for (int k = 0; k < ops_count[i]; k++)
        kinds |= 1u << kind_of(script[i][k].verb);
    return kinds;
}

/* In two threads; but destroy may also come last in the same one. */
static bool meet(int a, int b)
{
    bool same = a != b && (a == DESTROY || b == DESTROY);

    for (int i = 0; i < threads_count; i++) {
        for (int k = 0; k < threads_count; k++) {
            if ((i != k || same) && (kinds_of_thread(i) >> a & 1) != 0
                && (kinds_of_thread(k) >> b & 1) != 0)
                return true;
        }
    }
    return false;
}

/* Returns true if all pairs of different operations meet somewhere. */
bool print_pairs(void)
{
    int count[VERBS][VERBS] = { { 0 } };
    enum verb kind[VERBS];
    int kinds = 0;
    bool all = true;

    for (int verb = NO_VERB + 1; verb < VERBS; verb++) {
        if (kind_of((enum verb)verb) == (enum verb)verb)
            kind[kinds++] = (enum verb)verb;
    }
    for (int n = 0; n < scenarios_count; n++) {
        if (!script_read(&scenarios[n]))
            return false;
        for (int a = 0; a < kinds; a++) {
            for (int b = 0; b <= a; b++)
                count[a][b] += meet(kind[a], kind[b]);
        }
    }
    printf("In how many of %d scenarios two operations meet\n\n", scenarios_count);
    for (int a = 0; a < kinds; a++) {
        printf("%-9s", verbs[kind[a]].word);
        for (int b = 0; b <= a; b++) {
            printf("%8d", count[a][b]);
            all = all && (count[a][b] > 0 || a == b);
        }
        printf("\n");
    }
    printf("%-9s", "");
    for (int a = 0; a < kinds; a++)
        printf(" %7.7s", verbs[kind[a]].word);
    printf("\n");
    return all;
}
