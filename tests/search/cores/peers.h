/* SPDX-License-Identifier: MIT */
/* peers.h - other semaphores on the simulated primitives, for comparison. */
#ifndef CORES_PEERS_H
#define CORES_PEERS_H

#include <stdint.h>

/* The algorithm of glibc's sem_t, which is fast and has no order of waiters. */
void posix_init(int units);
void posix_wait(void);
void posix_post(void);

/* The ticket semaphore of bench/array_sem.h.  A waiter stays awake for `patience_ns`, and then sleeps. */
void array_init(int units, int64_t patience_ns);
void array_wait(void);
void array_post(void);

#endif
