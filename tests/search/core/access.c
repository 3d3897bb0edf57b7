/* SPDX-License-Identifier: MIT */
/*
 * access.c - the library's loads and stores, atomic and plain.
 *
 * The library is compiled with -fsanitize=thread and linked without its runtime.  So the compiler
 * calls a function of this file before each plain access, and in place of each atomic one.
 *
 * A thread stops before each atomic access that does not commute with all that others can do.  It
 * does not stop before
 *
 *   - loads of the generation that fork counts;
 *   - accesses to a token's reason in a scenario that cancels no token; to a capacity that does not
 *     change; to the list of parkers if none is made; to the length of a wake-up if it is not
 *     measured;
 *   - loads, with the semaphore's mutex held, of members that are only written under it;
 *   - stores to those of them that no operation of the scenario loads without the mutex: `waiters`
 *     and `closed`, and the number of sections.
 */
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

static inline void plain(const void *at, size_t size, bool write, const void *pc)
{
    if (self != NULL && !on_own_stack(at))
        plain_elsewhere(at, size, write, pc);
    if (views_on())
        races_access(at, size, write ? PLAIN_WRITE : PLAIN_READ, pc);
}

#define PLAIN(size)                                                 \
    void __tsan_read##size(void *at);                               \
    void __tsan_write##size(void *at);                              \
    void __tsan_unaligned_read##size(void *at);                     \
    void __tsan_unaligned_write##size(void *at);                    \
    void __tsan_read##size(void *at) { plain(at, size, false, CALLER); }    \
    void __tsan_write##size(void *at) { plain(at, size, true, CALLER); }    \
    void __tsan_unaligned_read##size(void *at) { plain(at, size, false, CALLER); } \
    void __tsan_unaligned_write##size(void *at) { plain(at, size, true, CALLER); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);
void __tsan_read_range(void *at, size_t size);
void __tsan_write_range(void *at, size_t size);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *pc)
{
    (void)pc;
}

void __tsan_func_exit(void)
{
}

void __tsan_read_range(void *at, size_t size)
{
    plain(at, size, false, CALLER);
}

void __tsan_write_range(void *at, size_t size)
{
    plain(at, size, true, CALLER);
}

/* ---- Atomic accesses ---- */

#define IS(member) (offset == offsetof(struct fs_sem, member))

/* Which members does the scenario load without the mutex?  (A try loads the number of sections.) */
static bool loads_freely(size_t offset)
{
    bool inspects = script_uses(AVAILABLE) || script_uses(WAITERS) || script_uses(SIZE)
                    || script_uses(IS_CLOSED);

    if (IS(waiters))
        return script_uses(WAITERS);
    if (IS(closed))
        return script_uses(IS_CLOSED);
    return inspects || script_uses(TRY) || script_uses(WOULD);
}

static bool sem_access_commutes(const char *at, size_t offset, bool write)
{
    bool held = oracle_own_mutex(at);

    if (IS(generation))
        return !write;
    if (IS(limit))
        return !write && (held || !script_uses(CAPACITY));
    if (IS(waiters) || IS(closed) || IS(sections)) {
        if (!held && !loads_freely(offset))
            fail("explorer", "an access without the mutex that access.c does not expect: %s",
                 object_words(at));
        return held && (!write || !loads_freely(offset));
    }
    return IS(resizing);        /* for a forked child */
}

static bool commutes(const void *at, bool write)
{
    size_t in_sems = (size_t)((const char *)at - (const char *)sems);
    size_t in_token = (size_t)((const char *)at - (const char *)&the_token);

    if (in_sems < sizeof sems)
        return sem_access_commutes(at, in_sems % sizeof sems[0], write);
    if (in_token < sizeof the_token)
        return !write && !script_uses(CANCEL);
    if (in_library(at))
        return !write && !scenario->cold && !scenario->measures;
    return false;
}

/* Does a spinning thread load again what no thread can have changed meanwhile?  See xp_pause(). */
static bool looks_again(const void *at, bool write)
{
    return self->impatient && !write && at == (const void *)self->spins_on;
}

static void note_look(const void *at, size_t size)
{
    if (size == sizeof(int) && stack_owner(at) == id_of(self)) {
        self->spins_on = at;
        self->saw = *(const int *)at;
    }
}

static inline void before_atomic(const void *at, size_t size, bool write, const char *doing,
                                 const void *pc)
{
    if (self == NULL)
        return;
    if (!commutes(at, write) && !looks_again(at, write))
        stop(READY, doing, at, pc);
    oracle_touch(at, size, false);
    note_look(at, size);
}

static inline void after_write(const void *at, size_t size, int64_t before, int64_t now)
{
    if (self == NULL)
        return;
    thread_change();
    oracle_stored(at, size, before, now);
}

/* ---- With weak memory a load may see an older value, and a store come before another ---- */

static int64_t seen(const void *at, size_t size, int64_t newest, int order, const void *pc)
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

