/* SPDX-License-Identifier: MIT */
/*
 * cluster.c - fairsem-limit-cluster, which fairsem-limit executes for a name that etcd keeps.  cluster_name.h
 * lists the files.
 */
#include "cluster_name.h"
#include "run/command.h"
#include "run/duration.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

/* ---- Descriptors ---- */

/*
 * The command must not inherit descriptors of libcurl, which libcurl opens without FD_CLOEXEC.  These
 * descriptors are few, and have the lowest free numbers, so a check of the lowest DESCRIPTORS numbers finds
 * them.
 */
enum { DESCRIPTORS = 4096 };
static struct pollfd given[DESCRIPTORS];

/* One system call checks all numbers: poll() returns POLLNVAL for a closed descriptor. */
static void list_descriptors(struct pollfd list[DESCRIPTORS])
{
    long most = sysconf(_SC_OPEN_MAX);

    for (int fd = 0; fd < DESCRIPTORS; fd++)
        list[fd] = (struct pollfd){ .fd = fd };
    poll(list, most > 0 && most < DESCRIPTORS ? (nfds_t)most : DESCRIPTORS, 0);
}

/* Set FD_CLOEXEC on descriptors opened since the program started. */
static void hide_others(void)
{
    static struct pollfd now[DESCRIPTORS];

    list_descriptors(now);
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        if ((given[fd].revents & ~now[fd].revents & POLLNVAL) != 0)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

/* ---- The command ---- */

/* If a wait outlasts its timeout by ANSWERS_NS, etcd does not answer. */
#define ANSWERS_NS INT64_C(1000000000)

static int run_in_cluster(const struct cluster_name *name)
{
    static fairsem_cluster_hold_t hold;     /* static: when main() returns, a thread may still release it */
    struct timespec began;
    struct command command;
    sigset_t mask;
    int exit_status = find_command(&command, name->request->command);

    if (exit_status != 0)
        return exit_status;
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (!cluster_acquire(name, &hold, &mask, &exit_status)) {
        if (exit_status != TIMED_OUT)
            return exit_status;
        cluster_status_gave_up(name, duration_since(&began) - name->request->wait_ns < ANSWERS_NS);
        return (int)name->request->busy_status;
    }
    hide_others();
    if (fairsem_cluster_fence(&hold) == 0)
        return run_here(&command);      /* an outer command holds the units */
    command.mask = &mask;
    if (!cluster_announce(name, fairsem_cluster_fence(&hold))) {
        cluster_release(&hold, false);
        return cluster_result(name, ENOMEM);
    }
    return cluster_run_supervised(name, &hold, &command);
}

int main(int argc, char **argv)
{
    static struct cluster_name name;    /* static: when main() returns, a thread may still query etcd with it */
    struct request request;
    int exit_status;

    list_descriptors(given);
    if (!options_read(argc, argv, &request, &exit_status))
        return exit_status;
    if (!request.cluster.on)
        errx(OWN_FAILURE, "fairsem-limit --cluster runs this program");
    exit_status = cluster_open(&name, &request);
    if (exit_status != 0)
        return exit_status;
    switch (request.what) {
    case STATUS: return cluster_status_print(&name);
    case REMOVE: return cluster_result(&name, fairsem_cluster_remove(name.handle));
    case LIMIT:  return cluster_result(&name, fairsem_cluster_set_limit(name.handle, request.limit));
    default:     return run_in_cluster(&name);
    }
}
