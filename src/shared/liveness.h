/* SPDX-License-Identifier: MIT */
/*
 * liveness.h - which processes are alive: the table of processes and its liveness locks (R3).
 *
 * A process first takes the liveness lock of an entry, and only then can take the segment's lock and write
 * the entry.  So if a process dies half attached, its entry is still free, or that of a dead process.
 */
#ifndef FS_SHARED_LIVENESS_H
#define FS_SHARED_LIVENESS_H

#include "shared/trust.h"

/*
 * Set *alive: is the process with this entry alive?  Our own entry counts as alive.  Returns 0, EBADF if
 * the descriptor is no longer that of the segment, or ENOTRECOVERABLE if the file has been made shorter.
 */
int fs_shared_alive(const fairsem_shared_t *h, int index, bool *alive);

/*
 * As fs_shared_alive(), in a section.  An error becomes the error of the section, and then the process
 * counts as alive.
 */
bool fs_shared_check_alive(struct fs_shared_section *in, int index);

/*
 * Is fd still a descriptor of the segment's file?  The program may have closed it, and opened another file.
 * Sets *now to the present file of fd.
 */
bool fs_shared_is_of_file(const fairsem_shared_t *h, int fd, struct fs_file *now);

/* Check the handle's descriptor, and the size of the file.  Returns as fs_shared_alive(). */
int fs_shared_check_file(const fairsem_shared_t *h);

/*
 * Take the first free liveness lock among the entries that satisfy `wanted`, and increment the entry's
 * incarnation.  Returns 0 with *index set, EUSERS if no such lock is free, or ENOLCK.  Sets *others to true
 * if another process has the lock of an entry that satisfies `wanted`.
 */
typedef bool fs_wanted_fn(const fairsem_shared_t *h, int index);
int fs_shared_register_process(fairsem_shared_t *h, fs_wanted_fn *wanted, int *index, bool *others);

#endif
