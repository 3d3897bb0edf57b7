/* SPDX-License-Identifier: MIT */
/*
 * relacy.cpp - the word with its count and SLOW, under Relacy (Dmitry Vyukov), which runs C++ with
 * weak memory: relacy.sh has taken the functions out of the sources, as they are.
 *
 * Three threads take a unit, change what it protects, and give it back: twice the first one.  What
 * is simplified is the queue, an array under the mutex, and how a thread sleeps: it yields.
 */
#include <relacy/relacy.hpp>

#define atomic_load_explicit(at, ...)           (at)->load(__VA_ARGS__)
#define atomic_store_explicit(at, value, ...)   (at)->store(value, __VA_ARGS__)
#define atomic_fetch_or_explicit(at, value, ...)  (at)->fetch_or(value, __VA_ARGS__)
#define atomic_fetch_and_explicit(at, value, ...) (at)->fetch_and(value, __VA_ARGS__)
#define atomic_compare_exchange_weak_explicit(at, expected, value, ...) \
    (at)->compare_exchange_weak(*(expected), value, __VA_ARGS__)

using namespace rl;

enum { THREADS = 3, UNITS = 1 };

static const int64_t FS_SLOW = 1, FS_OPEN = INT64_C(1) << 62;

struct fs_sem {
    atomic<int64_t> word, limit;
    rl::mutex       mutex;
    var<int>        first, last;            /* the queue: under mutex */
    var<int>        queue[THREADS];
    atomic<int>     granted[THREADS];
};

#include "word.inc"         /* fs_word_available, fs_acquire_fast, fs_release_fast */

static int64_t enter(struct fs_sem *s)
{
    int64_t word;

    s->mutex.lock($);
#include "enter.inc"        /* the end of fs_lock() */
}

static void leave(struct fs_sem *s, int64_t available)
{
    bool open = false, slow;

    while (s->first($) != s->last($) && available >= 1) {
        int who = s->queue[s->first($) % THREADS]($);

        s->first($) = s->first($) + 1;
        available--;
        atomic_store_explicit(&s->word, available * 2 + FS_SLOW, memory_order_release);
        atomic_store_explicit(&s->granted[who], 1, memory_order_release);
    }
    slow = s->first($) != s->last($);
#include "leave.inc"        /* the word's store in fs_grant_and_unlock() */
    s->mutex.unlock($);
}

static void acquire(struct fs_sem *s, int self)
{
    int64_t available;

    if (fs_acquire_fast(s, 1))
        return;
    available = enter(s);
    if (available >= 1 && s->first($) == s->last($)) {
        leave(s, available - 1);
        return;
    }
    s->queue[s->last($) % THREADS]($) = self;
    s->last($) = s->last($) + 1;
    leave(s, available);
    backoff wait;
    while (atomic_load_explicit(&s->granted[self], memory_order_acquire) == 0)
        wait.yield($);
    atomic_store_explicit(&s->granted[self], 0, memory_order_relaxed);
}

static void release(struct fs_sem *s)
{
    if (!fs_release_fast(s, 1))
        leave(s, enter(s) + 1);
}

struct three_threads : test_suite<three_threads, THREADS> {
    struct fs_sem sem;
    var<int>      data;

    void before()
    {
        sem.word.store(2 * UNITS, mo_relaxed, $);
        sem.limit.store(8, mo_relaxed, $);
        sem.first($) = sem.last($) = 0;
        for (int i = 0; i < THREADS; i++)
            sem.granted[i].store(0, mo_relaxed, $);
        data($) = 0;
    }

    void thread(unsigned self)
    {
        for (int round = self == 0 ? 2 : 1; round > 0; round--) {
            acquire(&sem, (int)self);
            data($) = data($) + 1;      /* a race if another thread has a unit, too */
            release(&sem);
        }
    }

    void after()
    {
        RL_ASSERT(data($) == THREADS + 1 && sem.word.load(mo_relaxed, $) == 2 * UNITS);
    }
};

int main()
{
    test_params params;

    params.search_type = sched_bound;
    params.context_bound = 2;
    params.execution_depth_limit = 2000;
    if (!simulate<three_threads>(params)) {
        std::cout << "FOUND: " << test_result_str(params.test_result) << std::endl;
        return 1;
    }
    std::cout << "relacy: nothing in " << params.stop_iteration << " executions" << std::endl;
    return 0;
}
