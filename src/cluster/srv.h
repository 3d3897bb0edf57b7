/* SPDX-License-Identifier: MIT */
/* srv.h - the endpoints that DNS has for a domain: its SRV records, as `etcdctl --discovery-srv` finds them. */
#ifndef CLUSTER_SRV_H
#define CLUSTER_SRV_H

#include <stddef.h>

/*
 * Pass each URL on, the preferred first: those with TLS (_etcd-client-ssl._tcp), and if there are none, the others
 * (_etcd-client._tcp).  Asks each name server twice, for a second each time, and never by TCP, which would have no
 * such limit.  Returns 0; ENODATA: there are none; ENETUNREACH: no name server has answered; EINVAL: it is no domain;
 * ENOMEM; ENOTSUP: this system has no such resolver; or what `take` returns, if that is not 0, which ends it.
 */
int fs_srv_find(const char *domain, int (*take)(void *arg, const char *url, size_t length), void *arg);

#endif
