/* SPDX-License-Identifier: MIT */
/*
 * cell_pool.h - the cells, which are the out-of-line semaphores of an interposed program: their memory, the
 * free cells, and the quarantine of used cells.
 */
#ifndef FS_CELL_POOL_H
#define FS_CELL_POOL_H

#include "fast_path.h"

#include <semaphore.h>
#include <stdatomic.h>

struct fs_record;

/* A cell is aligned to cache lines, as struct fs_sem must be. */
struct fs_cell {
    _Alignas(64) fairsem_t sem;     /* initialized once, retired between two uses */
    _Atomic(const sem_t *) home;    /* the last sem_t that was made to refer to the cell */
    _Atomic int64_t   units_at_end; /* the units of the retired semaphore */
    _Atomic(struct fs_record *) record; /* r/o while the cell is in use; NULL without statistics */
    _Atomic uint32_t  tag;          /* tag of the present or the last use; 0 before the first use */
    _Atomic uint32_t  next_free;    /* in the stack of free cells: index of the cell below plus 1, or 0 */
};

#define FS_CELL_INDEX UINT32_C(0x0fffffff)      /* the largest index */
#define FS_NO_CELL    (FS_CELL_INDEX + 1)

/* Blocks of cells: the first has FS_FIRST_CELLS, and each later block twice as many as its predecessor. */
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

/* Acquire order, paired with map_block(): another thread may have mapped the block. */
static inline struct fs_cell *fs_cell_at(uint32_t index)
{
    unsigned block = fs_cell_block(index);
    struct fs_cell *first = atomic_load_explicit(&fs_cell_blocks[block], memory_order_acquire);

    return first + (index + FS_FIRST_CELLS - fs_cells_in(block));
}

/* Does the memory of the cell with this index exist? */
static inline bool fs_cell_exists(uint32_t index)
{
    return atomic_load_explicit(&fs_cell_blocks[fs_cell_block(index)], memory_order_relaxed)
           != NULL;
}

/* Returns a free cell with a new or retired semaphore, or FS_NO_CELL if there is no memory. */
uint32_t fs_cell_take(void);

/* Free a cell to which no sem_t has referred since fs_cell_take(). */
void fs_cell_put_back(uint32_t index);

/* Free a used cell, but not soon, because copies of its sem_t may still refer to it. */
void fs_cell_quarantine(uint32_t index);

/* attr.bypass_ns of all semaphores, from fairsem-run --bypass; 0 without it. */
extern int64_t fs_bypass_ns;

#endif
