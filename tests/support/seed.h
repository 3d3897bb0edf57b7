/* SPDX-License-Identifier: MIT */
/*
 * seed.h - the seed of the tests that draw random numbers: the same in every run, or FAIRSEM_SEED.
 */
#ifndef SEED_H
#define SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* It is printed, so that a test that fails says how to repeat it. */
static inline uint32_t test_seed(void)
{
    const char *setting = getenv("FAIRSEM_SEED");
    uint32_t seed = setting != NULL ? (uint32_t)strtoul(setting, NULL, 10) : 1;

    printf("FAIRSEM_SEED=%lu\n", (unsigned long)seed);
    fflush(stdout);     /* a child that is killed prints nothing twice, nor loses it */
    return seed;
}

#endif
