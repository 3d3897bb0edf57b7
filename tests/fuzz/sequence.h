/* SPDX-License-Identifier: MIT */
/* sequence.h - bytes as a sequence of steps, run on the library and on its model. */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

/* All of it, from new semaphores to their end.  A difference is a finding(). */
void sequence_run(const uint8_t *data, size_t size);

/* The next one, in whatever the running thread is in the middle of. */
void sequence_step(void);

/* fairsem_close, as a step. */
void sequence_close(int sem);

#endif
