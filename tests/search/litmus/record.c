/* SPDX-License-Identifier: MIT */
/*
 * record.c - all runs of one thread.  What its loads may return is in values.c.
 *
 * A loop ends, because a thread sees no more changes than others make; but a wait is cut where the
 * thread has slept twice.
 */
#include "values.h"

#include <stdlib.h>
#include <string.h>

enum { MUTEXES = 8, SLEEPS = 2, RUNS = 1 << 17, ROUNDS = 100 };

_Alignas(64) unsigned char shared[SHARED];
unsigned char at_first[SHARED];

struct run *runs[THREADS];
int runs_count[THREADS];

int self = -1;
jmp_buf end;
static struct run now;
static int sleeps;
static int64_t pending;             /* what a read-modify-write has seen */

static bool is_shared(const void *at)
{
    return self >= 0 && (const unsigned char *)at >= shared
           && (const unsigned char *)at < shared + SHARED;
}

/* ---- Events ---- */

static struct event *add(enum event_kind kind, const void *at, size_t size, int order,
                         const void *pc)
{
    struct event *e = &now.event[now.length];

    if (now.length == EVENTS_OF_ONE)
        give_up("events");
    now.length++;
    *e = (struct event){ .kind = kind, .order = order, .location = -1, .size = (int)size,
                         .pc = pc };
    if (at != NULL)
        e->first = (int)((const unsigned char *)at - shared);
    return e;
}

static void reads(const void *at, size_t size, int order, int64_t value, const void *pc)
{
    struct event *e = add(READ, at, size, order, pc);

    e->location = location_of(at, size);
    e->saw = value;
}

static void writes(enum event_kind kind, const void *at, size_t size, int order, int64_t value,
                   const void *pc)
{
    struct event *e = add(kind, at, size, order, pc);

    e->location = location_of(at, size);
    e->saw = pending;
    e->wrote = value;
    note_stored(e->location, value);
}

void access_plain(const void *at, size_t size, bool write, const void *pc)
{
    struct event *e = now.length > 0 ? &now.event[now.length - 1] : NULL;

    if (!is_shared(at))
        return;
    if (e == NULL || e->kind != BLOCK) {
        e = add(BLOCK, NULL, 0, memory_order_relaxed, pc);
        e->block = calloc(1, sizeof *e->block);
        if (e->block == NULL)
            give_up("blocks");
    }
    for (size_t i = 0; i < size; i++) {
        size_t byte = (size_t)((const unsigned char *)at - shared) + i;

        (write ? e->block->writes : e->block->reads)[byte / 8] |= (uint8_t)(1 << byte % 8);
    }
}

/* A read-modify-write finds in memory what it is to read. */
void access_begins(const void *at, size_t size, enum access_kind kind, const void *pc)
{
    (void)pc;
    if (!is_shared(at) || kind == ACCESS_LOAD || kind == ACCESS_STORE)
        return;
    pending = guess(location_of(at, size));
    memcpy((void *)(uintptr_t)at, &pending, size);
}

int64_t access_load(const void *at, size_t size, int64_t newest, int order, const void *pc)
{
    if (!is_shared(at))
        return newest;
    newest = guess(location_of(at, size));
    reads(at, size, order, newest, pc);
    return newest;
}

bool access_stores(const void *at, size_t size, int64_t value, enum access_kind kind, int order,
                   const void *pc)
{
    if (is_shared(at))
        writes(kind == ACCESS_STORE ? WRITE : CHANGE, at, size, order, value, pc);
    return true;
}

void access_stored(const void *at, size_t size, int64_t before, int64_t after)
{
    (void)at;
    (void)size;
    (void)before;
    (void)after;
}

bool access_swap_fails(const void *at, size_t size, int64_t newest, int64_t *expected, int order,
                       const void *pc)
{
    if (newest == *expected)
        return false;
    if (is_shared(at))
        reads(at, size, order, newest, pc);
    *expected = newest;
    return true;
}

