/* SPDX-License-Identifier: MIT */
/*
 * layer.h - included before src/core/ and src/shared/ (cc -include); see explorer.h.
 *
 * The library's system calls go to kernel.c, which replaces that of src/shared/.  Other calls go to the functions
 * of ../engine/layer.h and these.
 */
#ifndef XP_LAYER_H
#define XP_LAYER_H

#include "../engine/layer.h"

void *xp_calloc(size_t count, size_t size);

#define FS_WAKES 1              /* so that two threads count as many */

#ifndef XP_EXPLORER
#define calloc xp_calloc
#endif

#endif
