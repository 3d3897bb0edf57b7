/* SPDX-License-Identifier: MIT */
/* request.h - what the command line of fairsem-limit asks for. */
#ifndef LIMIT_REQUEST_H
#define LIMIT_REQUEST_H

#include "run/command.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LONGEST_INTERVAL_NS INT64_C(3600000000000)

/* As timeout(1) has it; beside the exit statuses of run/command.h. */
enum { TIMED_OUT = 124 };

#define MORE_UNITS_THAN_LIMIT "%" PRId64 " units are more than the limit of %s, %" PRId64

struct request {
    enum { RUN, STATUS, REMOVE, LIMIT } what;
    const char *name;           /* as the user has it; NULL: all, for STATUS */
    const char *directory;      /* where names are; NULL: see names.h */
    int64_t     limit, units;
    int64_t     priority;       /* from INT_MIN to INT_MAX */
    int64_t     wait_ns;        /* -1: for ever */
    bool        global;         /* the name is common to all users */
    mode_t      mode;           /* permissions, if the name is new */
    int64_t     interval_ns;    /* between two starts; 0: there is no rate */
    int         hold_fd;        /* the place is for as long as this descriptor is open; -1: for the command */
    bool        exec;           /* become the command */
    bool        keep;           /* the name stays, even if nobody uses it */
    enum { AS_TABLE, AS_JSON, AS_METRICS } format;  /* of STATUS */
    bool        watch, force;
    bool        quiet;          /* no message when the wait was too long, or there was none */
    int64_t     busy_status;    /* the exit status when the wait was too long */
    struct {
        bool        on;         /* etcd keeps the name */
        const char *endpoints;
        int64_t     ttl_ns;     /* of a lease; 0: the default */
        bool        keep_running;
    } cluster;
    char      **command;
};

/*
 * Read the command line.  Returns true if *request is filled in; else the program ends with *exit_status,
 * after the help or an error message.
 */
bool options_read(int argc, char **argv, struct request *request, int *exit_status);

#endif
