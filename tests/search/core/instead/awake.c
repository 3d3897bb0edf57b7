/* SPDX-License-Identifier: MIT */
/*
 * awake.c - replaces src/awake/awake.c in the explorer, with every possible policy.
 *
 * Each question is answered both yes and no.  The first answer is that of a library that has not learned
 * anything; the other answer counts as a preemption.  A thread that stays awake may give up at any moment.
 */
#include "../../engine/unlearned.h"

enum fs_prewake fs_awake_enqueued(const struct fs_awake *awake, const struct fs_awake_facts *facts,
                                  int core, enum fs_strategy *strategy)
{
    bool near = facts->is_front || (facts->waiting > 2 && !facts->only_front);
    bool stays = near != xp_answers_otherwise();

    (void)awake;
    (void)core;
    *strategy = !stays ? FS_SLEEP_AT_ONCE : facts->is_front ? FS_SPIN_AS_FRONT : FS_YIELD_IN_QUEUE;
    if (facts->only_front || facts->is_front)
        return FS_PREWAKE_NOBODY;
    return (facts->waiting > 2) != xp_answers_otherwise() ? FS_PREWAKE_ON_CORE : FS_PREWAKE_NOBODY;
}

/* A decision of the search, but one for the whole run. */
bool fs_awake_in_convoy(void)
{
    return xp_in_convoy();
}

int fs_awake_near(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns)
{
    (void)awake;
    (void)now_ns;
    return facts->only_front ? 0 : xp_answers_otherwise() ? 1 : 2;
}

enum fs_strategy fs_awake_strategy_near(const struct fs_awake *awake, const struct fs_awake_facts *facts)
{
    (void)awake;
    if (xp_answers_otherwise())
        return FS_SLEEP_AT_ONCE;
    return facts->is_front ? FS_SPIN_AS_FRONT : FS_YIELD_IN_QUEUE;
}

bool fs_awake_prewakes_front(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns)
{
    (void)awake;
    (void)now_ns;
    return !facts->only_front && (facts->waiting < 2) != xp_answers_otherwise();
}

bool fs_awake_before_queue(const _Atomic uint8_t *penalty, int64_t start_ns, int64_t now_ns)
{
    (void)penalty;
    (void)start_ns;
    (void)now_ns;
    return xp_answers_otherwise();
}

void fs_awake_learn_before_queue(_Atomic uint8_t *penalty, bool paid)
{
    (void)penalty;
    (void)paid;
}

/* Return when the word has changed, or when a pause has timed out, which moves the clock. */
bool fs_awake_stay(const _Atomic int *word, int value, const _Atomic uint8_t *strategy,
                   int64_t enqueued_ns, const struct fs_deadline *deadline)
{
    (void)strategy;
    (void)enqueued_ns;
    (void)deadline;
    for (int64_t start = fs_now_ns(); fs_now_ns() == start;) {
        if (atomic_load_explicit(word, memory_order_relaxed) != value)
            break;
        fs_cpu_pause();
    }
    return true;
}
