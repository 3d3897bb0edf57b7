/* SPDX-License-Identifier: MIT */
/* etcd_users.h - the keys of requests: writing and checked reading of their values. */
#ifndef CLUSTER_ETCD_USERS_H
#define CLUSTER_ETCD_USERS_H

#include "engine.h"

#include <jansson.h>

struct fs_user {
    char    key[FS_KEY_SIZE];
    bool    runs;
    int64_t revision;               /* create revision of the key */
    fairsem_cluster_user_t about;
};

/* Returns the value for a request's key, allocated with malloc(), or NULL if memory runs out. */
char *fs_user_value(const struct fs_record *record);

/*
 * Read a key and its value.  Returns false if the key or the value is damaged; even then, user->key and
 * user->revision are set as far as they are readable.
 */
bool fs_user_read(const json_t *kv, const char *prefix, struct fs_user *user);

/* Read the answer to FS_LIST: a range of the running requests, and a range of the waiting ones. */
int fs_users_read(const json_t *parts, const char *prefix, struct fs_answer *answer);

#endif
