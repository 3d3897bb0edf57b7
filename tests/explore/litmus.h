/* SPDX-License-Identifier: MIT */
/* litmus.h - what the table of litmus tests (litmus_tests.c) and who runs them (litmus.c) share. */
#ifndef XP_LITMUS_H
#define XP_LITMUS_H

#include <stdbool.h>

struct litmus_test {
    const char *name, *threads, *outcomes;
    bool        last_values;    /* are a part of the outcomes */
    bool        race;           /* there must be one, and the outcomes do not count */
};

extern const struct litmus_test litmus_test[];
extern const int litmus_tests_count;

#endif
