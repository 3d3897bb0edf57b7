/* SPDX-License-Identifier: MIT */
/*
 * emulated.h - what cannot be tested under qemu-user, which runs programs of another machine.
 *
 * tests/platforms/cross.sh says by FAIRSEM_TESTS_EMULATED=1 that it does.  Without it nothing is
 * skipped here: on a real machine the same failure would be a fault.  cross.sh counts each line
 * that begins with "skipped: ".
 */
#ifndef EMULATED_H
#define EMULATED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline bool emulated(void)
{
    return getenv("FAIRSEM_TESTS_EMULATED") != NULL;
}

/* In a test, not in what it calls. */
#define SKIP_TEST(why)                              \
    do {                                            \
        printf("skipped: %s: %s\n", __func__, why); \
        return;                                     \
    } while (0)

#endif
