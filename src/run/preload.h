/* SPDX-License-Identifier: MIT */
/*
 * preload.h - the interposer, as the module that the loader preloads into a program.
 *
 * If the loader cannot preload a module, it prints a warning at most, and runs the program without the
 * module, with unfair semaphores.  So fairsem-run first tries whether the module can be loaded.
 */
#ifndef FS_PRELOAD_H
#define FS_PRELOAD_H

#include <stdbool.h>

/* Check that the module can be preloaded.  Returns its path, or NULL with a message. */
const char *preload_module(void);

/*
 * Preload the module into the program that this process will execute, after `first` (may be NULL) and the
 * modules that LD_PRELOAD already lists.  A module in that list that replaces sigaction() then sees the
 * handlers of the program; after this module it would see the same trampoline for all of them.
 */
bool preload_set(const char *first, const char *module);

/* fairsem-run --check: is the module active in a new program?  Returns the exit status. */
int preload_check(const char *module);

/* The part of preload_check() that runs in that new program. */
#define PRELOAD_IS_ACTIVE "--is-it-active"
int preload_is_active(void);

#endif
