/* SPDX-License-Identifier: MIT */
/* program.h - a program, before it runs: will the loader preload into it? */
#ifndef FS_PROGRAM_H
#define FS_PROGRAM_H

#include <stdbool.h>

/* The reason why the loader would start it without the module; NULL: it preloads the module. */
const char *program_not_interposable(const char *path);

/*
 * The shared library of the sanitizer that the program is linked with; the caller frees the name;
 * NULL: none.  It must be preloaded first: then it sees the calls of the program, and this module
 * sees those of the sanitizer.
 */
char *program_sanitizer(const char *path);

/* Is it linked with libfairsem.a?  The loader does not know that. */
bool program_has_archive(const char *path);

#endif
