/* SPDX-License-Identifier: MIT */
/*
 * cell_sweep.c - see cell_sweep.h.
 *
 * The kernel takes memory back in pages, so cells are given up by groups: those whose semaphores
 * fill a page.  All of them must be in use, with no thread that waits, and must not have been used
 * with the mutex since the sweep before.
 *
 * One thread sweeps at a time; others do not wait for it.  If it does not come back, because its
 * handler jumps away or because a forked child does not have it, there are no more sweeps.
 */
#define _GNU_SOURCE
#include "cell_sweep.h"

#include "cell_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT_ENV    "FAIRSEM_CELLS_KEPT"    /* for tests */
#define KEPT        UINT32_C(8192)          /* while so many cells are in use, none is given up */
#define AT_ONCE     512                     /* cells that one sweep looks at */
#define GROUPS_SEEN 4096                    /* groups that it passes at most */

static uint32_t group;                  /* r/o; cells in a page; 0: pages are too large */
static _Atomic uint32_t due_at;         /* when so many cells have been used */
static _Atomic bool sweeping;
static _Atomic uint32_t too_early;      /* so many have been used again */

/* Only for the thread that sweeps. */
static uint32_t kept = KEPT;
static uint32_t given_up;               /* in all */
static uint32_t given_up_before;        /* when `kept` was last considered */
static uint32_t first_group;            /* all before it are swept */
static uint32_t next_group;             /* to look at */

void fs_sweep_prepare(void)
{
    const char *text = getenv(KEPT_ENV);
    long page = sysconf(_SC_PAGESIZE);

    if (page > 0 && FS_FIRST_CELLS * FS_SEM_SIZE % page == 0)
        group = (uint32_t)page / FS_SEM_SIZE;
    if (text != NULL)
        kept = (uint32_t)strtoul(text, NULL, 10);
    atomic_store_explicit(&due_at, kept, memory_order_relaxed);
}

bool fs_sweep_is_due(void)
{
    return fs_cells_used() > atomic_load_explicit(&due_at, memory_order_relaxed);
}

void fs_sweep_was_too_early(void)
{
    atomic_fetch_add_explicit(&too_early, 1, memory_order_relaxed);
}

static enum fs_cell_state state_of(const struct fs_cell *cell)
{
    return (enum fs_cell_state)atomic_load_explicit(&cell->state, memory_order_acquire);
}

/* Given up, or can it be?  (A cell that is not in use may have no semaphore yet.) */
static bool is_idle(struct fs_cell *cell)
{
    enum fs_cell_state state = state_of(cell);
    const struct fs_sem *s;
    uint16_t before = cell->seen;

    if (state != FS_CELL_IN_USE)
        return state == FS_CELL_GIVEN_UP;
    s = fs_inside(cell->sem);
    cell->seen = (uint16_t)atomic_load_explicit(&s->sections, memory_order_relaxed);
    return cell->seen == before && atomic_load_explicit(&s->waiters, memory_order_relaxed) == 0;
}

/*
 * False: somebody waits.  From the claim on, sem_destroy leaves the cell alone; it may have retired
 * the semaphore before.  Sequentially consistent: see fs_cell_is_given_up().
 */
static bool give_up(struct fs_cell *cell)
{
    if (state_of(cell) == FS_CELL_GIVEN_UP)
        return true;
    if (!fs_cell_change(cell, FS_CELL_IN_USE, FS_CELL_CLAIMED))
        return false;
    if (!fs_retire(fs_inside(cell->sem), &cell->units_at_end)
        && !fs_retired(fs_inside(cell->sem))) {
        fs_cell_change(cell, FS_CELL_CLAIMED, FS_CELL_IN_USE);
        return false;
    }
    atomic_store_explicit(&cell->home, NULL, memory_order_seq_cst);
    fs_cell_change(cell, FS_CELL_CLAIMED, FS_CELL_GIVEN_UP);
    given_up++;
    return true;
}

/* Acquire order: their last uses come before the memory goes. */
static bool has_users(const struct fs_cell *cell)
{
    return atomic_load_explicit(fs_cell_users(cell), memory_order_seq_cst) != 0;
}

/*
 * The cell is the first of its group.  False: the kernel does not take memory, because the program
 * has locked it.
 */
static bool sweep_group(struct fs_cell *cell)
{
    bool all = true;
    int before = errno;

    for (uint32_t i = 0; i < group; i++)
        all &= is_idle(cell + i);
    for (uint32_t i = 0; all && i < group; i++)
        all = give_up(cell + i);
    for (uint32_t i = 0; all && i < group; i++)
        all = !has_users(cell + i);
    if (!all)
        return true;
    all = madvise(cell->sem, (size_t)group * FS_SEM_SIZE, MADV_DONTNEED) == 0;
    errno = before;
    for (uint32_t i = 0; all && i < group; i++)
        fs_cell_change(cell + i, FS_CELL_GIVEN_UP, FS_CELL_SWEPT);
    return all;
}

/* Where many are used again, sweeps cost more than they save: there shall be fewer. */
static void consider_kept(uint32_t used)
{
    uint32_t in_use = used - given_up, pace = kept / 64 + group;

    if (atomic_load_explicit(&too_early, memory_order_relaxed)
        > (given_up - given_up_before) / 8 + group) {
        kept = 2 * (kept > in_use ? kept : in_use);
        given_up_before = given_up;
        atomic_store_explicit(&too_early, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&due_at, used + (in_use < kept ? kept - in_use : pace),
                          memory_order_relaxed);
}

void fs_sweep(void)
{
    uint32_t used = fs_cells_used(), groups, passed = 0, looked = 0;
    bool can = true;

    if (group == 0 || atomic_exchange_explicit(&sweeping, true, memory_order_acquire))
        return;
    groups = used / group;
    while (can && passed++ < GROUPS_SEEN && passed <= groups && looked < AT_ONCE) {
        struct fs_cell *cell;

        if (next_group >= groups)
            next_group = first_group;
        if (next_group >= groups)
            break;
        cell = fs_cell_at(next_group * group);
        if (state_of(cell) != FS_CELL_SWEPT) {
            looked += group;
            can = sweep_group(cell);
        }
        if (first_group == next_group && state_of(cell) == FS_CELL_SWEPT)
            first_group++;
        next_group++;
    }
    consider_kept(used);
    if (can)
        atomic_store_explicit(&sweeping, false, memory_order_release);
    else
        atomic_store_explicit(&due_at, UINT32_MAX, memory_order_relaxed);
}
