/* SPDX-License-Identifier: MIT */
/*
 * slots.c - see slots.h.
 *
 * Slots come from mmap, many at a time.  Not from malloc, because the program may replace malloc by
 * one that uses semaphores.
 *
 * No lock: a wait, a post and sem_destroy must not wait for a thread of a lower priority, for the
 * thread that a signal handler has interrupted, or for a thread that a forked child does not have.
 * And no access to a sem_t in a critical section: the program may have a handler for SIGSEGV that
 * makes the memory accessible, and uses other semaphores.
 */
#define _GNU_SOURCE
#include "slots.h"

#include "private_memory.h"
#include "record.h"
#include "posix/sem_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#define INDEX   UINT32_C(0x0fffffff)    /* the bits of a reference that are the index */
#define NO_SLOT (INDEX + 1)
#define RESTING 64                      /* see give_back() */

/*
 * Slots come in blocks: the first has this many, and each has twice as many as the one before.  So
 * a slot is found from its index by two loads.
 */
#define FIRST_BLOCK UINT32_C(256)
#define BLOCKS      21

static struct fs_sem_slot *_Atomic blocks[BLOCKS];

static _Atomic uint32_t fresh;          /* the slots from this index on have never been used */

/*
 * The free slots, a stack.  Lower half: the index of the first, plus 1; 0: there is none.  Upper
 * half: how often it has changed.  Without that a thread could take the first slot, and leave a
 * second one as the first that another thread has taken meanwhile (the ABA problem).
 */
static _Atomic uint64_t free_slots;

/* Upper half: its number among all that have rested.  Lower half: its index, plus 1; 0: none. */
static _Atomic uint64_t resting[RESTING];
static _Atomic uint32_t next_to_rest;       /* the number of the next */
static _Atomic uint32_t last_tag;

static _Atomic bool has_relatives;      /* is about to fork, or a forked child */
static bool at_once;                    /* r/o */
int64_t fs_bypass_ns;                   /* r/o */
static int (*init_of_libc)(sem_t *, int, unsigned);     /* r/o */

/*
 * A tag guards against accidents, not attackers.  Each process starts with another number, so that
 * it hardly takes the references of another one for its own.
 */
static void begin_tags(void)
{
    uint32_t first;
    struct timespec now;

    if (getrandom(&first, sizeof first, GRND_NONBLOCK) != (ssize_t)sizeof first) {
        clock_gettime(CLOCK_REALTIME, &now);
        first = (uint32_t)now.tv_nsec * UINT32_C(0x9e3779b9);
    }
    atomic_store_explicit(&last_tag, first, memory_order_relaxed);
}

static uint32_t new_tag(void)
{
    uint32_t tag;

    do
        tag = atomic_fetch_add_explicit(&last_tag, 1, memory_order_relaxed) + 1;
    while (tag == 0);
    return tag;
}

/* If a tool watches a semaphore, its fast path never succeeds: see src/core/annotate.h. */
void fs_slots_prepare(int (*init)(sem_t *, int, unsigned))
{
    static fairsem_t probe;
    const char *bypass = getenv(FS_BYPASS_ENV);

    init_of_libc = init;
    if (bypass != NULL)
        fs_bypass_ns = strtoll(bypass, NULL, 10);
    if (fs_bypass_ns < 0)
        fs_bypass_ns = 0;
    begin_tags();
    at_once = fairsem_init(&probe, 1, NULL) == 0 && !fs_acquire_fast(fs_inside(&probe), 1);
}

bool fs_slots_at_once(void)
{
    return at_once;
}

static unsigned block_of(uint32_t index)
{
    return 23u - (unsigned)__builtin_clz(index + FIRST_BLOCK);
}

static struct fs_sem_slot *slot_at(uint32_t index)
{
    unsigned block = block_of(index);
    struct fs_sem_slot *first = atomic_load_explicit(&blocks[block], memory_order_acquire);

    return first != NULL ? first + (index + FIRST_BLOCK - (FIRST_BLOCK << block)) : NULL;
}

/* ---- Free slots ---- */

/* Release order: a thread that takes the slot must see what we wrote into it, and so below. */
static void push(uint32_t index)
{
    struct fs_sem_slot *slot = slot_at(index);
    uint64_t before = atomic_load_explicit(&free_slots, memory_order_relaxed), after;

    do {
        atomic_store_explicit(&slot->next_free, (uint32_t)before, memory_order_relaxed);
        after = ((before >> 32) + 1) << 32 | (index + 1);
    } while (!atomic_compare_exchange_weak_explicit(&free_slots, &before, after,
                                                    memory_order_release, memory_order_relaxed));
}

static uint32_t pop(void)
{
    uint64_t before = atomic_load_explicit(&free_slots, memory_order_acquire), after;

    do {
        if ((uint32_t)before == 0)
            return NO_SLOT;
        after = ((before >> 32) + 1) << 32
                | atomic_load_explicit(&slot_at((uint32_t)before - 1)->next_free,
                                       memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&free_slots, &before, after,
                                                    memory_order_acquire, memory_order_acquire));
    return (uint32_t)before - 1;
}

