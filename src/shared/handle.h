/* SPDX-License-Identifier: MIT */
/* handle.h - the handle: what a process keeps about a segment in its own memory (R7). */
#ifndef FS_SHARED_HANDLE_H
#define FS_SHARED_HANDLE_H

#include "shared/kernel.h"
#include "shared/layout.h"
#include "word.h"

#include <pthread.h>

/* A descriptor that must stay open as long as the handle; see registry.c. */
struct fs_spare {
    int              fd;
    struct fs_spare *next;
};

struct fairsem_shared {
    struct fs_segment *segment;         /* r/o, like all members up to `size` */
    struct fs_process *processes;
    struct fs_slot    *slots;
    struct fs_flow_entry *flows;
    int                max_processes, max_waiters;
    int64_t            capacity;        /* without undo: the limit of free units */
    bool               undo, spins, unbounded;
    int                fd;
    struct fs_file     file;
    int64_t            units;           /* initial number of free units */
    int64_t            aging_ns;
    int64_t            size;            /* of the segment, in bytes */

    _Atomic unsigned   generation;      /* see fork.h */
    pthread_mutex_t    attaching;       /* held while `self` changes */
    _Atomic bool       attached;        /* `self` is valid; cleared before `self` and `incarnation` change */
    _Atomic int        self;            /* the entry of this process, or FS_NOBODY */
    _Atomic uint32_t   incarnation;     /* incarnation of that entry when this process registered */
    _Atomic int64_t    looked_ns;       /* fs_tick_ns() at the last check of the file */
    _Atomic int64_t    locked_out_ns;   /* when a canceler last failed to get the lock */
    _Atomic int        acquires;        /* number of calls that may wait: see fairsem_shared_close() */

    int                opened;          /* under the registry's mutex: number of opens */
    bool               closing;         /* under the registry's mutex: the last close has begun */
    struct fs_spare   *spares;          /* under the registry's mutex */
    struct fairsem_shared *next;        /* under the registry's mutex */
};

/* Is this the entry of this process?  Until `attached` is set, entry `self` may belong to a dead process. */
static inline bool fs_is_our_entry(const fairsem_shared_t *h, int index)
{
    return FS_GET(&h->attached) && index == FS_GET(&h->self);
}

static inline bool fs_index_valid(int index, int count)
{
    return (unsigned)index < (unsigned)count;
}

#endif
