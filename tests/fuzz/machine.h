/* SPDX-License-Identifier: MIT */
/*
 * machine.h - what the library finds instead of the C library's clock and sleep (--wrap).
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>

extern bool machine_on;         /* a sequence runs; else all calls go where they always go */
extern int  machine_locks;      /* mutexes that are locked now */

bool machine_can_cancel(void);

/* The calls that are redirected: see tests/fuzz/local.mk and build.sh. */

#endif
