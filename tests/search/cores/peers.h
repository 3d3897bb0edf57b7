/* SPDX-License-Identifier: MIT */
/* peers.h - other semaphores on the simulated primitives, to compare fairsem with. */
#ifndef CORES_PEERS_H
#define CORES_PEERS_H

#include <stdint.h>

/* glibc's sem_t: fast, and the order of its waiters is by chance. */
void posix_init(int units);
void posix_wait(void);
void posix_post(void);

/* The ticket semaphore with a waiting array of bench/array_sem.h: a waiter is awake for `patience_ns`, then sleeps. */
void array_init(int units, int64_t patience_ns);
void array_wait(void);
void array_post(void);

#endif
