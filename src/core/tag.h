/* SPDX-License-Identifier: MIT */
/*
 * tag.h - the tags of start-time fair queueing, which share.h explains.
 *
 * A tag counts units / weight, in steps of 2^-20.  Tags wrap, so they are compared by their difference.
 * Two tags that are compared are less than 2^63 apart: a grant adds at most 2^60, and a charge, too.
 * An epoch also ends when the virtual time has advanced by 2^60, so no valid finish tag is further
 * back.
 */
#ifndef FS_TAG_H
#define FS_TAG_H

#include <stdbool.h>
#include <stdint.h>

#define FS_TAG_UNIT     (INT64_C(1) << 20)
#define FS_TAG_MOST     (INT64_C(1) << 40)      /* maximum of units / weight in one grant */
#define FS_TAG_EPOCH(t) ((t) >> 60)

static inline bool fs_tag_is_earlier(uint64_t tag, uint64_t other)
{
    return (int64_t)(tag - other) < 0;
}

/*
 * Returns tag + units / weight.  *rest is the remainder of the division, which the next call adds, so
 * that nothing is lost.  units may be negative.
 */
static inline uint64_t fs_tag_add(uint64_t tag, int64_t units, int64_t weight, int64_t *rest)
{
    int64_t most = FS_TAG_MOST * weight, steps, part;

    units = units > most ? most : units < -most ? -most : units;
    part = units % weight * FS_TAG_UNIT + *rest;
    steps = units / weight * FS_TAG_UNIT + part / weight;
    *rest = part % weight;
    if (*rest < 0) {
        *rest += weight;
        steps--;
    }
    return tag + (uint64_t)steps;
}

/*
 * Returns the tag of a flow that is new, and asks for units / weight, where the first request has the tag `first`
 * and asks for first_units / first_weight.  It is behind that one by the smaller of both, less one step: before a flow
 * that goes on there.  So each new flow that is granted lets the first tag advance, and ever new flows let no
 * other one wait for ever.
 */
static inline uint64_t fs_tag_of_new(int64_t units, int64_t weight, uint64_t first, int64_t first_units,
                                     int64_t first_weight)
{
    int64_t none = 0;
    uint64_t own = fs_tag_add(0, units, weight, &none), others;

    none = 0;
    others = fs_tag_add(0, first_units, first_weight, &none);
    if (others < own)
        own = others;
    return own == 0 ? first : first + own - 1;
}

#endif
