/* SPDX-License-Identifier: MIT */
/* local_name.h - a name of this machine, as one process uses it. */
#ifndef LIMIT_LOCAL_NAME_H
#define LIMIT_LOCAL_NAME_H

#include "names.h"
#include "request.h"

#include <fairsem/shared.h>

enum {
    MOST_PROCESSES = 1024,      /* that run or wait; each takes 168 bytes of the segment */
    MOST_USERS = 2048           /* listed users of a name: a process can be both running and waiting */
};

/* A name, its file, and the handles of this process. */
struct local_name {
    const struct request *request;
    char                  segment[SEGMENT_NAME_SIZE];   /* see name_find() */
    fairsem_shared_t     *handle;
    fairsem_shared_t     *gate;                         /* see rate.h */
    bool                  at_front;                     /* this process is the front of the gate, and has not started */
};

#endif
