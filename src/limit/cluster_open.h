/* SPDX-License-Identifier: MIT */
/* cluster_open.h - which etcd, and as whom.  What is secret is in files that variables name. */
#ifndef LIMIT_CLUSTER_OPEN_H
#define LIMIT_CLUSTER_OPEN_H

#include "request.h"

#include <fairsem/cluster.h>

/* A name at an etcd. */
struct cluster_name {
    const struct request *request;
    fairsem_cluster_t    *handle;
};

/* The URLs. */
const char *cluster_endpoints(const struct request *request);

/* False: a message has been printed. */
bool cluster_open(struct cluster_name *name, const struct request *request);

/* The meaning of an errno value of the library for this command. */
const char *cluster_error(int error);

/* 0; or print that meaning, and which etcd it is, if that matters, and return OWN_FAILURE. */
int cluster_result(const struct cluster_name *name, int error);

#endif
