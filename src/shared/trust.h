/* SPDX-License-Identifier: MIT */
/*
 * trust.h - loads and commits of a thread that has the lock of a segment, and does not trust the data (R5).
 *
 * Each number that is used as an index, or in a calculation, is loaded once, by a function of this file.  If
 * it is damaged, the function notes an error in the section, and returns a harmless number, with which the
 * caller goes on to the end of the section.  There the error becomes the result.  Meanwhile FS_COMMIT() and
 * fs_commit_state() commit nothing.  Stores to derived data do no harm: a damaged segment stays damaged, so
 * no process uses them.
 *
 * An error of a function in liveness.h means that other processes go on with the segment, or that its
 * memory is gone.  So the few callers of these functions check for an error, and change nothing after one.
 */
#ifndef FS_SHARED_TRUST_H
#define FS_SHARED_TRUST_H

#include "shared/handle.h"

/* Maximum number of threads that a section wakes in the order of their grants. */
#ifndef FS_WAKES
#define FS_WAKES 32
#endif

struct fs_shared_section {
    fairsem_shared_t *handle;
    int      error;             /* 0, ENOTRECOVERABLE, or EBADF, see liveness.h */
    int      wakes;             /* number of threads to wake after the unlock, by their slots ... */
    int16_t  woken[FS_WAKES];   /* ... the first ones ... */
    uint64_t more[FAIRSEM_SHARED_MAX / 64];     /* ... and the rest, a bit each */
    const struct fs_slot *slots;
    bool     gaps;              /* a flow has gaps between its tags: shared_flow.h */
    int64_t  now_ns;            /* or 0 if the clock has not been read yet */
    int64_t  total;             /* number of units; without undo the capacity */
    int64_t  high_water;        /* the largest total ever, a limit of all sums of units */
    int64_t  available;         /* free units; negative after the total was lowered */
};

/* Mark the segment as damaged.  Returns ENOTRECOVERABLE.  Needs no lock. */
int fs_shared_set_damaged(fairsem_shared_t *h);

/* A section keeps the first error. */
static inline void fs_note_error(struct fs_shared_section *in, int error)
{
    if (in->error == 0)
        in->error = error;
}

static inline void fs_damaged(struct fs_shared_section *in)
{
    fs_note_error(in, fs_shared_set_damaged(in->handle));
}

/* Returns this number of the segment.  If it is out of range, notes damage, and returns `least`. */
static inline int64_t fs_checked(struct fs_shared_section *in, int64_t number, int64_t least,
                                 int64_t most)
{
    if (number >= least && number <= most)
        return number;
    fs_damaged(in);
    return least;
}

/* A number of units that are wanted, granted or held. */
static inline int64_t fs_load_units(struct fs_shared_section *in, const _Atomic int64_t *units)
{
    return fs_checked(in, FS_GET(units), 0, in->high_water);
}

/* A number in order of arrival, small enough to add 1. */
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

/* A commit point (R1); nothing is committed after an error. */
#define FS_COMMIT(in, field, value)                                     \
    do {                                                                \
        if ((in)->error == 0) {                                         \
            FS_STEP("commit " #field);                                  \
            atomic_store_explicit(field, value, memory_order_release);  \
        }                                                               \
    } while (0)

/* A commit point for a slot, which may be abandoned at any moment.  Returns false if it is not in state *from. */
static inline bool fs_commit_state(struct fs_shared_section *in, int slot, int *from, int to)
{
    FS_STEP("commit state");
    return in->error == 0
           && atomic_compare_exchange_strong_explicit(&in->handle->slots[slot].state, from, to,
                                                      memory_order_release, memory_order_relaxed);
}

#endif
