/* SPDX-License-Identifier: MIT */
/*
 * cluster.h - names that etcd keeps for many machines.
 *
 *      cluster_library.h   libfairsem-cluster, which is loaded when it is needed
 *      cluster_open.h      which etcd, and as whom
 *      cluster_turn.h      wait for the turn
 *      cluster_guard.h     end the command before etcd gives its place away
 *      cluster_status.h    who runs and who waits
 *
 * cluster_none.c stands in for all of them in a fairsem-limit that was built without them.
 */
#ifndef LIMIT_CLUSTER_H
#define LIMIT_CLUSTER_H

#include "request.h"

/* Do what is asked for, with a name of etcd's.  Returns an exit status. */
int cluster_main(const struct request *request);

#endif
