/* SPDX-License-Identifier: MIT */
/*
 * instrument.c - the library's loads and stores, atomic and plain.
 *
 * The library is compiled with -fsanitize=thread: the compiler inserts a call before each plain access, and
 * replaces each atomic access by a call.  The library is linked without the sanitizer's runtime, so these calls
 * go to this file, which calls the explorer's access.c.
 */
#include "explorer.h"

/* ---- Plain accesses ---- */

#define PLAIN(size)                                                 \
    void __tsan_read##size(void *at);                               \
    void __tsan_write##size(void *at);                              \
    void __tsan_unaligned_read##size(void *at);                     \
    void __tsan_unaligned_write##size(void *at);                    \
    void __tsan_read##size(void *at) { access_plain(at, size, false, CALLER); }              \
    void __tsan_write##size(void *at) { access_plain(at, size, true, CALLER); }              \
    void __tsan_unaligned_read##size(void *at) { access_plain(at, size, false, CALLER); }    \
    void __tsan_unaligned_write##size(void *at) { access_plain(at, size, true, CALLER); }
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
    access_plain(at, size, false, CALLER);
}

void __tsan_write_range(void *at, size_t size)
{
    access_plain(at, size, true, CALLER);
}

/* ---- Atomic accesses ---- */

#define CHANGE(bits, type, name, how)                                                        \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order);             \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order)              \
    {                                                                                        \
        return change##bits(at, value, how, order, CALLER);                                  \
    }

#define SWAP(bits, type, name)                                                               \
    int __tsan_atomic##bits##_##name(volatile type *at, type *expected, type value,          \
                                     int order, int failure);                                \
    int __tsan_atomic##bits##_##name(volatile type *at, type *expected, type value,          \
                                     int order, int failure)                                 \
    {                                                                                        \
        return swap##bits(at, expected, value, order, failure, CALLER);                      \
    }

#define ATOMIC(bits, type)                                                                   \
    type __tsan_atomic##bits##_load(const volatile type *at, int order);                     \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order);              \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected,        \
                                                    type value, int order, int failure);     \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                      \
    {                                                                                        \
        access_begins((const void *)at, sizeof(type), ACCESS_LOAD, CALLER);                  \
        return (type)access_load((const void *)at, sizeof(type), *at, order, CALLER);        \
    }                                                                                        \
    static type change##bits(volatile type *at, type value, char how, int order,             \
                             const void *pc)                                                 \
    {                                                                                        \
        enum access_kind kind = how == '=' ? ACCESS_STORE : ACCESS_CHANGE;                   \
        type before, now;                                                                    \
                                                                                             \
        access_begins((const void *)at, sizeof(type), kind, pc);                             \
        before = *at;                                                                        \
        now = (type)(how == '=' || how == 'x' ? value : how == '|' ? (before | value)        \
                     : how == '&' ? (before & value)                                         \
                     : how == '+' ? before + value : before - value);                        \
        if (access_stores((const void *)at, sizeof(type), now, kind, order, pc)) {           \
            *at = now;                                                                       \
            access_stored((const void *)at, sizeof(type), before, now);                      \
        }                                                                                    \
        return before;                                                                       \
    }                                                                                        \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)               \
    {                                                                                        \
        change##bits(at, value, '=', order, CALLER);                                         \
    }                                                                                        \
    CHANGE(bits, type, exchange, 'x')                                                        \
    CHANGE(bits, type, fetch_or, '|')                                                        \
    CHANGE(bits, type, fetch_and, '&')                                                       \
    CHANGE(bits, type, fetch_add, '+')                                                       \
    CHANGE(bits, type, fetch_sub, '-')                                                       \
    static bool swap##bits(volatile type *at, type *expected, type value, int order,         \
                           int failure, const void *pc)                                      \
    {                                                                                        \
        int64_t sees = *expected;                                                            \
        type before;                                                                         \
                                                                                             \
        access_begins((const void *)at, sizeof(type), ACCESS_SWAP, pc);                      \
        before = *at;                                                                        \
        if (access_swap_fails((const void *)at, sizeof(type), before, &sees, failure, pc)) { \
            *expected = (type)sees;                                                          \
            return false;                                                                    \
        }                                                                                    \
        access_stores((const void *)at, sizeof(type), value, ACCESS_SWAP, order, pc);        \
        *at = value;                                                                         \
        access_stored((const void *)at, sizeof(type), before, value);                        \
        return true;                                                                         \
    }                                                                                        \
    SWAP(bits, type, compare_exchange_strong)                                                \
    SWAP(bits, type, compare_exchange_weak)                                                  \
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
    access_fence(order);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
