/* SPDX-License-Identifier: MIT */
/* wait_line.h - wait in line, with a line of progress on a terminal, until a signal ends it. */
#ifndef LIMIT_WAIT_LINE_H
#define LIMIT_WAIT_LINE_H

#include "progress.h"

#include <fairsem.h>
#include <signal.h>

/* What waits, and how. */
struct line {
    const char *name;
    bool        exec;           /* this process becomes the command */
    int         patience_ms;    /* for the end of a wait that a signal ends; -1: however long */
    int  (*acquire)(void *arg, const fairsem_wait_t *how);
    bool (*ask)(void *arg, struct standing *standing);      /* for the line of progress */
    void (*leave)(void *arg);   /* before a signal kills the process: what it has got, it gives back */
    void       *arg;
    sigset_t   *mask;           /* not NULL: all signals stay blocked when it has got it; the mask before */
};

/*
 * Returns what `acquire` does.  A signal that would kill the process still does, but only after
 * the process has left the line; otherwise the others would notice its death a moment later.
 */
int wait_line(const struct line *line, const fairsem_wait_t *how);

#endif
