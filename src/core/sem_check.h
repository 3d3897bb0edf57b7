/* SPDX-License-Identifier: MIT */
/* sem_check.h - the test build checks those invariants of sem.h that one semaphore can show. */
#ifndef FS_SEM_CHECK_H
#define FS_SEM_CHECK_H

#include "sem.h"

#if FS_CHECKED
/*
 * To be called at the end of a section, after the grant loop.  Mutex held.  competes: the front is on its
 * way to compete.
 */
void fs_check_invariants(const struct fs_sem *s, int64_t available, bool competes);
#else
#define fs_check_invariants(s, available, competes) ((void)0)
#endif

#endif
