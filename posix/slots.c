/* SPDX-License-Identifier: MIT */
/*
 * slots.c - see slots.h.
 *
 * Slots come from mmap, many at a time.  Not from malloc, because the program may replace malloc by
 * one that uses semaphores.
 *
 * The mutex is held only inside a section (handlers.h), so a handler never finds it taken by its
 * own thread.
 */
#define _GNU_SOURCE
#include "slots.h"

#include "handlers.h"
#include "private_memory.h"
#include "record.h"
#include "sem_calls.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#define SLOTS_AT_ONCE 256
#define FREE_AT_LEAST 64    /* before one of them is used again: see give_back() */
#define ANCESTORS     16

/* A number of slots, mapped together. */
struct block {
    struct block  *older;       /* r/o */
    struct fs_sem_slot slot[SLOTS_AT_ONCE];
};

uint64_t fs_slot_secret;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fs_sem_slot *oldest_free;     /* under mutex */
static struct fs_sem_slot *newest_free;     /* under mutex */
static int             free_slots;      /* under mutex: how many */
static struct block   *blocks;          /* under mutex: the newest */
static int             fresh_left;      /* under mutex: slots of the newest, never used */
static uint64_t        last_serial = UINT64_C(1) << 32;   /* under mutex; larger than the number
                                                            * of any record */

/*
 * The secrets of the ancestors of this process by fork.  They made the references that this process
 * has inherited, and their slots are mapped here, too.  If a child of this process makes a
 * reference, in shared memory, that has a secret which this process does not know.
 */
static uint64_t inherited[ANCESTORS];   /* changes only in a child of fork */
static int      ancestors;

static bool has_relatives;              /* has been forked, or is a forked child */
static bool at_once;                    /* r/o */
static int (*init_of_libc)(sem_t *, int, unsigned);     /* r/o */

/* Cancellation is deferred first, and restored last: see src/signals.h. */
static void lock(int *cancel_type)
{
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, cancel_type);
    fs_section_enter();
    pthread_mutex_lock(&mutex);
}

static void unlock(int cancel_type)
{
    int deferred;

    pthread_mutex_unlock(&mutex);
    fs_section_leave();
    pthread_setcanceltype(cancel_type, &deferred);
}

/* It guards against accidents, not attackers, so any number that differs between runs is enough. */
static uint64_t make_secret(void)
{
    uint64_t secret;
    struct timespec now;

    if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) == (ssize_t)sizeof secret)
        return secret;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_nsec + fs_slot_secret) * UINT64_C(0x9e3779b97f4a7c15)
           + (uintptr_t)&mutex;
}

/* If a tool watches a semaphore, its fast path never succeeds: see src/annotate.h. */
void fs_slots_prepare(int (*init)(sem_t *, int, unsigned))
{
    static fairsem_t probe;

    init_of_libc = init;
    fs_slot_secret = make_secret();
    at_once = fairsem_init(&probe, 1, NULL) == 0 && !fs_acquire_fast(fs_inside(&probe), 1);
}

bool fs_slots_at_once(void)
{
    return at_once;
}

/* ---- Free slots; mutex held ---- */

static struct fs_sem_slot *take_oldest(void)
{
    struct fs_sem_slot *slot = oldest_free;

    if (slot != NULL) {
        oldest_free = slot->next_free;
        free_slots--;
    }
    return slot;
}

