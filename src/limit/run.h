/* SPDX-License-Identifier: MIT */
/* run.h - run the command, whose place is taken until it ends. */
#ifndef LIMIT_RUN_H
#define LIMIT_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct command {
    char       **words;
    char         path[PATH_MAX + NAME_MAX + 2];     /* so that PATH is not searched twice; or "" */
    volatile int error;     /* of its exec; the child writes it to our memory */
};

/*
 * 0: there is such a command, and it can be executed.  Else a message has been printed, and it is
 * the exit status.
 */
int find_command(struct command *command, char **words);

/* Who holds the units of a command that is a child.  A function that is NULL is not called. */
struct guard {
    int signals;    /* of run_as_child */
    void (*started)(void);
    int fd;         /* look when this is readable, */
    int (*look)(struct guard *guard, pid_t child);  /* and in so many milliseconds; -1: never */
    /* Give them back.  False: the exit status does not count.  It is always called. */
    bool (*ended)(struct guard *guard, int status);
};

/*
 * Run it as a child, forward signals to it, and return its exit status, or OWN_FAILURE if that does not
 * count; or die by the signal by which it died.  If this process is killed, the kernel kills the child.
 */
int run_as_child(struct command *command, struct guard *guard);

/* Become the command.  If that fails, as find_command. */
int run_here(const struct command *command);

#endif
