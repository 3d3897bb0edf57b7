/* SPDX-License-Identifier: MIT */
/*
 * slots.h - where the semaphores of an interposed program live.
 *
 * A sem_t is too small for a fairsem_t, so it holds a reference to a slot:
 *
 *      word 0   MAGIC.  glibc keeps the value there, which is at most SEM_VALUE_MAX; MAGIC is
 *               above, so no live semaphore of glibc looks like ours, nor ours like one.
 *      word 1   the number of the slot
 *      words 2, 3  the serial number that the slot had when this semaphore was made
 *
 * Slots are never freed, only used again, with another serial number.  So a reference can be
 * checked whatever the program did with the sem_t: copied it, moved it, destroyed it, or the
 * semaphore behind a copy.  It costs a few hundred bytes for each semaphore that existed at
 * the same time.
 */
#ifndef FS_SLOTS_H
#define FS_SLOTS_H

#include <fairsem.h>

#include <semaphore.h>
#include <stdatomic.h>

#define FS_SLOT_MAGIC UINT32_C(0xfa125e30)

struct fs_record;

struct fs_slot {
    fairsem_t         sem;
    _Atomic uint64_t  serial;       /* 0: free */
    uint32_t          number;       /* r/o */
    struct fs_slot   *next_free;    /* under the mutex of slots.c */
    struct fs_record *record;       /* r/o while in use; NULL: no statistics */
};

enum fs_slot_kind {
    FS_SLOT_OURS,
    FS_SLOT_FOREIGN,        /* libc's business */
    FS_SLOT_DEAD            /* was ours, and was destroyed */
};

/* Find the slot of a sem_t; NULL unless it is ours. */
enum fs_slot_kind fs_slot_find(const sem_t *sem, struct fs_slot **slot);

/* A free slot, or NULL without memory.  Its semaphore is the caller's to initialise. */
struct fs_slot *fs_slot_take(void);

/* Make the sem_t refer to the slot.  Only now can others find it. */
void fs_slot_publish(struct fs_slot *slot, sem_t *sem);

/* Free the slot to which the sem_t refers.  Of two that try at the same time one does it. */
void fs_slot_retire(struct fs_slot *slot, const sem_t *sem);

/* A slot that was taken and not published goes back. */
void fs_slot_give_back(struct fs_slot *slot);

/* In the child, after a fork. */
void fs_slots_in_child(void);

#endif
