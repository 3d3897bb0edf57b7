/* SPDX-License-Identifier: MIT */
/* json.h - the status as JSON, one line for all names. */
#ifndef LIMIT_JSON_H
#define LIMIT_JSON_H

#include "shown.h"

#include <stdio.h>

void json_begin(FILE *file);
void json_name(FILE *file, const struct shown_name *name, bool first);
void json_end(FILE *file);

/*
 * A string: valid UTF-8 stays, except control characters; each other byte becomes U+FFFD, which
 * means just that.
 */
void json_string(FILE *file, const char *text, size_t length);

#endif
