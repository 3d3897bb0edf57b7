/* SPDX-License-Identifier: MIT */
/* cluster_turn.h - wait in the line of a name of etcd's until it is our turn. */
#ifndef LIMIT_CLUSTER_TURN_H
#define LIMIT_CLUSTER_TURN_H

#include "cluster_open.h"

/*
 * Wait.  Returns true if it is our turn; else *exit_status is set, and if that is not TIMED_OUT, a
 * message has been printed.
 * The hold is empty if an outer command holds the units.  A signal that ends the wait ends the
 * process.
 */
bool cluster_turn_take(const struct cluster_name *name, fairsem_cluster_hold_t *hold,
                       int *exit_status);

/* For commands inside this one: it holds units, with this fence.  False: no memory. */
bool cluster_turn_announce(const struct cluster_name *name, int64_t fence);

#endif
