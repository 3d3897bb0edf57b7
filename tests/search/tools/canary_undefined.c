/* SPDX-License-Identifier: MIT */
/*
 * canary_undefined.c - a semaphore at an address that is no multiple of its alignment; with an
 * argument, at one that is.
 */
#include <fairsem.h>

static _Alignas(16) unsigned char memory[sizeof(fairsem_t) + 16];

int main(int argc, char **argv)
{
    (void)argv;
    return (int)fairsem_waiters((fairsem_t *)(void *)(memory + (argc > 1 ? 0 : 4)));
}
