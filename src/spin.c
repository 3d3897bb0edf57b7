/* SPDX-License-Identifier: MIT */
/* spin.c - how long a wake-up takes, and how to wait for less than that; see spin.h. */
#if defined(__linux__)
#define _GNU_SOURCE             /* sched_getaffinity */
#endif
#include "spin.h"

#include "deadline.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

/*
 * A wake-up that takes longer had to wait for the core, which says nothing about the next.
 * 25 us, from an idle core in a virtual machine, is the slowest that was seen otherwise.
 */
#define LONGEST_WAKE_UP_NS 50000

#define LOOKS_PER_CLOCK 16      /* a look at the clock takes as long as a pause, or longer */

/*
 * What the threads of this process see, averaged; 0: nobody has been woken yet.  It moves
 * quickly towards what is longer: a wake-up on the waker's own core, which takes a tenth of
 * the time, says nothing about those across.  Relaxed: it is only a number, and a lost
 * update only a lost sample.
 */
static _Atomic int64_t wake_up_ns;

void fs_spin_woken(int64_t woken_ns)
{
    int64_t average = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);
    int64_t sample = fs_now_ns() - woken_ns;

    if (sample > LONGEST_WAKE_UP_NS)
        sample = LONGEST_WAKE_UP_NS;
    if (average == 0)
        average = sample;
    else
        average += (sample - average) / (sample > average ? 4 : 16);
    atomic_store_explicit(&wake_up_ns, average, memory_order_relaxed);
}

/*
 * Is there another core for whoever should release?  A thread may be bound to a core of its
 * own, so its mask alone says nothing.
 */
#if defined(__linux__)
static bool possible_here(void)
{
    cpu_set_t mine, main_thread;

    if (sched_getaffinity(0, sizeof mine, &mine) != 0
        || sched_getaffinity(getpid(), sizeof main_thread, &main_thread) != 0)
        return sysconf(_SC_NPROCESSORS_ONLN) != 1;
    return CPU_COUNT(&mine) != 1 || !CPU_EQUAL(&mine, &main_thread);
}
#elif defined(_SC_NPROCESSORS_ONLN)
static bool possible_here(void)
{
    return sysconf(_SC_NPROCESSORS_ONLN) != 1;
}
#else
static bool possible_here(void)
{
    return true;
}
#endif

/* What it came to the last time: an alerted thread does not ask.  Relaxed, as above. */
static _Atomic bool alone;

static bool possible(enum fs_spin_kind kind)
{
    int before = errno;

    if (kind == FS_SPIN_IF_POSSIBLE) {
        atomic_store_explicit(&alone, !possible_here(), memory_order_relaxed);
        errno = before;
    }
    return !atomic_load_explicit(&alone, memory_order_relaxed);
}

static inline void pause_briefly(void)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");   /* "yield" does nothing on most of them */
#endif
}

/* Relaxed: whoever sees the change goes on to fall_asleep()'s compare-and-swap, which acquires. */
void fs_spin(const _Atomic int *word, int value, enum fs_spin_kind kind)
{
    int64_t longest = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);
    int64_t start;

    if (longest == 0 || !possible(kind))
        return;
    longest = kind == FS_SPIN_ALERTED ? longest / 2 : longest * 2;
    start = fs_now_ns();
    do {
        for (int i = 0; i < LOOKS_PER_CLOCK; i++) {
            if (atomic_load_explicit(word, memory_order_relaxed) != value)
                return;
            pause_briefly();
        }
    } while (fs_now_ns() - start < longest);
}
