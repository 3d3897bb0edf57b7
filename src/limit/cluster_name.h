/* SPDX-License-Identifier: MIT */
/* cluster_name.h - a name that etcd keeps: what fairsem-limit-cluster does with it. */
#ifndef LIMIT_CLUSTER_NAME_H
#define LIMIT_CLUSTER_NAME_H

#include "request.h"

#include <fairsem/cluster.h>
#include <signal.h>

/* So many that run or wait are shown. */
enum { CLUSTER_USERS = 32768 };

struct cluster_name {
    const struct request *request;
    const char           *name;     /* that the handle has now */
    fairsem_cluster_t    *handle;
};

/* ---- cluster_open.c: which etcd, and as whom; what is secret is in files that variables name ---- */

/* Returns an exit status; a message has been printed if it is not 0. */
int cluster_open(struct cluster_name *name, const struct request *request);

/* The meaning of an errno value of the library for this command. */
const char *cluster_error(int error);

/* 0; or print that meaning, and which etcd it is, if that matters, and return OWN_FAILURE. */
int cluster_result(const struct cluster_name *name, int error);

/* ---- cluster_turn.c: wait in the queue of the name until it is our turn ---- */

/*
 * As turn_take().  The hold is empty if an outer command holds the units.  If it is not, all signals are
 * blocked, so that none ends a process that holds units; *mask is what was blocked before.
 */
bool cluster_turn_take(const struct cluster_name *name, fairsem_cluster_hold_t *hold, sigset_t *mask,
                       int *exit_status);

/* Start a thread that receives no signals, and for whose end nobody waits. */
bool cluster_start_thread(void *(*work)(void *arg), void *arg);

/*
 * Give the units back, as long as etcd may be asked for that, and block all signals.  A signal that
 * would end the process ends the wait one second later; so does one that has come before.
 */
void cluster_turn_give_back(fairsem_cluster_hold_t *hold, bool signal_came);

/* For the command, and those inside it: this process holds units, with this fence.  False: no memory. */
bool cluster_turn_announce(const struct cluster_name *name, int64_t fence);

/* ---- cluster_guard.c: end the command before etcd gives its place away ---- */

/* As run_as_child.  It gives the units back when the command has ended. */
int cluster_run_guarded(const struct cluster_name *name, fairsem_cluster_hold_t *hold,
                        struct command *command);

/* ---- cluster_status.c: who runs and who waits under the name ---- */

/* Print it, as a table or as JSON, once or each second.  Returns an exit status. */
int cluster_status_print(const struct cluster_name *name);

/* As status_gave_up(), and who runs only if etcd answers. */
void cluster_status_gave_up(const struct cluster_name *name, bool answers);

#endif
