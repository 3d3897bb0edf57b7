/* SPDX-License-Identifier: MIT */
/* status.h - which processes run and wait, and since when. */
#ifndef LIMIT_STATUS_H
#define LIMIT_STATUS_H

#include "request.h"

/* Print it, once or until a signal comes.  Returns an exit status. */
int status_print(const struct request *request);

/* The wait of this request was too long: say so on stderr, and who runs, unless it shall be quiet. */
void status_gave_up(const struct request *request, const char *segment);

#endif
