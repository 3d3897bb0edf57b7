/* SPDX-License-Identifier: MIT */
/*
 * cells.c - moves semaphores from a sem_t into a cell, and back; see cells.h.
 *
 * There is no lock, because a wait, a post and sem_destroy must not wait for a thread of a lower priority, for
 * the thread that a signal handler has interrupted, or for a thread that a forked child does not have.
 *
 * No critical section accesses a sem_t.  The memory of a sem_t may be protected until a SIGSEGV handler of the
 * program makes it accessible, and that handler may use other semaphores.
 */
#define _GNU_SOURCE
#include "cells.h"

#include "posix/sem_calls.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint32_t last_tag;

static bool at_once;            /* r/o; see fs_cells_at_once() */

/*
 * Tags guard against accidents, not attackers.  Each process starts with a random tag, so that the process does
 * not mistake references of another process for its own.
 *
 * The system calls are bare, because the getrandom() of another preloaded library may take a lock, and in a
 * forked child this lock may stay taken for ever.
 */
static void begin_tags(void)
{
    uint32_t first;
    struct timespec now;

    if (syscall(SYS_getrandom, &first, sizeof first, GRND_NONBLOCK) != (long)sizeof first) {
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
        first = (uint32_t)now.tv_nsec * UINT32_C(0x9e3779b9);
    }
    atomic_store_explicit(&last_tag, first / FS_TAGS_APART * FS_TAGS_APART, memory_order_relaxed);
}

static uint32_t new_tag(void)
{
    uint32_t tag;

    do
        tag = atomic_fetch_add_explicit(&last_tag, FS_TAGS_APART, memory_order_relaxed)
              + FS_TAGS_APART;
    while (tag == 0);
    return tag;
}

/*
 * Sets `at_once` if the fast path of the library never succeeds, because semaphores are instrumented: see
 * src/tools/annotate.h.
 */
void fs_cells_prepare(void)
{
    static fairsem_t probe;
    const char *bypass = getenv(FS_BYPASS_ENV);

    if (bypass != NULL)
        fs_bypass_ns = strtoll(bypass, NULL, 10);
    if (fs_bypass_ns < 0)
        fs_bypass_ns = 0;
    begin_tags();
    at_once = fairsem_init(&probe, 1, NULL) == 0 && !fs_acquire_fast(fs_inside(&probe), 1);
}

bool fs_cells_at_once(void)
{
    return at_once;
}

/* ---- What is this sem_t? ---- */

static bool is_reference(uint64_t word)
{
    return ((uint32_t)(word >> 32) & ~FS_CELL_INDEX) == FS_REFERS;
}

static uint64_t reference(uint32_t index, uint32_t tag)
{
    return (uint64_t)(FS_REFERS | index) << 32 | tag;
}

static uint32_t index_of(uint64_t word)
{
    return (uint32_t)(word >> 32) & FS_CELL_INDEX;
}

/*
 * Returns the cell to which this word refers, or NULL.  No reference has the tag 0 of an unused cell.
 *
 * Acquire order, for fs_cell_find(): if the cell already has the tag of a later use, the word of the earlier
 * sem_t has changed, and the next load of this word must see the change.
 */
static struct fs_cell *cell_of(uint64_t word)
{
    uint32_t tag = (uint32_t)word;
    struct fs_cell *cell;

    if (!fs_cell_exists(index_of(word)) || tag == 0)
        return NULL;
    cell = fs_cell_at(index_of(word));
    return atomic_load_explicit(&cell->tag, memory_order_acquire) == tag ? cell : NULL;
}

/*
 * Set `of_libc` for a reference, or clear `of_libc` for a plain number.  A plain store could overwrite data of
 * the program: another thread may have completed the move, and the program may have reused the memory since.
 */
static void keep_from_libc(struct fs_in_place *in, bool keep)
{
    uint64_t before = keep ? 0 : FS_NOT_OF_LIBC;

    atomic_compare_exchange_strong_explicit(&in->of_libc, &before, keep ? FS_NOT_OF_LIBC : 0,
                                            memory_order_relaxed, memory_order_relaxed);
}

/*
 * Make a sem_t plain if it is a copy, or if its cell is retired.  With libc a copy has the value that the
 * original had at the time of the copy.  Here the value at that time is not stored, so the copy gets the
 * present value of the original, or the last value of a destroyed original.  The result is right if the program
 * has copied the sem_t and destroyed the original, as a vector does when it grows.
 *
 * fs_retire() sets the present value to 0.  So the present value is read before the check for a retired cell:
 * if the read finds this 0, the check finds the cell retired.
 *
 * As in a seqlock, a changed tag means that the cell was used again while this thread read the value: see
 * fs_cell_move_in().  The fence orders the reads of the value before the read of the tag.
 */
static void become_plain(struct fs_in_place *in, uint64_t word, const struct fs_cell *cell)
{
    int64_t units = fairsem_available(&cell->sem);

    if (fs_cell_is_retired(cell))
        units = atomic_load_explicit(&cell->units_at_end, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&cell->tag, memory_order_relaxed) != (uint32_t)word)
        return;
    keep_from_libc(in, false);
    atomic_compare_exchange_strong_explicit(&in->word, &word, fs_plain((uint32_t)units),
                                            memory_order_acq_rel, memory_order_relaxed);
}

