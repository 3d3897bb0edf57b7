/* SPDX-License-Identifier: MIT */
/*
 * seed.h - settings from the environment, such as the seed of random tests.  The seed is the same in every run
 * unless FAIRSEM_SEED is set.
 */
#ifndef SEED_H
#define SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Returns the setting of this name, or `otherwise` if it is not set.  Exits if the setting is not a number or
 * is less than `least`, so that a mistyped setting is noticed.
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

/* Returns the seed, and prints it, so that a failure can be repeated. */
static inline uint32_t test_seed(void)
{
    uint32_t seed = (uint32_t)setting("FAIRSEM_SEED", 0, 1);

    printf("FAIRSEM_SEED=%lu\n", (unsigned long)seed);
    fflush(stdout);     /* a forked child would print the line again, or lose it */
    return seed;
}

#endif
