/* SPDX-License-Identifier: MIT */
/* status.h - which processes run and wait, and since when. */
#ifndef LIMIT_STATUS_H
#define LIMIT_STATUS_H

#include "request.h"

/* Print it, once or until a signal comes.  Returns an exit status. */
int status_print(const struct request *request);

#endif
