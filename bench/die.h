/* SPDX-License-Identifier: MIT */
/* die.h - end a run that cannot go on. */
#ifndef BENCH_DIE_H
#define BENCH_DIE_H

#include <pthread.h>
#include <stdnoreturn.h>

/* Print what has failed, and exit.  err: an errno value, or 0. */
noreturn void die(const char *what, int err);

/* Start a thread, or die. */
void start_thread(pthread_t *thread, void *(*run)(void *), void *arg);

#endif /* BENCH_DIE_H */
