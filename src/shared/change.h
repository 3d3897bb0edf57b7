/* SPDX-License-Identifier: MIT */
/* change.h - changes of the authoritative data of a segment (R1).  The lock is held, except where noted. */
#ifndef FS_SHARED_CHANGE_H
#define FS_SHARED_CHANGE_H

#include "shared/trust.h"

/* Returns the total of units (without undo the capacity), or -1 if it is damaged.  Needs no lock. */
int64_t fs_shared_total(const fairsem_shared_t *h);

/* Store the number of free units: a commit point without undo, derived data with undo. */
void fs_shared_set_available(struct fs_shared_section *in, int64_t available);

/* With undo: count the units that are held or granted. */
int64_t fs_shared_count_outstanding(struct fs_shared_section *in);

/* With undo: change the total. */
void fs_shared_resize(struct fs_shared_section *in, int64_t total);

void fs_shared_take(struct fs_shared_section *in, int64_t n);

/* Returns 0, EPERM (with undo) if this process holds fewer units, or EOVERFLOW (without undo). */
int fs_shared_give_back(struct fs_shared_section *in, int64_t n);

/* Grant free units to a slot outside the queue.  Returns false if the slot has been abandoned. */
bool fs_shared_grant_slot(struct fs_shared_section *in, int slot, int64_t units);

/* Receive the units of a granted slot, and free the slot. */
void fs_shared_receive(struct fs_shared_section *in, int slot, int64_t now_ns);

/*
 * Free a slot whose thread is dead, or has abandoned it, and count the reason.  The caller dequeues the slot
 * before, or repairs afterwards.  The units of a grant go back to the semaphore; returns their number.
 */
int64_t fs_shared_clean_up(struct fs_shared_section *in, int slot);

/* Record whether a process keeps its units over exec.  That process needs no lock. */
void fs_shared_set_keeps(fairsem_shared_t *h, int process, bool keeps);

/* Complete the change in the redo log, if any. */
void fs_shared_redo(struct fs_shared_section *in);

#endif
