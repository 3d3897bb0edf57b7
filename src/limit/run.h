/* SPDX-License-Identifier: MIT */
/* run.h - run the command, which holds the units until it ends. */
#ifndef LIMIT_RUN_H
#define LIMIT_RUN_H

#include <fairsem/shared.h>

/* Become the command.  If that fails, print a message and return the exit status. */
int run_here(fairsem_shared_t *slots, const char *name, char **command);

/*
 * Run it as a child, forward signals to it, and return its exit status; or die by the signal by
 * which it died.  If this process is killed, the kernel kills the child.
 */
int run_as_child(fairsem_shared_t *slots, char **command);

#endif
