/* SPDX-License-Identifier: MIT */
/* etcd_users.h - the keys of requests: the value that is put there, and what they say, checked. */
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

/* The value of the key of a request, from malloc.  NULL: no memory. */
char *fs_user_value(const struct fs_place *place);

/* Read a key with its value.  False: it is damaged; user->key is what could be read of it. */
bool fs_user_read(const json_t *kv, const char *prefix, struct fs_user *user);

/* The answer of FS_LIST: its parts are a range of those that run and one of those that wait. */
int fs_users_read(const json_t *parts, const char *prefix, struct fs_answer *answer);

#endif
