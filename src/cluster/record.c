/* SPDX-License-Identifier: MIT */
/* record.c - see record.h. */
#include "record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- A record ---- */

void fs_copy_printable(char *to, size_t size, const char *from)
{
    size_t i = 0;

    for (; i + 1 < size && from[i] != '\0'; i++)
        to[i] = from[i] >= ' ' && from[i] < 0x7f ? from[i] : '?';
    to[i] = '\0';
}

/* Read the name of this program, as ps shows it. */
static void read_program(char *program, size_t size)
{
    int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, program, size - 1) : 0;

    if (file >= 0)
        close(file);
    program[length > 0 ? length : 0] = '\0';
    program[strcspn(program, "\n")] = '\0';
}

bool fs_record_fill(struct fs_record *record, const char *program)
{
    do
        if (getrandom(&record->lease, sizeof record->lease, 0) != (ssize_t)sizeof record->lease)
            return false;
    while ((record->lease &= INT64_MAX) == 0);
    record->pid = getpid();
    if (gethostname(record->host, sizeof record->host) != 0)
        record->host[0] = '\0';
    fs_copy_printable(record->host, sizeof record->host, record->host);
    if (program == NULL)
        read_program(record->program, sizeof record->program);
    fs_copy_printable(record->program, sizeof record->program,
                      program != NULL ? program : record->program);
    return true;
}

/* ---- Keys ---- */

/* A key has the priority plus OFFSET: the sum is never negative. */
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

/* A key is valid if its name, written again, gives the key's prefix. */
bool fs_key_name(const char *key, char name[256])
{
    const char *at = key + 8;
    char prefix[FS_PREFIX_SIZE];
    unsigned byte;
    size_t n = 0;

    if (strncmp(key, "fairsem/", 8) != 0)
        return false;
    for (; *at != '/' && *at != '\0' && n < 255; at++) {
        byte = (unsigned char)*at;
        if (byte == '%' && at[1] != '\0' && at[2] != '\0' && sscanf(at + 1, "%2X", &byte) == 1)
            at += 2;
        name[n++] = (char)byte;
    }
    name[n] = '\0';
    return fs_key_prefix(prefix, name) && strncmp(key, prefix, strlen(prefix)) == 0;
}

static void write_key(char key[FS_KEY_SIZE], const char *prefix, bool runs, int priority, int64_t lease)
{
    if (runs)
        snprintf(key, FS_KEY_SIZE, "%sr/%016" PRIx64, prefix, (uint64_t)lease);
    else
        snprintf(key, FS_KEY_SIZE, "%sq/%010" PRId64 "/%016" PRIx64, prefix, priority + OFFSET,
                 (uint64_t)lease);
}

/* The range of all keys that begin with "q/" ends at "q0": '0' is the byte after '/'. */
struct fs_keys fs_keys_of(const struct fs_record *record)
{
    const char *prefix = record->prefix;
    int64_t priority = record->priority + OFFSET;
    struct fs_keys keys;

#define WRITE(key, ...) snprintf(keys.key, FS_KEY_SIZE, __VA_ARGS__)
    WRITE(limit, "%sr-limit", prefix);
    WRITE(waiting, "%sq/", prefix);
    WRITE(waiting_end, "%sq0", prefix);
    WRITE(running, "%sr/", prefix);
    WRITE(running_end, "%sr0", prefix);
    WRITE(equals, "%sq/%010" PRId64 "/", prefix, priority);
    WRITE(equals_end, "%sq/%010" PRId64 "0", prefix, priority);
#undef WRITE
    write_key(keys.waits, prefix, false, record->priority, record->lease);
    write_key(keys.runs, prefix, true, record->priority, record->lease);
    return keys;
}

/* A key is valid if its parts, written again, give the same text. */
bool fs_key_read(const char *key, const char *prefix, bool *runs, int *priority, int64_t *lease)
{
    size_t length = strlen(prefix);
    uint64_t number = (uint64_t)OFFSET, id;
    char again[FS_KEY_SIZE];

    if (strncmp(key, prefix, length) != 0)
        return false;
    *runs = sscanf(key + length, "r/%16" SCNx64, &id) == 1;
    if (!*runs && sscanf(key + length, "q/%10" SCNu64 "/%16" SCNx64, &number, &id) != 2)
        return false;
    *priority = (int)((int64_t)number - OFFSET);
    *lease = (int64_t)id;
    write_key(again, prefix, *runs, *priority, *lease);
    return *lease > 0 && strcmp(key, again) == 0;
}
