/* SPDX-License-Identifier: MIT */
/* cell_pool.h - cells for semaphores of an interposed program: their memory, and which are free. */
#ifndef FS_CELL_POOL_H
#define FS_CELL_POOL_H

#include "fast_path.h"

#include <semaphore.h>
#include <stdatomic.h>

struct fs_record;

/* In whole cache lines, from the begin of one: see struct fs_sem. */
struct fs_cell {
    _Alignas(64) fairsem_t sem;     /* initialized once; between two uses it is retired */
    _Atomic(const sem_t *) home;    /* the sem_t that refers to it, or did */
    _Atomic int64_t   units_at_end; /* if retired: the semaphore's units then */
    _Atomic(struct fs_record *) record; /* r/o while in use; NULL: no statistics */
    _Atomic uint32_t  tag;          /* of its present or last use; 0: not used yet */
    _Atomic uint32_t  next_free;    /* in the stack of free cells */
};

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
