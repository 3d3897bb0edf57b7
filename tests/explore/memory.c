/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the accesses of the library, and the memory they go to.
 *
 * The library is compiled with -fsanitize=thread and linked without its runtime.  So every load
 * and store comes here first, atomic ones instead of being made.
 *
 * A stop before each atomic access, unless it commutes with all that other threads can do:
 *
 *   - the generation that fork counts, which is only read here;
 *   - a token's reason, in a scenario where nobody cancels by token, and a capacity where nobody
 *     changes it;
 *   - what is only written under the semaphore's mutex (waiters, closed, limit), looked at by
 *     who holds it;
 *   - a write to `waiters` and `closed`, at which no operation of ours looks without the mutex:
 *     one that does is an error, below.
 */
#include "explore.h"

#include "semaphore_internal.h"

#include <stdarg.h>
#include <string.h>

fairsem_t sems[SEMS_MAX];
fairsem_token_t the_token;
fairsem_ticket_t tickets[THREADS_MAX];

static _Alignas(64) char stack[THREADS_MAX][STACK_SIZE];
static _Alignas(64) char heap[HEAP_SIZE];
static size_t heap_used;

/* ---- The library's memory, and how it looked before ---- */

extern char xp_data_first[], xp_data_last[], xp_bss_first[], xp_bss_last[];

struct image {
    char   data[4096], bss[4096], heap[HEAP_SIZE];
    size_t heap_used;
};
static struct image cold_image, warm_image;

static size_t data_size(void)
{
    return (size_t)(xp_data_last - xp_data_first);
}

static size_t bss_size(void)
{
    return (size_t)(xp_bss_last - xp_bss_first);
}

static void take_image(struct image *image)
{
    memcpy(image->data, xp_data_first, data_size());
    memcpy(image->bss, xp_bss_first, bss_size());
    memcpy(image->heap, heap, heap_used);
    image->heap_used = heap_used;
}

void memory_learn(void)
{
    if ((uintptr_t)xp_data_last - (uintptr_t)xp_data_first > sizeof cold_image.data
        || (uintptr_t)xp_bss_last - (uintptr_t)xp_bss_first > sizeof cold_image.bss) {
        fprintf(stderr, "explorer: the linker did not keep the library's variables together\n");
        exit(99);
    }
    take_image(&cold_image);
    take_image(&warm_image);
}

void memory_warm(void)
{
    take_image(&warm_image);
}

static void clear_stacks(void)
{
    static char *lowest[THREADS_MAX];

    for (int i = 0; i < THREADS_MAX; i++) {
        char *top = stack_top(i), *sp = thread[i].fibre.sp;

        if (lowest[i] == NULL)
            lowest[i] = stack[i];
        else if (sp != NULL && sp - 2048 < lowest[i] && sp - 2048 >= stack[i])
            lowest[i] = sp - 2048;
        memset(lowest[i], 0, (size_t)(top - lowest[i]));
        if (lowest[i] == stack[i])
            lowest[i] = top - 4096;
    }
}

void memory_reset(bool cold)
{
    const struct image *image = cold ? &cold_image : &warm_image;

    clear_stacks();
    memcpy(xp_data_first, image->data, data_size());
    memcpy(xp_bss_first, image->bss, bss_size());
    memcpy(heap, image->heap, image->heap_used);
    heap_used = image->heap_used;
}

uint64_t memory_hash(uint64_t (*mix)(uint64_t, const void *, size_t))
{
    uint64_t hash = mix(2, xp_data_first, data_size());

    hash = mix(hash, xp_bss_first, bss_size());
    hash = mix(hash, heap, heap_used);
    hash = mix(hash, sems, (size_t)sems_count * sizeof sems[0]);
    hash = mix(hash, &the_token, sizeof the_token);
    return mix(hash, tickets, (size_t)threads_count * sizeof tickets[0]);
}

char *stack_top(int id)
{
    return stack[id] + STACK_SIZE;
}

int stack_owner(const void *at)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)stack;

    return offset < sizeof stack ? (int)(offset / STACK_SIZE) : -1;
}

int heap_offset(const void *at)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)heap;

    return offset < sizeof heap ? (int)offset : -1;
}

/* ---- malloc: nothing is ever freed but what the library could not use ---- */

void *xp_malloc(size_t size)
{
    char *block = heap + heap_used;

    if (self != NULL && run.no_memory < scenario->no_memory && choose(2) == 1) {
        trace_words("  ... and there is no memory\n");
        run.no_memory++;
        return NULL;
    }
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof heap - heap_used)
        fail("explorer", "the heap is too small");
    heap_used += size;
    memset(block, 0, size);
    return block;
}

void xp_free(void *block)
{
    (void)block;
}

/* ---- Messages of the library when it stops itself: they are why the run failed ---- */

static char message[300];

int xp_fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;

    (void)file;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return 0;
}

void xp_abort(void)
{
    message[strcspn(message, "\n")] = '\0';
    fail("the library stops itself", "%s", message);
}

/* ---- Plain accesses ---- */

