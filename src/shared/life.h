/* SPDX-License-Identifier: MIT */
/*
 * life.h - who lives: the table of processes and its bytes (R3).
 *
 * The byte comes before all else: a process that has it owns the entry, can take the lock, and only
 * then writes the rest.  So a process that dies half attached leaves an entry that is free, or that
 * of a dead predecessor, as it was.
 */
#ifndef FS_SHARED_LIFE_H
#define FS_SHARED_LIFE_H

#include "shared/handle.h"

/*
 * Does the process with this entry live?  Our own does.  0, EBADF: the descriptor is not the
 * segment's any more, ENOTRECOVERABLE: the file has been made shorter.
 */
int fs_shared_alive(fairsem_shared_t *h, int index, bool *alive);

/* The descriptor is that of the segment, which is as large as it was: 0, or as above. */
int fs_shared_check_file(const fairsem_shared_t *h);

/*
 * Take a byte, one of an entry that satisfies `wanted`, and count up its incarnation.  Returns 0
 * with *index; EUSERS: there is none; ENOLCK.
 */
typedef bool fs_wanted_fn(const fairsem_shared_t *h, int index, const void *arg);
int fs_shared_be_born(fairsem_shared_t *h, fs_wanted_fn *wanted, const void *arg, int *index,
                      bool *others);

#endif
