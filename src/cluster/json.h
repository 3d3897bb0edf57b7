/* SPDX-License-Identifier: MIT */
/*
 * json.h - etcd's JSON: checked reading of answers, and the parts of questions.
 *
 * A member that is not there has its zero value, as in all messages of etcd; one of another type,
 * or out of range, is an error.
 */
#ifndef CLUSTER_JSON_H
#define CLUSTER_JSON_H

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One object or array, and nothing behind it; an array has no members.  NULL: none, or no memory. */
json_t *fs_json_parse(const char *bytes, size_t n);

/* These set *out, and are false for another type. */
bool fs_json_object(const json_t *from, const char *name, json_t **out);  /* also if it is not there */
bool fs_json_array(const json_t *from, const char *name, json_t **out);
bool fs_json_int(const json_t *from, const char *name, int64_t *out);     /* also as a string */
bool fs_json_bool(const json_t *from, const char *name, bool *out);
bool fs_json_string(const json_t *from, const char *name, const char **out);

/* All of the text is a number within the range. */
bool fs_json_read_number(const char *text, int64_t *out);

/*
 * A member in base64, as a string.  False, and "": it is longer than size - 1, has a NUL in it, or is
 * none.
 */
bool fs_json_bytes(const json_t *from, const char *name, char *out, size_t size);

/* The size of the text in base64 for so many bytes, with its NUL. */
#define FS_BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4 + 1)

/* Write the text in base64 for n bytes to out. */
void fs_base64_write(const void *bytes, size_t n, char *out);

/* Write the bytes of such a text to out.  How many; -1: it is none, or there are more than `size`. */
long fs_base64_read(const char *text, size_t n, unsigned char *out, size_t size);

/* For writing: numbers are strings in etcd's JSON, and keys are base64.  NULL, there or here: no memory. */
json_t *fs_json_number(int64_t number);
json_t *fs_json_base64(const char *text);

/* The text of an object, from malloc.  The object is freed; NULL likewise. */
char *fs_json_text(json_t *json);

#endif
