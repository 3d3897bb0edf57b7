/* SPDX-License-Identifier: MIT */
/* stay_awake.c - learning from grants, and how long to stay awake; see stay_awake.h. */
#include "stay_awake.h"

#include "cpu.h"
#include "deadline.h"

#include <errno.h>
#include <sched.h>

/*
 * A wake-up that takes longer had to wait for the core, which says nothing about the next one.
 * The slowest other wake-up that was seen took 25 us, on an idle core of a virtual machine.
 */
#define LONGEST_WAKE_UP_NS 50000

#define LOADS_PER_CLOCK 16      /* reading the clock takes as long as a pause, or longer */

/* Threads of the same process that hold units come back sooner; time slices are 1 to 4 ms. */
#define LONGEST_YIELD_NS  1000000
#define FIRST_PAUSE_NS    5000000
#define LONGEST_PAUSE_NS  640000000

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

/*
 * When threads may yield again, 0: always; and for how long they did not.  A late yield may be the
 * fault of a program that computes all the time, or of the machine, which is away for a moment now
 * and then.  So the first pause is brief, and each that is followed by a late yield doubles the
 * next.
 *
 * Relaxed, like the time above: a thread that sees them late yields once more, or doubles the pause
 * once less.
 */
static _Atomic int64_t no_yields_before_ns, pause_ns;

bool fs_yields_pay(int64_t now_ns)
{
    return now_ns >= atomic_load_explicit(&no_yields_before_ns, memory_order_relaxed);
}

static void pause_yields(int64_t now_ns, int64_t ns)
{
    atomic_store_explicit(&pause_ns, ns, memory_order_relaxed);
    atomic_store_explicit(&no_yields_before_ns, now_ns + ns, memory_order_relaxed);
}

/* False: a sandbox forbids it. */
static bool give_way(void)
{
    int error = errno;

    if (sched_yield() == 0)
        return true;
    errno = error;
    return false;
}

/* False: the yield has cost a time slice. */
static bool yield_was_short(int64_t before_ns, int64_t now_ns)
{
    int64_t last = atomic_load_explicit(&no_yields_before_ns, memory_order_relaxed);
    int64_t pause = atomic_load_explicit(&pause_ns, memory_order_relaxed);

    if (now_ns - before_ns < LONGEST_YIELD_NS)
        return true;
    if (before_ns < last)       /* another thread was late at the same time, and has noted it */
        return false;
    if (before_ns - last > pause)
        pause = FIRST_PAUSE_NS;
    else if (pause < LONGEST_PAUSE_NS)
        pause *= 2;
    pause_yields(now_ns, pause);
    return false;
}

/* One step for each grant, so the time comes to be the median: one late grant changes little. */
void fs_turn_learn(struct fs_stay_awake *doubts, int64_t ns)
{
    if (ns > fs_turn_ns(doubts->turn))
        doubts->turn = (uint8_t)(doubts->turn + (doubts->turn < FS_TURN_MAX));
    else
        doubts->turn = (uint8_t)(doubts->turn - (doubts->turn > 0));
}

/* The limits are the times for which fs_spin() would have kept each kind of thread awake. */
void fs_stay_awake_learn(struct fs_stay_awake *doubts, bool joined_as_head, int64_t head_ns,
                         int core)
{
    int64_t wake_up = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);

    if (joined_as_head) {
        bool soon = head_ns <= wake_up * 2, here = core == fs_cpu_current();

        doubts->as_head = fs_doubt_after(doubts->as_head, soon && !here);
        doubts->as_head_here = fs_doubt_after(doubts->as_head_here, soon && here);
    } else {
        doubts->early = fs_doubt_after(doubts->early, head_ns <= wake_up + wake_up / 2);
    }
}

/* For how long; 0: not at all. */
static int64_t longest_spin(enum fs_spin_kind kind, int64_t wake_up)
{
    switch (kind) {
    case FS_SPIN_AS_HEAD:
    case FS_YIELD_AS_HEAD:
    case FS_YIELD_WOKEN:
        return wake_up * 2;
    case FS_SPIN_WOKEN:
        return wake_up / 2;
    case FS_YIELD_IN_QUEUE:
        return wake_up != 0 ? FS_NEAR_NS * 2 : 0;
    default:
        return 0;
    }
}

/*
 * True: the word has changed.  Relaxed: a thread that sees the change goes on to a
 * compare-and-swap, which acquires.
 */
static bool changes(const _Atomic int *word, int value)
{
    for (int i = 0; i < LOADS_PER_CLOCK; i++) {
        if (atomic_load_explicit(word, memory_order_relaxed) != value)
            return true;
        fs_cpu_pause();
    }
    return false;
}

static void spin(const _Atomic int *word, int value, int64_t start, int64_t longest)
{
    for (int64_t now = start; now - start < longest; now = fs_now_ns()) {
        if (changes(word, value))
            return;
    }
}

/*
 * The word is loaded once between two yields: a pause takes 40 ns on some machines, and all threads
 * of the core wait for it.  (With 16 pauses a hand-off on one core took 2.2 us, with none 1.8 us.)
 * But a thread that learns that it is next spins first, once.
 */
static void yield(const _Atomic int *word, int value, int64_t start, int64_t longest,
                  const _Atomic uint8_t *hint)
{
    bool was_next = false;

    if (!fs_yields_pay(start) || !fs_cpu_takes_turns())
        return;
    for (int64_t now = start; now - start < longest;) {
        int64_t before = now;

        if (atomic_load_explicit(word, memory_order_relaxed) != value)
            return;
        if (!was_next && atomic_load_explicit(hint, memory_order_relaxed) == FS_HINT_NEXT) {
            was_next = true;
            spin(word, value, now, FS_NEXT_NS);
            now = fs_now_ns();
            continue;
        }
        if (!give_way()) {
            pause_yields(now, LONGEST_PAUSE_NS);
            return;
        }
        now = fs_now_ns();
        if (!yield_was_short(before, now))
            return;
    }
}

void fs_spin(const _Atomic int *word, int value, enum fs_spin_kind kind, int64_t joined_ns,
             const _Atomic uint8_t *hint)
{
    int64_t wake_up = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);
    bool as_head = kind == FS_SPIN_AS_HEAD || kind == FS_YIELD_AS_HEAD;
    int64_t start = as_head ? joined_ns : fs_now_ns();
    int64_t longest = longest_spin(kind, wake_up);

    if (kind >= FS_YIELD_AS_HEAD)
        yield(word, value, start, longest, hint);
    else
        spin(word, value, start, longest);
}
