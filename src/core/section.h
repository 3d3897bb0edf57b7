/* SPDX-License-Identifier: MIT */
/*
 * section.h - the critical section of a semaphore; see section.c.
 *
 *      struct fs_section in;       (sem.h)
 *
 *      fs_section_begin(&in, s);
 *      ...                         work on in.available and on the queue
 *      fs_section_end(&in);
 */
#ifndef FS_SECTION_H
#define FS_SECTION_H

#include "sem.h"

void fs_section_begin(struct fs_section *in, struct fs_sem *s);

/* From now on a release may add its units to this section (RETURNS), and need not wait for it. */
void fs_section_take_returns(struct fs_section *in);

/* No lock is held after that, and callbacks have run. */
void fs_section_end(struct fs_section *in);

/*
 * Lock, and later grant and unlock, for a thread that collects deferred work, perhaps of several
 * sections, and runs it itself.  It has initialized in->after.
 */
void fs_section_lock(struct fs_section *in, struct fs_sem *s);
void fs_section_unlock(struct fs_section *in);

/* A release that the fast path did not do. */
int fs_release(struct fs_sem *s, int64_t n);

/* ---- The mutex held ---- */

/*
 * Take n units out of the count (I5).  They are out of the word before anything shows that somebody
 * has them: a fork must not copy them twice.  Release order: the stores that show it come after this one.
 */
static inline void fs_reserve(struct fs_section *in, int64_t n)
{
    in->available -= n;
    if (in->takes_returns)
        atomic_fetch_sub_explicit(&in->sem->word, 2 * n, memory_order_release);
    else
        atomic_store_explicit(&in->sem->word, fs_word_of(in->available, FS_CONTENDED), memory_order_release);
}

/*
 * Grant the front of the queue its units as long as they suffice.  Each section does so at its end.
 * Returns true if, with bounded bypass, the front has been woken to compete for them.
 */
bool fs_grant(struct fs_section *in);

/*
 * Add released units, before the section takes returns.  Returns 0; or EOVERFLOW, which is counted and
 * changes nothing else.
 */
int fs_add_units(struct fs_section *in, int64_t n);

/* Add units whose waiter gives its grant back: as many as fit. */
void fs_return_grant(struct fs_section *in, int64_t n);

#endif
