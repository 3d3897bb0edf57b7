/* SPDX-License-Identifier: MIT */
/*
 * cluster_name.h - the operations of fairsem-limit-cluster on a name that etcd keeps.  An operation returns an
 * exit status other than 0 only after a message.
 */
#ifndef LIMIT_CLUSTER_NAME_H
#define LIMIT_CLUSTER_NAME_H

#include "request.h"

#include <fairsem/cluster.h>
#include <signal.h>

/* The status shows at most this many running and waiting commands. */
enum { CLUSTER_USERS = 32768 };

struct cluster_name {
    const struct request *request;
    const char           *name;     /* the current name of the handle: --status goes from name to name */
    fairsem_cluster_t    *handle;
};

/* ---- cluster_open.c: endpoints and credentials; environment variables name the files of secrets ---- */

/* Open the handle of the request's name.  Returns an exit status. */
int cluster_open(struct cluster_name *name, const struct request *request);

/* Returns the meaning of an errno value of the library. */
const char *cluster_error(int error);

/*
 * Returns 0 if error is 0.  Otherwise prints the error, perhaps with the last bad answer of etcd, and returns
 * OWN_FAILURE.
 */
int cluster_result(const struct cluster_name *name, int error);

/* ---- cluster_acquire.c: wait in the queue of the name until the units are granted ---- */

/*
 * Works like local_acquire(), except for the following.  If an outer command holds the units, the hold is
 * empty.  If the hold has the units, all signals are blocked, because no signal may end a process that holds
 * units, and *mask receives the previous mask.
 */
bool cluster_acquire(const struct cluster_name *name, fairsem_cluster_hold_t *hold, sigset_t *mask,
                       int *exit_status);

/* Start a detached thread with all signals blocked.  Returns false on failure. */
bool cluster_start_thread(void *(*work)(void *arg), void *arg);

/*
 * Block all signals, and return the units to etcd within a time limit.  The limit becomes one second if
 * signal_came is true, or when SIGHUP, SIGINT, SIGQUIT or SIGTERM arrives.
 */
void cluster_release(fairsem_cluster_hold_t *hold, bool signal_came);

/* Record the units and the fence in the environment of the command.  Returns false if there is no memory. */
bool cluster_announce(const struct cluster_name *name, int64_t fence);

/* ---- cluster_supervise.c: end the command before etcd grants its units to another one ---- */

/* Works like run_as_child(), and releases the units when the command has ended. */
int cluster_run_supervised(const struct cluster_name *name, fairsem_cluster_hold_t *hold,
                        struct command *command);

/* ---- cluster_status.c: running and waiting commands of the name ---- */

/* Print the status, once or each second.  Returns an exit status. */
int cluster_status_print(const struct cluster_name *name);

/*
 * After a timeout, print a message unless the request is quiet.  `answers` says that etcd has answered in time:
 * only then is etcd queried for the running commands.
 */
void cluster_status_gave_up(const struct cluster_name *name, bool answers);

#endif
