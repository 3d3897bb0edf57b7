/* SPDX-License-Identifier: MIT */
/*
 * wait_line.h - wait in line until a signal ends it, with a line of progress on stderr, if that is a terminal:
 * "3rd in line, 2 running, waited 12 s".
 */
#ifndef LIMIT_WAIT_LINE_H
#define LIMIT_WAIT_LINE_H

#include <fairsem.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* What there is to say about a wait. */
struct standing {
    int64_t     place;
    int         running;
    const char *trouble;        /* NULL: none */
};

/* What waits, and how. */
struct line {
    const char *name;
    bool        exec;           /* this process becomes the command */
    int         patience_ms;    /* for the end of a wait that a signal ends; -1: however long */
    int  (*acquire)(void *arg, const fairsem_wait_t *how);
    bool (*ask)(void *arg, struct standing *standing);      /* false: there is nothing to say yet */
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
