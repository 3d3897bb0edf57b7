/* SPDX-License-Identifier: MIT */
/*
 * slots.h - where the semaphores of an interposed program live.
 *
 * A sem_t is too small for a fairsem_t, so it holds a reference to a slot:
 *
 *      magic    is where glibc keeps the value, which is at most SEM_VALUE_MAX (big-endian: the
 *               number of waiters).  Our magic is larger, so no live semaphore of glibc looks like
 *               ours, and ours does not look like one of glibc's
 *      serial   the serial number that the slot had when this semaphore was made
 *      slot     the address of the slot
 *      check    made from both and a secret, so memory that only looks like a reference is not
 *               followed
 *
 * Slots are never freed, only reused with another serial number.  So a reference can be checked,
 * whatever the program did with the sem_t: copied it, moved it, destroyed it, or destroyed the
 * semaphore behind a copy.  The price is 288 bytes (on x86-64) for each sem_init that no
 * sem_destroy follows, and for the largest number of other semaphores that existed at once.  (A
 * second sem_init of a sem_t cannot free the first slot: the sem_t may have been copied, unused, to
 * where it is now, and another copy may still refer to the slot.)
 */
#ifndef FS_SLOTS_H
#define FS_SLOTS_H

#include <fairsem.h>

#include <assert.h>
#include <semaphore.h>
#include <stdatomic.h>

#define FS_SLOT_MAGIC UINT32_C(0xfa125e30)

struct fs_record;

struct fs_slot {
    fairsem_t         sem;
    _Atomic uint64_t  serial;       /* 0: free */
    struct fs_slot   *next_free;    /* under the mutex of slots.c */
    struct fs_record *record;       /* r/o while in use; NULL: no statistics */
};

struct fs_slot_reference {
    _Atomic uint32_t magic;
    uint64_t         serial;
    struct fs_slot  *slot;
    uint64_t         check;
};

static_assert(sizeof(struct fs_slot_reference) <= sizeof(sem_t),
              "a sem_t has no room for a reference");

enum fs_slot_kind {
    FS_SLOT_OURS,
    FS_SLOT_FOREIGN,        /* not ours: libc's */
    FS_SLOT_DEAD            /* was ours, but is destroyed */
};

extern uint64_t fs_slot_secret;     /* r/o once there is a slot */

static inline struct fs_slot_reference *fs_slot_reference(const sem_t *sem)
{
    return (struct fs_slot_reference *)(uintptr_t)sem;
}

/* Find the slot of a sem_t; *slot is set if it is ours. */
static inline enum fs_slot_kind fs_slot_find(const sem_t *sem, struct fs_slot **slot)
{
    const struct fs_slot_reference *ref = fs_slot_reference(sem);

    /* Acquire order: fs_slot_publish() wrote the other fields before. */
    if (atomic_load_explicit(&ref->magic, memory_order_acquire) != FS_SLOT_MAGIC)
        return FS_SLOT_FOREIGN;
    if (ref->check != ((uintptr_t)ref->slot ^ ref->serial ^ fs_slot_secret)
        || atomic_load_explicit(&ref->slot->serial, memory_order_acquire) != ref->serial)
        return FS_SLOT_DEAD;
    *slot = ref->slot;
    return FS_SLOT_OURS;
}

/* A free slot, whose semaphore the caller must initialize; NULL: no memory. */
struct fs_slot *fs_slot_take(void);

/* Make the sem_t refer to the slot.  From now on others can find it. */
void fs_slot_publish(struct fs_slot *slot, sem_t *sem);

/* Free the slot to which the sem_t refers.  Of two threads that try at once, one does it. */
void fs_slot_retire(struct fs_slot *slot, const sem_t *sem);

/* Give back a slot that was taken and not published. */
void fs_slot_give_back(struct fs_slot *slot);

/* Call this in the child, after a fork. */
void fs_slots_in_child(void);

#endif
