/* SPDX-License-Identifier: MIT */
/* seen.c - see seen.h. */
#include "seen.h"

#include <string.h>

void seen_forget(struct seen *seen)
{
    if (seen->used > 0)
        memset(seen->slot, 0, seen->slots * sizeof seen->slot[0]);
    seen->used = 0;
}

bool seen_before(struct seen *seen, uint64_t state, int cost)
{
    uint64_t key = state & ~UINT64_C(15), spent = (uint64_t)cost + 1;
    uint64_t *slot = seen->slot;
    size_t at = (state >> 8) % seen->slots;

    for (; slot[at] != 0; at = (at + 1) % seen->slots) {
        if ((slot[at] & ~UINT64_C(15)) != key)
            continue;
        if ((slot[at] & 15) <= spent)
            return true;
        slot[at] = key | spent;
        return false;
    }
    if (seen->used >= seen->slots / 4 * 3) {
        seen_forget(seen);      /* only costs time: they will be searched again */
        at = (state >> 8) % seen->slots;
    }
    slot[at] = key | spent;
    seen->used++;
    return false;
}

uint64_t mix(uint64_t hash, const void *from, size_t size)
{
    const char *at = from;
    uint64_t other = ~hash, word;

    for (; size >= 16; size -= 16, at += 16) {
        memcpy(&word, at, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
        memcpy(&word, at + 8, 8);
        other = (other ^ word) * UINT64_C(0xc2b2ae3d27d4eb4f);
        other ^= other >> 31;
    }
    while (size > 0) {
        size_t some = size < 8 ? size : 8;

        word = 0;
        memcpy(&word, at, some);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
        size -= some;
        at += some;
    }
    hash = (hash ^ other) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}
