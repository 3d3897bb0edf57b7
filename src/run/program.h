/* SPDX-License-Identifier: MIT */
/* program.h - checks of a program's file before it runs: will the loader preload our module? */
#ifndef FS_PROGRAM_H
#define FS_PROGRAM_H

#include <stdbool.h>

/* Returns why the loader would not preload the module into this program, or NULL if no reason is found. */
const char *program_not_interposable(const char *path);

/*
 * If the program is linked with the shared library of a sanitizer, returns the library's name, otherwise
 * NULL.  The caller frees the name.  Preload this library before our module: then the library sees the calls
 * of the program, and our module sees the calls of the library.
 */
char *program_sanitizer(const char *path);

/* Is the program linked with libfairsem.a? */
bool program_has_archive(const char *path);

#endif
