/* SPDX-License-Identifier: MIT */
/*
 * cluster_exec.h - names that etcd keeps are for another program, fairsem-limit-cluster, which has
 * libcurl: a name of this machine need not wait until the linker has loaded that, and fairsem-limit can
 * be installed without it.
 *
 * cluster_none.c stands in for it in a fairsem-limit that was built without libfairsem-cluster.
 */
#ifndef LIMIT_CLUSTER_EXEC_H
#define LIMIT_CLUSTER_EXEC_H

/* Become that program, with the same arguments.  If that fails, say so, and return OWN_FAILURE. */
int cluster_exec(char **argv);

#endif
