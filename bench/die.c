/* SPDX-License-Identifier: MIT */
/* die.c - see die.h. */
#include "die.h"

#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

noreturn void die(const char *what, int err)
{
    progress_clear();
    fprintf(stderr, "fairsem-bench: %s%s%s\n", what, err ? ": " : "", err ? strerror(err) : "");
    exit(1);
}
