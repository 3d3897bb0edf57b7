/* SPDX-License-Identifier: MIT */
/*
 * emulated.h - what cannot be tested under qemu-user, which runs programs of another machine.
 *
 * tests/platforms/cross.sh says by FAIRSEM_TESTS_EMULATED that it does.  Without it nothing is
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

/*
 * The kernel writes the number of a thread into a mutex with priority inheritance, in its own byte
 * order: two threads that meet there hang or fail, in any program of a machine of the other order.
 */
static inline bool has_priority_inheritance(void)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return !emulated();
#else
    return true;
#endif
}

/* In a test, not in what it calls. */
#define SKIP_TEST(why)                              \
    do {                                            \
        printf("skipped: %s: %s\n", __func__, why); \
        return;                                     \
    } while (0)

#endif
