/* SPDX-License-Identifier: MIT */
/* users.h - what is known of a name: its limit, who holds units, and who waits. */
#ifndef CLUSTER_USERS_H
#define CLUSTER_USERS_H

#include "handle.h"

/* As fairsem_cluster_users. */
int fs_users_ask(fairsem_cluster_t *handle, fairsem_cluster_user_t users[], size_t size,
                 size_t *count);

/* As fairsem_cluster_limit and fairsem_cluster_remove. */
int fs_limit_ask(fairsem_cluster_t *handle, int64_t *limit);
int fs_limit_remove(fairsem_cluster_t *handle);

#endif
