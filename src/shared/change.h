/* SPDX-License-Identifier: MIT */
/*
 * change.h - what changes the truth of a segment (R1): each of these is one store that counts.
 *
 * The lock is held.  What returns an int returns 0, or ENOTRECOVERABLE.
 */
#ifndef FS_SHARED_CHANGE_H
#define FS_SHARED_CHANGE_H

#include "shared/handle.h"

/* The free units, in *available. */
int fs_shared_load_available(fairsem_shared_t *h, int64_t *available);

/* With undo this is a cache. */
void fs_shared_put_available(fairsem_shared_t *h, int64_t available);

/* What a process holds, with undo. */
int fs_shared_load_held(fairsem_shared_t *h, int process, int64_t *held);

/* What a slot asks for or has been granted. */
int fs_shared_load_units(fairsem_shared_t *h, int slot, int64_t *units);

/* This process takes n units that are free, or gives back n that it holds. */
int fs_shared_take(fairsem_shared_t *h, int64_t n);
int fs_shared_give_back(fairsem_shared_t *h, int64_t n);

/* The slot, which is not in the line any more, is granted its units, which are free. */
int fs_shared_grant_slot(fairsem_shared_t *h, int slot);

/* What it was granted is received by its process, or given back.  The slot is free then. */
int fs_shared_receive(fairsem_shared_t *h, int slot, int64_t now_ns);
int fs_shared_return_grant(fairsem_shared_t *h, int slot);

/* A slot that has been granted nothing is free again. */
void fs_shared_free_slot(fairsem_shared_t *h, int slot);

/* Finish a change of two words that was cut short. */
int fs_shared_redo(fairsem_shared_t *h);

#endif
