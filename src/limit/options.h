/* SPDX-License-Identifier: MIT */
/* options.h - the command line of fairsem-limit. */
#ifndef LIMIT_OPTIONS_H
#define LIMIT_OPTIONS_H

#include "request.h"

/*
 * True: *request is filled in.  Else the program ends with *exit_status: help was printed, or a
 * message about what is wrong.
 */
bool options_read(int argc, char **argv, struct request *request, int *exit_status);

#endif
