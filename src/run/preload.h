/* SPDX-License-Identifier: MIT */
/* preload.h - find and check the module (the interposer), and make the loader preload it into a program. */
#ifndef FS_PRELOAD_H
#define FS_PRELOAD_H

#include <stdbool.h>

/* Check that the module can be preloaded.  Returns its path, or NULL with a message. */
const char *preload_module(void);

/*
 * Set LD_PRELOAD for the program that this process will execute: `first` (may be NULL), the modules that
 * are already listed, our module.  Our module is the last: a module behind ours that replaces sigaction()
 * would see our trampoline instead of the handlers of the program.
 */
bool preload_set(const char *first, const char *module);

/* fairsem-run --check: is the module active in a new program?  Returns the exit status. */
int preload_check(const char *module);

/* The part of preload_check() that runs in the new program. */
#define PRELOAD_IS_ACTIVE "--is-it-active"
int preload_is_active(void);

#endif
