/* SPDX-License-Identifier: MIT */
/*
 * access.c - the library's loads and stores, atomic and plain.
 *
 * The library is compiled with -fsanitize=thread and linked without its runtime: the compiler calls
 * a function of this file before each plain access, and in place of each atomic one.  This file
 * decides before which of them a thread stops (dies.h).  It checks that each access to a segment is
 * in one that the process has mapped, and under its lock, unless layout.h says otherwise.
 */
#include "dies.h"

#include <string.h>

/* ---- Which field is it? ---- */

#define IN(member) (offset >= offsetof(struct fs_segment, member)   \
                    && offset < offsetof(struct fs_segment, member) + sizeof header->member)
#define IS(type, member) (offset == offsetof(struct type, member))

enum sharing {
    LOCKED,         /* only under the lock */
    ENTRY,          /* of the table of processes: a search for an entry loads it without the lock */
    OPEN_TO_ALL,    /* loaded without the lock, at any time */
    FREE_TO_STORE   /* ... and stored */
};

static enum sharing sharing_of(int file, size_t offset)
{
    const struct fs_segment *header = (const void *)kernel_memory(file);
    size_t slots = sizeof *header + (size_t)header->max_processes * sizeof(struct fs_process);

    if (offset < sizeof *header) {
        if (IN(lock))
            return FREE_TO_STORE;
        if (IN(word) || IN(damaged))
            return FREE_TO_STORE;
        return LOCKED;
    }
    if (offset < slots) {
        offset = (offset - sizeof *header) % sizeof(struct fs_process);
        if (IS(fs_process, incarnation))
            return FREE_TO_STORE;
        return IS(fs_process, state) || IS(fs_process, keeps) || IS(fs_process, pid)
               ? ENTRY : LOCKED;
    }
    offset = (offset - slots) % sizeof(struct fs_slot);
    /* A thread loads the times of its own slot, which no other thread uses. */
    return IS(fs_slot, state) || IS(fs_slot, granted_ns) || IS(fs_slot, joined_ns) ? OPEN_TO_ALL
                                                                                   : LOCKED;
}

/* No other process knows of a file that has no name and no user. */
static bool is_being_made(int file)
{
    if (run.file[file].named)
        return false;
    for (int i = 0; i < BYTES; i++) {
        if (run.file[file].byte[i] != 0)
            return false;
    }
    return true;
}

/* ---- Stops ---- */

enum kind { LOAD, STORE, CHANGE };

static void check_lock(size_t offset, enum sharing sharing, enum kind kind)
{
    if (sharing == LOCKED || (kind == STORE && sharing < FREE_TO_STORE))
        fail("lock", "T%d %s a member under the lock, without the lock: offset %zu", id_of(self),
             kind == LOAD ? "loads" : "stores to", offset);
}

static unsigned what_for(int file, size_t offset, enum kind kind)
{
    enum sharing sharing = sharing_of(file, offset);
    bool locked = run.file[file].owner == id_of(self) + 1;
    bool others_look = sharing >= OPEN_TO_ALL || (sharing == ENTRY && script_attaches);

    if (!locked && is_being_made(file))
        return kind == LOAD ? 0 : CAN_DIE;
    if (!locked)
        check_lock(offset, sharing, kind);
    if (kind == LOAD)
        return !locked && others_look ? CAN_SWITCH : 0;
    if (kind == CHANGE)
        return CAN_SWITCH | CAN_DIE;
    return CAN_DIE | (others_look ? CAN_SWITCH : 0u);
}

/* A loop that loads the same value again need not stop: it stopped there before. */
static bool looks_again(const void *at, int64_t now)
{
    bool again = self->last_loaded == at && self->saw == now;

    self->last_loaded = at;
    self->saw = now;
    return again;
}

static int before(const void *at, size_t size, enum kind kind, size_t *offset)
{
    int file;
    int64_t now = 0;

    if (self == NULL)
        return -1;
    file = kernel_file_of(at, size, offset);
    memcpy(&now, at, size);
    if (kind == LOAD && looks_again(at, now))
        return file;
    if (kind != LOAD)
        self->last_loaded = NULL;
    if (file >= 0) {
        unsigned reasons = what_for(file, *offset, kind);

        if (reasons != 0)
            stop(READY, reasons, kind == LOAD ? "load" : kind == STORE ? "store" : "swap", at);
    } else if (process_has_threads(self->process, 2)) {
        stop(READY, CAN_SWITCH, "private", at);
    }
    return file;
}

/* ---- Plain accesses ---- */

static void plain(const void *at, size_t size)
{
    size_t offset;
    int file;

    if (self == NULL)
        return;
    file = kernel_file_of(at, size, &offset);
    if (file >= 0 && run.file[file].owner != id_of(self) + 1 && !is_being_made(file))
        fail("lock", "T%d has a plain access to the segment without the lock: offset %zu",
             id_of(self), offset);
}

