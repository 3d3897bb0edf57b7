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
    for (int before = 0; before < CALLS; before++) {
        if ((run.call[i].after >> before & 1) != 0 && m->phase[before] != OVER)
            return false;
    }
    return true;
}

static bool explained(const struct model *m)
{
    bool all_over = true;

    for (int i = 0; i < CALLS; i++) {
        if (run.call[i].phase == NOT_YET || m->phase[i] == OVER)
            continue;
        all_over = false;
        if (m->phase[i] == BEFORE && !may_begin(m, i))
            continue;
        for (int way = 0; way < MODEL_WAYS; way++) {
            struct model next = *m;

            if (model_step(&next, i, way) && explained(&next))
                return true;
        }
    }
    return all_over;
}

static uint64_t hash_history(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (int i = 0; i < CALLS; i++) {
        const uint64_t word[] = { (uint64_t)run.call[i].phase, (uint64_t)run.call[i].result,
                                  run.call[i].after, (uint64_t)run.call[i].n };

        for (size_t k = 0; k < sizeof word / sizeof word[0]; k++) {
            hash = (hash ^ word[k]) * UINT64_C(0x9e3779b97f4a7c15);
            hash ^= hash >> 29;
        }
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

    for (int i = 0; i < CALLS; i++) {
        char words[60];

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
