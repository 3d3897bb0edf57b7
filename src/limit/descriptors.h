/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h - the command has the descriptors that this process was given, and no others.
 *
 * libcurl opens some that an exec does not close.
 */
#ifndef LIMIT_DESCRIPTORS_H
#define LIMIT_DESCRIPTORS_H

/* Those that are open now are for the command. */
void descriptors_are_given(void);

/* An exec closes those that have been opened since. */
void descriptors_hide_others(void);

#endif
