/* SPDX-License-Identifier: MIT */
/*
 * emulated.h - skips tests that cannot work under qemu-user, which runs programs of other machines.
 *
 * tests/release/platforms/target.sh sets FAIRSEM_TESTS_EMULATED.  Without it, no test is skipped here: on a
 * real machine the failure is a fault of the library.
 */
#ifndef EMULATED_H
#define EMULATED_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool emulated(void)
{
    return getenv("FAIRSEM_TESTS_EMULATED") != NULL;
}

/*
 * The kernel writes the number of a thread into a mutex with priority inheritance, in the byte
 * order of the real machine.  If the emulated machine has the other byte order, two threads that
 * compete for such a mutex hang or fail.
 */
static inline bool has_priority_inheritance(void)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return !emulated();
#else
    return true;
#endif
}

#endif
