/* SPDX-License-Identifier: MIT */
/*
 * restless.h - threads whose sleeps end at once, so that they see a new state of their wait before anybody
 * wakes them.
 *
 * Include this file in one file of a program, and link the program with $(restless_wraps).
 */
#ifndef RESTLESS_H
#define RESTLESS_H

#include "moment.h"

#include "system/parking.h"

#include <stdbool.h>

static _Thread_local bool restless;     /* set by a thread whose sleeps must end at once */

void __real_fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline);
void __wrap_fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline);
void __wrap_fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline)
{
    if (restless)
        moment();
    else
        __real_fs_park_on_cond(self, deadline);
}

bool __real_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline);
bool __wrap_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline);
bool __wrap_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline)
{
    if (!restless)
        return __real_fs_park_on_word(word, value, deadline);
    moment();
    return false;
}

#endif
