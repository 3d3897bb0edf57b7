/* SPDX-License-Identifier: MIT */
/* json.h - the status as JSON, one line for all names.  The names in C are not those of libjansson. */
#ifndef LIMIT_JSON_H
#define LIMIT_JSON_H

#include "shown.h"

#include <stdio.h>

void print_json_begin(FILE *file);
void print_json_name(FILE *file, const struct shown_name *name, bool first);
void print_json_end(FILE *file, const char *error);     /* "": there was none */

/*
 * A string: valid UTF-8 stays, except control characters; each other byte becomes U+FFFD, which
 * means just that.
 */
void print_json_string(FILE *file, const char *text, size_t length);

#endif
