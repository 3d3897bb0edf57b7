/* SPDX-License-Identifier: MIT */
/* duration.h - durations as people write them, "0.5s", and as they read them, "4 min 12 s". */
#ifndef RUN_DURATION_H
#define RUN_DURATION_H

#include <stdint.h>
#include <time.h>

struct duration_unit {
    const char *name;           /* NULL at the end of a list */
    double      ns;
};

/* Parse a number (at least 0) and the name of a unit, without a space.  Returns nanoseconds, or -1. */
double duration_read(const char *text, const struct duration_unit *units);

/* Returns the nanoseconds since this time of CLOCK_MONOTONIC. */
int64_t duration_since(const struct timespec *began);

/* Returns the time of CLOCK_MONOTONIC that is `ns` from now. */
struct timespec duration_in_future(int64_t ns);

enum { DURATION_SIZE = 40 };

/* Write a duration as "12 s", "4 min 12 s" or "3 h 5 min".  Returns `text`. */
const char *duration_text(int64_t ns, char text[DURATION_SIZE]);

#endif
