/* SPDX-License-Identifier: MIT */
/*
 * tidy.h - names that nobody has used for a day go away.
 *
 * The time of the last use is that of the file, which each command sets at its begin and its end.
 * It says only which names to try: a name is removed as by --remove, which first takes all units.
 * So a clock that jumps, or a command that runs for days, costs no name that is in use.
 *
 * --keep sets the file's sticky bit, which has no other meaning for a file.  Unlike a time in the
 * future it outlasts the next use, and `ls -l` shows it.
 */
#ifndef LIMIT_TIDY_H
#define LIMIT_TIDY_H

#include <stdbool.h>

/* Remove this user's names.  A child does it, if there are any; `wait` for it, or do not. */
void tidy_names(bool wait);

/* The directory is full: remove all that nobody uses, however new, except those with --keep. */
void tidy_make_room(void);

/* The name is used now. */
void tidy_touch(const char *segment);

/* Do not remove it.  Returns an errno value. */
int tidy_keep(const char *segment);

#endif
