/* SPDX-License-Identifier: MIT */
/* status.h - which processes run and wait, and since when. */
#ifndef LIMIT_STATUS_H
#define LIMIT_STATUS_H

#include "request.h"

#include <fairsem/shared.h>

/* One name, now. */
struct name_status {
    const char                  *name;
    bool                         global;
    fairsem_shared_stat_t        stat;
    int                          count;
    const fairsem_shared_user_t *users;     /* who runs, then who waits, in order */
};

/* Print it, once or until a signal comes.  Returns an exit status. */
int status_print(const struct request *request);

#endif