static void plain_elsewhere(const void *at, size_t size, bool write, const void *pc)
{
    if (oracle_unprotected(at))
        step(write ? "writes to" : "reads", at, pc);
    oracle_touch(at, size, write);
}

static inline void plain(const void *at, size_t size, bool write, const void *pc)
{
    if (self != NULL && (uintptr_t)at - (uintptr_t)stack[id_of(self)] >= STACK_SIZE)
        plain_elsewhere(at, size, write, pc);
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

static bool sem_access_commutes(const char *at, size_t offset, bool write)
{
    bool held = oracle_own_mutex(at);

    if (IS(generation))
        return !write;
    if (IS(limit))
        return !write && (held || !script_uses(CAPACITY));
    if (IS(waiters) || IS(closed)) {
        if (!held)
            fail("explorer", "an access without the mutex that memory.c does not expect: %s",
                 object_words(at));
        return true;
    }
    return false;
}

static bool commutes(const void *at, bool write)
{
    size_t in_sems = (size_t)((const char *)at - (const char *)sems);
    size_t in_token = (size_t)((const char *)at - (const char *)&the_token);

    if (in_sems < sizeof sems)
        return sem_access_commutes(at, in_sems % sizeof sems[0], write);
    if (in_token < sizeof the_token)
        return !write && !script_uses(CANCEL);
    return false;
}

static inline void before_atomic(const void *at, size_t size, bool write, const char *doing,
                                 const void *pc)
{
    if (self == NULL)
        return;
    if (!commutes(at, write))
        stop(READY, doing, at, pc);
    oracle_touch(at, size, false);
}

static inline void after_write(const void *at, size_t size, int64_t before, int64_t now)
{
    if (self == NULL)
        return;
    thread_change();
    oracle_stored(at, size, before, now);
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
        (void)order;                                                                         \
        before_atomic((const void *)at, sizeof(type), false, "loads", CALLER);               \
        return *at;                                                                          \
    }                                                                                        \
    static type change##bits(volatile type *at, type value, char how, const void *pc)        \
    {                                                                                        \
        type before;                                                                         \
                                                                                             \
        before_atomic((const void *)at, sizeof(type), true,                                  \
                      how == '=' ? "stores to" : "changes", pc);                             \
        before = *at;                                                                        \
        *at = (type)(how == '=' ? value : how == '|' ? (before | value)                      \
                     : how == '&' ? (before & value)                                         \
                     : how == '+' ? before + value : before - value);                        \
        after_write((const void *)at, sizeof(type), before, *at);                            \
        return before;                                                                       \
    }                                                                                        \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)               \
    {                                                                                        \
        (void)order;                                                                         \
        change##bits(at, value, '=', CALLER);                                                \
    }                                                                                        \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order)            \
    {                                                                                        \
        (void)order;                                                                         \
        return change##bits(at, value, '=', CALLER);                                         \
    }                                                                                        \
    type __tsan_atomic##bits##_fetch_or(volatile type *at, type value, int order)            \
    {                                                                                        \
        (void)order;                                                                         \
        return change##bits(at, value, '|', CALLER);                                         \
    }                                                                                        \
    type __tsan_atomic##bits##_fetch_and(volatile type *at, type value, int order)           \
    {                                                                                        \
        (void)order;                                                                         \
        return change##bits(at, value, '&', CALLER);                                         \
    }                                                                                        \
    type __tsan_atomic##bits##_fetch_add(volatile type *at, type value, int order)           \
    {                                                                                        \
        (void)order;                                                                         \
        return change##bits(at, value, '+', CALLER);                                         \
    }                                                                                        \
    type __tsan_atomic##bits##_fetch_sub(volatile type *at, type value, int order)           \
    {                                                                                        \
        (void)order;                                                                         \
        return change##bits(at, value, '-', CALLER);                                         \
    }                                                                                        \
    static bool swap##bits(volatile type *at, type *expected, type value, const void *pc)    \
    {                                                                                        \
        type before;                                                                         \
                                                                                             \
        before_atomic((const void *)at, sizeof(type), true, "compares and swaps", pc);       \
        before = *at;                                                                        \
        if (before != *expected) {                                                           \
            *expected = before;                                                              \
            return false;                                                                    \
        }                                                                                    \
        *at = value;                                                                         \
        after_write((const void *)at, sizeof(type), before, value);                          \
        return true;                                                                         \
    }                                                                                        \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected,     \
                                                      type value, int order, int failure)    \
    {                                                                                        \
        (void)order;                                                                         \
        (void)failure;                                                                       \
        return swap##bits(at, expected, value, CALLER);                                      \
    }                                                                                        \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected,       \
                                                    type value, int order, int failure)      \
    {                                                                                        \
        (void)order;                                                                         \
        (void)failure;                                                                       \
        return swap##bits(at, expected, value, CALLER);                                      \
    }                                                                                        \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected,        \
                                                    type value, int order, int failure)      \
    {                                                                                        \
        (void)order;                                                                         \
        (void)failure;                                                                       \
        swap##bits(at, &expected, value, CALLER);                                            \
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
    (void)order;
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
