/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - what ../engine/instrument.c includes.  For the engine, the simulator is an explorer of one
 * schedule; it uses only the engine's fibre.c and instrument.c.
 */
#ifndef CORES_EXPLORER_H
#define CORES_EXPLORER_H

enum { HEAP_SIZE = 1 };         /* engine.h needs a size; the simulator has no image of a heap */

#include "../engine/engine.h"

#endif
