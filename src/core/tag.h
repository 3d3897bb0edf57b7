/* SPDX-License-Identifier: MIT */
/*
 * tag.h - the tags of start-time fair queueing, which share.h explains.
 *
 * A tag is a sum of units / weight, in steps of 2^-20.  Tags wrap, so two tags are compared by their
 * difference, which must be below 2^63 steps.  A grant or a charge adds at most 2^60 steps to a tag.  An
 * epoch (share.h) also ends each time the virtual time passes a multiple of 2^60 steps.  So the finish tag
 * of an idle flow is forgotten long before the virtual time is 2^63 steps ahead.
 */
#ifndef FS_TAG_H
#define FS_TAG_H

#include <stdbool.h>
#include <stdint.h>

#define FS_TAG_UNIT     (INT64_C(1) << 20)
#define FS_TAG_STEP_MAX     (INT64_C(1) << 40)      /* maximum of units / weight in one grant */
#define FS_TAG_EPOCH(t) ((t) >> 60)

static inline bool fs_tag_is_earlier(uint64_t tag, uint64_t other)
{
    return (int64_t)(tag - other) < 0;
}

/*
 * Returns tag + units / weight; units may be negative.  *rest carries the remainder of the division to the
 * next call, so that nothing is lost.
 */
static inline uint64_t fs_tag_add(uint64_t tag, int64_t units, int64_t weight, int64_t *rest)
{
    int64_t most = FS_TAG_STEP_MAX * weight, steps, part;

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
 * Returns the start tag of a new flow, which asks for units / weight.  The first flow of its priority has the
 * tag `first`, and asks for first_units / first_weight.
 *
 * The sum of `first` and the smaller of the two quotients may be the tag of another flow's next request.  The
 * new flow starts one step earlier, before that request, but behind the first flow.  So the grants of new flows
 * advance the first tag, and an endless series of new flows does not delay another flow for ever.
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
