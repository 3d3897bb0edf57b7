/* SPDX-License-Identifier: MIT */
/*
 * json.h - etcd's JSON: checked reading of answers, and the parts of questions.
 *
 * An absent member reads as 0, "" or an empty array, because etcd omits members with these values.  A member of
 * another type, or out of range, is an error.
 */
#ifndef CLUSTER_JSON_H
#define CLUSTER_JSON_H

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parse one object or array; an array reads as an object without members.  Returns NULL for an invalid text,
 * for a text that continues after the object, or if memory runs out.
 */
json_t *fs_json_parse(const char *bytes, size_t n);

/* Read a member into *out.  Each function returns false if the member has another type. */
bool fs_json_object(const json_t *from, const char *name, json_t **out);  /* also false if absent */
bool fs_json_array(const json_t *from, const char *name, json_t **out);
bool fs_json_int(const json_t *from, const char *name, int64_t *out);     /* also from a string */
bool fs_json_bool(const json_t *from, const char *name, bool *out);
bool fs_json_string(const json_t *from, const char *name, const char **out);

/* Read a decimal number.  Returns false if the text is anything else, or the number is out of range. */
bool fs_json_read_number(const char *text, int64_t *out);

/*
 * Read a base64 member as a string.  Returns false, and sets `out` to "", if the member is not base64, or its
 * bytes are more than size - 1 or contain a NUL.
 */
bool fs_json_bytes(const json_t *from, const char *name, char *out, size_t size);

/* Size of the base64 text for a number of bytes, including its NUL. */
#define FS_BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4 + 1)

void fs_base64_write(const void *bytes, size_t n, char *out);

/* Returns the number of decoded bytes, or -1 if the text is invalid or has more than `size` bytes. */
long fs_base64_read(const char *text, size_t n, unsigned char *out, size_t size);

/* Make a JSON string for etcd, of a number or a key.  Returns NULL for a NULL text, or if memory runs out. */
json_t *fs_json_number(int64_t number);
json_t *fs_json_base64(const char *text);

/*
 * Free an object, and return the object's text, allocated with malloc().  Returns NULL for a NULL object, or if
 * memory runs out.
 */
char *fs_json_text(json_t *json);

#endif
