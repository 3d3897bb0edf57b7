/* SPDX-License-Identifier: MIT */
/* json.c - see json.h. */
#include "json.h"

#include "names.h"
#include "run/printable.h"

#include <inttypes.h>
#include <string.h>

enum { COMMAND_SIZE = 4096 };

/* The length of the character at the text if it is valid UTF-8, else 0. */
static size_t character_length(const unsigned char *text, size_t left)
{
    static const struct { unsigned char least, most; size_t length; unsigned lowest; } form[] = {
        { 0x00, 0x7f, 1, 0 }, { 0xc2, 0xdf, 2, 0x80 }, { 0xe0, 0xef, 3, 0x800 },
        { 0xf0, 0xf4, 4, 0x10000 },
    };

    for (size_t i = 0; i < sizeof form / sizeof form[0]; i++) {
        size_t length = form[i].length;
        unsigned code;

        if (text[0] < form[i].least || text[0] > form[i].most || left < length)
            continue;
        code = length == 1 ? text[0] : text[0] & (0x7fu >> length);
        for (size_t j = 1; j < length; j++) {
            if ((text[j] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[j] & 0x3f);
        }
        /* Neither longer than needed, nor a surrogate, nor above the last one. */
        return code < form[i].lowest || code / 0x800 == 0x1b || code > 0x10ffff ? 0 : length;
    }
    return 0;
}

void print_json_string(FILE *file, const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;

    putc('"', file);
    while (at < end) {
        size_t bytes = character_length(at, (size_t)(end - at));

        if (bytes == 0)
            fputs("\\ufffd", file);
        else if (*at == '\0' || control_length((const char *)at) != 0)
            fprintf(file, "\\u%04x", at[bytes - 1]);
        else if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else
            fwrite(at, 1, bytes, file);
        at += bytes != 0 ? bytes : 1;
    }
    putc('"', file);
}

static void print_json_user(FILE *file, const struct shown_name *name, int number)
{
    char text[COMMAND_SIZE], since[30] = "null";
    struct shown_user user = { 0 };
    struct tm tm;

    name->describe(name, number, &user, text, sizeof text);
    if (user.since != 0)
        strftime(since, sizeof since, "\"%Y-%m-%dT%H:%M:%SZ\"", gmtime_r(&user.since, &tm));
    putc('{', file);
    if (name->cluster) {
        fputs("\"host\": ", file);
        print_json_string(file, user.host, strlen(user.host));
        fprintf(file, ", \"pid\": %" PRId64 ", \"fence\": %" PRId64, user.pid, user.fence);
    } else {
        fprintf(file, "\"pid\": %" PRId64 ", \"local_pid\": %" PRId64, user.pid, user.local_pid);
    }
    fprintf(file, ", \"units\": %" PRId64 ", \"priority\": %" PRId64 ", \"place\": %" PRId64
            ", \"since\": %s, \"seconds\": %.3f, \"command\": ", user.units, user.priority,
            user.place, since, (double)user.ns / 1e9);
    if (user.command_length > 0)
        print_json_string(file, user.command, user.command_length);
    else
        fputs("null", file);
    putc('}', file);
}

void print_json_begin(FILE *file)
{
    fputs("{\"names\": [", file);
}

void print_json_name(FILE *file, const struct shown_name *name, bool first)
{
    fputs(first ? "{\"name\": " : ", {\"name\": ", file);
    print_json_string(file, name->name, strlen(name->name));
    fprintf(file, ", \"%s\": %s, \"limit\": %" PRId64 ", \"free\": %" PRId64 ", \"users\": [",
            name->cluster ? "cluster" : "global", name->cluster || name->global ? "true" : "false",
            name->limit, name->free);
    for (int i = 0; i < name->count; i++) {
        if (i > 0)
            fputs(", ", file);
        print_json_user(file, name, i);
    }
    fputs("]}", file);
}

void print_json_end(FILE *file, const char *error)
{
    putc(']', file);
    if (*error != '\0') {
        fputs(", \"error\": ", file);
        print_json_string(file, error, strlen(error));
    }
    fputs("}\n", file);
}
