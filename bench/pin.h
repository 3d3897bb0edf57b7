/* SPDX-License-Identifier: MIT */
/* pin.h - tie the calling thread to one core, where the system can do that. */
#ifndef BENCH_PIN_H
#define BENCH_PIN_H

#include <stdbool.h>

/* The number of cores this process may use, at least 1. */
int pin_cores(void);

/* True if threads can be pinned here. */
bool pin_possible(void);

/*
 * Tie the calling thread to the nth core it may use, counted from 0; beyond the last
 * one counting starts again.  False if nothing was changed.
 */
bool pin_self(int nth);

#endif /* BENCH_PIN_H */
