/* SPDX-License-Identifier: MIT */
/*
 * promises.c - which of the results that include/fairsem.h lists were seen, for each operation.
 *
 * It is an error if a listed result was never seen, unless this table says why no scenario can have
 * it.
 */
#include "coverage.h"

#include <string.h>

static const struct promise {
    enum verb   verb;
    enum result result;
    const char *why_not;    /* why no scenario can have it; NULL: some can */
} promise[] = {
#define OF_ACQUIRE(verb)                                                                     \
    { verb, GOT_OK, NULL }, { verb, GOT_EINVAL, NULL }, { verb, GOT_E2BIG, NULL },            \
    { verb, GOT_ENOBUFS, NULL }, { verb, GOT_EINTR, NULL }, { verb, GOT_CLOSED, NULL },       \
    { verb, GOT_PTHREAD_CANCEL, NULL }
    OF_ACQUIRE(ACQUIRE), { ACQUIRE, GOT_TOKEN, NULL },
    OF_ACQUIRE(TIMED), { TIMED, GOT_TOKEN, NULL }, { TIMED, GOT_ETIMEDOUT, NULL },
    OF_ACQUIRE(FOR), { FOR, GOT_ETIMEDOUT, NULL },
#undef OF_ACQUIRE
    { TRY, GOT_OK, NULL }, { TRY, GOT_EAGAIN, NULL }, { TRY, GOT_EINVAL, NULL },
    { TRY, GOT_E2BIG, NULL }, { TRY, GOT_CLOSED, NULL },
    { UPTO, GOT_OK, NULL }, { UPTO, GOT_SOME, NULL },
    { RELEASE, GOT_OK, NULL }, { RELEASE, GOT_EINVAL, NULL }, { RELEASE, GOT_EOVERFLOW, NULL },
    { GIVE, GOT_OK, NULL },
    { CLOSE, GOT_OK, NULL }, { CLOSE, GOT_EINVAL, NULL }, { CLOSE, GOT_EALREADY, NULL },
    { DRAIN, GOT_OK, NULL }, { DRAIN, GOT_EINVAL, NULL }, { DRAIN, GOT_E2BIG, NULL },
    { DRAIN, GOT_ETIMEDOUT, NULL }, { DRAIN, GOT_ENOBUFS, NULL }, { DRAIN, GOT_EINTR, NULL },
    { DRAIN, GOT_TOKEN, NULL }, { DRAIN, GOT_PTHREAD_CANCEL, NULL },
    { CAPACITY, GOT_OK, NULL }, { CAPACITY, GOT_EINVAL, NULL },
    { CONSUME, GOT_OK, NULL }, { CONSUME, GOT_EINVAL, NULL }, { CONSUME, GOT_EOVERFLOW, NULL },
    { DESTROY, GOT_OK, NULL }, { DESTROY, GOT_EBUSY, NULL },
    { WOULD, GOT_OK, NULL }, { WOULD, GOT_SOME, NULL },
    { STAT, GOT_OK, NULL }, { STAT, GOT_SOME, NULL },
    { AVAILABLE, GOT_OK, NULL }, { AVAILABLE, GOT_SOME, NULL },
    { WAITERS, GOT_OK, NULL }, { WAITERS, GOT_SOME, NULL },
    { SIZE, GOT_OK, NULL }, { SIZE, GOT_SOME, NULL },
    { IS_CLOSED, GOT_OK, NULL }, { IS_CLOSED, GOT_SOME, NULL },
    { STATE, GOT_OK, NULL }, { STATE, GOT_SOME, NULL },
    { CANCEL, GOT_OK, NULL }, { CANCEL, GOT_EINVAL, NULL }, { CANCEL, GOT_EALREADY, NULL },
    { TAKE, GOT_OK, NULL }, { TAKE, GOT_EINPROGRESS, NULL }, { TAKE, GOT_EINVAL, NULL },
    { TAKE, GOT_E2BIG, NULL }, { TAKE, GOT_ECANCELED, NULL },
    { TAKE, GOT_ENOBUFS, NULL }, { TAKE, GOT_CLOSED, NULL },
    { CLAIM, GOT_OK, NULL }, { CLAIM, GOT_EAGAIN, NULL }, { CLAIM, GOT_EINVAL, NULL },
    { CLAIM, GOT_E2BIG, NULL }, { CLAIM, GOT_CLOSED, NULL },
    { CLAIM, GOT_EBUSY, "scenarios claim into an empty guard; api/fairsem/t_ticket.c has a full one" },
    { RETURN, GOT_OK, NULL },
    { WATCH, GOT_OK, NULL }, { WATCH, GOT_ETIMEDOUT, NULL }, { WATCH, GOT_TOKEN, NULL },
    { WATCH, GOT_E2BIG, NULL }, { WATCH, GOT_CLOSED, NULL }, { WATCH, GOT_ECANCELED, NULL },
    { WATCH, GOT_EINVAL, NULL }, { WATCH, GOT_EINTR, NULL }, { WATCH, GOT_PTHREAD_CANCEL, NULL },
};
enum { PROMISES = sizeof promise / sizeof promise[0] };

static long sum(enum verb verb, enum result result)
{
    long all = 0;

    for (int variant = 0; variant < VARIANTS; variant++) {
        for (int state = 0; state < STATES; state++)
            all += seen[verb][variant][state][result];
    }
    return all;
}

static void print_seen(enum verb verb, int variant)
{
    static const char *const with[VARIANTS] = { "", " token", " calls" };

    for (int state = 0; state < STATES; state++) {
        bool any = false;

        for (int result = 0; result < RESULTS; result++) {
            long count = seen[verb][variant][state][result];

            if (count == 0)
                continue;
            if (!any)
                printf("%-9s%-7s%-18s", verb_name[verb], with[variant], state_name[state]);
            printf(" %s:%ld", result_name[result], count);
            any = true;
        }
        if (any)
            printf("\n");
    }
}

/* Print the states in which the operation has begun, but never had this result. */
static void print_states_without(const struct promise *one)
{
    printf("%-9s %-15s", verb_name[one->verb], result_name[one->result]);
    for (int state = 0; state < STATES; state++) {
        long here = 0, any = 0;

        for (int variant = 0; variant < VARIANTS; variant++) {
            here += seen[one->verb][variant][state][one->result];
            for (int result = 0; result < RESULTS; result++)
                any += seen[one->verb][variant][state][result];
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

bool print_promises(void)
{
    bool all = true;

    printf("What each operation returned, by the state it found\n\n");
    for (int verb = 0; verb < VERBS; verb++) {
        for (int variant = 0; variant < VARIANTS; variant++)
            print_seen((enum verb)verb, variant);
    }
    printf("\nResults that the header lists, and the states in which they never came\n\n");
    for (int i = 0; i < PROMISES; i++)
        print_states_without(&promise[i]);
    print_never_met();
    printf("\nResults that the header lists and that never came at all\n\n");
    for (int i = 0; i < PROMISES; i++) {
        const struct promise *one = &promise[i];

        if (sum(one->verb, one->result) != 0)
            continue;
        printf("%-9s %-15s %s\n", verb_name[one->verb], result_name[one->result],
               one->why_not != NULL ? one->why_not : "MISSING");
        all = all && one->why_not != NULL;
    }
    return all;
}
