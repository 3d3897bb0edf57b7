/* SPDX-License-Identifier: MIT */
/*
 * cluster_guard.h - end the command before etcd gives its place away.
 *
 * If no renewal is answered, the command and all its descendants get SIGTERM when an eighth of the
 * lease is left of the time for which the hold is good, and SIGKILL when that is over; a quarter of
 * the lease later etcd gives the place to the next.
 *
 * From the moment that a lease is in danger until the command has been killed, nothing blocks this
 * thread, needs memory or a descriptor, or asks anybody: what is needed was made before, and a thread of
 * its own writes the message, which may wait for a terminal or a pipe for ever.
 */
#ifndef LIMIT_CLUSTER_GUARD_H
#define LIMIT_CLUSTER_GUARD_H

#include "cluster_open.h"
#include "run/command.h"

/* As run_as_child.  It gives the units back when the command has ended. */
int cluster_run_guarded(const struct cluster_name *name, fairsem_cluster_hold_t *hold,
                        struct command *command);

#endif
