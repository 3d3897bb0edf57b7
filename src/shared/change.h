/* SPDX-License-Identifier: MIT */
/* change.h - changes of the truth of a segment (R1), each with one commit point.  The lock is held. */
#ifndef FS_SHARED_CHANGE_H
#define FS_SHARED_CHANGE_H

#include "shared/trust.h"

/* How many units there are; without undo, the most that can be free; -1: damage.  Without the lock. */
int64_t fs_shared_total(const fairsem_shared_t *h);

/* Store the number of free units: with undo a cache, else a commit point. */
void fs_shared_set_available(struct fs_shared_section *in, int64_t available);

/* Count the units that are held or granted, with undo. */
int64_t fs_shared_count_outstanding(struct fs_shared_section *in);

/* Change the total, with undo. */
void fs_shared_resize(struct fs_shared_section *in, int64_t total);

/* This process takes n units, which are free. */
void fs_shared_take(struct fs_shared_section *in, int64_t n);

/* This process gives back n units.  0; EPERM: it holds fewer; EOVERFLOW. */
int fs_shared_give_back(struct fs_shared_section *in, int64_t n);

/* Grant its units, which are free, to a slot outside the queue.  Returns false if it has been abandoned. */
bool fs_shared_grant_slot(struct fs_shared_section *in, int slot, int64_t units);

/* This process receives the units of a granted slot, which is free then. */
void fs_shared_receive(struct fs_shared_section *in, int slot, int64_t now_ns);

/*
 * Free a slot in use, which is not in the queue: its thread has abandoned it, or is dead.  Counts why, and
 * gives back the units that it was granted.  Returns how many.
 */
int64_t fs_shared_clean_up(struct fs_shared_section *in, int slot);

/* Does the process with this entry keep its units over exec?  Only that process, or under the lock. */
void fs_shared_set_keeps(fairsem_shared_t *h, int process, bool keeps);

/* Finish a change of two words that was cut short. */
void fs_shared_redo(struct fs_shared_section *in);

#endif
