/* SPDX-License-Identifier: MIT */
/*
 * json.h - etcd's JSON: checked reading of answers, and the parts of questions.
 *
 * An absent member reads as 0, "" or an empty array, because etcd omits such members.  A member of another type,
 * or out of range, is an error.
 */
#ifndef CLUSTER_JSON_H
#define CLUSTER_JSON_H

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parse one object or array; an array reads as an object without members.  Returns NULL if the text is invalid, or
 * continues after the end of the object, or if there is no memory.
 */
json_t *fs_json_parse(const char *bytes, size_t n);

/* Read a member into *out.  Each returns false if the member has another type. */
bool fs_json_object(const json_t *from, const char *name, json_t **out);  /* also false if absent */
bool fs_json_array(const json_t *from, const char *name, json_t **out);
bool fs_json_int(const json_t *from, const char *name, int64_t *out);     /* accepts a string, too */
bool fs_json_bool(const json_t *from, const char *name, bool *out);
bool fs_json_string(const json_t *from, const char *name, const char **out);

/* Read a number.  Returns false if the text is not exactly a number within the range. */
bool fs_json_read_number(const char *text, int64_t *out);

/*
 * Read a base64 member as a string.  Returns false, and sets `out` to "", if the member is not base64,
 * is longer than size - 1, or contains a NUL.
 */
bool fs_json_bytes(const json_t *from, const char *name, char *out, size_t size);

/* Size of the base64 text for a number of bytes, including its NUL. */
#define FS_BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4 + 1)

/* Write n bytes to out as base64. */
void fs_base64_write(const void *bytes, size_t n, char *out);

/* Decode base64 into out.  Returns the number of bytes, or -1 if it is invalid or longer than `size`. */
long fs_base64_read(const char *text, size_t n, unsigned char *out, size_t size);

/* Make a value for etcd: numbers are strings, and keys are base64.  Returns NULL without memory or for a NULL text. */
json_t *fs_json_number(int64_t number);
json_t *fs_json_base64(const char *text);

/* Free an object, and return its text, allocated with malloc(); NULL for NULL, or if there is no memory. */
char *fs_json_text(json_t *json);

#endif
