/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - included by ../engine/instrument.c: the simulator is an explorer of one schedule.
 *
 * It uses only fibre.c and instrument.c of the engine.
 */
#ifndef CORES_EXPLORER_H
#define CORES_EXPLORER_H

enum { HEAP_SIZE = 1 };         /* for engine.h's image of the heap, which is not used here */

#include "../engine/engine.h"

#endif
