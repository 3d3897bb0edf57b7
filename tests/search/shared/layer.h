/* SPDX-License-Identifier: MIT */
/*
 * layer.h - included before src/core/ and src/shared/ (cc -include); see explorer.h.
 *
 * The library's kernel calls go to kernel.c, which replaces that of src/shared/, and its other
 * calls to the functions of ../engine/layer.h and these.
 */
#ifndef XP_LAYER_H
#define XP_LAYER_H

#include "../engine/layer.h"

void *xp_calloc(size_t count, size_t size);

#define FS_WAKES 1              /* the second thread is woken as one of many is */

#ifndef XP_EXPLORER
#define calloc xp_calloc
#endif

#endif
