/* SPDX-License-Identifier: MIT */
/* stats_run.h - fairsem-run --stats: run a program, then report its waits. */
#ifndef FS_STATS_RUN_H
#define FS_STATS_RUN_H

#include "command.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Run the program with the module, which LD_PRELOAD already lists.  Print the statistics to the file, or to
 * stderr if file_name is NULL.  Returns the exit status, or dies by the signal that killed the program.
 * bypass_ns: the time of --bypass, or 0.  only_count: measure the semaphores of libc (--libc).
 */
int stats_run(struct command *command, const char *file_name, int64_t bypass_ns, bool only_count);

#endif
