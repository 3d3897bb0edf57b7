/* SPDX-License-Identifier: MIT */
/* arguments.h - numbers on the command line.  Each prints a message and returns false if the text
 * is wrong. */
#ifndef LIMIT_ARGUMENTS_H
#define LIMIT_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* `what` is for the message. */
bool read_integer(const char *text, int64_t least, int64_t most, const char *what, int64_t *value);

/* As sleep(1) has it: "10", "0.5", "5m", "2h". */
bool read_duration(const char *text, const char *what, int64_t *ns);

/* Permissions of a file, octal; those of the owner must be among them. */
bool read_mode(const char *text, mode_t *mode);

#endif
