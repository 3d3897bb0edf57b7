/* SPDX-License-Identifier: MIT */
/* reentrant.c - see reentrant.h. */
#include "reentrant.h"

#include "process.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "FAIRSEM_LIMIT_HELD"

enum { ANCESTORS_MAX = 1000 };

/* ---- The variable ---- */

/* Returns the next entry of a text, of *length bytes, or NULL. */
static const char *next_entry(const char *text, size_t *length)
{
    text += strspn(text, " ");
    *length = strcspn(text, " ");
    return *length > 0 ? text : NULL;
}

/* Returns the text after "SEGMENT=" if the entry is of this segment, or NULL. */
static const char *value_of(const char *entry, const char *segment)
{
    size_t length = strlen(segment);

    return strncmp(entry, segment, length) == 0 && entry[length] == '=' ? entry + length + 1 : NULL;
}

bool reentrant_announce(const char *segment, int64_t units, const char *more)
{
    const char *before = getenv(VARIABLE), *at;
    size_t length, size = strlen(segment) + strlen(more) + 50 + (before != NULL ? strlen(before) : 0);
    char *text = malloc(size);
    int used, error;

    if (text == NULL)
        return false;
    used = snprintf(text, size, "%s=%ld:%" PRId64 "%s", segment, (long)getpid(), units, more);
    for (at = before; at != NULL && (at = next_entry(at, &length)) != NULL; at += length) {
        if (value_of(at, segment) == NULL)
            used += snprintf(text + used, size - (size_t)used, " %.*s", (int)length, at);
    }
    error = setenv(VARIABLE, text, 1);
    free(text);
    return error == 0;
}

/* ---- Check an entry ---- */

static bool is_ancestor(long pid)
{
    long at = getppid();

    for (int i = 0; at > 0 && i < ANCESTORS_MAX; i++) {
        if (at == pid)
            return true;
        at = process_stat(at).parent;
    }
    return false;
}

long reentrant_holder(const char *segment, int64_t (*units_of)(void *arg, long pid, const char *rest), void *arg,
                      int64_t *units)
{
    const char *at = getenv(VARIABLE), *value;
    size_t length;

    for (; at != NULL && (at = next_entry(at, &length)) != NULL; at += length) {
        char *rest;
        long pid;

        value = value_of(at, segment);
        pid = value != NULL ? strtol(value, &rest, 10) : 0;
        if (pid <= 0 || (pid != getpid() && !is_ancestor(pid)))
            continue;
        *units = units_of(arg, pid, rest);
        if (*units > 0)
            return pid;
    }
    return 0;
}

bool reentrant_is_enough(const struct request *request, int64_t units)
{
    if (request->units <= units)
        return true;
    warnx("%s: the outer command has %" PRId64 " of the units, and this one requests %" PRId64,
          request->name, units, request->units);
    return false;
}
