/* SPDX-License-Identifier: MIT */
/* pairs.c - counts the scenarios in which two operations meet. */
#include "explorer.h"

#include <string.h>

enum { KINDS = 12 };

static const char *const kind_name[KINDS] = {
    "acquire", "timed", "try", "upto", "release", "token", "return", "pthread_cancel", "close",
    "capacity", "consume", "destroy",
};

/* The kind of an operation; -1: none. */
static int kind_of(enum verb verb)
{
    static const int kind[VERBS] = {
        [ACQUIRE] = 0, [TIMED] = 1, [FOR] = 1, [TRY] = 2, [UPTO] = 3, [RELEASE] = 4, [GIVE] = 4,
        [CANCEL] = 5, [RETURN] = 6, [KILL] = 7, [CLOSE] = 8, [DRAIN] = 8, [CAPACITY] = 9,
        [CONSUME] = 10, [DESTROY] = 11, [WOULD] = -1, [STAT] = -1, [AVAILABLE] = -1,
        [WAITERS] = -1, [SIZE] = -1, [IS_CLOSED] = -1, [STATE] = -1, [TAKE] = -1,
        [CLAIM] = -1, [WATCH] = -1, [AFTER] = -1,
        [LATER] = -1,
    };

    return kind[verb];
}

static unsigned kinds_of_thread(int i)
{
    unsigned kinds = script_cancelable[i] ? 1u << kind_of(KILL) : 0;

    for (int k = 0; k < ops_count[i]; k++) {
        if (kind_of(script[i][k].verb) >= 0)
            kinds |= 1u << kind_of(script[i][k].verb);
    }
    return kinds;
}

/* In two threads; but destroy may also come last in the same one. */
static bool meet(int a, int b)
{
    bool same = a != b && (a == kind_of(DESTROY) || b == kind_of(DESTROY));

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
    int count[KINDS][KINDS] = { { 0 } };
    bool all = true;

    for (int n = 0; n < scenarios_count; n++) {
        if (!script_read(&scenarios[n]))
            return false;
        for (int a = 0; a < KINDS; a++) {
            for (int b = 0; b <= a; b++)
                count[a][b] += meet(a, b);
        }
    }
    printf("In how many of %d scenarios two operations meet\n\n", scenarios_count);
    for (int a = 0; a < KINDS; a++) {
        printf("%-15s", kind_name[a]);
        for (int b = 0; b <= a; b++) {
            printf("%8d", count[a][b]);
            all = all && (count[a][b] > 0 || a == b);
        }
        printf("\n");
    }
    printf("%-15s", "");
    for (int a = 0; a < KINDS; a++)
        printf(" %7.7s", kind_name[a]);
    printf("\n");
    return all;
}
