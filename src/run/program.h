/* SPDX-License-Identifier: MIT */
/* program.h - a program, before it runs: will the loader preload into it? */
#ifndef FS_PROGRAM_H
#define FS_PROGRAM_H

#include <stdbool.h>

/* Returns the reason why the loader would not preload the module, or NULL if it preloads it. */
const char *program_not_interposable(const char *path);

/*
 * Returns the name of the sanitizer's shared library that the program is linked with, for free(), or NULL.
 * That library must be preloaded first, so that it sees the calls of the program, and this module
 * sees those of the sanitizer.
 */
char *program_sanitizer(const char *path);

/* Is the program linked with libfairsem.a?  The loader does not know that. */
bool program_has_archive(const char *path);

#endif
