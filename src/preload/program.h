/* SPDX-License-Identifier: MIT */
/* program.h - a program: find it, check that the loader will preload into it, execute it. */
#ifndef FS_PROGRAM_H
#define FS_PROGRAM_H

#include <stdbool.h>

/* The path of the file that execvp(3) would run, which the caller frees; or NULL and errno. */
char *program_find(const char *name);

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

/* Execute it in place of this process.  If that fails, complain and return the exit status. */
int program_become(const char *path, char **argv);

#endif