static struct fs_sem_slot *take(void)
{
    if (free_slots > FREE_AT_LEAST)
        return take_oldest();
    if (fresh_left == 0) {
        struct block *block = mmap(NULL, sizeof *block, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (block == MAP_FAILED)
            return take_oldest();
        block->older = blocks;
        blocks = block;
        fresh_left = SLOTS_AT_ONCE;
    }
    return &blocks->slot[--fresh_left];
}

/*
 * The program may have copied the semaphore, and then destroyed the original, as a vector does when
 * it grows.  The copy is looked at later; then the slot still has the value.  So it is not used
 * again at once.
 */
static void give_back(struct fs_sem_slot *slot)
{
    atomic_store_explicit(&slot->serial, ~slot->serial, memory_order_release);
    slot->next_free = NULL;
    if (free_slots++ == 0)
        oldest_free = slot;
    else
        newest_free->next_free = slot;
    newest_free = slot;
}

static bool is_slot(uint64_t address)
{
    for (const struct block *block = blocks; block != NULL; block = block->older) {
        uint64_t offset = address - (uintptr_t)block->slot;

        if (offset < sizeof block->slot)
            return offset % sizeof(struct fs_sem_slot) == 0;
    }
    return false;
}

/* ---- What is this sem_t? ---- */

/* Is it a reference of this process, or of an ancestor whose slots it has inherited? */
static bool fits(const struct fs_in_place *in, const sem_t *home, uint64_t slot, uint64_t serial)
{
    uint64_t check = atomic_load_explicit(&in->check, memory_order_relaxed);

    for (int i = 0; i < ancestors; i++) {
        if (check == fs_slot_check(home, slot, serial, inherited[i]))
            return true;
    }
    return check == fs_slot_check(home, slot, serial, fs_slot_secret);
}

/*
 * The sem_t is not where its reference was made, so it is a copy.  With libc a copy is a semaphore
 * of its own, with the value that the original had then.  That value is not stored anywhere, so the
 * copy gets the present one, or the one at the end if the original has been destroyed.  This is the
 * same if the program has moved the semaphore.  Mutex held.
 */
static void become_a_copy(struct fs_in_place *in, const struct fs_sem_slot *slot)
{
    uint64_t units = (uint64_t)fairsem_available(&slot->sem);

    atomic_store_explicit(&in->serial, 0, memory_order_relaxed);
    atomic_store_explicit(&in->word, FS_PLAIN | units * FS_ONE_UNIT, memory_order_release);
}

/* Mutex held. */
static enum fs_slot_kind look_closer(sem_t *sem, struct fs_sem_slot **slot)
{
    struct fs_in_place *in = fs_in_place(sem);
    uint64_t serial = atomic_load_explicit(&in->serial, memory_order_relaxed);
    uint64_t address = atomic_load_explicit(&in->slot, memory_order_relaxed);
    uint64_t of_slot;

    *slot = (struct fs_sem_slot *)(uintptr_t)address;
    if (!is_slot(address))
        return FS_IS_BROKEN;
    of_slot = atomic_load(&(*slot)->serial);
    if (of_slot == serial && fits(in, sem, address, serial))
        return FS_IS_IN_SLOT;
    if ((of_slot != serial && of_slot != ~serial) || !fits(in, (*slot)->home, address, serial))
        return FS_IS_BROKEN;
    become_a_copy(in, *slot);
    return FS_IS_PLAIN;
}

static enum fs_slot_kind kind(uint64_t word)
{
    return fs_what(word) == FS_PLAIN    ? FS_IS_PLAIN
           : fs_what(word) == FS_REFERS ? FS_IS_IN_SLOT
                                        : FS_IS_LIBCS;
}

enum fs_slot_kind fs_slot_find(sem_t *sem, struct fs_sem_slot **slot)
{
    enum fs_slot_kind is = kind(atomic_load_explicit(&fs_in_place(sem)->word,
                                                     memory_order_acquire));
    int cancel_type;

    if (is != FS_IS_IN_SLOT || (*slot = fs_slot_of(sem)) != NULL)
        return is;
    lock(&cancel_type);
    is = kind(atomic_load_explicit(&fs_in_place(sem)->word, memory_order_acquire));
    if (is == FS_IS_IN_SLOT)
        is = look_closer(sem, slot);
    unlock(cancel_type);
    return is;
}

/* ---- Into a slot, and out of it ---- */

/*
 * In memory that another process sees, the slot would be another semaphore for that process, or not
 * mapped at all.  So the sem_t becomes a semaphore of libc.  (With glibc such a semaphore wakes
 * nobody in another process, because it was made with pshared 0.  This one does.)
 *
 * The other fields are written before the word.  In a plain semaphore only `serial` has a meaning.
 */
static enum fs_slot_kind move_to_libc(struct fs_in_place *in, uint64_t word)
{
    while (fs_what(word) == FS_PLAIN) {
        struct fs_in_place libcs;
        sem_t sem;

        init_of_libc(&sem, 1, (unsigned)(word / FS_ONE_UNIT));
        memcpy(&libcs, &sem, sizeof libcs);
        atomic_store_explicit(&in->serial, libcs.serial, memory_order_relaxed);
        atomic_store_explicit(&in->slot, libcs.slot, memory_order_relaxed);
        atomic_store_explicit(&in->check, libcs.check, memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&in->word, &word, libcs.word,
                                                    memory_order_acq_rel, memory_order_acquire))
            return FS_IS_LIBCS;
    }
    return kind(word);
}

