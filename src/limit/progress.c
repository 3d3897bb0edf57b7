/* SPDX-License-Identifier: MIT */
/* progress.c - see progress.h. */
#include "progress.h"

#include "run/duration.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ERASE "\r\033[K"

const char *ordinal_suffix(int64_t n)
{
    if (n % 100 / 10 == 1)
        return "th";
    return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

bool terminal_can_erase(int fd)
{
    const char *kind = getenv("TERM");

    return kind != NULL && *kind != '\0' && strcmp(kind, "dumb") != 0 && isatty(fd);
}

/* The bytes of the text that fit in the columns.  A character of three bytes may take two of them. */
static size_t bytes_in(const char *text, int columns)
{
    size_t length = 0;

    for (; text[length] != '\0'; length++) {
        unsigned char c = (unsigned char)text[length];

        columns -= c >= 0xe0 ? 2 : (c & 0xc0) != 0x80;
        if (columns < 0)
            break;
    }
    return length;
}

/* A line that wraps cannot be erased, and some terminals wrap when the last column is written. */
static int columns_of(int terminal)
{
    struct winsize size;

    return ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col - 1 : 79;
}

/*
 * A write must not wait, not even where Ctrl-S comes between two: this thread also receives the
 * signals, and the other one, if it has got its turn, waits for this one with the unit.  What does
 * not fit is lost.  The terminal is opened once more, because every process that has this stderr
 * would get an O_NONBLOCK there.
 */
void progress_begin(struct progress *p, const char *name,
                    bool (*ask)(void *arg, struct standing *standing), void *arg)
{
    *p = (struct progress){ .name = name, .ask = ask, .arg = arg, .terminal = -1 };
    if (terminal_can_erase(STDERR_FILENO))
        p->terminal = open("/dev/tty", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    clock_gettime(CLOCK_MONOTONIC, &p->began);
}

int progress_show(struct progress *p)
{
    struct standing standing = { 0 };
    char waited[DURATION_SIZE], place[40] = "", running[30] = "", text[600];
    int columns, less = 0;

    if (p->terminal < 0)
        return -1;
    /* In the background, the line would disturb the output of other programs. */
    if (tcgetpgrp(STDERR_FILENO) != getpgrp() || !p->ask(p->arg, &standing))
        return 1000;
    duration_text(duration_since(&p->began), waited);
    if (standing.place > 0) {
        snprintf(place, sizeof place, "%" PRId64 "%s in line, ", standing.place,
                 ordinal_suffix(standing.place));
        snprintf(running, sizeof running, "%d running, ", standing.running);
    }
    columns = columns_of(p->terminal);
    do
        snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s", less < 1 ? p->name : "", less < 1 ? ": " : "",
                 place, less < 2 ? running : "", less < 2 ? "waited " : "", waited,
                 standing.trouble != NULL ? "; " : "",
                 standing.trouble != NULL ? standing.trouble : "");
    while (text[bytes_in(text, columns)] != '\0' && ++less <= 2);
    dprintf(p->terminal, ERASE "%.*s", (int)bytes_in(text, columns), text);
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
