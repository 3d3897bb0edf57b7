/* SPDX-License-Identifier: MIT */
/* arguments.c - see arguments.h. */
#include "arguments.h"

#include "run/duration.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define MOST_NS 1e18

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

bool read_duration(const char *text, const char *what, int64_t *ns)
{
    static const struct duration_unit units[] = {
        { "", 1e9 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 }, { NULL, 0 },
    };
    double duration = duration_read(text, units);

    if (duration < 0) {
        warnx("%s: '%s' is no number of seconds, nor one such as 5m, 2h or 1d", what, text);
        return false;
    }
    *ns = (int64_t)(duration < MOST_NS ? duration : MOST_NS);
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