/*
 * The program may have copied the semaphore, and then destroyed the original, as a vector does when
 * it grows.  The copy is looked at later; then the slot still has the value.  So a slot rests until
 * so many others have been given back.
 */
static void give_back(uint32_t index)
{
    uint32_t number = atomic_fetch_add_explicit(&next_to_rest, 1, memory_order_relaxed);
    _Atomic uint64_t *place = &resting[number % RESTING];
    uint64_t there = atomic_load_explicit(place, memory_order_relaxed);

    do {
        /* If a later one is there, so many have been given back since we got our number. */
        if ((uint32_t)there != 0 && (int32_t)((uint32_t)(there >> 32) - number) > 0) {
            push(index);
            return;
        }
    } while (!atomic_compare_exchange_weak_explicit(place, &there,
                                                    (uint64_t)number << 32 | (index + 1),
                                                    memory_order_acq_rel, memory_order_relaxed));
    if ((uint32_t)there != 0)
        push((uint32_t)there - 1);
}

/* For want of memory: one that has not rested for long. */
static uint32_t take_resting(void)
{
    for (int i = 0; i < RESTING; i++) {
        uint32_t found = (uint32_t)atomic_exchange_explicit(&resting[i], 0, memory_order_acquire);

        if (found != 0)
            return found - 1;
    }
    return NO_SLOT;
}

/* Two threads may map the same block; one of them unmaps its own. */
static bool map_block(unsigned block)
{
    size_t size = ((size_t)FIRST_BLOCK << block) * sizeof(struct fs_sem_slot);
    struct fs_sem_slot *none = NULL;
    int before = errno;
    void *map;

    if (atomic_load_explicit(&blocks[block], memory_order_relaxed) != NULL)
        return true;
    map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
               0);
    errno = before;
    if (map == MAP_FAILED)
        return false;
    if (!atomic_compare_exchange_strong_explicit(&blocks[block], &none, map,
                                                 memory_order_release, memory_order_relaxed))
        munmap(map, size);
    return true;
}

static uint32_t take_fresh(void)
{
    uint32_t index = atomic_load_explicit(&fresh, memory_order_relaxed);
    struct fs_sem_slot *slot;

    do {
        if (index > INDEX || !map_block(block_of(index)))
            return NO_SLOT;
    } while (!atomic_compare_exchange_weak_explicit(&fresh, &index, index + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    slot = slot_at(index);
    fs_sem_init(&slot->sem, 0, fs_bypass_ns);
    /* A handler can end these waits while the thread is awake: actions.c. */
    fs_inside(&slot->sem)->sleeps_at_once = false;
    return index;
}

static uint32_t take(void)
{
    uint32_t index = pop();

    if (index == NO_SLOT)
        index = take_fresh();
    return index != NO_SLOT ? index : take_resting();
}

/* ---- What is this sem_t? ---- */

static bool is_reference(uint64_t word)
{
    return ((uint32_t)word & ~INDEX) == FS_REFERS;
}

static uint64_t reference(uint32_t index, uint32_t tag)
{
    return (uint64_t)tag << 32 | FS_REFERS | index;
}

/*
 * The slot to which this word refers; NULL: none.  No reference has the tag 0, which a slot has
 * until it is used.  Acquire order: what is in the slot was written before its tag.
 */
static struct fs_sem_slot *slot_of(uint64_t word)
{
    struct fs_sem_slot *slot = slot_at((uint32_t)word & INDEX);
    uint64_t tag = word >> 32;

    if (slot == NULL || tag == 0 || atomic_load_explicit(&slot->tag, memory_order_acquire) != tag)
        return NULL;
    return slot;
}

/*
 * The reference is a copy, or its slot is retired.  With libc a copy is a semaphore of its own,
 * with the value that the original had then.  That value is not stored anywhere, so the copy gets
 * the present one, or the one at the end if the original has been destroyed.  This is the same if
 * the program has moved the semaphore.
 *
 * The present value comes first: when the slot is retired it becomes 0.
 *
 * If the tag has changed, the slot was used again while we read it, as in a seqlock: see move_in().
 * Acquire order for the reads before.
 */
static void become_plain(struct fs_in_place *in, uint64_t word, const struct fs_sem_slot *slot)
{
    int64_t units = fairsem_available(&slot->sem);

    if (fs_retired(fs_inside(&slot->sem)))
        units = atomic_load_explicit(&slot->units_at_end, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot->tag, memory_order_relaxed) != word >> 32)
        return;
    atomic_compare_exchange_strong_explicit(&in->word, &word,
                                            FS_PLAIN | (uint64_t)units * FS_ONE_UNIT,
                                            memory_order_acq_rel, memory_order_relaxed);
}

/* A reference with another tag is broken only if the sem_t still has it after the tag was read. */
enum fs_slot_kind fs_slot_find(sem_t *sem, struct fs_sem_slot **slot)
{
    struct fs_in_place *in = fs_in_place(sem);
    uint64_t word = atomic_load_explicit(&in->word, memory_order_acquire);

    while (is_reference(word)) {
        uint64_t seen = word;

        *slot = slot_of(word);
        if (*slot != NULL) {
            if (atomic_load_explicit(&(*slot)->home, memory_order_relaxed) == sem
                && !fs_retired(fs_inside(&(*slot)->sem)))
                return FS_IS_IN_SLOT;
            become_plain(in, word, *slot);
        }
        word = atomic_load_explicit(&in->word, memory_order_acquire);
        if (*slot == NULL && word == seen)
            return FS_IS_BROKEN;
    }
    return fs_is_plain(word) ? FS_IS_PLAIN : FS_IS_LIBCS;
}

/* ---- Into a slot, and out of it ---- */

/*
 * In memory that another process sees, the slot would be another semaphore for that process, or not
 * mapped at all.  So the sem_t becomes a semaphore of libc.  (With glibc such a semaphore wakes
 * nobody in another process, because it was made with pshared 0.  This one does.)
 *
 * The other fields are written before the word.  In a plain semaphore only `record` has a meaning.
 */
static void move_to_libc(struct fs_in_place *in, uint64_t word)
{
    while (fs_is_plain(word)) {
        struct fs_in_place libcs;
        sem_t sem;

        init_of_libc(&sem, 1, (unsigned)(word / FS_ONE_UNIT));
        memcpy(&libcs, &sem, sizeof libcs);
        atomic_store_explicit(&in->record, libcs.record, memory_order_relaxed);
        atomic_store_explicit(&in->rest[0], libcs.rest[0], memory_order_relaxed);
        atomic_store_explicit(&in->rest[1], libcs.rest[1], memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&in->word, &word, libcs.word,
                                                    memory_order_acq_rel, memory_order_relaxed))
            return;
    }
}

