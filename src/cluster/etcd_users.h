/* SPDX-License-Identifier: MIT */
/* etcd_users.h - what the keys of requests say, checked. */
#ifndef CLUSTER_ETCD_USERS_H
#define CLUSTER_ETCD_USERS_H

#include "engine.h"

#include <jansson.h>

struct fs_user {
    char    key[FS_KEY_SIZE];
    bool    runs;
    int64_t revision;               /* when the key was made */
    fairsem_cluster_user_t about;
};

/* Read a key with its value.  False: it is damaged; user->key is what could be read of it. */
bool fs_user_read(const json_t *kv, const char *prefix, struct fs_user *user);

/* The answer of FS_LIST: its parts are a range of those that run and one of those that wait. */
int fs_users_read(const json_t *parts, const char *prefix, struct fs_answer *answer);

#endif
