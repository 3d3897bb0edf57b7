/* SPDX-License-Identifier: MIT */
/*
 * cell_pool.c - the memory of cells; see cell_pool.h.
 *
 * The memory comes from mmap, for many cells at a time, and not from malloc, because the program may have its
 * own malloc, which uses semaphores.  Each change of the pool is one compare-and-swap: there is no lock, for
 * the reasons in cells.c.
 */
#define _GNU_SOURCE
#include "cell_pool.h"

#include "posix/sem_calls.h"

#include <errno.h>
#include <sys/mman.h>

#define QUARANTINE_SIZE 64      /* see fs_cell_quarantine() */

struct fs_cell *_Atomic fs_cell_blocks[FS_CELL_BLOCKS];

static _Atomic uint32_t fresh;          /* the cells from this index on have never been used */

/*
 * The free cells, a stack.  Lower half: the index of the top cell plus 1, or 0 if the stack is empty.
 * Upper half: a count of changes, against the ABA problem.
 */
static _Atomic uint64_t free_cells;

/*
 * The ring of cells in quarantine.  Lower half: the index of a cell plus 1, or 0.  Upper half: the arrival
 * number of this cell; cells are numbered in the order in which they come into quarantine.
 */
static _Atomic uint64_t quarantine[QUARANTINE_SIZE];
static _Atomic uint32_t next_in_quarantine;     /* the next arrival number */

int64_t fs_bypass_ns;                   /* r/o */

/* Release order: a thread that takes the cell must see what this thread wrote into it. */
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
 * The program may have copied the sem_t and then destroyed the original, as a vector does when it grows.  When
 * the copy is first used, the cell must still contain the value of the semaphore.  So the cell stays in
 * quarantine until QUARANTINE_SIZE other cells have followed it.
 */
void fs_cell_quarantine(uint32_t index)
{
    uint32_t number = atomic_fetch_add_explicit(&next_in_quarantine, 1, memory_order_relaxed);
    _Atomic uint64_t *place = &quarantine[number % QUARANTINE_SIZE];
    uint64_t there = atomic_load_explicit(place, memory_order_relaxed);

    do {
        /* A later cell is in our place, so QUARANTINE_SIZE cells have followed since we got our number. */
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

/* End the quarantine of a cell early, because there is no memory for a new cell. */
static uint32_t take_quarantined(void)
{
    for (int i = 0; i < QUARANTINE_SIZE; i++) {
        uint32_t found = (uint32_t)atomic_exchange_explicit(&quarantine[i], 0, memory_order_acquire);

        if (found != 0)
            return found - 1;
    }
    return FS_NO_CELL;
}

/* Map a block of cells.  If two threads map the same block, the slower one unmaps its mapping. */
static bool map_block(unsigned block)
{
    const size_t size = fs_cells_in(block) * sizeof(struct fs_cell);
    struct fs_cell *none = NULL, *map;
    int before = errno;

    if (atomic_load_explicit(&fs_cell_blocks[block], memory_order_relaxed) != NULL)
        return true;
    map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
               0);
    errno = before;
    if (map == MAP_FAILED)
        return false;
    if (!atomic_compare_exchange_strong_explicit(&fs_cell_blocks[block], &none, map,
                                                 memory_order_release, memory_order_relaxed))
        munmap(map, size);
    return true;
}

static uint32_t take_fresh(void)
{
    uint32_t index = atomic_load_explicit(&fresh, memory_order_relaxed);

    do {
        if (index > FS_CELL_INDEX || !map_block(fs_cell_block(index)))
            return FS_NO_CELL;
    } while (!atomic_compare_exchange_weak_explicit(&fresh, &index, index + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    fs_sem_init(&fs_cell_at(index)->sem, 0, fs_bypass_ns);
    return index;
}

uint32_t fs_cell_take(void)
{
    uint32_t index = pop();

    if (index == FS_NO_CELL)
        index = take_fresh();
    return index != FS_NO_CELL ? index : take_quarantined();
}
