/* SPDX-License-Identifier: MIT */
/* wait_line.h - wait in line, with a line of progress on a terminal, until a signal ends it. */
#ifndef LIMIT_WAIT_LINE_H
#define LIMIT_WAIT_LINE_H

#include "request.h"

#include <fairsem/shared.h>

/*
 * As fairsem_shared_acquire_with.  A signal that would kill the process still does, but only after
 * the process has left the line; otherwise the others would notice its death a moment later.
 */
int wait_line(fairsem_shared_t *slots, const struct request *request, const fairsem_wait_t *how);

#endif