/*
 * Abort if a function of libc has changed the tag of a reference, as if the tag were a number of units.  The
 * message is written without stdio, which may use semaphores.
 */
static void abort_if_changed_by_libc(const sem_t *sem, uint64_t word)
{
    static const char message[] = "fairsem-run: sem_post or sem_wait of libc was called for a"
                                  " semaphore of this module (RTLD_DEEPBIND, dlmopen or dlsym)\n";
    const struct fs_cell *cell;
    int32_t more;

    if (!fs_cell_exists(index_of(word)))
        return;
    cell = fs_cell_at(index_of(word));
    more = (int32_t)((uint32_t)word - atomic_load_explicit(&cell->tag, memory_order_acquire));
    if (more == 0 || more <= -FS_TAGS_APART || more >= FS_TAGS_APART
        || atomic_load_explicit(&cell->home, memory_order_relaxed) != sem)
        return;
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    abort();
}

/*
 * If the tag of a reference differs from the tag of the cell, the sem_t is read again.  If the sem_t still
 * contains this reference, the reference is dangling.  If not, another thread has moved the semaphore.
 */
enum fs_cell_kind fs_cell_find(sem_t *sem, struct fs_cell **cell)
{
    struct fs_in_place *in = fs_in_place(sem);
    uint64_t word = atomic_load_explicit(&in->word, memory_order_acquire);

    while (is_reference(word)) {
        uint64_t seen = word;

        *cell = cell_of(word);
        if (*cell != NULL) {
            if (atomic_load_explicit(&(*cell)->home, memory_order_relaxed) == sem
                && !fs_retired(fs_inside(&(*cell)->sem)))
                return FS_IS_IN_CELL;
            become_plain(in, word, *cell);
        }
        word = atomic_load_explicit(&in->word, memory_order_acquire);
        if (*cell == NULL && word == seen) {
            abort_if_changed_by_libc(sem, word);
            return FS_IS_DANGLING;
        }
    }
    return fs_is_plain(word) ? FS_IS_PLAIN : FS_IS_PASS_THROUGH;
}

/* ---- Into a cell, and out of it ---- */

/*
 * The tag changes before the rest of the cell, because another thread may still read the cell by an old
 * reference: see become_plain().
 *
 * The number of units may change until the compare-and-swap succeeds.  Acquire order: a thread that takes units
 * from the cell must see what the posting threads wrote before their posts.  Release order: fs_cell_find() must
 * see the contents of the cell.
 */
bool fs_cell_move_in(sem_t *sem)
{
    struct fs_in_place *in = fs_in_place(sem);
    uint64_t word = atomic_load_explicit(&in->word, memory_order_acquire);
    uint32_t index, tag;
    struct fs_cell *cell;

    if (!fs_is_plain(word))
        return true;
    index = fs_cell_take();
    if (index == FS_NO_CELL)
        return false;
    cell = fs_cell_at(index);
    tag = new_tag();
    /* Release order, for cell_of(): the word of the sem_t that used the cell before has already changed. */
    atomic_store_explicit(&cell->tag, tag, memory_order_release);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&cell->home, sem, memory_order_relaxed);
    atomic_store_explicit(&cell->record,
                          fs_record_of(sem, atomic_load_explicit(&in->record,
                                                                 memory_order_relaxed)),
                          memory_order_relaxed);
    do {
        fs_reuse(fs_inside(&cell->sem), (uint32_t)word,
                 (uint32_t)atomic_load_explicit(&in->units, memory_order_relaxed));
        if (atomic_compare_exchange_strong_explicit(&in->word, &word, reference(index, tag),
                                                    memory_order_acq_rel, memory_order_acquire)) {
            keep_from_libc(in, true);
            return true;
        }
    } while (fs_is_plain(word));
    fs_cell_put_back(index);
    return true;
}

/*
 * The semaphore in the cell is retired, not destroyed: another thread may have just found the cell, and its
 * call must succeed, as with libc.  fs_retire() takes the semaphore's mutex.  So a release that has granted a
 * unit to the caller of sem_destroy has left its section before the cell is freed.
 */
void fs_cell_move_out(sem_t *sem)
{
    struct fs_in_place *in = fs_in_place(sem);
    struct fs_cell *cell;
    uint64_t word;

    if (fs_cell_find(sem, &cell) != FS_IS_IN_CELL)
        return;
    word = atomic_load_explicit(&in->word, memory_order_acquire);
    if (!is_reference(word) || (cell = cell_of(word)) == NULL
        || !fs_retire(fs_inside(&cell->sem), &cell->units_at_end))
        return;
    become_plain(in, word, cell);
    fs_cell_quarantine(index_of(word));
}

/*
 * References from before the fork are valid in the child, too, because the cells are copied.  But in shared
 * memory, later references of the parent must not look like references of the child, so the child uses other
 * tags.
 */
void fs_cells_in_child(void)
{
    begin_tags();
}
