/* SPDX-License-Identifier: MIT */
/*
 * preload.h - the interposer, as the module that the loader preloads into a program.
 *
 * If the loader cannot preload a module, it prints a warning at most and runs the program without
 * the module: unfairly.  So fairsem-run tries the module before.
 */
#ifndef FS_PRELOAD_H
#define FS_PRELOAD_H

#include <stdbool.h>

/* The path of the module, after a check that it can be preloaded; NULL: it cannot. */
const char *preload_module(void);

/*
 * Preload it into the program that this process executes, before modules that are there already,
 * and behind `first` (NULL: nothing).
 */
bool preload_set(const char *first, const char *module);

/* fairsem-run --check: find out whether it is active in a new program.  Returns the exit status. */
int preload_check(const char *module);

/* The part of preload_check that runs in that program. */
#define PRELOAD_IS_ACTIVE "--is-it-active"
int preload_is_active(void);

#endif
