/* SPDX-License-Identifier: MIT */
/* cluster_status.h - who runs and who waits under a name of etcd's. */
#ifndef LIMIT_CLUSTER_STATUS_H
#define LIMIT_CLUSTER_STATUS_H

#include "cluster_open.h"

/* Print it, as a table or as JSON, once or each second.  Returns an exit status. */
int cluster_status_print(const struct cluster_name *name);

/*
 * The wait of this request was too long: say so on stderr, and who runs if etcd answers, unless it
 * shall be quiet.
 */
void cluster_status_gave_up(const struct cluster_name *name, bool answers);

#endif