/*
 * The number of units may change until the compare-and-swap, which moves the units of that moment.
 * Acquire order: the thread that takes the units from the slot must see what their releasers wrote
 * before.  Release order: for fs_slot_of().  Mutex held.
 */
static enum fs_slot_kind move_in(sem_t *sem, struct fs_sem_slot **moved)
{
    struct fs_in_place *in = fs_in_place(sem);
    uint64_t word = atomic_load_explicit(&in->word, memory_order_acquire);
    struct fs_sem_slot *slot;
    uint64_t address;

    if (kind(word) != FS_IS_PLAIN)
        return kind(word);
    if (has_relatives && !fs_memory_is_private(sem))
        return move_to_libc(in, word);
    slot = take();
    if (slot == NULL)
        return FS_IS_PLAIN;
    address = (uintptr_t)slot;
    slot->home = sem;
    slot->record = fs_record_number(atomic_load_explicit(&in->serial, memory_order_relaxed));
    atomic_store_explicit(&slot->serial, ++last_serial, memory_order_release);
    atomic_store_explicit(&in->slot, address, memory_order_relaxed);
    atomic_store_explicit(&in->check, fs_slot_check(sem, address, last_serial, fs_slot_secret),
                          memory_order_relaxed);
    atomic_store_explicit(&in->serial, last_serial, memory_order_relaxed);
    do {
        fs_sem_init(&slot->sem, (unsigned)(word / FS_ONE_UNIT));
    } while (!atomic_compare_exchange_strong_explicit(&in->word, &word, FS_REFERS,
                                                      memory_order_acq_rel,
                                                      memory_order_acquire));
    *moved = slot;
    return FS_IS_IN_SLOT;
}

/* Another thread may have moved it already. */
enum fs_slot_kind fs_slot_move_in(sem_t *sem, struct fs_sem_slot **slot)
{
    enum fs_slot_kind is;
    int cancel_type;

    lock(&cancel_type);
    is = move_in(sem, slot);
    unlock(cancel_type);
    return is == FS_IS_IN_SLOT ? fs_slot_find(sem, slot) : is;
}

/*
 * The semaphore in the slot is not destroyed: another thread may have just found the slot, and its
 * call would succeed with libc.  fairsem_stat takes the semaphore's mutex, so a release that has
 * granted our caller has left its section.
 */
void fs_slot_move_out(sem_t *sem)
{
    struct fs_in_place *in = fs_in_place(sem);
    struct fs_sem_slot *slot;
    fairsem_stat_t stat;
    int cancel_type;

    lock(&cancel_type);
    if (kind(atomic_load_explicit(&in->word, memory_order_acquire)) == FS_IS_IN_SLOT
        && look_closer(sem, &slot) == FS_IS_IN_SLOT) {
        fairsem_stat(&slot->sem, &stat);
        if (stat.waiters == 0) {
            atomic_store_explicit(&in->serial, 0, memory_order_relaxed);
            atomic_store_explicit(&in->word, FS_PLAIN | (uint64_t)stat.available * FS_ONE_UNIT,
                                  memory_order_release);
            give_back(slot);
        }
    }
    unlock(cancel_type);
}

void fs_slots_in_parent(void)
{
    has_relatives = true;
}

/*
 * Another thread may have been in the middle of a change, with the mutex held: forget the free
 * slots.  The blocks stay, because they have the slots that this process has inherited.
 */
void fs_slots_in_child(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    has_relatives = true;
    oldest_free = newest_free = NULL;
    free_slots = 0;
    fresh_left = 0;
    if (ancestors < ANCESTORS) {
        inherited[ancestors++] = fs_slot_secret;
        fs_slot_secret = make_secret();
    }
}