/* May memory, which has the newest value, change? */
static bool is_newest(const void *at, size_t size, int64_t value, char how, int order,
                      const void *pc)
{
    if (!views_on())
        return true;
    races_access(at, size, ATOMIC_WRITE, pc);
    if (how == '=')
        return views_store(at, size, value, order);
    views_change(at, size, value, order);
    return true;
}

static bool swap_fails(const void *at, size_t size, int64_t newest, int64_t *expected, int order,
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

#define ATOMIC(bits, type)                                                                   \
    type __tsan_atomic##bits##_load(const volatile type *at, int order);                     \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order);              \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order);           \
    type __tsan_atomic##bits##_fetch_or(volatile type *at, type value, int order);           \
    type __tsan_atomic##bits##_fetch_and(volatile type *at, type value, int order);          \
    type __tsan_atomic##bits##_fetch_add(volatile type *at, type value, int order);          \
    type __tsan_atomic##bits##_fetch_sub(volatile type *at, type value, int order);          \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected,     \
                                                      type value, int order, int failure);   \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected,       \
                                                    type value, int order, int failure);     \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected,        \
                                                    type value, int order, int failure);     \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                      \
    {                                                                                        \
        before_atomic((const void *)at, sizeof(type), false, "loads", CALLER);               \
        return (type)seen((const void *)at, sizeof(type), *at, order, CALLER);               \
    }                                                                                        \
    static type change##bits(volatile type *at, type value, char how, int order,             \
                             const void *pc)                                                 \
    {                                                                                        \
        type before, now;                                                                    \
                                                                                             \
        before_atomic((const void *)at, sizeof(type), true,                                  \
                      how == '=' ? "stores to" : "changes", pc);                             \
        before = *at;                                                                        \
        now = (type)(how == '=' || how == 'x' ? value : how == '|' ? (before | value)        \
                     : how == '&' ? (before & value)                                         \
                     : how == '+' ? before + value : before - value);                        \
        if (is_newest((const void *)at, sizeof(type), now, how, order, pc)) {                \
            *at = now;                                                                       \
            after_write((const void *)at, sizeof(type), before, now);                        \
        }                                                                                    \
        return before;                                                                       \
    }                                                                                        \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)               \
    {                                                                                        \
        change##bits(at, value, '=', order, CALLER);                                         \
    }                                                                                        \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order)            \
    {                                                                                        \
        return change##bits(at, value, 'x', order, CALLER);                                  \
    }                                                                                        \
    type __tsan_atomic##bits##_fetch_or(volatile type *at, type value, int order)            \
    {                                                                                        \
        return change##bits(at, value, '|', order, CALLER);                                  \
    }                                                                                        \
    type __tsan_atomic##bits##_fetch_and(volatile type *at, type value, int order)           \
    {                                                                                        \
        return change##bits(at, value, '&', order, CALLER);                                  \
    }                                                                                        \
    type __tsan_atomic##bits##_fetch_add(volatile type *at, type value, int order)           \
    {                                                                                        \
        return change##bits(at, value, '+', order, CALLER);                                  \
    }                                                                                        \
    type __tsan_atomic##bits##_fetch_sub(volatile type *at, type value, int order)           \
    {                                                                                        \
        return change##bits(at, value, '-', order, CALLER);                                  \
    }                                                                                        \
    static bool swap##bits(volatile type *at, type *expected, type value, int order,         \
                           int failure, const void *pc)                                      \
    {                                                                                        \
        int64_t sees = *expected;                                                            \
        type before;                                                                         \
                                                                                             \
        before_atomic((const void *)at, sizeof(type), true, "compares and swaps", pc);       \
        before = *at;                                                                        \
        if (swap_fails((const void *)at, sizeof(type), before, &sees, failure, pc)) {        \
            *expected = (type)sees;                                                          \
            return false;                                                                    \
        }                                                                                    \
        is_newest((const void *)at, sizeof(type), value, 'x', order, pc);                    \
        *at = value;                                                                         \
        after_write((const void *)at, sizeof(type), before, value);                          \
        return true;                                                                         \
    }                                                                                        \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected,     \
                                                      type value, int order, int failure)    \
    {                                                                                        \
        return swap##bits(at, expected, value, order, failure, CALLER);                      \
    }                                                                                        \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected,       \
                                                    type value, int order, int failure)      \
    {                                                                                        \
        return swap##bits(at, expected, value, order, failure, CALLER);                      \
    }                                                                                        \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected,        \
                                                    type value, int order, int failure)      \
    {                                                                                        \
        swap##bits(at, &expected, value, order, failure, CALLER);                            \
        return expected;                                                                     \
    }

ATOMIC(8, int8_t)
ATOMIC(16, int16_t)
ATOMIC(32, int32_t)
ATOMIC(64, int64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
    if (views_on())
        views_fence(order);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
