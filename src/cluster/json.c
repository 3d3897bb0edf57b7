/* SPDX-License-Identifier: MIT */
/* json.c - see json.h. */
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Base64 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void fs_base64_write(const void *bytes, size_t n, char *out)
{
    const unsigned char *in = bytes;

    for (size_t i = 0; i < n; i += 3) {
        unsigned word = (unsigned)in[i] << 16;

        if (i + 1 < n)
            word |= (unsigned)in[i + 1] << 8;
        if (i + 2 < n)
            word |= in[i + 2];
        *out++ = digits[word >> 18];
        *out++ = digits[word >> 12 & 63];
        *out++ = i + 1 < n ? digits[word >> 6 & 63] : '=';
        *out++ = i + 2 < n ? digits[word & 63] : '=';
    }
    *out = '\0';
}

long fs_base64_read(const char *text, size_t n, unsigned char *out, size_t size)
{
    unsigned word = 0;
    size_t length = 0;

    if (n % 4 != 0)
        return -1;
    for (int pads = 0; pads < 2 && n > 0 && text[n - 1] == '='; pads++)
        n--;
    for (size_t i = 0; i < n; i++) {
        const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;

        if (digit == NULL)
            return -1;
        word = word << 6 | (unsigned)(digit - digits);
        if (i % 4 != 0 && length == size)
            return -1;
        if (i % 4 != 0)
            out[length++] = (unsigned char)(word >> (6 - i % 4 * 2));
    }
    return (long)length;
}

/* ---- Reading ---- */

json_t *fs_json_parse(const char *bytes, size_t n)
{
    /* jansson refuses nesting above 2048 levels and, without JSON_DISABLE_EOF_CHECK, text after the end. */
    return json_loadb(bytes, n, JSON_REJECT_DUPLICATES, NULL);
}

bool fs_json_object(const json_t *from, const char *name, json_t **out)
{
    *out = json_object_get(from, name);
    return json_is_object(*out);
}

bool fs_json_array(const json_t *from, const char *name, json_t **out)
{
    *out = json_object_get(from, name);
    return *out == NULL || json_is_array(*out);
}

/* A text is valid if the parsed number prints as the same text. */
bool fs_json_read_number(const char *text, int64_t *out)
{
    char again[24];

    *out = strtoll(text, NULL, 10);
    snprintf(again, sizeof again, "%" PRId64, *out);
    return strcmp(again, text) == 0;
}

bool fs_json_int(const json_t *from, const char *name, int64_t *out)
{
    const json_t *member = json_object_get(from, name);

    *out = 0;
    if (member == NULL)
        return true;
    if (json_is_integer(member)) {
        *out = json_integer_value(member);
        return true;
    }
    return json_is_string(member) && fs_json_read_number(json_string_value(member), out);
}

bool fs_json_bool(const json_t *from, const char *name, bool *out)
{
    const json_t *member = json_object_get(from, name);

    *out = json_is_true(member);
    return member == NULL || json_is_boolean(member);
}

bool fs_json_string(const json_t *from, const char *name, const char **out)
{
    const json_t *member = json_object_get(from, name);

    *out = member == NULL ? "" : json_string_value(member);
    return *out != NULL;
}

bool fs_json_bytes(const json_t *from, const char *name, char *out, size_t size)
{
    const char *text;
    long length = fs_json_string(from, name, &text)
        ? fs_base64_read(text, strlen(text), (unsigned char *)out, size - 1) : -1;
    bool good = length >= 0 && memchr(out, '\0', (size_t)length) == NULL;

    out[good ? length : 0] = '\0';
    return good;
}

/* ---- Writing ---- */

json_t *fs_json_number(int64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, number);
    return json_string(text);
}

json_t *fs_json_base64(const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    char *out = text != NULL ? malloc(FS_BASE64_SIZE(length)) : NULL;
    json_t *json;

    if (out == NULL)
        return NULL;
    fs_base64_write(text, length, out);
    json = json_string(out);
    free(out);
    return json;
}

char *fs_json_text(json_t *json)
{
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

    json_decref(json);
    return text;
}
