/* SPDX-License-Identifier: MIT */
/* die.c - see die.h. */
#define _POSIX_C_SOURCE 200809L

#include "die.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

noreturn void die(const char *what, int err)
{
    fprintf(stderr, "fairsem-bench: %s%s%s\n", what, err ? ": " : "", err ? strerror(err) : "");
    exit(1);
}

void start_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
    int err = pthread_create(thread, NULL, run, arg);

    if (err)
        die("pthread_create", err);
}
