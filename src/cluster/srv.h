/* SPDX-License-Identifier: MIT */
/* srv.h - endpoint discovery by a domain's SRV records in DNS, like `etcdctl --discovery-srv`. */
#ifndef CLUSTER_SRV_H
#define CLUSTER_SRV_H

#include <stddef.h>

/*
 * Call `take` for the URL of each server, in order of preference: the servers with TLS (_etcd-client-ssl._tcp)
 * or, if there are none, the servers without TLS (_etcd-client._tcp).  Each name server gets two queries, with
 * a time limit of one second each.  Only UDP is used: a query by TCP would have no time limit.
 *
 * Returns 0, ENODATA without records, ENETUNREACH if no name server answers, EINVAL for an invalid domain,
 * ENOMEM, or ENOTSUP if the system's resolver lacks res_nquery().  A nonzero result of `take` ends the search,
 * and is returned.
 */
int fs_srv_find(const char *domain, int (*take)(void *arg, const char *url, size_t length), void *arg);

#endif
