/* SPDX-License-Identifier: MIT */
/* memory.h - how much memory this process has. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

/* Resident, in KiB; 0 where the system does not say. */
int64_t resident_kib(void);

#endif
