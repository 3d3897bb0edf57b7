/* SPDX-License-Identifier: MIT */
/* table.h - the status as a table. */
#ifndef LIMIT_TABLE_H
#define LIMIT_TABLE_H

#include "request.h"
#include "shown.h"

void table_print(const struct shown_name *name);

/* For the log of a job: one line on stderr, which says that it has waited in vain, and who runs. */
void table_gave_up(const struct shown_name *name, const struct request *request);

#endif
