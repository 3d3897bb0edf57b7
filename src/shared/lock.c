/* SPDX-License-Identifier: MIT */
/* lock.c - the lock of a segment; see lock.h. */
#include "shared/lock.h"

#include "cpu.h"
#include "shared/life.h"

#include <errno.h>

#define INDEX_MASK       0xfffu
#define INCARNATION_MASK 0x3ffffu
#define HELD             (1u << 30)
#define CONTENDED        (1u << 31)

#define CHECK_NS  10000000      /* how often a waiter checks whether the owner lives */
#define LOADS     100           /* before it sleeps: most sections are over by then */

static_assert(FAIRSEM_SHARED_MAX <= INDEX_MASK + 1, "an index does not fit");

static uint32_t word_of(int index, uint32_t incarnation)
{
    return HELD | (incarnation & INCARNATION_MASK) << 12 | (uint32_t)index;
}

static uint32_t own_word(const fairsem_shared_t *h)
{
    return word_of(FS_GET(&h->self), FS_GET(&h->incarnation));
}

/* Acquire order: we must see what the last owner wrote. */
static bool swap(_Atomic uint32_t *lock, uint32_t *from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(lock, from, to, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* Is the owner in this word dead?  Returns 0, EOWNERDEAD, or an error if that cannot be known. */
static int judge(fairsem_shared_t *h, uint32_t word)
{
    int index = (int)(word & INDEX_MASK);
    bool alive;
    int error;

    if ((word & HELD) == 0 || !fs_index_valid(index, h->max_processes))
        return ENOTRECOVERABLE;
    if (((word ^ word_of(index, FS_GET(&h->processes[index].incarnation))) & ~CONTENDED) != 0)
        return EOWNERDEAD;      /* another process has had the entry since */
    error = fs_shared_alive(h, index, &alive);
    return error != 0 || alive ? error : EOWNERDEAD;
}

/*
 * A thread that has slept sets CONTENDED when it takes the lock, because others may still sleep.
 * The word contains the incarnation, so a dead owner is not mistaken for a later process with the
 * same entry.
 */
static int lock_slowly(fairsem_shared_t *h)
{
    _Atomic uint32_t *lock = &h->segment->lock;
    const uint32_t own = own_word(h);
    uint32_t contended = 0, word;
    int error;

    for (int i = 0; i < LOADS && FS_GET(lock) != 0; i++)
        fs_cpu_pause();
    for (;;) {
        word = FS_GET(lock);
        if (word == 0) {
            if (swap(lock, &word, own | contended))
                return 0;
            continue;
        }
        error = judge(h, word);
        if (error == EOWNERDEAD) {
            if (swap(lock, &word, own | CONTENDED))
                return EOWNERDEAD;
            continue;
        }
        if (error != 0)
            return error;
        if ((word & CONTENDED) == 0 && !swap(lock, &word, word | CONTENDED))
            continue;
        fs_shared_sleep((const _Atomic int *)lock, (int)(word | CONTENDED), CHECK_NS, false);
        contended = CONTENDED;
    }
}

int fs_shared_lock(fairsem_shared_t *h)
{
    uint32_t word = 0;
    int error = 0;

    if (!swap(&h->segment->lock, &word, own_word(h)))
        error = lock_slowly(h);
    FS_STEP("locked");
    return error;
}

/*
 * If we die before the wake, a sleeper finds the lock free when its sleep times out.  After the
 * exchange the handle may be closed: see wake_all() in shared_section.c.
 */
void fs_shared_unlock(fairsem_shared_t *h)
{
    _Atomic uint32_t *lock = &h->segment->lock;
    uint32_t word;

    FS_STEP("unlock");
    word = atomic_exchange_explicit(lock, 0, memory_order_release);
    if ((word & CONTENDED) != 0) {
        FS_STEP("wake for the lock");
        fs_shared_wake((const _Atomic int *)lock, 1);
    }
}
