/* SPDX-License-Identifier: MIT */
/*
 * cells.h - where the semaphores of an interposed program live: in the sem_t, until a thread must
 * wait; then in a cell, to which the sem_t refers.
 *
 * A sem_t is too small for a fairsem_t, but a semaphore for which nobody has waited is only a
 * number.  So sem_init allocates nothing, a wait and a post change only the sem_t, and most
 * semaphores never need a cell.  (Of the locks of CPython, one in five does.)  Programs also do
 * things with a sem_t that POSIX forbids, and these work as with libc: a copy is a semaphore of its
 * own, and a destroyed semaphore can still be used, also by a thread that is in a call meanwhile.
 *
 *      word     the upper half says what the sem_t is:
 *                 FS_PLAIN    the lower half is the number of units; nobody waits
 *                 FS_REFERS   in its first four bits: the others are the index of a cell, and the
 *                             lower half is the tag that the cell had when this semaphore moved
 *                             there
 *                 else        a semaphore of libc: glibc keeps there how many threads wait, which
 *                             are fewer than FS_PLAIN or FS_REFERS
 *      of_libc  FS_REFERS: FS_NOT_OF_LIBC; FS_PLAIN: 0; see below
 *      record   FS_PLAIN: its record in the statistics, or 0
 *      units    FS_PLAIN: so many there were at first, and perhaps are in all
 *
 *             first wait that must sleep
 *      PLAIN ----------------------------> REFERS
 *        ^                                  |
 *        +----------------------------------+
 *           sem_destroy, if nobody waits;
 *           a copy of the sem_t is used
 *
 * Each arrow is one compare-and-swap of the word, so there is no lock.  A thread that is preempted
 * or has a handler in the middle of one holds nobody up, and a fork copies nothing half-done.
 *
 *      into a cell    The cell is prepared first, and belongs to this thread until the word refers
 *                     to it.  If another thread was faster, it goes back.
 *      out of it      The semaphore in the cell is retired first: in one section it is closed, and
 *                     its units are noted in the cell, as `units_at_end`.  From then on a call that
 *                     has found the cell before gets FS_RETIRED, and looks at the sem_t again.
 *                     Whoever finds a retired cell replaces the reference by the units, not only
 *                     the thread that has retired it.
 *
 * The memory of a cell is never unmapped (cell_pool.h), only used again, with another tag.  So a
 * thread that has just found a cell can still access it.  The tag and the address of the sem_t in
 * the cell guard against memory that only looks like a reference, and tell a copy of the sem_t from
 * the original.  A child of fork inherits cells and tags.
 *
 * LIBC'S FUNCTIONS on one of our semaphores: a library that was loaded with RTLD_DEEPBIND or by
 * dlmopen() calls them, and the program hands it a sem_t.  glibc keeps the value in the lower half
 * of the word, and `of_libc` is its option for futexes.
 *
 *      FS_PLAIN    is right for both.  glibc takes FS_PLAIN for a number of threads that wait, so
 *                  its sem_post wakes without need.  A thread in its sem_wait adds 1: meanwhile the
 *                  semaphore is one of libc for us, too.
 *      FS_REFERS   can only be noticed.  glibc's sem_post wakes, too, and aborts the program
 *                  because the option is none.  Its sem_wait takes the tag for units.  But tags are
 *                  far apart, so our next call sees what has happened, and aborts the program.
 *
 * A program that never destroys its semaphores keeps a cell for each for which a thread had to wait.
 * It cannot be taken back: a thread may have found the cell, and be preempted before it uses it, and
 * nothing tells that it is.
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

/* A sem_t, as this module sees it.  All may be read while another thread writes them. */
struct fs_in_place {
    _Atomic uint64_t word;
    _Atomic uint64_t of_libc;
    _Atomic uint64_t record;
    _Atomic uint64_t units;         /* it began with; or libc's */
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
    FS_IS_DANGLING      /* a reference to no valid cell */
};

/*
 * What is this sem_t?  A copy of one that refers to a cell becomes a plain one, and so does one
 * whose cell is retired.
 */
enum fs_cell_kind fs_cell_find(sem_t *sem, struct fs_cell **cell);

/*
 * Move a semaphore into a cell, because a thread must wait for it, or see that another thread has done
 * so.  Returns false if there is no memory for a cell.
 */
bool fs_cell_move_in(sem_t *sem);

/* If nobody waits, the semaphore is only a number again. */
void fs_cell_move_out(sem_t *sem);

/*
 * A call has found no unit in this cell: was the semaphore moved out meanwhile?  Acquire order: if
 * the call met the state after that, we see that the cell is retired.
 */
static inline bool fs_cell_is_retired(const struct fs_cell *cell)
{
    atomic_thread_fence(memory_order_acquire);
    return fs_retired(fs_inside(&cell->sem));
}

/* Must semaphores be in cells from the start, for a tool that looks for races? */
bool fs_cells_at_once(void);

/* Before there is a semaphore. */
void fs_cells_prepare(void);

/* In the child, after a fork. */
void fs_cells_in_child(void);

#endif
