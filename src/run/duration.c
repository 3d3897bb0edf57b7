/* SPDX-License-Identifier: MIT */
/* duration.c - see duration.h. */
#include "duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double duration_read(const char *text, const struct duration_unit *units)
{
    char *end;
    double number = strtod(text, &end);

    while (units->name != NULL && strcmp(end, units->name) != 0)
        units++;
    /* The comparison "number >= 0" also rejects NaN. */
    return end != text && units->name != NULL && number >= 0 ? number * units->ns : -1;
}

int64_t duration_since(const struct timespec *began)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - began->tv_sec) * INT64_C(1000000000) + now.tv_nsec - began->tv_nsec;
}

const char *duration_text(int64_t ns, char text[DURATION_SIZE])
{
    static const struct { int64_t seconds; const char *name; } units[] = {
        { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" },
    };
    int64_t seconds = ns > 0 ? ns / 1000000000 : 0;
    int i = 0;

    while (i < 3 && seconds < units[i].seconds)
        i++;
    if (i == 3)
        snprintf(text, DURATION_SIZE, "%" PRId64 " s", seconds);
    else
        snprintf(text, DURATION_SIZE, "%" PRId64 " %s %" PRId64 " %s", seconds / units[i].seconds,
                 units[i].name, seconds % units[i].seconds / units[i + 1].seconds,
                 units[i + 1].name);
    return text;
}

struct timespec duration_in_future(int64_t ns)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    ns += at.tv_nsec;
    at.tv_sec += (time_t)(ns / 1000000000);
    at.tv_nsec = (long)(ns % 1000000000);
    return at;
}
