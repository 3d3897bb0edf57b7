/* SPDX-License-Identifier: MIT */
/*
 * slot_sweep.c - see slot_sweep.h.
 *
 * The kernel takes memory back in pages, so slots are given up by groups: those whose semaphores
 * fill a page.  All of them must be in use, with no thread that waits, and must not have been used
 * with the mutex since the sweep before.
 *
 * One thread sweeps at a time; others do not wait for it.  If it does not come back, because its
 * handler jumps away or because a forked child does not have it, there are no more sweeps.
 */
#define _GNU_SOURCE
#include "slot_sweep.h"

#include "slot_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT_ENV    "FAIRSEM_SLOTS_KEPT"    /* for tests */
#define KEPT        UINT32_C(8192)          /* while so many slots are in use, none is given up */
#define AT_ONCE     512                     /* slots that one sweep looks at */
#define GROUPS_SEEN 4096                    /* groups that it passes at most */

static uint32_t group;                  /* r/o; slots in a page; 0: pages are too large */
static _Atomic uint32_t due_at;         /* when so many slots have been used */
static _Atomic bool sweeping;
static _Atomic uint32_t too_early;      /* so many have been used again */

/* Only for the thread that sweeps. */
static uint32_t kept = KEPT;
static uint32_t given_up;               /* in all */
static uint32_t given_up_before;        /* when `kept` was last considered */
static uint32_t first_group;            /* all before it are swept */
static uint32_t next_group;             /* to look at */

void fs_sweep_prepare(void)
{
    const char *text = getenv(KEPT_ENV);
    long page = sysconf(_SC_PAGESIZE);

    if (page > 0 && FS_FIRST_SLOTS * FS_SEM_SIZE % page == 0)
        group = (uint32_t)page / FS_SEM_SIZE;
    if (text != NULL)
        kept = (uint32_t)strtoul(text, NULL, 10);
    atomic_store_explicit(&due_at, kept, memory_order_relaxed);
}

bool fs_sweep_is_due(void)
{
    return fs_slots_used() > atomic_load_explicit(&due_at, memory_order_relaxed);
}

void fs_sweep_was_too_early(void)
{
    atomic_fetch_add_explicit(&too_early, 1, memory_order_relaxed);
}

static enum fs_slot_state state_of(const struct fs_sem_slot *slot)
{
    return (enum fs_slot_state)atomic_load_explicit(&slot->state, memory_order_acquire);
}

/* Given up, or can it be?  (A slot that is not in use may have no semaphore yet.) */
static bool is_idle(struct fs_sem_slot *slot)
{
    enum fs_slot_state state = state_of(slot);
    const struct fs_sem *s;
    uint16_t before = slot->seen;

    if (state != FS_SLOT_IN_USE)
        return state == FS_SLOT_GIVEN_UP;
    s = fs_inside(slot->sem);
    slot->seen = (uint16_t)atomic_load_explicit(&s->sections, memory_order_relaxed);
    return slot->seen == before && atomic_load_explicit(&s->waiters, memory_order_relaxed) == 0;
}

/*
 * False: somebody waits.  From the claim on, sem_destroy leaves the slot alone; it may have retired
 * the semaphore before.  Sequentially consistent: see fs_slot_is_given_up().
 */
static bool give_up(struct fs_sem_slot *slot)
{
    if (state_of(slot) == FS_SLOT_GIVEN_UP)
        return true;
    if (!fs_slot_change(slot, FS_SLOT_IN_USE, FS_SLOT_CLAIMED))
        return false;
    if (!fs_retire(fs_inside(slot->sem), &slot->units_at_end)
        && !fs_retired(fs_inside(slot->sem))) {
        fs_slot_change(slot, FS_SLOT_CLAIMED, FS_SLOT_IN_USE);
        return false;
    }
    atomic_store_explicit(&slot->home, NULL, memory_order_seq_cst);
    fs_slot_change(slot, FS_SLOT_CLAIMED, FS_SLOT_GIVEN_UP);
    given_up++;
    return true;
}

/* Acquire order: their last uses come before the memory goes. */
static bool has_users(const struct fs_sem_slot *slot)
{
    return atomic_load_explicit(fs_slot_users(slot), memory_order_seq_cst) != 0;
}

/*
 * The slot is the first of its group.  False: the kernel does not take memory, because the program
 * has locked it.
 */
static bool sweep_group(struct fs_sem_slot *slot)
{
    bool all = true;
    int before = errno;

    for (uint32_t i = 0; i < group; i++)
        all &= is_idle(slot + i);
    for (uint32_t i = 0; all && i < group; i++)
        all = give_up(slot + i);
    for (uint32_t i = 0; all && i < group; i++)
        all = !has_users(slot + i);
    if (!all)
        return true;
    all = madvise(slot->sem, (size_t)group * FS_SEM_SIZE, MADV_DONTNEED) == 0;
    errno = before;
    for (uint32_t i = 0; all && i < group; i++)
        fs_slot_change(slot + i, FS_SLOT_GIVEN_UP, FS_SLOT_SWEPT);
    return all;
}

/* Where many are used again, sweeps cost more than they save: there shall be fewer. */
static void consider_kept(uint32_t used)
{
    uint32_t in_use = used - given_up, pace = kept / 64 + group;

    if (atomic_load_explicit(&too_early, memory_order_relaxed)
        > (given_up - given_up_before) / 8 + group) {
        kept = 2 * (kept > in_use ? kept : in_use);
        given_up_before = given_up;
        atomic_store_explicit(&too_early, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&due_at, used + (in_use < kept ? kept - in_use : pace),
                          memory_order_relaxed);
}

void fs_sweep(void)
{
    uint32_t used = fs_slots_used(), groups, passed = 0, looked = 0;
    bool can = true;

    if (group == 0 || atomic_exchange_explicit(&sweeping, true, memory_order_acquire))
        return;
    groups = used / group;
    while (can && passed++ < GROUPS_SEEN && passed <= groups && looked < AT_ONCE) {
        struct fs_sem_slot *slot;

        if (next_group >= groups)
            next_group = first_group;
        if (next_group >= groups)
            break;
        slot = fs_slot_at(next_group * group);
        if (state_of(slot) != FS_SLOT_SWEPT) {
            looked += group;
            can = sweep_group(slot);
        }
        if (first_group == next_group && state_of(slot) == FS_SLOT_SWEPT)
            first_group++;
        next_group++;
    }
    consider_kept(used);
    if (can)
        atomic_store_explicit(&sweeping, false, memory_order_release);
    else
        atomic_store_explicit(&due_at, UINT32_MAX, memory_order_relaxed);
}
