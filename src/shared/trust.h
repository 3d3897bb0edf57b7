/* SPDX-License-Identifier: MIT */
/*
 * trust.h - loads and commits of a thread that has the lock of a segment, and does not trust the data (R5).
 *
 * If a number is damaged, the function that loads it notes an error in the section, and returns a harmless
 * number.  The caller goes on with that number to the end of the section, which returns the error.  After
 * an error nothing is committed: see FS_COMMIT().  Stores to derived data do no harm, because no process
 * uses the derived data of a damaged segment.
 *
 * But after an error of liveness.h, stores to derived data do harm.  With EBADF, other processes still use
 * the segment; with ENOTRECOVERABLE, a part of its memory is gone.  So callers of liveness.h check for an
 * error at once, and store nothing after an error.
 */
#ifndef FS_SHARED_TRUST_H
#define FS_SHARED_TRUST_H

#include "shared/handle.h"

/* Number of threads that a section wakes in the order of their grants; it wakes the others in slot order. */
#ifndef FS_WAKES
#define FS_WAKES 32
#endif

struct fs_shared_section {
    fairsem_shared_t *handle;
    int      error;             /* 0, ENOTRECOVERABLE, or EBADF, see liveness.h */
    int      wakes;             /* number of threads to wake after the unlock */
    int16_t  woken[FS_WAKES];   /* the slots of the first FS_WAKES of these threads */
    uint64_t more[FAIRSEM_SHARED_MAX / 64];     /* the slots of the other threads, a bit each */
    const struct fs_slot *slots;
    bool     gaps;              /* a flow has gaps between its tags: shared_flow.h */
    int64_t  now_ns;            /* the time of the section, or 0 if the clock has not been read yet */
    int64_t  total;             /* number of units; without undo the capacity */
    int64_t  high_water;        /* the largest total ever, a limit of all sums of units */
    int64_t  available;         /* free units; negative after the total was lowered */
};

/* Returns ENOTRECOVERABLE.  Needs no lock. */
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

/* Returns `number`.  If it is out of range, notes damage, and returns `least`. */
static inline int64_t fs_checked(struct fs_shared_section *in, int64_t number, int64_t least,
                                 int64_t most)
{
    if (number >= least && number <= most)
        return number;
    fs_damaged(in);
    return least;
}

/* Load the units of a request, of a grant or of a process. */
static inline int64_t fs_load_units(struct fs_shared_section *in, const _Atomic int64_t *units)
{
    return fs_checked(in, FS_GET(units), 0, in->high_water);
}

/* Load a request's number in order of arrival.  The caller can add 1 to the result. */
static inline int64_t fs_load_seq(struct fs_shared_section *in, const _Atomic int64_t *seq)
{
    return fs_checked(in, FS_GET(seq), 0, INT64_MAX - 1);
}

/* Load a link of the queue: the index of a slot, or FS_NOBODY. */
static inline int fs_load_link(struct fs_shared_section *in, const _Atomic int32_t *link)
{
    return (int)fs_checked(in, FS_GET(link), FS_NOBODY, in->handle->max_waiters - 1);
}

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

/*
 * As FS_COMMIT(), for a slot's state, which its thread may change meanwhile.  Returns false after an error, or
 * if the state was not *from.
 */
static inline bool fs_commit_state(struct fs_shared_section *in, int slot, int *from, int to)
{
    FS_STEP("commit state");
    return in->error == 0
           && atomic_compare_exchange_strong_explicit(&in->handle->slots[slot].state, from, to,
                                                      memory_order_release, memory_order_relaxed);
}

#endif
