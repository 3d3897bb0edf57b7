/* SPDX-License-Identifier: MIT */
/*
 * change.h - changes of the truth of a segment (R1), each with one commit point.
 *
 * The lock is held.  Each function that returns an int returns 0, or ENOTRECOVERABLE.
 */
#ifndef FS_SHARED_CHANGE_H
#define FS_SHARED_CHANGE_H

#include "shared/handle.h"

/* How many units there are; without undo, the most that can be free.  Without the lock, a hint. */
int64_t fs_shared_total(const fairsem_shared_t *h);

/* What no sum of units exceeds that are held or granted; 0 if that is damaged. */
int64_t fs_shared_most(const fairsem_shared_t *h);

/* Load the number of free units, and check it (R8).  It is negative after the total was lowered. */
int fs_shared_load_available(fairsem_shared_t *h, int64_t *available);

/* Store the number of free units where it is a cache: with undo, or to finish a redo. */
void fs_shared_put_available(fairsem_shared_t *h, int64_t available);

/* Load the units that a process holds; only with undo. */
int fs_shared_load_held(fairsem_shared_t *h, int process, int64_t *held);

/* Load the units that a slot asks for, or has been granted. */
int fs_shared_load_units(fairsem_shared_t *h, int slot, int64_t *units);

/* Count the units that are held or granted, with undo. */
int fs_shared_count_out(fairsem_shared_t *h, int64_t *out);

/* Change the total, with undo. */
int fs_shared_resize(fairsem_shared_t *h, int64_t total);

/* This process takes n units that are free, or gives back n that it holds. */
int fs_shared_take(fairsem_shared_t *h, int64_t n);
int fs_shared_give_back(fairsem_shared_t *h, int64_t n);

/* Grant a slot its units, which are free; it has left the queue.  EAGAIN: its thread has gone. */
int fs_shared_grant_slot(fairsem_shared_t *h, int slot);

/* The process of a granted slot receives the units, or gives them back.  The slot is free then. */
int fs_shared_receive(fairsem_shared_t *h, int slot, int64_t now_ns);
int fs_shared_return_grant(fairsem_shared_t *h, int slot);

/* Free a slot that has been granted nothing. */
void fs_shared_free_slot(fairsem_shared_t *h, int slot);

/* Finish a change of two words that was cut short.  EAGAIN: as fs_shared_grant_slot(). */
int fs_shared_redo(fairsem_shared_t *h);

#endif
