/* SPDX-License-Identifier: MIT */
/* cluster_name.h - a name that etcd keeps: what fairsem-limit-cluster does with it. */
#ifndef LIMIT_CLUSTER_NAME_H
#define LIMIT_CLUSTER_NAME_H

#include "request.h"

#include <fairsem/cluster.h>
#include <signal.h>

/* The largest number of running and waiting commands that is shown. */
enum { CLUSTER_USERS = 32768 };

struct cluster_name {
    const struct request *request;
    const char           *name;     /* the name that the handle is set to now */
    fairsem_cluster_t    *handle;
};

/* ---- cluster_open.c: endpoints and credentials; environment variables name the files of secrets ---- */

/* Returns an exit status; a message has been printed if it is not 0. */
int cluster_open(struct cluster_name *name, const struct request *request);

/* Returns a text for an errno value of the library. */
const char *cluster_error(int error);

/* Returns 0 if error is 0; else prints cluster_error(error), perhaps with endpoints, and returns OWN_FAILURE. */
int cluster_result(const struct cluster_name *name, int error);

/* ---- cluster_acquire.c: wait in the queue of the name until the units are granted ---- */

/*
 * Works like local_acquire().  The hold is empty if an outer command holds the units.  Otherwise *mask receives
 * the signal mask, and all signals are blocked, because none may end a process that holds units.
 */
bool cluster_acquire(const struct cluster_name *name, fairsem_cluster_hold_t *hold, sigset_t *mask,
                       int *exit_status);

/* Start a detached thread with all signals blocked.  Returns false if that fails. */
bool cluster_start_thread(void *(*work)(void *arg), void *arg);

/*
 * Block all signals, and return the units to etcd within a limited time.  A signal that would end the process
 * reduces the limit to one second; signal_came says that one has arrived before the call.
 */
void cluster_release(fairsem_cluster_hold_t *hold, bool signal_came);

/* Tell the command, and commands inside it, that this process holds units.  Returns false if there is no memory. */
bool cluster_announce(const struct cluster_name *name, int64_t fence);

/* ---- cluster_supervise.c: end the command before etcd grants its units to another one ---- */

/* Works like run_as_child(), and releases the units when the command has ended. */
int cluster_run_supervised(const struct cluster_name *name, fairsem_cluster_hold_t *hold,
                        struct command *command);

/* ---- cluster_status.c: running and waiting commands of the name ---- */

/* Print the status, as a table or as JSON, once or each second.  Returns an exit status. */
int cluster_status_print(const struct cluster_name *name);

/* Works like local_gave_up(), but lists running commands only if `answers`: if etcd has answered in time. */
void cluster_status_gave_up(const struct cluster_name *name, bool answers);

#endif
