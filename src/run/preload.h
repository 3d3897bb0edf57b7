/* SPDX-License-Identifier: MIT */
/*
 * preload.h - the interposer, as the module that the loader preloads into a program.
 *
 * If the loader cannot preload a module, it prints a warning at most, and runs the program without
 * it, with unfair semaphores.  So fairsem-run tries the module first.
 */
#ifndef FS_PRELOAD_H
#define FS_PRELOAD_H

#include <stdbool.h>

/* Check that the module can be preloaded.  Returns its path, or NULL with a message. */
const char *preload_module(void);

/*
 * Preload the module into the program that this process will execute, after `first` (may be NULL) and the
 * modules that LD_PRELOAD already lists.  One of these that replaces sigaction() sees the handlers of the
 * program; if it came after this module, it would see one trampoline for all of them.
 */
bool preload_set(const char *first, const char *module);

/* fairsem-run --check: is the module active in a new program?  Returns the exit status. */
int preload_check(const char *module);

/* The part of preload_check that runs in that program. */
#define PRELOAD_IS_ACTIVE "--is-it-active"
int preload_is_active(void);

#endif
