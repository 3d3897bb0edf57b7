/* SPDX-License-Identifier: MIT */
/*
 * emulated.h - skips tests that cannot work under qemu-user, which runs programs of other machines.
 *
 * tests/release/platforms/target.sh sets FAIRSEM_TESTS_EMULATED.  Without this variable no test is skipped: on
 * a real machine, a failure of such a test is a fault of the library.
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
 * Does a mutex with priority inheritance work?  The kernel writes the number of a thread into such a
 * mutex, in the byte order of the real machine.  If the emulated machine has the other byte order, two
 * threads that compete for the mutex hang or fail.
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
