/* SPDX-License-Identifier: MIT */
/*
 * cells.h - where the semaphores of an interposed program are.  A semaphore is in its sem_t until a thread must
 * wait; then it moves out of line, into a cell to which the sem_t refers.
 *
 * A sem_t is too small for a fairsem_t, but a semaphore without waiters is only a number, which fits.  So
 * sem_init allocates nothing, a wait and a post change only the sem_t, and most semaphores never need a cell.
 * Programs do two things that POSIX forbids, and both work as with libc: a copy of a sem_t is a separate
 * semaphore, and a destroyed semaphore can still be used, even by a call that began before sem_destroy.
 *
 *      word     the upper half says what the sem_t is:
 *                 FS_PLAIN    the lower half is the number of units, and there are no waiters
 *                 FS_REFERS   in the first four bits: the other bits of this half are the index of a cell, and
 *                             the lower half is the tag that the cell got when this semaphore moved there
 *                 other       a semaphore of libc: glibc has the number of waiters in the upper half, and
 *                             this number is less than FS_PLAIN and FS_REFERS
 *      of_libc  FS_NOT_OF_LIBC with FS_REFERS, 0 with FS_PLAIN; see LIBC'S FUNCTIONS
 *      record   with FS_PLAIN: number of the semaphore's record in the statistics, or 0
 *      units    with FS_PLAIN: the initial number of units
 *
 *             first wait that must sleep
 *      PLAIN ----------------------------> REFERS
 *        ^                                  |
 *        +----------------------------------+
 *           sem_destroy, if nobody waits;
 *           a copy of the sem_t is used
 *
 * Each transition is one compare-and-swap of the word, so there is no lock.  A thread that is preempted or
 * interrupted by a handler in the middle of a transition delays no other thread, and a fork copies no
 * transition half-done.
 *
 *      into a cell    The cell is prepared first, and belongs to the preparing thread until the word refers
 *                     to the cell.  If another thread has moved the semaphore meanwhile, the cell is freed.
 *      out of a cell  The semaphore in the cell is retired first: one section closes it and stores its units
 *                     in the cell, as `units_at_end`.  A call that found the cell earlier gets FS_RETIRED, and
 *                     looks at the sem_t again.  Any thread that finds a retired cell can replace the
 *                     reference by the units.
 *
 * The memory of a cell is never unmapped (cell_pool.h), so a thread that has just found a cell can always
 * access the cell.  Each use of a cell gets a new tag, so memory that only looks like a reference almost
 * never has the tag of the cell.  The cell stores the address of its sem_t, which tells the original from a
 * copy.
 *
 * LIBC'S FUNCTIONS may be called for one of our semaphores, by a library that was loaded with RTLD_DEEPBIND or
 * by dlmopen().  In a sem_t of glibc, the lower half of the word is the value, and `of_libc` is an option for
 * futexes.
 *
 *      FS_PLAIN    works with our functions and glibc's.  glibc takes FS_PLAIN for a number of waiters, so its
 *                  sem_post makes needless wakes.  A thread in glibc's sem_wait adds 1 to this number; until
 *                  the thread leaves sem_wait, this module takes the semaphore for one of libc.
 *      FS_REFERS   a call of a glibc function can only be detected.  glibc's sem_post makes a futex call,
 *                  whose invalid option aborts the program.  glibc's sem_wait takes the tag for a number of
 *                  units, and changes the tag.  But tags are far apart, so our next call recognizes the
 *                  changed tag, and aborts the program.
 *
 * A program that never destroys its semaphores keeps a cell for each semaphore that a thread had to wait for.
 * Such a cell cannot be freed before sem_destroy: a thread may have found the cell, and be preempted before
 * the thread uses the cell.
 */
#ifndef FS_CELLS_H
#define FS_CELLS_H

#include "cell_pool.h"

#include <assert.h>
#include <semaphore.h>

#define FS_PLAIN  UINT32_C(0xfa125e30)
#define FS_REFERS UINT32_C(0xd0000000)
#define FS_NOT_OF_LIBC UINT64_C(0x7e7e7e7e7e7e7e7e)
#define FS_TAGS_APART  64

/* A sem_t, as this module sees it.  Any member may be read while another thread writes it. */
struct fs_in_place {
    _Atomic uint64_t word;
    _Atomic uint64_t of_libc;
    _Atomic uint64_t record;
    _Atomic uint64_t units;
};

static_assert(sizeof(struct fs_in_place) <= sizeof(sem_t), "a sem_t has no room for a reference");

static inline struct fs_in_place *fs_in_place(const sem_t *sem)
{
    return (struct fs_in_place *)(uintptr_t)sem;
}

static inline bool fs_is_plain(uint64_t word)
{
    return word >> 32 == FS_PLAIN;
}

static inline uint64_t fs_plain(uint32_t units)
{
    return (uint64_t)FS_PLAIN << 32 | units;
}

enum fs_cell_kind {
    FS_IS_PLAIN,
    FS_IS_IN_CELL,
    FS_IS_PASS_THROUGH,
    FS_IS_DANGLING      /* refers to no valid cell */
};

/*
 * Find out what this sem_t is.  Sets *cell for FS_IS_IN_CELL.  A copy of a sem_t that refers to a cell
 * becomes plain, and so does a sem_t whose cell is retired.
 */
enum fs_cell_kind fs_cell_find(sem_t *sem, struct fs_cell **cell);

/*
 * Move a semaphore into a cell, because a thread must wait.  Does nothing if another thread has already moved
 * the semaphore.  Returns false if there is no memory for a cell.
 */
bool fs_cell_move_in(sem_t *sem);

/* Make the semaphore a plain number again, if nobody waits. */
void fs_cell_move_out(sem_t *sem);

/*
 * After a call that found no unit in this cell: was the semaphore moved out meanwhile?  Acquire order: if the
 * call found the semaphore closed, this function finds the cell retired.
 */
static inline bool fs_cell_is_retired(const struct fs_cell *cell)
{
    atomic_thread_fence(memory_order_acquire);
    return fs_retired(fs_inside(&cell->sem));
}

/* Must each semaphore be in a cell from the start, for a race detector? */
bool fs_cells_at_once(void);

/* Call it before the first semaphore is initialized. */
void fs_cells_prepare(void);

void fs_cells_in_child(void);

#endif
