/* SPDX-License-Identifier: MIT */
/* command.h - find a command, run it as a child or in place of this process, and end as it ended. */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Exit statuses, as of env(1), nice(1) and others, for errors that the command has not caused. */
enum { OWN_FAILURE = 125, CANNOT_RUN = 126, NOT_FOUND = 127 };

struct command {
    char       **words;
    char         path[PATH_MAX + NAME_MAX + 2];     /* stored, so that PATH is not searched twice */
    volatile int error;     /* an errno value of fork or exec; the child writes it to our memory */
    const sigset_t *mask;   /* signal mask for a child, or NULL for the mask of this process */
};

/*
 * Returns 0 if the command exists and can be executed.  Otherwise prints a message, and returns the exit
 * status.
 */
int find_command(struct command *command, char **words);

/* Work of a parent while its child runs. */
struct supervisor {
    int signals;    /* a signalfd, which run_as_child() sets */
    bool outlived;  /* if false, the kernel kills the child when this process dies */
    int fd;         /* call check() when this is readable */
    /* Returns the milliseconds until its next call, or -1 for no limit.  May be NULL. */
    int (*check)(struct supervisor *supervisor, pid_t child);
    /* Called at the child's end; status is -1 if no child was started.  Returns false to discard `status`. */
    bool (*ended)(struct supervisor *supervisor, int status);
};

/*
 * Run the command as a child, and forward signals to the child.  Returns its exit status, or OWN_FAILURE if
 * ended() discards the status.  If a signal has killed the child, dies by the same signal.
 */
int run_as_child(struct command *command, struct supervisor *supervisor);

/* End as a child did: die by the signal that killed it, or return its exit status. */
int end_like(int status);

/* Become the command.  On failure, prints a message and returns the exit status. */
int run_here(const struct command *command);

/* The two steps of run_here(), for a process that must return units before it prints a message. */
int command_exec(const struct command *command);                /* returns an errno value */
int command_failed(const struct command *command, int error);   /* returns the exit status */

#endif
