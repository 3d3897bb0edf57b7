/* SPDX-License-Identifier: MIT */
/* litmus.h - the litmus tests: litmus_tests.c has the table, litmus.c runs them. */
#ifndef XP_LITMUS_H
#define XP_LITMUS_H

#include <stdbool.h>

struct litmus_test {
    const char *name, *threads, *outcomes;
    bool        last_values;    /* are a part of the outcomes */
    bool        race;           /* there must be one; the outcomes are not compared */
};

extern const struct litmus_test litmus_test[];
extern const int litmus_tests_count;

#endif
