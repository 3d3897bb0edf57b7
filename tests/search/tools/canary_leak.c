/* SPDX-License-Identifier: MIT */
/* canary_leak.c - a semaphore that is lost, and not freed; with an argument it is freed. */
#include <fairsem.h>
#include <stdlib.h>

static void *volatile reachable;

int main(int argc, char **argv)
{
    (void)argv;
    reachable = malloc(sizeof(fairsem_t));
    if (argc > 1)
        free(reachable);
    reachable = NULL;
    return 0;
}
