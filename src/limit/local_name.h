/* SPDX-License-Identifier: MIT */
/* local_name.h - a name of this machine, as one process uses it. */
#ifndef LIMIT_LOCAL_NAME_H
#define LIMIT_LOCAL_NAME_H

#include "names.h"
#include "request.h"

#include <fairsem/shared.h>

enum {
    MOST_PROCESSES = 1024,      /* that run or wait.  Each costs 128 bytes of memory. */
    MOST_USERS = 2048           /* of a name are looked at: each process can run and wait */
};

/* A name, its file, and what this process has opened of it. */
struct local_name {
    const struct request *request;
    char                  segment[SEGMENT_NAME_SIZE];   /* see name_find() */
    fairsem_shared_t     *handle;
    fairsem_shared_t     *gate;                         /* see rate.h */
    bool                  at_front;                     /* it has passed the gate, and not started */
};

#endif
