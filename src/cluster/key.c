/* SPDX-License-Identifier: MIT */
/* key.c - see key.h. */
#include "key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The end of the keys that begin with "q/": the last byte of that, plus one. */
#define LAST(after) ((after) ? '/' + 1 : '/')

/* Priorities are printed as if they began at 0. */
#define OFFSET (-(int64_t)INT32_MIN)

bool fs_key_prefix(char prefix[FS_PREFIX_SIZE], const char *name)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    size_t length = strlen(name);
    char *out = prefix;

    if (length == 0 || length > 255)
        return false;
    out += sprintf(out, "fairsem/");
    for (size_t i = 0; i < length; i++)
        if (strchr(plain, name[i]) != NULL)
            *out++ = name[i];
        else
            out += sprintf(out, "%%%02X", (unsigned)(unsigned char)name[i]);
    sprintf(out, "/");
    return true;
}

void fs_key_limit(char key[FS_KEY_SIZE], const char *prefix)
{
    snprintf(key, FS_KEY_SIZE, "%slimit", prefix);
}

void fs_key_waiting(char key[FS_KEY_SIZE], const char *prefix, bool after)
{
    snprintf(key, FS_KEY_SIZE, "%sq%c", prefix, LAST(after));
}

void fs_key_running(char key[FS_KEY_SIZE], const char *prefix, bool after)
{
    snprintf(key, FS_KEY_SIZE, "%sr%c", prefix, LAST(after));
}

void fs_key_equals(char key[FS_KEY_SIZE], const char *prefix, int priority, bool after)
{
    snprintf(key, FS_KEY_SIZE, "%sq/%010" PRId64 "%c", prefix, priority + OFFSET, LAST(after));
}

void fs_key_waits(char key[FS_KEY_SIZE], const char *prefix, int priority, int64_t lease)
{
    snprintf(key, FS_KEY_SIZE, "%sq/%010" PRId64 "/%016" PRIx64, prefix, priority + OFFSET,
             (uint64_t)lease);
}

void fs_key_runs(char key[FS_KEY_SIZE], const char *prefix, int64_t lease)
{
    snprintf(key, FS_KEY_SIZE, "%sr/%016" PRIx64, prefix, (uint64_t)lease);
}

/* Read exactly so many digits.  False: they are others. */
static bool number(const char *text, size_t count, unsigned base, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";

    *out = 0;
    for (size_t i = 0; i < count; i++) {
        const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;

        if (digit == NULL || (unsigned)(digit - digits) >= base)
            return false;
        *out = *out * base + (uint64_t)(digit - digits);
    }
    return true;
}

bool fs_key_read(const char *key, const char *prefix, bool *runs, int *priority, int64_t *lease)
{
    size_t length = strlen(prefix);
    uint64_t value = (uint64_t)OFFSET;

    if (strncmp(key, prefix, length) != 0)
        return false;
    key += length;
    *runs = strncmp(key, "r/", 2) == 0;
    if (!*runs && strncmp(key, "q/", 2) != 0)
        return false;
    key += 2;
    if (!*runs) {
        if (!number(key, 10, 10, &value) || value > UINT32_MAX || key[10] != '/')
            return false;
        key += 11;
    }
    *priority = (int)((int64_t)value - OFFSET);
    if (!number(key, 16, 16, &value) || key[16] != '\0' || value == 0 || value > INT64_MAX)
        return false;
    *lease = (int64_t)value;
    return true;
}
