/* SPDX-License-Identifier: MIT */
/*
 * etcd_txn.h - the parts of a transaction of etcd, in JSON.
 *
 * Each function takes over what it is given, and returns NULL if there was no memory for it or for
 * a part of it: so only the whole has to be checked.
 */
#ifndef CLUSTER_ETCD_TXN_H
#define CLUSTER_ETCD_TXN_H

#include "place.h"

#include <jansson.h>

/* A range of keys; or one key, if the end is "". */
struct fs_range {
    char key[FS_KEY_SIZE], end[FS_KEY_SIZE];
    bool bare;              /* without values */
    const char *last_by;    /* "KEY", "CREATE": in descending order of that; NULL: any order */
    int64_t most;           /* so many of them; 0: all */
    int64_t joined_before;  /* only what was created before a revision; 0: all */
};

/* FS_ITEMS(item, ...) makes an array. */
json_t *fs_txn_list(json_t *const items[], size_t count);
#define FS_ITEMS(...) \
    fs_txn_list((json_t *[]){ __VA_ARGS__ }, sizeof (json_t *[]){ __VA_ARGS__ } / sizeof(json_t *))

/* Conditions.  An end of NULL: for one key.  They hold for an empty range, except "GREATER". */
json_t *fs_txn_compare(const char *key, const char *end, const char *target, const char *result,
                       const char *member, int64_t revision);
json_t *fs_txn_created_before(const char *key, const char *end, int64_t revision);
json_t *fs_txn_is_absent(const char *key, const char *end);

/* Operations. */
json_t *fs_txn_read(const struct fs_range *range);
json_t *fs_txn_put(const char *key, const char *value, int64_t lease);  /* value may be NULL */
json_t *fs_txn_delete(const char *key);

json_t *fs_txn(json_t *when, json_t *then, json_t *otherwise);

#endif
