/* SPDX-License-Identifier: MIT */
/* cluster.c - the limit between machines: the public functions.  Start reading here. */
#include <fairsem/cluster.h>

#include <errno.h>

int fairsem_cluster_open(fairsem_cluster_t **handle, const char *name,
                         const fairsem_cluster_attr_t *attr)
{
    (void)handle, (void)name, (void)attr;
    return ENOSYS;
}

int fairsem_cluster_close(fairsem_cluster_t *handle)
{
    (void)handle;
    return ENOSYS;
}

int fairsem_cluster_acquire_with(fairsem_cluster_t *handle, int64_t n, const fairsem_wait_t *how,
                                 fairsem_cluster_hold_t *hold)
{
    (void)handle, (void)n, (void)how, (void)hold;
    return ENOSYS;
}

int fairsem_cluster_release(fairsem_cluster_hold_t *hold)
{
    (void)hold;
    return ENOSYS;
}

int fairsem_cluster_lost(const fairsem_cluster_hold_t *hold)
{
    (void)hold;
    return ENOSYS;
}

int64_t fairsem_cluster_fence(const fairsem_cluster_hold_t *hold)
{
    (void)hold;
    return 0;
}

int fairsem_cluster_fd(const fairsem_cluster_t *handle)
{
    (void)handle;
    return -1;
}

int fairsem_cluster_users(fairsem_cluster_t *handle, fairsem_cluster_user_t users[], size_t size,
                          size_t *count)
{
    (void)handle, (void)users, (void)size, (void)count;
    return ENOSYS;
}
