/* SPDX-License-Identifier: MIT */
/* pin.h - pin the calling thread to one core, where the system can do that. */
#ifndef BENCH_PIN_H
#define BENCH_PIN_H

#include <stdbool.h>

/* The number of cores that this process may use, at least 1. */
int pin_cores(void);

bool pin_possible(void);

/*
 * Pin the calling thread to the nth core that this process may use, counted from 0 and modulo the number of
 * cores.  Returns false if nothing was changed.
 */
bool pin_self(int nth);

/* Let the calling thread run on all cores again. */
void pin_undo(void);

#endif /* BENCH_PIN_H */
