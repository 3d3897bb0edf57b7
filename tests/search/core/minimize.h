/* SPDX-License-Identifier: MIT */
/* minimize.h - the shortest scenario and schedule that still fail. */
#ifndef XP_MINIMIZE_H
#define XP_MINIMIZE_H

#include "explorer.h"

/* Minimizes a scenario that has just failed, with this memory, and prints the result. */
void minimize_failure(const struct scenario *what, struct limits with);

#endif
