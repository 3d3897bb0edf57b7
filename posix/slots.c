/* SPDX-License-Identifier: MIT */
/*
 * slots.c - see slots.h.
 *
 * Slots stand in blocks, each twice as large as the one before, so that a slot never moves
 * and is found from its number without a lock.  Blocks come from mmap: malloc may be the
 * program's own, and use semaphores.
 */
#define _GNU_SOURCE
#include "slots.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_BLOCK 64u
#define BLOCKS      24      /* more than a thousand million slots */

struct reference {
    _Atomic uint32_t magic;
    uint32_t         number;
    uint64_t         serial;
};

static_assert(sizeof(struct reference) <= sizeof(sem_t), "a sem_t has no room for a reference");

static pthread_mutex_t           mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fs_slot           *free_slots;        /* under mutex */
static uint32_t                  slots_made;        /* under mutex */
static uint64_t                  last_serial;       /* under mutex */
static struct fs_slot *_Atomic   blocks[BLOCKS];    /* written under mutex, once */

static struct reference *reference_in(const sem_t *sem)
{
    return (struct reference *)(uintptr_t)sem;
}

/* Block b begins with slot FIRST_BLOCK * (2^b - 1). */
static int block_of(uint32_t number, uint32_t *at)
{
    uint32_t n = number / FIRST_BLOCK + 1;
    int b = 0;

    while (n >> (b + 1) != 0)
        b++;
    *at = number - FIRST_BLOCK * ((UINT32_C(1) << b) - 1);
    return b;
}

enum fs_slot_kind fs_slot_find(const sem_t *sem, struct fs_slot **slot)
{
    const struct reference *ref = reference_in(sem);
    struct fs_slot *block;
    uint32_t at;
    int b;

    /* Acquire order: publish() wrote the rest before. */
    if (atomic_load_explicit(&ref->magic, memory_order_acquire) != FS_SLOT_MAGIC)
        return FS_SLOT_FOREIGN;
    b = block_of(ref->number, &at);
    block = b < BLOCKS ? atomic_load_explicit(&blocks[b], memory_order_acquire) : NULL;
    if (block == NULL
        || atomic_load_explicit(&block[at].serial, memory_order_acquire) != ref->serial)
        return FS_SLOT_DEAD;
    *slot = &block[at];
    return FS_SLOT_OURS;
}

/* Mutex held.  A slot that has never been used, or NULL. */
static struct fs_slot *make_slot(void)
{
    uint32_t at;
    int b = block_of(slots_made, &at);
    struct fs_slot *block;

    if (b >= BLOCKS)
        return NULL;
    block = blocks[b];
    if (block == NULL) {
        size_t size = ((size_t)FIRST_BLOCK << b) * sizeof *block;

        block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            return NULL;
        atomic_store_explicit(&blocks[b], block, memory_order_release);
    }
    block[at].number = slots_made++;
    return &block[at];
}

struct fs_slot *fs_slot_take(void)
{
    struct fs_slot *slot;

    pthread_mutex_lock(&mutex);
    slot = free_slots;
    if (slot != NULL)
        free_slots = slot->next_free;
    else
        slot = make_slot();
    pthread_mutex_unlock(&mutex);
    return slot;
}

void fs_slot_give_back(struct fs_slot *slot)
{
    pthread_mutex_lock(&mutex);
    slot->next_free = free_slots;
    free_slots = slot;
    pthread_mutex_unlock(&mutex);
}

void fs_slot_publish(struct fs_slot *slot, sem_t *sem)
{
    struct reference *ref = reference_in(sem);
    uint64_t serial;

    pthread_mutex_lock(&mutex);
    serial = ++last_serial;
    pthread_mutex_unlock(&mutex);
    atomic_store_explicit(&slot->serial, serial, memory_order_release);
    memset(sem, 0, sizeof *sem);
    ref->number = slot->number;
    ref->serial = serial;
    atomic_store_explicit(&ref->magic, FS_SLOT_MAGIC, memory_order_release);
}

void fs_slot_retire(struct fs_slot *slot, const sem_t *sem)
{
    uint64_t serial = reference_in(sem)->serial;

    if (serial != 0 && atomic_compare_exchange_strong(&slot->serial, &serial, 0))
        fs_slot_give_back(slot);
}

/* Another thread may have held the mutex.  The worst it can have left half done loses a slot. */
void fs_slots_in_child(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
