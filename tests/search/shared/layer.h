/* SPDX-License-Identifier: MIT */
/*
 * layer.h - redirects the library's calls to the explorer: included before each source of src/core/ and
 * src/shared/ (cc -include).
 *
 * The library's system calls go to kernel.c, which replaces kernel.c of src/shared/.  Other calls go to the
 * functions of ../engine/layer.h and of this file.
 */
#ifndef XP_LAYER_H
#define XP_LAYER_H

#include "../engine/layer.h"

void *xp_calloc(size_t count, size_t size);

#define FS_WAKES 1              /* two wakes of a section already use `more` (trust.h) */

#ifndef XP_EXPLORER
#define calloc xp_calloc
#endif

#endif
