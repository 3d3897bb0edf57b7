/* SPDX-License-Identifier: MIT */
/* run.h - run the command, whose place is taken until it ends. */
#ifndef LIMIT_RUN_H
#define LIMIT_RUN_H

#include <fairsem/shared.h>

#include <stdbool.h>
#include <sys/types.h>

/*
 * 0: there is such a command, and it can be executed.  Else a message has been printed, and it is
 * the exit status.
 */
int find_command(const char *command);

/*
 * Run it as a child, forward signals to it, and return its exit status; or die by the signal by
 * which it died.  If this process is killed, the kernel kills the child.
 */
int run_as_child(fairsem_shared_t *handle, const char *segment, char **command);

/* What else may end a command that is a child. */
struct guard {
    int signals;    /* of run_guarded */
    int fd;         /* look when this is readable, */
    int (*look)(struct guard *guard, pid_t child);  /* and in so many milliseconds; -1: never */
    bool (*ended)(struct guard *guard, int status); /* false: the exit status does not count */
};

/* The same, with a guard.  If its exit status does not count, that is OWN_FAILURE. */
int run_guarded(char **command, struct guard *guard);

/* Become the command, which holds the units.  If that fails, as find_command. */
int run_with_place(fairsem_shared_t *handle, const char *name, char **command);

/* Become the command, without any units. */
int run_here(char **command);

#endif
