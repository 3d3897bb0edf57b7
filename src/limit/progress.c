/* SPDX-License-Identifier: MIT */
/* progress.c - see progress.h. */
#include "progress.h"

#include "duration.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define ERASE "\r\033[K"

enum { MOST_USERS = 2048 };

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

void progress_begin(struct progress *p, fairsem_shared_t *slots, const char *name)
{
    *p = (struct progress){ .slots = slots, .name = name, .terminal = isatty(STDERR_FILENO) };
}

int progress_show(struct progress *p)
{
    static fairsem_shared_user_t users[MOST_USERS];
    int count = MOST_USERS, running = 0;
    char waited[DURATION_SIZE];

    if (!p->terminal)
        return -1;
    /* In the background, the line would disturb the output of other programs. */
    if (tcgetpgrp(STDERR_FILENO) != getpgrp() || !can_write()
        || fairsem_shared_users(p->slots, users, &count) != 0)
        return 1000;
    for (int i = 0; i < count && i < MOST_USERS; i++) {
        const fairsem_shared_user_t *user = &users[i];

        running += user->place == 0;
        if (user->place == 0 || user->mine == 0)
            continue;
        fprintf(stderr, ERASE "%s: %" PRId64 "%s in line, %d running, waited %s", p->name,
                user->place, ordinal_suffix(user->place), running,
                duration_text(user->ns, waited));
        fflush(stderr);
        p->shown = true;
    }
    return 1000;
}

void progress_end(struct progress *p)
{
    if (p->shown && can_write())
        fputs(ERASE, stderr);
}
