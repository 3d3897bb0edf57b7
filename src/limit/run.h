/* SPDX-License-Identifier: MIT */
/* run.h - run the command, whose place is taken until it ends. */
#ifndef LIMIT_RUN_H
#define LIMIT_RUN_H

#include <fairsem/shared.h>

/*
 * 0: there is such a command, and it can be executed.  Else a message has been printed, and it is
 * the exit status.
 */
int find_command(const char *command);

/*
 * Run it as a child, forward signals to it, and return its exit status; or die by the signal by
 * which it died.  If this process is killed, the kernel kills the child.
 */
int run_as_child(fairsem_shared_t *slots, const char *segment, char **command);

/* Become the command, which holds the units.  If that fails, as find_command. */
int run_with_place(fairsem_shared_t *slots, const char *name, char **command);

/* Become the command, without any units. */
int run_here(char **command);

#endif
