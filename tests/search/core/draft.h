/* SPDX-License-Identifier: MIT */
/*
 * draft.h - a scenario that can be changed: what generate.c composes and minimize.c reduces.
 *
 * It has all that script.c reads from a scenario, as one value.  draft_read() and draft_put() go
 * from and to the script; only a legal program is put (draft.c).
 */
#ifndef XP_DRAFT_H
#define XP_DRAFT_H

#include "explorer.h"

struct draft {
    struct scenario what;       /* its name and threads are not used */
    char      handler[60];
    int       threads;
    int       ops[THREADS];
    struct op op[THREADS][OPS_MAX];
    bool      cancelable[THREADS];
    struct op callback[CALLBACKS_MAX][CALLBACK_OPS];
    int       callback_ops[CALLBACKS_MAX], callbacks;
};

bool draft_read(struct draft *draft, const struct scenario *what);
bool draft_legal(const struct draft *draft);

/* Returns the scenario, which the next call overwrites; NULL if it is not legal, or too long. */
const struct scenario *draft_put(const struct draft *draft, const char *name);

#endif
