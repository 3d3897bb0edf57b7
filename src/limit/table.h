/* SPDX-License-Identifier: MIT */
/* table.h - the status as a table. */
#ifndef LIMIT_TABLE_H
#define LIMIT_TABLE_H

#include "shown.h"

void table_print(const struct shown_name *name);

#endif
