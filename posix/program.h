/* SPDX-License-Identifier: MIT */
/* program.h - look at a program before it is run: will the loader preload into it? */
#ifndef FS_PROGRAM_H
#define FS_PROGRAM_H

/* The file that execvp(3) would run; NULL and errno.  The caller frees it. */
char *program_find(const char *name);

/* NULL, or why the loader would start it without the module. */
const char *program_not_interposable(const char *path);

#endif
