/* SPDX-License-Identifier: MIT */
/* command.h - find a command, run it as a child or in place of this process, end as it ended. */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* The exit statuses of env(1), nice(1) and others, for errors that are not the command's. */
enum { OWN_FAILURE = 125, CANNOT_RUN = 126, NOT_FOUND = 127 };

struct command {
    char       **words;
    char         path[PATH_MAX + NAME_MAX + 2];     /* so that PATH is not searched twice */
    volatile int error;     /* of its fork or exec; the child writes it to our memory */
    const sigset_t *mask;   /* of a child; NULL: that of this process */
};

/*
 * 0: there is such a command, and it can be executed.  Else a message has been printed, and it is
 * the exit status.
 */
int find_command(struct command *command, char **words);

/* What a parent does beside its child.  A function that is NULL is not called. */
struct guard {
    int signals;    /* of run_as_child */
    bool outlived;  /* if this process is killed, the child goes on; else the kernel kills it */
    int fd;         /* look when this is readable, */
    int (*look)(struct guard *guard, pid_t child);  /* and in so many milliseconds; -1: never */
    /* It is always called.  False: the exit status does not count.  status -1: it was not started. */
    bool (*ended)(struct guard *guard, int status);
};

/*
 * Run it as a child, forward signals to it, and return its exit status, or OWN_FAILURE if that does not
 * count; or die by the signal by which it died.
 */
int run_as_child(struct command *command, struct guard *guard);

/* End as a child did: die by the signal that killed it, or return its exit status. */
int end_like(int status);

/* Become the command.  If that fails, as find_command. */
int run_here(const struct command *command);

/* The same in two steps, for a process that has something to give back before it prints a message. */
int command_exec(const struct command *command);                /* returns an errno value */
int command_failed(const struct command *command, int error);   /* returns the exit status */

#endif