#define PLAIN(size)                                 \
    void __tsan_read##size(void *at);               \
    void __tsan_write##size(void *at);              \
    void __tsan_unaligned_read##size(void *at);     \
    void __tsan_unaligned_write##size(void *at);    \
    void __tsan_read##size(void *at) { plain(at, size); }               \
    void __tsan_write##size(void *at) { plain(at, size); }              \
    void __tsan_unaligned_read##size(void *at) { plain(at, size); }     \
    void __tsan_unaligned_write##size(void *at) { plain(at, size); }
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
void __tsan_atomic_thread_fence(int order);

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
    plain(at, size);
}

void __tsan_write_range(void *at, size_t size)
{
    plain(at, size);
}

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
}

/* ---- Atomic accesses ---- */

static void after(int file, size_t offset, int64_t was, int64_t is)
{
    if (file >= 0)
        oracle_stored(file, offset, was, is);
}

#define ATOMIC(bits)                                                                        \
    typedef int##bits##_t t##bits;                                                          \
    t##bits __tsan_atomic##bits##_load(const volatile t##bits *at, int order);              \
    void __tsan_atomic##bits##_store(volatile t##bits *at, t##bits value, int order);       \
    t##bits __tsan_atomic##bits##_exchange(volatile t##bits *at, t##bits value, int order); \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile t##bits *at, t##bits *from,  \
                                                      t##bits to, int order, int failure);  \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile t##bits *at, t##bits *from,    \
                                                    t##bits to, int order, int failure);    \
                                                                                            \
    t##bits __tsan_atomic##bits##_load(const volatile t##bits *at, int order)               \
    {                                                                                       \
        size_t offset;                                                                      \
                                                                                            \
        (void)order;                                                                        \
        before((const void *)at, sizeof *at, LOAD, &offset);                                \
        if (self != NULL)                                                                   \
            self->saw = *at;                                                                \
        return *at;                                                                         \
    }                                                                                       \
    t##bits __tsan_atomic##bits##_exchange(volatile t##bits *at, t##bits value, int order)  \
    {                                                                                       \
        size_t offset = 0;                                                                  \
        int file = before((const void *)at, sizeof *at, CHANGE, &offset);                   \
        t##bits was = *at;                                                                  \
                                                                                            \
        (void)order;                                                                        \
        *at = value;                                                                        \
        after(file, offset, was, value);                                                    \
        return was;                                                                         \
    }                                                                                       \
    void __tsan_atomic##bits##_store(volatile t##bits *at, t##bits value, int order)        \
    {                                                                                       \
        size_t offset = 0;                                                                  \
        int file = before((const void *)at, sizeof *at, STORE, &offset);                    \
        t##bits was = *at;                                                                  \
                                                                                            \
        (void)order;                                                                        \
        *at = value;                                                                        \
        after(file, offset, was, value);                                                    \
    }                                                                                       \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile t##bits *at, t##bits *from,  \
                                                      t##bits to, int order, int failure)   \
    {                                                                                       \
        size_t offset = 0;                                                                  \
        int file = before((const void *)at, sizeof *at, CHANGE, &offset);                   \
        t##bits was = *at;                                                                  \
                                                                                            \
        (void)order;                                                                        \
        (void)failure;                                                                      \
        if (was != *from) {                                                                 \
            *from = was;                                                                    \
            return 0;                                                                       \
        }                                                                                   \
        *at = to;                                                                           \
        after(file, offset, was, to);                                                       \
        return 1;                                                                           \
    }                                                                                       \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile t##bits *at, t##bits *from,    \
                                                    t##bits to, int order, int failure)     \
    {                                                                                       \
        return __tsan_atomic##bits##_compare_exchange_strong(at, from, to, order, failure); \
    }
ATOMIC(8)
ATOMIC(32)
ATOMIC(64)

#define FETCH(bits, name, operator)                                                         \
    t##bits __tsan_atomic##bits##_fetch_##name(volatile t##bits *at, t##bits n, int order); \
    t##bits __tsan_atomic##bits##_fetch_##name(volatile t##bits *at, t##bits n, int order)  \
    {                                                                                       \
        size_t offset = 0;                                                                  \
        int file = before((const void *)at, sizeof *at, CHANGE, &offset);                   \
        t##bits was = *at;                                                                  \
                                                                                            \
        (void)order;                                                                        \
        *at = was operator n;                                                               \
        after(file, offset, was, *at);                                                      \
        return was;                                                                         \
    }
FETCH(32, add, +)
FETCH(32, sub, -)
FETCH(32, or, |)
FETCH(32, and, &)
FETCH(64, add, +)
FETCH(64, sub, -)
FETCH(64, or, |)
FETCH(64, and, &)
