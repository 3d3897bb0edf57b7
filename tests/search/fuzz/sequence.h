/* SPDX-License-Identifier: MIT */
/* sequence.h - runs bytes as a sequence of steps, on the library and on its model. */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

/* Run all of it, from new semaphores to their end.  A difference is a finding(). */
void sequence_run(const uint8_t *data, size_t size);

#endif
