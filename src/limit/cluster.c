/* SPDX-License-Identifier: MIT */
/*
 * cluster.c - fairsem-limit-cluster: what fairsem-limit becomes for a name that etcd keeps for many
 * machines.
 *
 *      cluster_open.h      which etcd, and as whom
 *      cluster_turn.h      wait for the turn
 *      cluster_guard.h     end the command before etcd gives its place away
 *      cluster_status.h    who runs and who waits
 */
#include "cluster_guard.h"
#include "cluster_open.h"
#include "cluster_status.h"
#include "cluster_turn.h"
#include "descriptors.h"
#include "options.h"
#include "run/command.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* An etcd that has taken longer to end the wait answers no question either. */
#define ANSWERS_NS INT64_C(1000000000)

/* The fence is for the command; so are the names under which an outer one runs. */
static bool tell_command(const struct cluster_name *name, const fairsem_cluster_hold_t *hold)
{
    char text[30];
    int64_t fence = fairsem_cluster_fence(hold);

    snprintf(text, sizeof text, "%" PRId64, fence);
    if (setenv("FAIRSEM_LIMIT_FENCE", text, 1) == 0 && cluster_turn_announce(name, fence))
        return true;
    warn("%s", name->request->name);
    return false;
}

static int64_t ns_since(const struct timespec *began)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - began->tv_sec) * INT64_C(1000000000) + now.tv_nsec - began->tv_nsec;
}

static int run(const struct cluster_name *name, struct descriptors *given)
{
    struct timespec began;
    fairsem_cluster_hold_t hold = { { 0 } };
    struct command command;
    int exit_status = find_command(&command, name->request->command);

    if (exit_status != 0)
        return exit_status;
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (!cluster_turn_take(name, &hold, &exit_status)) {
        if (exit_status == TIMED_OUT)
            cluster_status_gave_up(name, ns_since(&began) - name->request->wait_ns < ANSWERS_NS);
        return exit_status;
    }
    descriptors_hide_others(given);
    if (fairsem_cluster_fence(&hold) == 0)
        return run_here(&command);      /* an outer command holds the units */
    if (!tell_command(name, &hold)) {
        fairsem_cluster_release(&hold);
        return OWN_FAILURE;
    }
    return cluster_run_guarded(name, &hold, &command);
}

int main(int argc, char **argv)
{
    static struct cluster_name name;    /* a thread that asks may still use it at the end */
    struct descriptors given;
    struct request request;
    int exit_status;

    descriptors_are_given(&given);
    if (!options_read(argc, argv, &request, &exit_status))
        return exit_status;
    if (!request.cluster.on)
        errx(OWN_FAILURE, "fairsem-limit --cluster runs this program");
    if (!cluster_open(&name, &request))
        return OWN_FAILURE;
    switch (request.what) {
    case STATUS: return cluster_status_print(&name);
    case REMOVE: return cluster_result(&name, fairsem_cluster_remove(name.handle));
    default:     return run(&name, &given);
    }
}
