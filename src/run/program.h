/* SPDX-License-Identifier: MIT */
/* program.h - a program, before it runs: will the loader preload into it? */
#ifndef FS_PROGRAM_H
#define FS_PROGRAM_H

#include <stdbool.h>

/* Returns the reason why the loader would not preload the module into this program, or NULL if it would. */
const char *program_not_interposable(const char *path);

/*
 * Returns the name of the sanitizer's shared library with which the program is linked, or NULL.  The caller
 * frees the name.  Preload this library before our module: then the library sees the calls of the program,
 * and our module sees the calls of the library.
 */
char *program_sanitizer(const char *path);

/* Is the program linked with libfairsem.a? */
bool program_has_archive(const char *path);

#endif
