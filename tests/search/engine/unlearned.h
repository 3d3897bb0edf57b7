/* SPDX-License-Identifier: MIT */
/*
 * unlearned.h - replacements of the functions of src/awake/awake.c that learn: they do nothing.  For a program
 * that decides by itself which waiters stay awake.
 */
#ifndef ENGINE_UNLEARNED_H
#define ENGINE_UNLEARNED_H

#include "awake/awake.h"

void fs_awake_learn_interval(struct fs_awake *awake, int64_t interval_ns)
{
    (void)awake;
    (void)interval_ns;
}

void fs_awake_learn(struct fs_awake *awake, bool as_front, int64_t front_ns, int core)
{
    (void)awake;
    (void)as_front;
    (void)front_ns;
    (void)core;
}

void fs_awake_learn_timed_out(struct fs_awake *awake, bool as_front, int64_t front_ns)
{
    (void)awake;
    (void)as_front;
    (void)front_ns;
}

void fs_awake_preempted(const struct fs_awake *awake, bool as_front, bool others_wait, int64_t front_ns,
                   int64_t now_ns)
{
    (void)awake;
    (void)as_front;
    (void)others_wait;
    (void)front_ns;
    (void)now_ns;
}

void fs_awake_note_wake_up(int64_t woken_ns)
{
    (void)woken_ns;
}

#endif
