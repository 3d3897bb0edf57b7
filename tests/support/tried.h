/* SPDX-License-Identifier: MIT */
/*
 * tried.h - what a program says and returns that cannot try something.
 *
 * What is missing on this machine is "skipped: ", and a failure if FAIRSEM_TRY_ALL is "yes": a gate
 * passes nothing that it has not tried.  What this kind of build can never try (a sanitizer, an
 * emulator, a system without futexes) is "not here: ", and never a failure.
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

/* The exit status of a program that wants something that this machine has not got. */
static inline int skip_program(const char *why)
{
    bool fails = must_try_all();

    printf("%s: %s\n", fails ? "FAILED, not tried" : "skipped", why);
    fflush(stdout);     /* a child that calls _exit writes nothing more */
    return fails ? EXIT_FAILURE : SKIPPED;
}

/* The exit status of a program that this build does not need. */
static inline int program_not_here(const char *why)
{
    printf("not here: %s\n", why);
    return SKIPPED;
}

#endif
