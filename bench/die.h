/* SPDX-License-Identifier: MIT */
/* die.h - end a run that cannot go on. */
#ifndef BENCH_DIE_H
#define BENCH_DIE_H

#include <stdnoreturn.h>

/* The system has failed: print what, and exit.  err: an errno value, or 0. */
noreturn void die(const char *what, int err);

#endif /* BENCH_DIE_H */
