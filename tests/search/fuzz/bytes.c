/* SPDX-License-Identifier: MIT */
/* bytes.c - see bytes.h. */
#include "bytes.h"

#include "fairsem.h"

#include <errno.h>
#include <limits.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static const uint8_t *next, *end;

void bytes_are(const uint8_t *data, size_t size)
{
    next = data;
    end = data + size;
}

bool bytes_end(void)
{
    return next == end;
}

uint8_t byte(void)
{
    return bytes_end() ? 0 : *next++;
}

int below(int n)
{
    return byte() % n;
}

int64_t units(void)
{
    static const int64_t unusual[] = {
        5, 6, 7, 8, 9, 10, 11, 12, 100, 1 << 20,
        FAIRSEM_MAX_UNITS, FAIRSEM_MAX_UNITS - 1, FAIRSEM_MAX_UNITS - 2, FAIRSEM_MAX_UNITS - 3,
        FAIRSEM_MAX_UNITS / 2, FAIRSEM_MAX_UNITS + 1, FAIRSEM_MAX_UNITS * 2, INT64_MAX,
        INT64_MAX / 2 + 1, INT64_MAX / 2 + 2, -1, -2, -FAIRSEM_MAX_UNITS, INT64_MIN,
        INT64_MIN + 1,
    };
    uint8_t b = byte();

    return b < 200 ? b % 5 : unusual[(b - 200) % COUNT(unusual)];
}

int priority(void)
{
    static const int unusual[] = { -1, 1, -2, 2, 5, INT_MIN, INT_MAX, INT_MAX - 1 };
    uint8_t b = byte();

    return b < 128 ? 0 : unusual[b % COUNT(unusual)];
}

int reason(void)
{
    static const int reasons[] = { 0, 0, EPIPE, EIO, 1000, INT_MAX, -1, INT_MIN };

    return reasons[below(COUNT(reasons))];
}

int64_t nanoseconds(void)
{
    static const int64_t unusual[] = {
        0, 0, -1, INT64_MIN, INT64_MAX, INT64_MAX - 1, 999999999, 1000000000, 1000000001,
        3600000000000,
    };
    uint8_t b = byte();

    return b < 160 ? 1 + 64 * b : unusual[b % COUNT(unusual)];
}
