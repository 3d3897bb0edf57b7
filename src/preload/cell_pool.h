/* SPDX-License-Identifier: MIT */
/* cell_pool.h - cells for semaphores of an interposed program: their memory, and which are free. */
#ifndef FS_CELL_POOL_H
#define FS_CELL_POOL_H

#include "fast_path.h"

#include <assert.h>
#include <semaphore.h>
#include <stdatomic.h>

struct fs_record;

/* This decides whether a thread may retire the cell's semaphore, and what becomes of the cell. */
enum fs_cell_state {
    FS_CELL_FREE,       /* or a thread prepares it */
    FS_CELL_IN_USE,
    FS_CELL_CLAIMED,    /* cell_sweep.c is about to give it up */
    FS_CELL_GIVEN_UP,   /* for ever; the sem_t may still refer to it */
    FS_CELL_SWEPT       /* the memory of its semaphore, too, has gone back to the kernel */
};

/*
 * The semaphore is not in it, because a cell that is given up is still needed, its semaphore not.
 */
struct fs_cell {
    fairsem_t        *sem;          /* r/o; initialized once; between two uses it is retired */
    _Atomic(const sem_t *) home;    /* the sem_t that refers to it, or did; NULL: given up */
    _Atomic int64_t   units_at_end; /* if retired or given up: the semaphore's units then */
    _Atomic(struct fs_record *) record; /* r/o while in use; NULL: no statistics */
    _Atomic uint32_t  tag;          /* of its present or last use; 0: not used yet */
    _Atomic uint32_t  next_free;    /* in the stack of free cells */
    uint32_t          index;        /* r/o */
    _Atomic uint16_t  state;        /* enum fs_cell_state */
    uint16_t          seen;         /* by cell_sweep.c: the number of sections then */
};

/* Semaphores lie side by side, so many bytes apart, and fill whole pages. */
#define FS_SEM_SIZE 256
static_assert(sizeof(fairsem_t) <= FS_SEM_SIZE, "a semaphore does not fit");

#define FS_CELL_INDEX UINT32_C(0x0fffffff)      /* the largest index */
#define FS_NO_CELL    (FS_CELL_INDEX + 1)

/*
 * Cells come in blocks: the first has this many, and each has twice as many as the one before.  So
 * a cell is found from its index by two loads.
 */
#define FS_FIRST_CELLS UINT32_C(256)
#define FS_CELL_BLOCKS 21
extern struct fs_cell *_Atomic fs_cell_blocks[FS_CELL_BLOCKS];

static inline unsigned fs_cell_block(uint32_t index)
{
    return 23u - (unsigned)__builtin_clz(index + FS_FIRST_CELLS);
}

static inline uint32_t fs_cells_in(unsigned block)
{
    return FS_FIRST_CELLS << block;
}

/* Acquire order: the thread that has mapped it may be another one. */
static inline struct fs_cell *fs_cell_at(uint32_t index)
{
    unsigned block = fs_cell_block(index);
    struct fs_cell *first = atomic_load_explicit(&fs_cell_blocks[block], memory_order_acquire);

    return first + (index + FS_FIRST_CELLS - fs_cells_in(block));
}

/* False: there has never been such a cell. */
static inline bool fs_cell_exists(uint32_t index)
{
    return atomic_load_explicit(&fs_cell_blocks[fs_cell_block(index)], memory_order_relaxed)
           != NULL;
}

/* So many cells have been used: all up to this index. */
uint32_t fs_cells_used(void);

/* How many threads are in a call that may use the mutex of the cell's semaphore. */
_Atomic uint32_t *fs_cell_users(const struct fs_cell *cell);

/* False: the cell is in another state. */
static inline bool fs_cell_change(struct fs_cell *cell, enum fs_cell_state from,
                                  enum fs_cell_state to)
{
    uint16_t state = (uint16_t)from;

    return atomic_compare_exchange_strong_explicit(&cell->state, &state, (uint16_t)to,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* A free cell, whose semaphore is retired or new; FS_NO_CELL: there is no memory. */
uint32_t fs_cell_take(void);

/* It was not used: it is free at once. */
void fs_cell_put_back(uint32_t index);

/* It was used, and other threads may still look at it: it is free after some others. */
void fs_cell_put_to_rest(uint32_t index);

/* In the child of a fork: those that are free now stay so for ever. */
void fs_cell_forget_free(void);

/* For how long running threads may pass sleeping ones, as fairsem-run --bypass says; 0: never. */
extern int64_t fs_bypass_ns;

#endif
