/* SPDX-License-Identifier: MIT */
/*
 * access.c - the library's loads and stores, atomic and plain: ../engine/instrument.c calls this file.
 *
 * A thread stops before each atomic access that does not commute with all possible steps of other threads.
 * These accesses commute:
 *
 *   - loads of a generation, which only a fork changes;
 *   - loads of a token's reason if the scenario does not cancel the token; of the capacity, under the mutex or
 *     if the scenario does not change it; of the library's static variables if the scenario is not cold,
 *     because they are set when a process first waits;
 *   - accesses to a share if the scenario has one semaphore, no `charge` and no `unshare`: a thread without the
 *     mutex only learns that the share is not at another semaphore;
 *   - accesses to `closed`, `waiters` and `in_section`, which are only hints for threads without the mutex.
 */
#include "oracles.h"
#include "views.h"

#include "sem.h"

/* ---- Plain accesses ---- */

static inline bool on_own_stack(const void *at)
{
    return (uintptr_t)stack_top(id_of(self)) - (uintptr_t)at <= STACK_SIZE;
}

static void plain_elsewhere(const void *at, size_t size, bool write, const void *pc)
{
    if (oracle_unprotected(at))
        step(write ? "writes to" : "reads", at, pc);
    oracle_touch(at, size, write);
}

void access_plain(const void *at, size_t size, bool write, const void *pc)
{
    if (self != NULL && !on_own_stack(at))
        plain_elsewhere(at, size, write, pc);
    if (views_on())
        races_access(at, size, write ? PLAIN_WRITE : PLAIN_READ, pc);
}

/* ---- Atomic accesses ---- */

#define IS(member) (offset == offsetof(struct fs_sem, member))

static bool sem_access_commutes(const char *at, size_t offset, bool write)
{
    bool held = oracle_own_mutex(at);

    if (IS(generation))
        return !write;
    if (IS(limit) || IS(resized))
        return !write && (held || !script_uses(CAPACITY));
    if (IS(closed) && !held
        && (write || (((const struct fs_sem *)(const void *)(at - offset))->options & FS_BYPASS) == 0))
        fail("explorer", "an access without the mutex that access.c does not expect: %s",
             object_words(at));
    return IS(closed) || IS(waiters) || IS(in_section);
}

/* The generation is the only atomic of a share with less than 8 bytes. */
static bool share_access_commutes(size_t size, bool write)
{
    return (size < sizeof(int64_t) && !write)
           || (!script_uses(CHARGE) && !script_uses(UNSHARE) && sems_count == 1);
}

static bool commutes(const void *at, size_t size, bool write)
{
    size_t in_shares = (size_t)((const char *)at - (const char *)shares);
    size_t in_sems = (size_t)((const char *)at - (const char *)sems);
    size_t in_token = (size_t)((const char *)at - (const char *)&the_token);

    if (in_sems < sizeof sems)
        return sem_access_commutes(at, in_sems % sizeof sems[0], write);
    if (in_token < sizeof the_token)
        return !write && !script_uses(CANCEL);
    if (in_shares < sizeof shares)
        return share_access_commutes(size, write);
    if (in_statics(at))
        return !write && !scenario->cold;
    return false;
}

/* Does an impatient thread load the state on which it spins?  See xp_pause(). */
static bool looks_again(const void *at, bool write)
{
    return self->impatient && !write && at == (const void *)self->spins_on;
}

static void note_look(const void *at, size_t size)
{
    if (size == sizeof(int) && stack_owner(at) == id_of(self)) {
        self->spins_on = at;
        self->saw = *(const int *)at;
    } else if (sem_at(at) >= 0) {
        self->spins_on = NULL;
    }
}

void access_begins(const void *at, size_t size, enum access_kind kind, const void *pc)
{
    static const char *const doing[] = {
        [ACCESS_LOAD] = "loads", [ACCESS_STORE] = "stores to", [ACCESS_CHANGE] = "changes",
        [ACCESS_SWAP] = "compares and swaps",
    };
    bool write = kind != ACCESS_LOAD;

    if (self == NULL)
        return;
    if (!commutes(at, size, write) && !looks_again(at, write))
        stop(READY, doing[kind], at, pc);
    oracle_touch(at, size, false);
    note_look(at, size);
}

void access_stored(const void *at, size_t size, int64_t before, int64_t now)
{
    if (self == NULL)
        return;
    thread_change();
    oracle_stored(at, size, before, now);
}

/* ---- With weak memory a load may see a stale value, and a store may precede an earlier store ---- */

int64_t access_load(const void *at, size_t size, int64_t newest, int order, const void *pc)
{
    int64_t value = newest;

    if (views_on()) {
        races_access(at, size, ATOMIC_READ, pc);
        value = views_load(at, size, order);
        if (at == (const void *)self->spins_on)
            self->saw = (int)value;
    }
    return value;
}

bool access_stores(const void *at, size_t size, int64_t value, enum access_kind kind, int order,
                   const void *pc)
{
    if (!views_on())
        return true;
    races_access(at, size, ATOMIC_WRITE, pc);
    if (kind == ACCESS_STORE)
        return views_store(at, size, value, order);
    views_change(at, size, value, order);
    return true;
}

bool access_swap_fails(const void *at, size_t size, int64_t newest, int64_t *expected, int order,
                       const void *pc)
{
    int64_t value = newest;

    if (views_on()) {
        races_access(at, size, ATOMIC_READ, pc);
        if (!views_swap_fails(at, size, *expected, order, &value))
            return false;
        if (at == (const void *)self->spins_on)
            self->saw = (int)value;
    } else if (value == *expected) {
        return false;
    }
    *expected = value;
    return true;
}

void access_fence(int order)
{
    (void)order;
    if (views_on())
        fail("explorer", "a fence, which views.h does not cover");
}
