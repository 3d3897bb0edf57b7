/* SPDX-License-Identifier: MIT */
/* progress.c - see progress.h. */
#include "progress.h"

#include "duration.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define ERASE "\r\033[K"

const char *ordinal_suffix(int64_t n)
{
    if (n % 100 / 10 == 1)
        return "th";
    return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

/*
 * Not while Ctrl-S stops the terminal: this thread also receives the signals, and the other one, if
 * it has got its turn, waits for this one with the unit.
 */
static bool can_write(void)
{
    struct pollfd terminal = { .fd = STDERR_FILENO, .events = POLLOUT };

    return poll(&terminal, 1, 0) == 1 && (terminal.revents & POLLOUT) != 0;
}

void progress_begin(struct progress *p, const char *name,
                    bool (*ask)(void *arg, struct standing *standing), void *arg)
{
    *p = (struct progress){ .name = name, .ask = ask, .arg = arg,
                            .terminal = isatty(STDERR_FILENO) };
}

int progress_show(struct progress *p)
{
    struct standing standing = { 0 };
    char waited[DURATION_SIZE];

    if (!p->terminal)
        return -1;
    /* In the background, the line would disturb the output of other programs. */
    if (tcgetpgrp(STDERR_FILENO) != getpgrp() || !can_write() || !p->ask(p->arg, &standing))
        return 1000;
    fprintf(stderr, ERASE "%s: ", p->name);
    if (standing.place > 0)
        fprintf(stderr, "%" PRId64 "%s in line, %d running, ", standing.place,
                ordinal_suffix(standing.place), standing.running);
    fprintf(stderr, "waited %s", duration_text(standing.ns, waited));
    if (standing.trouble != NULL)
        fprintf(stderr, "; %s", standing.trouble);
    fflush(stderr);
    p->shown = true;
    return 1000;
}

void progress_end(struct progress *p)
{
    if (p->shown && can_write())
        fputs(ERASE, stderr);
}
