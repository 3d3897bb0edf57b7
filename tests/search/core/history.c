/* SPDX-License-Identifier: MIT */
/*
 * history.c - is there an order in which the sequential model gives these results?
 *
 * (Linearizability, checked as by Wing and Gong.)  In the model a call may make its first step when all calls
 * that had returned before the call began are over.  A run is explained if some order of steps ends all calls.
 * Most runs of a scenario have the history of an earlier run, so explained histories are recorded, and not
 * checked again.
 */
#include "model.h"

#include <string.h>

static int known_count;     /* histories that have been explained */

void history_forget(void)
{
    known_count = 0;
}

int history_count(void)
{
    return known_count;
}

static bool may_begin(const struct model *m, int i)
{
    for (int k = 0; k < places; k++) {
        if (returned_before(place[k], i) && m->phase[place[k]] != OVER)
            return false;
    }
    return true;
}

/* An `after` needs no reason in the model to wait for ever. */
static bool waits_for_ever(const struct model *m, int i)
{
    return run.call[i].phase == CALLED && run.call[i].result == RESULT_NEVER
           && (m->phase[i] == WAITS || op_of(i)->verb == AFTER);
}

static bool explained(const struct model *m)
{
    bool all_over = true;

    for (int k = 0; k < places; k++) {
        int i = place[k];

        if (run.call[i].phase == NOT_YET || m->phase[i] == OVER)
            continue;
        all_over = all_over && waits_for_ever(m, i);
        if (m->phase[i] == BEFORE && !may_begin(m, i))
            continue;
        for (int way = 0; way < MODEL_WAYS; way++) {
            struct model next = *m;

            if (model_step(&next, i, way) && explained(&next))
                return true;
        }
    }
    return all_over && model_ends_well(m);
}

static uint64_t hash_history(void)
{
    uint64_t hash = mix(2, run.acts, sizeof run.acts);

    for (int k = 0; k < places; k++) {
        const struct call *call = &run.call[place[k]];
        const int64_t of[] = { call->phase, call->result, (int64_t)call->after, call->n };

        hash = mix(hash, of, sizeof of);
    }
    for (int i = 0; i < sems_count; i++) {
        int64_t number[END_NUMBERS];

        model_end_of(i, number);
        hash = mix(hash, number, sizeof number);
    }
    return hash;
}

static size_t results_in_words(char *text, size_t size)
{
    size_t length = 0;

    for (int k = 0; k < places; k++) {
        char words[100];
        int i = place[k];

        if (run.call[i].phase == NOT_YET)
            continue;
        length += (size_t)snprintf(text + length, size - length, "%sT%d %s = %lld",
                                   length > 0 ? "; " : "", i / OPS_MAX,
                                   op_words(op_of(i), words,
                                            sizeof words),
                                   (long long)run.call[i].result);
        if (length >= size)
            return size;
    }
    for (int i = 0; i < sems_count; i++) {
        if (!run.sem_dead[i] && length < size)
            length += (size_t)snprintf(text + length, size - length, "; at the end %lld",
                                       (long long)fairsem_available(&sems[i]));
    }
    return length;
}

void history_check(void)
{
    struct model m;
    char text[700] = "";

    if (states_seen(hash_history(), 0))
        return;
    known_count++;
    model_init(&m);
    if (!explained(&m)) {
        results_in_words(text, sizeof text);
        fail("linearizability", "no order explains the results: %s", text);
    }
}
