/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - what ../engine/instrument.c includes: the simulator is an explorer of one schedule.
 *
 * Of the engine it uses only fibre.c and instrument.c.
 */
#ifndef CORES_EXPLORER_H
#define CORES_EXPLORER_H

enum { HEAP_SIZE = 1 };         /* engine.h has an image of the heap, which is not made here */

#include "../engine/engine.h"

#endif
