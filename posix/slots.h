/* SPDX-License-Identifier: MIT */
/*
 * slots.h - where the semaphores of an interposed program live: in the sem_t, until a thread must
 * wait; then in a slot, to which the sem_t refers.
 *
 * A sem_t is too small for a fairsem_t, but a semaphore for which nobody has waited is only a
 * number.  So sem_init allocates nothing, a wait and a post change only the sem_t, and most
 * semaphores never need a slot.  (Of the locks of CPython, one in five does.)  Programs also do
 * things with a sem_t that POSIX forbids, and these work as with libc: a copy is a semaphore of its
 * own, and a destroyed semaphore can still be used.
 *
 *      word     the lower half says what the sem_t is:
 *                 FS_PLAIN    the upper half is the number of units; nobody waits
 *                 FS_REFERS   the semaphore is in a slot
 *                 else        a semaphore of libc: glibc keeps the value there, which is at most
 *                             SEM_VALUE_MAX.  FS_PLAIN and FS_REFERS are larger, so neither of the
 *                             two implementations mistakes the other's semaphore for its own
 *      serial   FS_REFERS: the serial number that the slot had when this semaphore moved there
 *               FS_PLAIN: its record in the statistics
 *      slot     the address of the slot
 *      check    computed from serial, slot, the address of the sem_t and a secret.  So memory that
 *               only looks like a reference is not followed, and a copy of the sem_t is recognized
 *
 *             first wait that must sleep
 *      PLAIN ----------------------------> REFERS
 *        ^                                  |   |
 *        +----------------------------------+   |
 *           sem_destroy, if nobody waits;       |
 *           a copy of the sem_t is used         |
 *                                               v
 *      (in memory that is shared with another process: libc's, instead of REFERS)
 *
 * Slots are never unmapped, only reused with another serial number.  So a thread that has just
 * found a slot can still access it.
 */
#ifndef FS_SLOTS_H
#define FS_SLOTS_H

#include <fairsem.h>

#include <assert.h>
#include <semaphore.h>
#include <stdatomic.h>

#define FS_PLAIN  UINT32_C(0xfa125e30)
#define FS_REFERS UINT32_C(0xfa125e31)
#define FS_ONE_UNIT (UINT64_C(1) << 32)     /* of FS_PLAIN */

struct fs_record;

struct fs_sem_slot {
    fairsem_t         sem;
    _Atomic uint64_t  serial;       /* if free, that of the last semaphore, inverted; or 0 */
    struct fs_sem_slot *next_free;  /* under the mutex of slots.c */
    const sem_t      *home;         /* under that mutex: the sem_t that refers to it, or did */
    struct fs_record *record;       /* r/o while in use; NULL: no statistics */
};

/* A sem_t, as this module sees it.  All may be read while another thread writes them. */
struct fs_in_place {
    _Atomic uint64_t word;
    _Atomic uint64_t serial;
    _Atomic uint64_t slot;
    _Atomic uint64_t check;
};

static_assert(sizeof(struct fs_in_place) <= sizeof(sem_t), "a sem_t has no room for a reference");

extern uint64_t fs_slot_secret;     /* changes only in a child of fork */

static inline struct fs_in_place *fs_in_place(const sem_t *sem)
{
    return (struct fs_in_place *)(uintptr_t)sem;
}

static inline uint32_t fs_what(uint64_t word)
{
    return (uint32_t)word;
}

static inline uint64_t fs_slot_check(const sem_t *sem, uint64_t slot, uint64_t serial,
                                     uint64_t secret)
{
    return (uintptr_t)sem ^ slot ^ serial ^ secret;
}

/*
 * The slot of a sem_t that is FS_REFERS; NULL: call fs_slot_find().
 *
 * Acquire order for the word: the other fields were written before it.  If another thread is
 * changing them, they may be of two moments; then they do not match `check`.
 */
static inline struct fs_sem_slot *fs_slot_of(const sem_t *sem)
{
    const struct fs_in_place *in = fs_in_place(sem);
    uint64_t word = atomic_load_explicit(&in->word, memory_order_acquire);
    uint64_t serial = atomic_load_explicit(&in->serial, memory_order_relaxed);
    uint64_t address = atomic_load_explicit(&in->slot, memory_order_relaxed);
    struct fs_sem_slot *slot = (struct fs_sem_slot *)(uintptr_t)address;

    if (fs_what(word) != FS_REFERS
        || atomic_load_explicit(&in->check, memory_order_relaxed)
               != fs_slot_check(sem, address, serial, fs_slot_secret)
        || atomic_load_explicit(&slot->serial, memory_order_acquire) != serial)
        return NULL;
    return slot;
}

enum fs_slot_kind {
    FS_IS_PLAIN,
    FS_IS_IN_SLOT,
    FS_IS_LIBCS,
    FS_IS_BROKEN        /* a reference to no valid slot */
};

/* What is this sem_t?  A copy of one that refers to a slot becomes a plain one. */
enum fs_slot_kind fs_slot_find(sem_t *sem, struct fs_sem_slot **slot);

/*
 * A thread must wait for this semaphore, which was plain a moment ago: move it into a slot.
 * FS_IS_PLAIN: there is no memory for one.
 */
enum fs_slot_kind fs_slot_move_in(sem_t *sem, struct fs_sem_slot **slot);

/* If nobody waits, the semaphore is only a number again. */
void fs_slot_move_out(sem_t *sem);

/* Must semaphores be in slots from the start, for a tool that looks for races? */
bool fs_slots_at_once(void);

/* libc's sem_init; before there is a semaphore. */
void fs_slots_prepare(int (*init_of_libc)(sem_t *, int, unsigned));

/* After a fork, in the parent and in the child. */
void fs_slots_in_parent(void);
void fs_slots_in_child(void);

#endif
