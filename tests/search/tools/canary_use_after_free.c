/* SPDX-License-Identifier: MIT */
/*
 * canary_use_after_free.c - a release of a semaphore whose memory was freed; with an argument, it
 * was not.
 */
#include <fairsem.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    fairsem_t *volatile sem = aligned_alloc(_Alignof(fairsem_t), sizeof(fairsem_t));

    (void)argv;
    if (fairsem_init(sem, 0, NULL) != 0)
        return 1;
    if (argc == 1)
        free(sem);
    fairsem_release(sem, 1);
    if (argc > 1)
        free(sem);
    return 0;
}
