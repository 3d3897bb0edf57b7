/* SPDX-License-Identifier: MIT */
/*
 * history.c - is there an order in which the sequential model gives these results?
 *
 * (Linearizability, as Wing and Gong check it.)  A call may take its first step when all calls
 * that had returned before it began are over, and a run is explained if all calls come to be
 * over.  Most runs of a scenario have a history that another has had: these are remembered.
 */
#include "model.h"

#include <string.h>

enum { KNOWN = 1 << 16 };
static uint64_t known[KNOWN];   /* hashes of histories that have been explained */
static int known_count;

void history_forget(void)
{
    memset(known, 0, sizeof known);
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

/* Does it wait for ever, in the run and in the model?  `after` need not, for what does not come. */
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

static uint64_t mix_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Of what the model is compared with: results, their order, and what the semaphores are at last. */
static uint64_t hash_history(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (int k = 0; k < places; k++) {
        const struct call *call = &run.call[place[k]];

        hash = mix_word(hash, (uint64_t)call->phase);
        hash = mix_word(hash, (uint64_t)call->result);
        hash = mix_word(hash, call->after);
        hash = mix_word(hash, (uint64_t)call->n);
    }
    for (int t = 0; t < threads_count; t++) {
        for (int k = 0; k < run.acted[t]; k++)
            hash = mix_word(hash, run.acts[t][k]);
    }
    for (int i = 0; i < sems_count; i++) {
        int64_t number[END_NUMBERS];

        model_end_of(i, number);
        for (int k = 0; k < END_NUMBERS; k++)
            hash = mix_word(hash, (uint64_t)number[k]);
    }
    return hash | 1;
}

/* Is it known?  From now on it is. */
static bool is_known(uint64_t hash)
{
    size_t at = hash >> 40;

    for (at %= KNOWN; known[at] != 0; at = (at + 1) % KNOWN) {
        if (known[at] == hash)
            return true;
    }
    if (known_count++ >= KNOWN / 2)
        history_forget();
    else
        known[at] = hash;
    return false;
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
                                   op_words(&script[i / OPS_MAX][i % OPS_MAX], words,
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

    if (is_known(hash_history()))
        return;
    model_init(&m);
    if (!explained(&m)) {
        results_in_words(text, sizeof text);
        fail("linearizability", "no order explains the results: %s", text);
    }
}
