/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h - the command has the descriptors that this process was given, and no others.
 *
 * libcurl opens some that an exec does not close.
 */
#ifndef LIMIT_DESCRIPTORS_H
#define LIMIT_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

struct descriptors {
    int   *list;
    size_t count;
    bool   known;
};

/* Those that are open now are for the command. */
void descriptors_are_given(struct descriptors *given);

/* An exec closes those that have been opened since. */
void descriptors_hide_others(struct descriptors *given);

#endif
