/* SPDX-License-Identifier: MIT */
/*
 * tried.h - the messages and exit statuses of a program that cannot try something.
 *
 * "skipped: " means that something is missing on this machine.  If FAIRSEM_TRY_ALL is "yes", that is a failure:
 * a gate passes nothing that it has not tried.  "not here: " means that this kind of build can never try it (a
 * sanitizer, an emulator, a system without futexes).  That is never a failure.
 */
#ifndef TRIED_H
#define TRIED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77      /* the exit status that `make check` counts as skipped */

static inline bool must_try_all(void)
{
    const char *setting = getenv("FAIRSEM_TRY_ALL");

    return setting != NULL && strcmp(setting, "yes") == 0;
}

/* Returns the exit status of a program that needs something that is missing on this machine. */
static inline int skip_program(const char *why)
{
    bool fails = must_try_all();

    printf("%s: %s\n", fails ? "FAILED, not tried" : "skipped", why);
    fflush(stdout);     /* a child that calls _exit() flushes nothing */
    return fails ? EXIT_FAILURE : SKIPPED;
}

/* Returns the exit status of a program that can never work in this build. */
static inline int program_not_here(const char *why)
{
    printf("not here: %s\n", why);
    return SKIPPED;
}

#endif
