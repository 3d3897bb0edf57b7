/* SPDX-License-Identifier: MIT */
/*
 * json.h - checked reading of an engine's answers.
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

/* What the bytes are: one object, and nothing behind it.  NULL: they are not, or no memory. */
json_t *fs_json_parse(const char *bytes, size_t n);

/* These set *out, and are false for another type. */
bool fs_json_object(const json_t *from, const char *name, json_t **out);  /* NULL: not there */
bool fs_json_array(const json_t *from, const char *name, json_t **out);
bool fs_json_int(const json_t *from, const char *name, int64_t *out);     /* also as a string */
bool fs_json_bool(const json_t *from, const char *name, bool *out);
bool fs_json_string(const json_t *from, const char *name, const char **out);

/*
 * A member in base64, as a string.  False: it is longer than size - 1, has a NUL in it, or is none.
 */
bool fs_json_bytes(const json_t *from, const char *name, char *out, size_t size);

/* For writing: numbers are strings in etcd's JSON, and keys are base64.  NULL: no memory. */
json_t *fs_json_number(int64_t number);
json_t *fs_json_base64(const char *text);

#endif
