/* SPDX-License-Identifier: MIT */
/*
 * cell_pool.c - the memory of cells; see cell_pool.h.
 *
 * It comes from mmap, for many cells at a time.  Not from malloc, because the program may replace
 * malloc by one that uses semaphores.
 *
 * No lock, for the reasons that are in cells.c: each change is one compare-and-swap.
 */
#define _GNU_SOURCE
#include "cell_pool.h"

#include "posix/sem_calls.h"

#include <errno.h>
#include <sys/mman.h>

#define RESTING 64      /* see fs_cell_put_to_rest() */

/*
 * A block is one mapping: the semaphores, then the cells, to which fs_cell_blocks points, then a
 * counter of users for each.
 */
#define HUGE_PAGE   (UINT32_C(1) << 21)

struct fs_cell *_Atomic fs_cell_blocks[FS_CELL_BLOCKS];

static _Atomic uint32_t fresh;          /* the cells from this index on have never been used */

/*
 * The free cells, a stack.  Lower half: the index of the first, plus 1; 0: there is none.  Upper
 * half: how often it has changed.  Without that a thread could take the first cell, and leave a
 * second one as the first that another thread has taken meanwhile (the ABA problem).
 */
static _Atomic uint64_t free_cells;

/* Upper half: its number among all that have rested.  Lower half: its index, plus 1; 0: none. */
static _Atomic uint64_t resting[RESTING];
static _Atomic uint32_t next_to_rest;   /* the number of the next */

int64_t fs_bypass_ns;                   /* r/o */

uint32_t fs_cells_used(void)
{
    return atomic_load_explicit(&fresh, memory_order_relaxed);
}

/* Those of 16 cells in a row are in different cache lines. */
_Atomic uint32_t *fs_cell_users(const struct fs_cell *cell)
{
    unsigned block = fs_cell_block(cell->index);
    uint32_t size = fs_cells_in(block), i = cell->index + FS_FIRST_CELLS - size;
    struct fs_cell *first = atomic_load_explicit(&fs_cell_blocks[block], memory_order_relaxed);

    return (_Atomic uint32_t *)(void *)(first + size) + (i % 16 * (size / 16) + i / 16);
}

/* Release order: a thread that takes the cell must see what we wrote into it, and so below. */
void fs_cell_put_back(uint32_t index)
{
    struct fs_cell *cell = fs_cell_at(index);
    uint64_t before = atomic_load_explicit(&free_cells, memory_order_relaxed), after;

    do {
        atomic_store_explicit(&cell->next_free, (uint32_t)before, memory_order_relaxed);
        after = ((before >> 32) + 1) << 32 | (index + 1);
    } while (!atomic_compare_exchange_weak_explicit(&free_cells, &before, after,
                                                    memory_order_release, memory_order_relaxed));
}

static uint32_t pop(void)
{
    uint64_t before = atomic_load_explicit(&free_cells, memory_order_acquire), after;

    do {
        if ((uint32_t)before == 0)
            return FS_NO_CELL;
        after = ((before >> 32) + 1) << 32
                | atomic_load_explicit(&fs_cell_at((uint32_t)before - 1)->next_free,
                                       memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&free_cells, &before, after,
                                                    memory_order_acquire, memory_order_acquire));
    return (uint32_t)before - 1;
}

/*
 * The program may have copied the semaphore, and then destroyed the original, as a vector does when
 * it grows.  The copy is looked at later; then the cell still has the value.  So a cell rests until
 * so many others have been given back.
 */
void fs_cell_put_to_rest(uint32_t index)
{
    uint32_t number = atomic_fetch_add_explicit(&next_to_rest, 1, memory_order_relaxed);
    _Atomic uint64_t *place = &resting[number % RESTING];
    uint64_t there = atomic_load_explicit(place, memory_order_relaxed);

    do {
        /* If a later one is there, so many have been given back since we got our number. */
        if ((uint32_t)there != 0 && (int32_t)((uint32_t)(there >> 32) - number) > 0) {
            fs_cell_put_back(index);
            return;
        }
    } while (!atomic_compare_exchange_weak_explicit(place, &there,
                                                    (uint64_t)number << 32 | (index + 1),
                                                    memory_order_acq_rel, memory_order_relaxed));
    if ((uint32_t)there != 0)
        fs_cell_put_back((uint32_t)there - 1);
}

/* For want of memory: one that has not rested for long. */
static uint32_t take_resting(void)
{
    for (int i = 0; i < RESTING; i++) {
        uint32_t found = (uint32_t)atomic_exchange_explicit(&resting[i], 0, memory_order_acquire);

        if (found != 0)
            return found - 1;
    }
    return FS_NO_CELL;
}

/* Two threads may map the same block; one of them unmaps its own. */
static bool map_block(unsigned block)
{
    const size_t cells = fs_cells_in(block), sems = cells * FS_SEM_SIZE;
    const size_t size = sems + cells * (sizeof(struct fs_cell) + sizeof(uint32_t));
    struct fs_cell *none = NULL, *first;
    int before = errno;
    char *map;

    if (atomic_load_explicit(&fs_cell_blocks[block], memory_order_relaxed) != NULL)
        return true;
    map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
               0);
    if (map == MAP_FAILED) {
        errno = before;
        return false;
    }
    /* What cell_sweep.c gives back must not be made a part of a huge page. */
    if (sems >= HUGE_PAGE)
        (void)madvise(map, size, MADV_NOHUGEPAGE);
    errno = before;
    first = (void *)(map + sems);
    if (!atomic_compare_exchange_strong_explicit(&fs_cell_blocks[block], &none, first,
                                                 memory_order_release, memory_order_relaxed))
        munmap(map, size);
    return true;
}

static fairsem_t *sem_of(uint32_t index)
{
    unsigned block = fs_cell_block(index);
    struct fs_cell *first = atomic_load_explicit(&fs_cell_blocks[block], memory_order_relaxed);
    size_t behind = (size_t)fs_cells_in(block) * 2 - (index + FS_FIRST_CELLS);

    return (fairsem_t *)(void *)((char *)first - behind * FS_SEM_SIZE);
}

static uint32_t take_fresh(void)
{
    uint32_t index = atomic_load_explicit(&fresh, memory_order_relaxed);
    struct fs_cell *cell;

    do {
        if (index > FS_CELL_INDEX || !map_block(fs_cell_block(index)))
            return FS_NO_CELL;
    } while (!atomic_compare_exchange_weak_explicit(&fresh, &index, index + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    cell = fs_cell_at(index);
    cell->index = index;
    cell->sem = sem_of(index);
    fs_sem_init(cell->sem, 0, fs_bypass_ns);
    return index;
}

uint32_t fs_cell_take(void)
{
    uint32_t index = pop();

    if (index == FS_NO_CELL)
        index = take_fresh();
    return index != FS_NO_CELL ? index : take_resting();
}

void fs_cell_forget_free(void)
{
    atomic_store_explicit(&free_cells, 0, memory_order_relaxed);
    for (int i = 0; i < RESTING; i++)
        atomic_store_explicit(&resting[i], 0, memory_order_relaxed);
}
