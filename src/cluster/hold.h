/* SPDX-License-Identifier: MIT */
/* hold.h - the caller's side of a request: acquire and release. */
#ifndef CLUSTER_HOLD_H
#define CLUSTER_HOLD_H

#include "handle.h"
#include "request.h"

/* As fairsem_cluster_acquire_with: *request is set if the result is 0. */
int fs_hold_acquire(fairsem_cluster_t *handle, int64_t n, const fairsem_wait_t *how,
                    struct fs_request **request);

/* As fairsem_cluster_release; the request is gone. */
int fs_hold_release(struct fs_request *request);

/* As fairsem_cluster_lost. */
int fs_hold_lost(struct fs_request *request);

/* As fairsem_cluster_left. */
int64_t fs_hold_left(struct fs_request *request);

#endif
