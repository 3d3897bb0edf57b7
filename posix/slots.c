/* SPDX-License-Identifier: MIT */
/*
 * slots.c - see slots.h.
 *
 * Slots come from mmap, many at a time.  Not from malloc: the program may have its own, and that
 * may use semaphores.
 */
#define _GNU_SOURCE
#include "slots.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#define SLOTS_AT_ONCE 256

uint64_t fs_slot_secret;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fs_slot *free_slots;      /* under mutex */
static struct fs_slot *fresh;           /* under mutex: slots that were never used */
static size_t          fresh_left;      /* under mutex: the number of these */
static _Atomic uint64_t last_serial;

/* It guards against accidents, not attackers: any number that differs from run to run will do. */
static uint64_t make_secret(void)
{
    uint64_t secret;
    struct timespec now;

    if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) == (ssize_t)sizeof secret)
        return secret;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15) + (uintptr_t)&mutex;
}

/* Mutex held.  A slot that has never been used, or NULL. */
static struct fs_slot *make_slot(void)
{
    if (fresh_left == 0) {
        void *map = mmap(NULL, SLOTS_AT_ONCE * sizeof *fresh, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (map == MAP_FAILED)
            return NULL;
        if (fs_slot_secret == 0)
            fs_slot_secret = make_secret();
        fresh = map;
        fresh_left = SLOTS_AT_ONCE;
    }
    fresh_left--;
    return fresh++;
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
    struct fs_slot_reference *ref = fs_slot_reference(sem);
    uint64_t serial = atomic_fetch_add(&last_serial, 1) + 1;

    atomic_store_explicit(&slot->serial, serial, memory_order_release);
    memset(sem, 0, sizeof *sem);
    ref->serial = serial;
    ref->slot = slot;
    ref->check = (uintptr_t)slot ^ serial ^ fs_slot_secret;
    atomic_store_explicit(&ref->magic, FS_SLOT_MAGIC, memory_order_release);
}

void fs_slot_retire(struct fs_slot *slot, const sem_t *sem)
{
    uint64_t serial = fs_slot_reference(sem)->serial;

    if (serial != 0 && atomic_compare_exchange_strong(&slot->serial, &serial, 0))
        fs_slot_give_back(slot);
}

/* Another thread may have held the mutex and be halfway through a change: forget the free slots. */
void fs_slots_in_child(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    free_slots = NULL;
    fresh_left = 0;
}
