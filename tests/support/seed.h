/* SPDX-License-Identifier: MIT */
/*
 * seed.h - numbers from the environment, such as the seed of the tests that draw random numbers: the
 * same in every run, or FAIRSEM_SEED.
 */
#ifndef SEED_H
#define SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Returns the setting of this name, or `otherwise`.  Exits if it is not a number, or too small: a mistyped
 * setting would have no effect.
 */
static inline int64_t setting(const char *name, int64_t least, int64_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    int64_t number;

    if (text == NULL || *text == '\0')
        return otherwise;
    number = strtoll(text, &end, 10);
    if (*end != '\0' || number < least) {
        fprintf(stderr, "%s=%s: no number from %lld on\n", name, text, (long long)least);
        exit(2);
    }
    return number;
}

/* It is printed, so that a test that fails says how to repeat it. */
static inline uint32_t test_seed(void)
{
    uint32_t seed = (uint32_t)setting("FAIRSEM_SEED", 0, 1);

    printf("FAIRSEM_SEED=%lu\n", (unsigned long)seed);
    fflush(stdout);     /* a child that is killed prints nothing twice, nor loses it */
    return seed;
}

#endif
