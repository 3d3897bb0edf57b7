/* SPDX-License-Identifier: MIT */
/* program.h - a program: find it, check that the loader will preload into it, execute it. */
#ifndef FS_PROGRAM_H
#define FS_PROGRAM_H

/* The path of the file that execvp(3) would run, which the caller frees; or NULL and errno. */
char *program_find(const char *name);

/* The reason why the loader would start it without the module; NULL: it would not. */
const char *program_not_interposable(const char *path);

/*
 * Which runtime of a sanitizer is the program linked with, as a shared library?  It wants to be in
 * front of everything that is preloaded: then it sees the calls of the program, and we see its own.
 * Returns the library's name, which the caller frees; NULL: none.
 */
char *program_sanitizer(const char *path);

/* Execute it in place of this process.  If that fails, complain and return the exit status. */
int program_become(const char *path, char **argv);

#endif
