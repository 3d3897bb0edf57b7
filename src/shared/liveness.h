/* SPDX-License-Identifier: MIT */
/*
 * liveness.h - which processes live: the table of processes and its bytes (R3).
 *
 * A process first takes the byte.  Then it owns the entry and can take the lock, and only then it
 * writes the rest.  So a process that dies half attached leaves the entry as it was: free, or that
 * of a dead predecessor.
 */
#ifndef FS_SHARED_LIVENESS_H
#define FS_SHARED_LIVENESS_H

#include "shared/trust.h"

/*
 * Does the process with this entry live?  Our own does.  Returns 0; EBADF: the descriptor is not
 * that of the segment any more; ENOTRECOVERABLE: the file has been made shorter.
 */
int fs_shared_alive(const fairsem_shared_t *h, int index, bool *alive);

/* The same in a section: an error becomes that of the section, and the process counts as alive. */
bool fs_shared_check_alive(struct fs_shared_section *in, int index);

/* Is this descriptor one of the segment's file?  Perhaps the program has closed it. */
bool fs_shared_is_of_file(const fairsem_shared_t *h, int fd, struct fs_file *now);

/* Is the handle's descriptor still that of the segment, and the file as large as before?  0, or as above. */
int fs_shared_check_file(const fairsem_shared_t *h);

/*
 * Take the byte of an entry that satisfies `wanted`, and increment its incarnation.  Returns 0 and
 * sets *index; EUSERS: there is none; ENOLCK.  *others becomes true if such a byte was locked.
 */
typedef bool fs_wanted_fn(const fairsem_shared_t *h, int index);
int fs_shared_register_process(fairsem_shared_t *h, fs_wanted_fn *wanted, int *index, bool *others);

#endif
