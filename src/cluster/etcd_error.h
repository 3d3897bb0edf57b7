/* SPDX-License-Identifier: MIT */
/* etcd_error.h - what an error of etcd, or of something between, means here. */
#ifndef CLUSTER_ETCD_ERROR_H
#define CLUSTER_ETCD_ERROR_H

#include <jansson.h>

/*
 * The error in an answer, in the object itself or in one named "error": 0, or
 *
 * ESTALE       no such lease               EEXIST       such a lease exists
 * EACCES       it may not                  EKEYEXPIRED  it wants another token
 * ENOSPC       the engine's disk is full   ENETUNREACH  not now, or not here
 * EPROTO       it makes no sense
 */
int fs_etcd_error(const json_t *json, long status);

/* The same of an answer without such an error: a proxy, or something else, has answered. */
int fs_etcd_no_error(long status);

#endif
