/* SPDX-License-Identifier: MIT */
/* place.h - what a request is called at the engine, and what it says of its program. */
#ifndef CLUSTER_PLACE_H
#define CLUSTER_PLACE_H

#include "engine.h"

/* Choose the lease, and fill in pid, host and program.  False: the system has no random numbers. */
bool fs_place_fill(struct fs_place *place, const char *program);

#endif
