/* SPDX-License-Identifier: MIT */
/*
 * trust.h - a thread that has the lock of a segment, and does not trust what it finds there (R5).
 *
 * Each number that is used as an index, or in a calculation, is loaded once, by one of the functions
 * here.  If it is damaged, they mark that in the section and return a harmless number, with which
 * the caller goes straight on to the end of the section.  There the mark becomes the result.
 * Meanwhile nothing is committed, which only FS_COMMIT() and fs_commit_state() have to know.  Stores
 * to caches do no harm: a damaged segment is damaged for ever, so nobody uses them.
 *
 * An error of liveness.h is another matter: others go on with the segment, or its memory is gone.  So
 * the few that ask there who lives test it, and leave all as it is.
 */
#ifndef FS_SHARED_TRUST_H
#define FS_SHARED_TRUST_H

#include "shared/handle.h"

/* So many threads are woken in the order in which they were granted. */
#ifndef FS_WAKES
#define FS_WAKES 32
#endif

struct fs_shared_section {
    fairsem_shared_t *handle;
    int      error;             /* 0; ENOTRECOVERABLE; EBADF: nobody can say who lives, see liveness.h */
    int      wakes;             /* threads to wake when the lock has been dropped, by their slots ... */
    int16_t  woken[FS_WAKES];   /* ... the first ones ... */
    uint64_t more[FAIRSEM_SHARED_MAX / 64];     /* ... and the rest, a bit each */
    const struct fs_slot *slots;
    int64_t  now_ns;            /* 0: no clock has been read yet */
    int64_t  total;             /* how many units there are; without undo, as the next: capacity */
    int64_t  high_water;        /* the largest total ever, a limit of all sums of units */
    int64_t  available;         /* free units; negative after the total was lowered */
};

/* Mark the segment as damaged; returns ENOTRECOVERABLE.  No lock is needed. */
int fs_shared_set_damaged(fairsem_shared_t *h);

/* The first error is that of the section. */
static inline void fs_note_error(struct fs_shared_section *in, int error)
{
    if (in->error == 0)
        in->error = error;
}

static inline void fs_damaged(struct fs_shared_section *in)
{
    fs_note_error(in, fs_shared_set_damaged(in->handle));
}

/* A number of the segment.  If it is not one of these, the least of them, and damage. */
static inline int64_t fs_checked(struct fs_shared_section *in, int64_t number, int64_t least,
                                 int64_t most)
{
    if (number >= least && number <= most)
        return number;
    fs_damaged(in);
    return least;
}

/* Units that are wanted, granted or held. */
static inline int64_t fs_load_units(struct fs_shared_section *in, const _Atomic int64_t *units)
{
    return fs_checked(in, FS_GET(units), 0, in->high_water);
}

/* A number in order of arrival.  There is one more. */
static inline int64_t fs_load_seq(struct fs_shared_section *in, const _Atomic int64_t *seq)
{
    return fs_checked(in, FS_GET(seq), 0, INT64_MAX - 1);
}

/* A link: the index of a slot, or FS_NOBODY. */
static inline int fs_load_link(struct fs_shared_section *in, const _Atomic int32_t *link)
{
    return (int)fs_checked(in, FS_GET(link), FS_NOBODY, in->handle->max_waiters - 1);
}

/* The process that a slot in use belongs to. */
static inline int fs_load_process(struct fs_shared_section *in, int slot)
{
    return (int)fs_checked(in, FS_GET(&in->handle->slots[slot].process), 0,
                           in->handle->max_processes - 1);
}

/* A commit point (R1).  There is none after an error: what led here may not be true. */
#define FS_COMMIT(in, field, value)                                     \
    do {                                                                \
        if ((in)->error == 0) {                                         \
            FS_STEP("commit " #field);                                  \
            atomic_store_explicit(field, value, memory_order_release);  \
        }                                                               \
    } while (0)

/* The same for a slot, which its thread may abandon at any moment.  Returns false if it is not in state *from. */
static inline bool fs_commit_state(struct fs_shared_section *in, int slot, int *from, int to)
{
    FS_STEP("commit state");
    return in->error == 0
           && atomic_compare_exchange_strong_explicit(&in->handle->slots[slot].state, from, to,
                                                      memory_order_release, memory_order_relaxed);
}

#endif
