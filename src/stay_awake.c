/* SPDX-License-Identifier: MIT */
/* stay_awake.c - learning from grants, and how long to stay awake; see stay_awake.h. */
#include "stay_awake.h"

#include "cpu.h"
#include "deadline.h"

/*
 * A wake-up that takes longer had to wait for the core, which says nothing about the next one.
 * The slowest other wake-up that was seen took 25 us, on an idle core of a virtual machine.
 */
#define LONGEST_WAKE_UP_NS 50000

#define LOADS_PER_CLOCK 16      /* reading the clock takes as long as a pause, or longer */

/*
 * The average time of a wake-up in this process; 0: no thread has been woken yet.  Longer samples
 * count more: a wake-up on the waker's own core takes a tenth of the time of one across cores, and
 * says nothing about it.  Relaxed: the number protects nothing, and a lost update is only a lost
 * sample.
 */
static _Atomic int64_t wake_up_ns;

void fs_spin_woken(int64_t completed_ns)
{
    int64_t average = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);
    int64_t sample = fs_now_ns() - completed_ns;

    if (sample > LONGEST_WAKE_UP_NS)
        sample = LONGEST_WAKE_UP_NS;
    if (average == 0)
        average = sample;
    else
        average += (sample - average) / (sample > average ? 4 : 16);
    atomic_store_explicit(&wake_up_ns, average, memory_order_relaxed);
}

/* The limits are the times for which fs_spin() would have kept each kind of thread awake. */
void fs_stay_awake_learn(struct fs_stay_awake *doubts, bool joined_as_head, int64_t head_ns,
                         int core)
{
    int64_t wake_up = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);

    if (joined_as_head)
        doubts->as_head = fs_doubt_after(doubts->as_head, head_ns <= wake_up * 2
                                                          && core != fs_cpu_current());
    else
        doubts->early = fs_doubt_after(doubts->early, head_ns <= wake_up + wake_up / 2);
}

/* Relaxed: a thread that sees the change goes on to a compare-and-swap, which acquires. */
void fs_spin(const _Atomic int *word, int value, enum fs_spin_kind kind, int64_t joined_ns)
{
    int64_t longest = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);
    int64_t start;

    if (longest == 0)
        return;
    longest = kind == FS_SPIN_WOKEN ? longest / 2 : longest * 2;
    start = kind == FS_SPIN_AS_HEAD ? joined_ns : fs_now_ns();
    do {
        for (int i = 0; i < LOADS_PER_CLOCK; i++) {
            if (atomic_load_explicit(word, memory_order_relaxed) != value)
                return;
            fs_cpu_pause();
        }
    } while (fs_now_ns() - start < longest);
}
