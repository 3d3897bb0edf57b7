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

/* Let releases add their units to this section (RETURNS), so that they need not wait for its end. */
void fs_section_take_returns(struct fs_section *in);

/* Grant, unlock, and do the deferred work, such as callbacks. */
void fs_section_end(struct fs_section *in);

/*
 * Like fs_section_begin() and fs_section_end(), but the caller initializes in->after and does the deferred
 * work, perhaps of several sections.
 */
void fs_section_lock(struct fs_section *in, struct fs_sem *s);
void fs_section_unlock(struct fs_section *in);

/* A release that has failed on the fast path.  Returns 0, EOVERFLOW, or FS_RETIRED. */
int fs_release(struct fs_sem *s, int64_t n);

/* ---- The mutex held ---- */

/*
 * Take n units out of the count (I5).  The word changes before the waiter's state shows the grant: a fork
 * between these two stores must not copy the units twice, as free and as granted.  Both stores have release
 * order, so they stay in this order.
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
 * The grant loop, which each section runs at its end: grant the front while the units suffice.  Returns
 * true if the front has been woken to compete instead (bypass.h): until it arrives, any thread may take
 * units.
 */
bool fs_grant(struct fs_section *in);

/*
 * Add released units, before the section takes returns.  Returns 0; or EOVERFLOW, which is counted, if the
 * units exceed the limit.
 */
int fs_add_units(struct fs_section *in, int64_t n);

/* Add the units of a waiter that returns its grant, as many as the limit allows. */
void fs_return_grant(struct fs_section *in, int64_t n);

#endif
