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

/* Let releases add their units to this section (RETURNS), so that they need not wait for it. */
void fs_section_take_returns(struct fs_section *in);

/* End the section.  When this returns, no lock is held, and callbacks have run. */
void fs_section_end(struct fs_section *in);

/*
 * The lock, and the grants with the unlock, as separate calls: for a thread that collects the deferred
 * work of one or more sections, and runs it itself.  The caller has initialized in->after.
 */
void fs_section_lock(struct fs_section *in, struct fs_sem *s);
void fs_section_unlock(struct fs_section *in);

/* A release that has failed on the fast path. */
int fs_release(struct fs_sem *s, int64_t n);

/* ---- The mutex held ---- */

/*
 * Take n units out of the count (I5).  The word loses them before another store shows the grant,
 * because a fork between the two stores must not copy the units twice.  Release order, as in the stores
 * that show the grant.
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
 * Grant requests at the front of the queue as long as the units suffice.  Each section does so at its
 * end.  Returns true if, with bounded bypass, the front has been woken to compete for its units.
 */
bool fs_grant(struct fs_section *in);

/*
 * Add released units, before the section takes returns.  Returns 0, or EOVERFLOW: then only a statistic
 * has changed.
 */
int fs_add_units(struct fs_section *in, int64_t n);

/* Add the units of a waiter that returns its grant, as many as fit. */
void fs_return_grant(struct fs_section *in, int64_t n);

#endif
