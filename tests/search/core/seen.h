/* SPDX-License-Identifier: MIT */
/* seen.h - hashes of states, and the set of those that have been seen; for both explorers. */
#ifndef XP_SEEN_H
#define XP_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open addressing, in memory that the user provides: `slots` zeros, a power of two. */
struct seen {
    uint64_t *slot;         /* the hash, except its lowest 4 bits: the preemptions + 1 */
    size_t    slots, used;
};

void seen_forget(struct seen *seen);

/* Has this state been seen, at no higher cost?  Records it. */
bool seen_before(struct seen *seen, uint64_t state, int cost);

/* Hash any memory to 64 bits. */
uint64_t mix(uint64_t hash, const void *from, size_t size);

#endif
