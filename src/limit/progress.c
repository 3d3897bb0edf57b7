/* SPDX-License-Identifier: MIT */
/* progress.c - see progress.h. */
#include "progress.h"

#include "run/duration.h"

#include <fcntl.h>
#include <inttypes.h>
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
 * A write must not wait, not even where Ctrl-S comes between two: this thread also receives the
 * signals, and the other one, if it has got its turn, waits for this one with the unit.  What does
 * not fit is lost.  The terminal is opened once more, because every process that has this stderr
 * would get an O_NONBLOCK there.
 */
static int open_terminal(void)
{
    const int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

    return isatty(STDERR_FILENO) ? open("/dev/tty", flags) : -1;
}

void progress_begin(struct progress *p, const char *name,
                    bool (*ask)(void *arg, struct standing *standing), void *arg)
{
    *p = (struct progress){ .name = name, .ask = ask, .arg = arg, .terminal = open_terminal() };
    clock_gettime(CLOCK_MONOTONIC, &p->began);
}

int progress_show(struct progress *p)
{
    struct standing standing = { 0 };
    char waited[DURATION_SIZE], place[80] = "";

    if (p->terminal < 0)
        return -1;
    /* In the background, the line would disturb the output of other programs. */
    if (tcgetpgrp(STDERR_FILENO) != getpgrp() || !p->ask(p->arg, &standing))
        return 1000;
    if (standing.place > 0)
        snprintf(place, sizeof place, "%" PRId64 "%s in line, %d running, ", standing.place,
                 ordinal_suffix(standing.place), standing.running);
    dprintf(p->terminal, ERASE "%s: %swaited %s%s%s", p->name, place,
            duration_text(duration_since(&p->began), waited), standing.trouble != NULL ? "; " : "",
            standing.trouble != NULL ? standing.trouble : "");
    p->shown = true;
    return 1000;
}

void progress_end(struct progress *p)
{
    if (p->shown)
        dprintf(p->terminal, ERASE);
    if (p->terminal >= 0)
        close(p->terminal);
}
