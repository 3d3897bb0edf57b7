/* SPDX-License-Identifier: MIT */
/* users.h - who holds units of a name, and who waits. */
#ifndef CLUSTER_USERS_H
#define CLUSTER_USERS_H

#include "handle.h"

/* As fairsem_cluster_users. */
int fs_users_ask(fairsem_cluster_t *handle, fairsem_cluster_user_t users[], size_t size,
                 size_t *count);

#endif
