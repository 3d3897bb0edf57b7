/* SPDX-License-Identifier: MIT */
/* slot_pool.h - slots for semaphores of an interposed program: their memory, and which are free. */
#ifndef FS_SLOT_POOL_H
#define FS_SLOT_POOL_H

#include "fast_path.h"

#include <semaphore.h>
#include <stdatomic.h>

struct fs_record;

struct fs_sem_slot {
    fairsem_t         sem;          /* initialized once; between two uses it is retired */
    _Atomic uint32_t  tag;          /* of its present or last use; 0: not used yet */
    _Atomic uint32_t  next_free;    /* in the stack of free slots */
    _Atomic(const sem_t *) home;    /* the sem_t that refers to it, or did */
    _Atomic int64_t   units_at_end; /* if retired: the semaphore's units then */
    _Atomic(struct fs_record *) record; /* r/o while in use; NULL: no statistics */
};

#define FS_SLOT_INDEX UINT32_C(0x0fffffff)      /* the largest index */
#define FS_NO_SLOT    (FS_SLOT_INDEX + 1)

/* NULL: there has never been such a slot. */
struct fs_sem_slot *fs_slot_at(uint32_t index);

/* A free slot, whose semaphore is retired or new; FS_NO_SLOT: there is no memory. */
uint32_t fs_slot_take(void);

/* It was not used: it is free at once. */
void fs_slot_put_back(uint32_t index);

/* It was used, and other threads may still look at it: it is free after some others. */
void fs_slot_put_to_rest(uint32_t index);

/* In the child of a fork: those that are free now stay so for ever. */
void fs_slot_forget_free(void);

/* For how long running threads may pass sleeping ones, as fairsem-run --bypass says; 0: never. */
extern int64_t fs_bypass_ns;

#endif
