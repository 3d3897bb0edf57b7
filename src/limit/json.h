/* SPDX-License-Identifier: MIT */
/* json.h - the status as JSON, one line for all names. */
#ifndef LIMIT_JSON_H
#define LIMIT_JSON_H

#include <fairsem/shared.h>
#include <stddef.h>
#include <stdio.h>

/* One name, now. */
struct name_status {
    const char                  *name;
    bool                         global;
    fairsem_shared_stat_t        stat;
    int                          count;
    const fairsem_shared_user_t *users;     /* who runs, then who waits, in order */
};

void json_begin(FILE *file);
void json_name(FILE *file, const struct name_status *name, bool first);
void json_end(FILE *file);

/*
 * A string: valid UTF-8 stays, except control characters; each other byte becomes U+FFFD, which
 * means just that.
 */
void json_string(FILE *file, const char *text, size_t length);

#endif