/*
 * The tag is the first that changes, for a thread that still reads the slot by an old reference:
 * become_plain().
 *
 * The number of units may change until the compare-and-swap, which moves the units of that moment.
 * Acquire order: the thread that takes the units from the slot must see what their releasers wrote
 * before.  Release order: for fs_slot_find().
 */
bool fs_slot_move_in(sem_t *sem)
{
    struct fs_in_place *in = fs_in_place(sem);
    uint64_t word = atomic_load_explicit(&in->word, memory_order_acquire);
    uint32_t index, tag;
    struct fs_sem_slot *slot;

    if (!fs_is_plain(word))
        return true;
    if (has_relatives && !fs_memory_is_private(sem)) {
        move_to_libc(in, word);
        return true;
    }
    index = take();
    if (index == NO_SLOT)
        return false;
    slot = slot_at(index);
    tag = new_tag();
    /* Release order: the slot was given back after the word of its last semaphore had changed. */
    atomic_store_explicit(&slot->tag, tag, memory_order_release);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->home, sem, memory_order_relaxed);
    atomic_store_explicit(&slot->record,
                          fs_record_of(sem, atomic_load_explicit(&in->record,
                                                                 memory_order_relaxed)),
                          memory_order_relaxed);
    do {
        fs_reuse(fs_inside(&slot->sem), (int64_t)(word / FS_ONE_UNIT));
        if (atomic_compare_exchange_strong_explicit(&in->word, &word, reference(index, tag),
                                                    memory_order_acq_rel, memory_order_acquire))
            return true;
    } while (fs_is_plain(word));
    push(index);
    return true;
}

/*
 * The semaphore in the slot is not destroyed: another thread may have just found the slot, and its
 * call would succeed with libc.  To retire it takes the semaphore's mutex, so a release that has
 * granted our caller has left its section.
 */
void fs_slot_move_out(sem_t *sem)
{
    struct fs_in_place *in = fs_in_place(sem);
    struct fs_sem_slot *slot;
    uint64_t word;

    if (fs_slot_find(sem, &slot) != FS_IS_IN_SLOT)
        return;
    word = atomic_load_explicit(&in->word, memory_order_acquire);
    if (!is_reference(word) || (slot = slot_of(word)) == NULL
        || !fs_retire(fs_inside(&slot->sem), &slot->units_at_end))
        return;
    become_plain(in, word, slot);
    give_back((uint32_t)word & INDEX);
}

void fs_slots_before_fork(void)
{
    atomic_store(&has_relatives, true);
}

/*
 * The references of the parent are good here, too: their slots are copied.  What the parent makes
 * from now on must not look like what this process makes, in memory that both see.
 *
 * The free slots are forgotten, because the child makes the mutex of a semaphore that it has
 * inherited an ordinary one: those of new semaphores shall inherit priorities, where they may.
 */
void fs_slots_in_child(void)
{
    atomic_store_explicit(&free_slots, 0, memory_order_relaxed);
    for (int i = 0; i < RESTING; i++)
        atomic_store_explicit(&resting[i], 0, memory_order_relaxed);
    begin_tags();
}