void access_fence(int order)
{
    if (self >= 0)
        add(FENCE, NULL, 0, order, CALLER);
}

/* ---- For the threads of tests ---- */

void say(char c)
{
    size_t n = strlen(now.said);

    if (n + 1 < sizeof now.said)
        now.said[n] = c;
}

void stop_here(char why)
{
    say(why);
    longjmp(end, STOPPED);
}

int64_t read_plain(const void *at)
{
    int64_t value = guess(location_of(at, 8));

    reads(at, 8, memory_order_relaxed, value, CALLER);
    now.event[now.length - 1].plain = true;
    return value;
}

void write_plain(void *at, int64_t value)
{
    writes(WRITE, at, 8, memory_order_relaxed, value, CALLER);
    now.event[now.length - 1].plain = true;
}

void overwrite(void *at, size_t size)
{
    access_plain(at, size, true, CALLER);
}

/* A mutex of the library's own is a byte at the end of `shared`. */
static const void *place_of(const void *mutex)
{
    static const void *seen[MUTEXES];
    int i = 0;

    if (is_shared(mutex))
        return mutex;
    while (i < MUTEXES && seen[i] != NULL && seen[i] != mutex)
        i++;
    if (i == MUTEXES)
        give_up("mutexes");
    seen[i] = mutex;
    return &shared[SHARED - 1 - i];
}

/* A lock waits until the mutex is free, so that is what it reads. */
void lock(const void *mutex)
{
    struct event *e;

    if (self < 0)
        return;
    mutex = place_of(mutex);
    e = add(CHANGE, mutex, 1, memory_order_acquire, CALLER);
    e->location = location_of(mutex, 1);
    e->saw = note_lock(e->location);
    e->wrote = LOCKED;
}

void unlock(const void *mutex)
{
    if (self < 0)
        return;
    mutex = place_of(mutex);
    writes(WRITE, mutex, 1, memory_order_release, note_unlock(location_of(mutex, 1)), CALLER);
}

/* A sleep ends for no reason; but a wait that never ends is no execution. */
void sleep_for_a_while(void)
{
    if (self >= 0 && ++sleeps > SLEEPS)
        longjmp(end, WAITS_FOR_EVER);
}

/* ---- All runs ---- */

static void keep_run(void)
{
    if ((runs_count[self] & (runs_count[self] - 1)) == 0) {
        size_t room = runs_count[self] > 0 ? 2 * (size_t)runs_count[self] : 1;

        runs[self] = realloc(runs[self], room * sizeof now);
        if (runs[self] == NULL || room > RUNS)
            give_up("runs");
    }
    runs[self][runs_count[self]++] = now;
}

static void one_run(const struct test *test, int thread)
{
    int why;

    memcpy(shared, at_first, sizeof shared);
    if (test->finds != NULL)
        test->finds(thread);
    memset(&now, 0, sizeof now);
    sleeps = 0;
    values_begin();
    self = thread;
    why = setjmp(end);
    if (why == 0)
        test->thread[thread](thread);
    if (why == 0 || why == STOPPED)
        keep_run();
    values_end();
    self = -1;
}

static void free_runs(int thread)
{
    for (int i = 0; i < runs_count[thread]; i++) {
        for (int k = 0; k < runs[thread][i].length; k++)
            free(runs[thread][i].event[k].block);
    }
    free(runs[thread]);
    runs[thread] = NULL;
    runs_count[thread] = 0;
}

void record_all(const struct test *test)
{
    self = -1;
    memset(shared, 0, sizeof shared);
    values_forget();
    test->begins();
    memcpy(at_first, shared, sizeof shared);
    for (int round = 0; values_grow(); round++) {
        if (round == ROUNDS)
            give_up("rounds");
        for (int t = 0; t < THREADS; t++)
            free_runs(t);
        for (int t = 0; t < test->threads; t++) {
            do
                one_run(test, t);
            while (next_choices());
        }
    }
}
