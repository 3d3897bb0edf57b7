/* SPDX-License-Identifier: MIT */
/* peers.h - other semaphores on the simulated primitives, to compare fairsem with. */
#ifndef CORES_PEERS_H
#define CORES_PEERS_H

#include <stdint.h>

/* glibc's sem_t: fast, and the order of its waiters is by chance. */
void posix_init(int units);
void posix_wait(void);
void posix_post(void);

/*
 * A ticket semaphore with a waiting array (after "Semaphores Augmented with a Waiting Array", Dice and
 * Kogan, 2025): first come, first served, and neither priorities, weights nor time-outs.  A waiter is awake
 * for `patience_ns`, then sleeps.
 */
void array_init(int units, int64_t patience_ns);
void array_wait(void);
void array_post(void);

#endif
