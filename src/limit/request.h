/* SPDX-License-Identifier: MIT */
/* request.h - the parsed command line of fairsem-limit. */
#ifndef LIMIT_REQUEST_H
#define LIMIT_REQUEST_H

#include "run/command.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LONGEST_INTERVAL_NS INT64_C(3600000000000)

/* The exit status after a timeout, as in timeout(1).  run/command.h has the other exit statuses. */
enum { TIMED_OUT = 124 };

#define MORE_UNITS_THAN_LIMIT "%" PRId64 " units are more than the limit of %s, %" PRId64

struct request {
    enum { RUN, STATUS, REMOVE, LIMIT } what;
    const char *name;           /* as given by the user, or NULL for the STATUS of all names */
    const char *directory;      /* where the names are; NULL for the default directories (names.h) */
    int64_t     limit, units;
    int64_t     priority;       /* from INT_MIN to INT_MAX */
    bool        share;          /* the request belongs to the share `share_key` */
    uint64_t    share_key;
    int64_t     wait_ns;        /* -1 means for ever */
    bool        global;         /* the name is common to all users */
    mode_t      mode;           /* permissions of a new name */
    int64_t     interval_ns;    /* between two starts; 0 without --rate */
    int         hold_fd;        /* keep the place while this descriptor is open; -1 without --hold */
    bool        exec;           /* become the command, instead of its parent */
    bool        keep;           /* the name stays while no command uses it */
    enum { AS_TABLE, AS_JSON, AS_METRICS } format;  /* for STATUS */
    bool        watch, force;
    bool        quiet;          /* no message after a timeout */
    int64_t     busy_status;    /* the exit status after a timeout */
    struct {
        bool        on;         /* etcd keeps the name */
        const char *endpoints;
        int64_t     ttl_ns;     /* length of a lease, or 0 for the default */
        bool        keep_running;
    } cluster;
    char      **command;
};

/*
 * Read the command line into *request.  Returns false if the process must exit with *exit_status, because the
 * help, the version or an error message has been printed.
 */
bool options_read(int argc, char **argv, struct request *request, int *exit_status);

#endif
