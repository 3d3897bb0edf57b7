/* SPDX-License-Identifier: MIT */
/* handle.h - what a fairsem_cluster_t is. */
#ifndef CLUSTER_HANDLE_H
#define CLUSTER_HANDLE_H

#include "keeper.h"

struct fairsem_cluster {
    struct fs_keeper keeper;
    char prefix[FS_PREFIX_SIZE];    /* r/o after open */
};

#endif
