/* SPDX-License-Identifier: MIT */
/*
 * coverage.c - checks what the scenarios that have run cover.
 *
 * Each operation must have had each result that include/fairsem.h lists for the operation; verbs.h has the
 * exceptions, with the reason why no scenario can have this result.  Any two operations that change something
 * must meet in a scenario of the table.
 */
#include "oracles.h"

/* ---- Results ---- */

/* Outside of struct run: these numbers are not a part of a state. */
static long seen[VERBS][RESULTS];

static const struct { const char *name; int number; } kinds[RESULTS] = {
    [GOT_OK] = { "0", 0 }, [GOT_SOME] = { "some", 0 },
    [GOT_TOKEN] = { "token's-reason", 0 }, [GOT_CLOSED] = { "close-reason", 0 },
    [GOT_PTHREAD_CANCEL] = { "pthread_cancel", 0 }, [GOT_NEVER] = { "waits-for-ever", 0 },
#define KIND(name) [GOT_##name] = { #name, name }
    KIND(EINPROGRESS), KIND(EINVAL), KIND(E2BIG), KIND(ENOBUFS), KIND(EAGAIN), KIND(ETIMEDOUT),
    KIND(EINTR), KIND(EOVERFLOW), KIND(EALREADY), KIND(EBUSY), KIND(ECANCELED),
#undef KIND
};

/* Call the library, without a stop of the running thread. */
static int token_reason(void)
{
    struct thread *me = self;
    int reason;

    self = NULL;
    reason = fairsem_token_reason(&the_token);
    self = me;
    return reason;
}

static bool is_close_reason(int64_t result)
{
    for (int i = 0; i < sems_count; i++) {
        if (!run.sem_dead[i] && *(const volatile int *)&sem_inside(i)->closed == result)
            return true;
    }
    return false;
}

static enum result kind_of_result(const struct op *op, int64_t result)
{
    if (result == 0)
        return GOT_OK;
    if (verbs[op->verb].inspects || verbs[op->verb].units == TAKES_SOME)
        return GOT_SOME;
    if (result == RESULT_CANCELED)
        return GOT_PTHREAD_CANCEL;
    if (op->token && result == token_reason())
        return GOT_TOKEN;
    if (is_close_reason(result))
        return GOT_CLOSED;
    for (int kind = 0; kind < RESULTS; kind++) {
        if (kinds[kind].number != 0 && kinds[kind].number == result)
            return (enum result)kind;
    }
    return GOT_CLOSED;
}

void coverage_result(const struct op *op, int64_t result)
{
    seen[op->verb][kind_of_result(op, result)]++;
}

static bool all_results(void)
{
    bool all = true;

    printf("\nresults that fairsem.h lists, and that no schedule has had:\n");
    for (int verb = 0; verb < VERBS; verb++) {
        for (int kind = 0; kind < RESULTS; kind++) {
            bool never = (verbs[verb].never >> kind & 1) != 0;

            if ((verbs[verb].returns >> kind & 1) == 0 || seen[verb][kind] != 0)
                continue;
            printf("    %-9s %-15s %s\n", verbs[verb].word, kinds[kind].name,
                   never ? verbs[verb].why_never : "MISSING");
            all = all && never;
        }
    }
    return all;
}

/* ---- Pairs of operations ---- */

/* The verb as which an operation counts, or NO_VERB if it changes no semaphore. */
static enum verb kind_of(enum verb verb)
{
    const struct verb_row *row = &verbs[verb];

    if (verb != KILL && (row->returns == 0 || row->inspects || verb == CLAIM || verb == WATCH))
        return NO_VERB;
    return row->counts_as != NO_VERB ? row->counts_as : verb;
}

static uint64_t kinds_of_thread(int i)
{
    uint64_t set = script_cancelable[i] ? UINT64_C(1) << KILL : 0;

    for (int k = 0; k < ops_count[i]; k++)
        set |= UINT64_C(1) << kind_of(script[i][k].verb);
    return set;
}

static uint64_t met[VERBS];     /* for each verb, the set of verbs that it meets */

/* An operation meets the operations of other threads; destroy also meets operations of its own thread. */
static void note_pairs(void)
{
    for (int i = 0; i < threads_count; i++) {
        for (int k = 0; k < threads_count; k++) {
            uint64_t mine = kinds_of_thread(i), others = kinds_of_thread(k);

            for (int verb = 0; verb < VERBS; verb++) {
                if ((mine >> verb & 1) == 0)
                    continue;
                met[verb] |= i != k || verb == DESTROY ? others : others & UINT64_C(1) << DESTROY;
            }
        }
    }
}

static bool all_pairs(void)
{
    int pairs = 0, never = 0;

    for (int n = 0; n < scenarios_count; n++) {
        if (script_read(&scenarios[n]))
            note_pairs();
    }
    for (int a = NO_VERB + 1; a < VERBS; a++) {
        for (int b = NO_VERB + 1; b < a; b++) {
            if (kind_of((enum verb)a) != (enum verb)a || kind_of((enum verb)b) != (enum verb)b)
                continue;
            pairs++;
            if ((met[a] >> b & 1) != 0)
                continue;
            never++;
            printf("%s and %s meet in no scenario: MISSING\n", verbs[a].word, verbs[b].word);
        }
    }
    printf("\n%d pairs of operations meet in some scenario, %d in none\n", pairs - never, never);
    return never == 0;
}

bool coverage_is_complete(void)
{
    bool results = all_results();

    return all_pairs() && results;
}
