/* SPDX-License-Identifier: MIT */
/* local_name.h - a name of this machine, as one process uses it. */
#ifndef LIMIT_LOCAL_NAME_H
#define LIMIT_LOCAL_NAME_H

#include "names.h"
#include "request.h"

#include <fairsem/shared.h>

enum {
    PROCESSES_MAX = 1024,      /* most processes that run or wait; each takes 168 bytes of the segment */
    USERS_MAX = 2048           /* most listed users of a name: a process can be both running and waiting */
};

struct local_name {
    const struct request *request;
    char                  segment[SEGMENT_NAME_SIZE];   /* path of the file, from name_find() */
    fairsem_shared_t     *handle;
    fairsem_shared_t     *gate;                         /* see rate.h; NULL while closed */
    bool                  at_front;                     /* this process is the front of the gate */
};

#endif
