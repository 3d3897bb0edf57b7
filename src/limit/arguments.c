/* SPDX-License-Identifier: MIT */
/* arguments.c - see arguments.h. */
#include "arguments.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define MOST_SECONDS 1e9

bool read_integer(const char *text, int64_t least, int64_t most, const char *what, int64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoimax(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && *value >= least && *value <= most)
        return true;
    warnx("%s: '%s' is no whole number from %" PRId64 " to %" PRId64, what, text, least, most);
    return false;
}

/* How many seconds the suffix stands for; 0: it is none. */
static double suffix_seconds(const char *suffix)
{
    if (suffix[0] != '\0' && suffix[1] != '\0')
        return 0;
    switch (suffix[0]) {
    case '\0':
    case 's': return 1;
    case 'm': return 60;
    case 'h': return 3600;
    case 'd': return 86400;
    default:  return 0;
    }
}

bool read_duration(const char *text, const char *what, int64_t *ns)
{
    char *end;
    double seconds = strtod(text, &end), unit = suffix_seconds(end);

    if (end == text || unit == 0 || isnan(seconds) || seconds < 0) {
        warnx("%s: '%s' is no number of seconds, nor one such as 5m, 2h or 1d", what, text);
        return false;
    }
    seconds *= unit;
    *ns = (int64_t)((seconds < MOST_SECONDS ? seconds : MOST_SECONDS) * 1e9);
    return true;
}

bool read_mode(const char *text, mode_t *mode)
{
    char *end;
    unsigned long value = strtoul(text, &end, 8);

    if (end == text || *end != '\0' || value > 0777 || (value & 0600) != 0600) {
        warnx("--global: '%s' is no mode such as 660 or 666", text);
        return false;
    }
    *mode = (mode_t)value;
    return true;
}
