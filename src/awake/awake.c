/* SPDX-License-Identifier: MIT */
/* awake.c - the policy of staying awake; see awake.h, and doc/awake.md for the figures. */
#include "awake/awake.h"

#include "system/deadline.h"
#include "system/system.h"
#include "tools/annotate.h"

/* ======================================================================== *
 *  What a semaphore has learned
 * ======================================================================== */

/* With more waiters there is a crowd: most hand-offs are to a thread that must first get a core. */
#define FEW 2

/*
 * Further behind, a waiter sleeps: so many would mostly yield to each other.  The places are for
 * each thread that can hold units.
 */
#define NEAR_PLACES 12
#define NEAR_NS     INT64_C(200000)

/* With many cores: the near stay awake for so many wake-ups, and if turns take longer, nobody is near. */
#define NEAR_WAKE_UPS 10

/* So long does the waiter spin that is next on its core. */
#define NEXT_NS     30000

/* If turns are longer, nobody is next on its core, and the head is woken early only if it pays. */
#define SOON_NS     20000

/*
 * Where nobody learns whether that pays, the head is woken early up to here.  (16 processes, 10 us
 * each: 28,000 grants a second without, 75,000 so.  If each holds a unit for 100 us, it brings
 * nothing, and costs a third more processor time.)
 */
#define SOON_UNKNOWN_NS 100000

/* A wait that favors staying awake takes one from a penalty, any other adds two. */
#define PENALTY_MAX  15           /* of four bits */
#define PENALTY_HIGH 8            /* from here on, threads sleep at once */

#define INTERVAL_MAX 63             /* 7 ms */

/* About 2^(turn/4 - 3) microseconds: steps of a fifth.  (More than the maximum: a damaged segment.) */
static int64_t interval_ns(const struct fs_awake *awake)
{
    static const int64_t quarter[] = { 125, 149, 177, 210 };
    int steps = awake->interval < INTERVAL_MAX ? awake->interval : INTERVAL_MAX;

    return quarter[steps % 4] << (steps / 4);
}

static uint8_t penalty_after(uint8_t penalty, bool paid)
{
    if (paid)
        return penalty != 0 ? penalty - 1 : 0;
    return penalty + 2 < PENALTY_MAX ? penalty + 2 : PENALTY_MAX;
}

/* At most so many threads can hold units: as many as can hold what this one wants. */
static int64_t holders(const struct fs_awake_facts *facts)
{
    int64_t most = facts->each > 0 ? facts->units / facts->each : facts->units;

    return most > 0 ? most : 1;
}

/* Are there cores for the holders of units, and for one more thread?  Theirs come first. */
static bool cores_suffice(const struct fs_awake_facts *facts)
{
    return holders(facts) < fs_cpu_count();
}

/* ======================================================================== *
 *  What the process has learned
 * ======================================================================== */

/*
 * Under valgrind it learns nothing: helgrind does not see atomics, and takes them for races.  So no
 * thread stays awake there, where only one runs at a time.
 */

/*
 * A wake-up that takes longer had to wait for the core, which says nothing about the next one.
 * The slowest other wake-up that was seen took 25 us, on an idle core of a virtual machine.
 */
#define LONGEST_WAKE_UP_NS 50000

/* Not if the clock that the program sees goes back: it may be faked, and set. */
static bool within(int64_t start_ns, int64_t now_ns, int64_t longest_ns)
{
    return now_ns >= start_ns && now_ns - start_ns < longest_ns;
}

#define LOADS_PER_CLOCK 16      /* reading the clock takes as long as a pause, or longer */

/* Threads of the same process that hold units come back sooner; time slices are 1 to 4 ms. */
#define LONGEST_YIELD_NS  1000000
#define AT_ONCE_NS        2000          /* in such a yield no other thread has run */
#define LONGEST_BACKOFF_NS  640000000

/* So many late grants in so short a time: a program computes beside this one. */
#define MANY_PREEMPTED         6
#define WATCH_NS          400000000
#define MEMORY_NS         INT64_C(1000000000)   /* the pause before is forgotten after it */

/*
 * The average time of a wake-up in this process; 0: no thread has been woken yet.  Longer samples
 * count more: a wake-up on the waker's own core takes a tenth of the time of one across cores, and
 * says nothing about it.  Relaxed: the number protects nothing, and a lost update is only a lost
 * sample.
 */
static _Atomic int64_t wake_up_ns;

void fs_awake_note_wake_up(int64_t woken_ns)
{
    int64_t average = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);
    int64_t sample = fs_now_ns() - woken_ns;

    if (fs_under_valgrind || sample < 0)
        return;
    if (sample > LONGEST_WAKE_UP_NS)
        sample = LONGEST_WAKE_UP_NS;
    if (average == 0)
        average = sample;
    else
        average += (sample - average) / (sample > average ? 4 : 16);
    atomic_store_explicit(&wake_up_ns, average, memory_order_relaxed);
}

/*
 * For so long threads do without something that has just cost time.  The machine may only have been
 * away for a moment.  So the first pause is brief, and one that soon follows another is longer.
 *
 * Relaxed, like the time above: a thread that sees it late does it once more, or makes a pause shorter.
 */
struct backoff {
    _Atomic int64_t until_ns;   /* 0: there was none */
    _Atomic int64_t for_ns;
    const int64_t   shortest_ns, longest_ns;
};

static int64_t backoff_end(const struct backoff *pause)
{
    return atomic_load_explicit(&pause->until_ns, memory_order_relaxed);
}

static void back_off_for(struct backoff *pause, int64_t now_ns, int64_t ns)
{
    if (fs_under_valgrind)
        return;
    atomic_store_explicit(&pause->for_ns, ns, memory_order_relaxed);
    atomic_store_explicit(&pause->until_ns, now_ns + ns, memory_order_relaxed);
}

/* So many times as long as the last time; 0: as short as the first. */
static void back_off_longer(struct backoff *pause, int times, int64_t now_ns)
{
    int64_t ns = atomic_load_explicit(&pause->for_ns, memory_order_relaxed) * times;

    if (ns < pause->shortest_ns)
        ns = pause->shortest_ns;
    back_off_for(pause, now_ns, ns < pause->longest_ns ? ns : pause->longest_ns);
}

/* A yield comes back late beside a program that computes all the time. */
static struct backoff yield_backoff = { .shortest_ns = 5000000, .longest_ns = LONGEST_BACKOFF_NS };

static bool yields_pay(int64_t now_ns)
{
    return now_ns >= backoff_end(&yield_backoff);
}

/* A thread that began to yield at began_ns has learned that it does not pay. */
static void yields_do_not_pay(int64_t began_ns, int64_t now_ns)
{
    int64_t since_ns = began_ns - backoff_end(&yield_backoff);

    /* If it began before that time, another thread was late at the same time, and has noted it. */
    if (since_ns >= 0)
        back_off_longer(&yield_backoff,
                    since_ns <= atomic_load_explicit(&yield_backoff.for_ns, memory_order_relaxed) ? 2 : 0,
                    now_ns);
}

/* False: the yield has cost a time slice. */
static bool yield_was_short(int64_t before_ns, int64_t now_ns)
{
    if (now_ns - before_ns < LONGEST_YIELD_NS)
        return true;
    yields_do_not_pay(before_ns, now_ns);
    return false;
}

/*
 * Beside a program that computes all the time, a thread that stays awake takes turns with that program
 * on its core, and is away when its units come; where all sleep, one runs on for its time slice, and
 * nobody queues.  (2 threads, 1 us each, 2 cores, beside one: 0.4 of the holds.)  So nobody stays awake
 * for a while, and again for longer if that has not changed.
 *
 * A program that computes for a moment, now and then, must not cause this.  When a single late grant
 * did, a program that ran for 6 ms four times a second put all threads to sleep within a few seconds,
 * on a machine that was quiet otherwise.  One that computes all the time makes 20 to 50 grants late in
 * each second.
 */
static struct backoff awake_backoff = {
    .shortest_ns = 100000000, .longest_ns = INT64_C(2560000000)
};

/* How many late grants there were, since when, the last one, and the processor time at the start. */
static _Atomic int preempted_grants;
static _Atomic int64_t watched_since_ns, last_preempted_ns, used_before_ns;

/* Returns how much of the processors, in nanoseconds, this process has used since then. */
static int64_t watch_again(int64_t now_ns, int late)
{
    int64_t used_ns = fs_process_ns();

    atomic_store_explicit(&preempted_grants, late, memory_order_relaxed);
    atomic_store_explicit(&watched_since_ns, now_ns, memory_order_relaxed);
    return used_ns - atomic_exchange_explicit(&used_before_ns, used_ns, memory_order_relaxed);
}

static bool all_sleep(int64_t now_ns)
{
    return now_ns < backoff_end(&awake_backoff);
}

/* Would it have been granted soon, by what the semaphore has learned? */
static bool is_soon(const struct fs_awake *awake, bool as_front, bool others_wait)
{
    if (others_wait)
        return interval_ns(awake) <= FS_PREEMPTED_NS / 10;
    return as_front && (awake->as_front < PENALTY_HIGH || awake->as_front_here < PENALTY_HIGH);
}

/*
 * The holder was not running, or the head was not.  If this process has used three quarters of the
 * processors meanwhile, some other thread of its own was.
 *
 * Only where those who release are those who were granted: they run on that core.  If one thread
 * releases what another one always takes, each turn needs a wake-up unless that one is awake.  (Two
 * that take turns, each on a core of its own, beside one such program: a million turns a second, and
 * 80,000 with these pauses.)
 */
void fs_awake_preempted(const struct fs_awake *awake, bool as_front, bool others_wait, int64_t front_ns,
                   int64_t now_ns)
{
    int64_t since_ns = atomic_load_explicit(&watched_since_ns, memory_order_relaxed);
    int64_t slept_until_ns = backoff_end(&awake_backoff), began_ns = now_ns - front_ns;

    /* If it began before that time, grants of other semaphores were late by the same moment. */
    if (fs_under_valgrind || !is_soon(awake, as_front, others_wait) || began_ns < slept_until_ns
        || began_ns < atomic_load_explicit(&last_preempted_ns, memory_order_relaxed)
        || awake->holders_core != fs_core_byte(fs_cpu_current()))
        return;
    atomic_store_explicit(&last_preempted_ns, now_ns, memory_order_relaxed);
    if (now_ns - since_ns > WATCH_NS || since_ns < slept_until_ns) {
        (void)watch_again(now_ns, 1);
        return;
    }
    if (atomic_fetch_add_explicit(&preempted_grants, 1, memory_order_relaxed) + 1 != MANY_PREEMPTED
        || watch_again(now_ns, 0) >= (now_ns - since_ns) / 4 * 3 * fs_cpu_count())
        return;
    back_off_longer(&awake_backoff, now_ns - slept_until_ns < MEMORY_NS ? 4 : 0, now_ns);
}

/* ======================================================================== *
 *  The answers
 * ======================================================================== */

bool fs_awake_in_convoy(void)
{
    return fs_cpu_count() < FS_MANY_CORES;
}

static enum fs_strategy strategy_for_front(const struct fs_awake *awake, const struct fs_awake_facts *facts)
{
    if (awake->as_front < PENALTY_HIGH && cores_suffice(facts))
        return FS_SPIN_AS_FRONT;
    if (facts->only_front || !yields_pay(facts->enqueued_ns))
        return FS_SLEEP_AT_ONCE;
    return awake->as_front_here < PENALTY_HIGH ? FS_YIELD_AS_FRONT : FS_SLEEP_AT_ONCE;
}

/* What is likely to pay off? */
static enum fs_strategy strategy_for(const struct fs_awake *awake, const struct fs_awake_facts *facts)
{
    if (facts->is_front)
        return strategy_for_front(awake, facts);
    if (facts->only_front || !yields_pay(facts->enqueued_ns))
        return FS_SLEEP_AT_ONCE;
    if (facts->waiting > FEW && facts->waiting / NEAR_PLACES < holders(facts)
        && facts->waiting * interval_ns(awake) <= NEAR_NS)
        return FS_YIELD_IN_QUEUE;
    return FS_SLEEP_AT_ONCE;
}

/*
 * By a thread that joins a crowd.  It costs less than a wake by the releasing thread, so it pays if
 * turns are short, whatever the penalty; and if the head will yield, holders have their cores.
 */
static enum fs_ahead ahead_for(const struct fs_awake *awake, const struct fs_awake_facts *facts,
                               int core)
{
    int64_t turn = interval_ns(awake);

    if (facts->only_front || facts->is_front || facts->waiting <= FEW || !yields_pay(facts->enqueued_ns))
        return FS_AHEAD_NOBODY;
    if (turn <= SOON_NS && fs_core_byte(core) != awake->holders_core)
        return FS_AHEAD_ON_CORE;
    if (facts->early_unknown)
        return turn <= SOON_UNKNOWN_NS ? FS_AHEAD_FRONT : FS_AHEAD_NOBODY;
    return turn <= SOON_NS || awake->early < PENALTY_HIGH ? FS_AHEAD_FRONT : FS_AHEAD_NOBODY;
}

enum fs_ahead fs_awake_joined(const struct fs_awake *awake, const struct fs_awake_facts *facts,
                              int core, enum fs_strategy *plan)
{
    if (all_sleep(facts->enqueued_ns)) {
        *plan = FS_SLEEP_AT_ONCE;
        return FS_AHEAD_NOBODY;
    }
    *plan = strategy_for(awake, facts);
    return ahead_for(awake, facts, core);
}

/*
 * With so many awake, each has run for the time of two wake-ups when its turn comes: in less it may not
 * have woken.  But they need cores beside those of the holders.  Half as many again as there are cores
 * keep all of them busy; with more, the next in the queue would wait for a core.  (4 cores, 16 threads, 4
 * units, 5 us, simulated: nobody awake 220,000 holds a second, two 350,000.)
 */
int fs_awake_near(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns)
{
    int64_t wake_up = atomic_load_explicit(&wake_up_ns, memory_order_relaxed), turn = interval_ns(awake);
    int64_t cores = fs_cpu_count(), spare = cores - holders(facts), most = cores / 2;
    int64_t ahead = wake_up * 2 / turn + 2;

    if (facts->only_front || turn > wake_up * NEAR_WAKE_UPS || all_sleep(now_ns))
        return 0;
    if (!yields_pay(now_ns))
        return 1;
    if (spare > 0)
        most += spare;
    if (most > FS_NEAR_MAX)
        most = FS_NEAR_MAX;
    return (int)(ahead < most ? ahead : most);
}

enum fs_strategy fs_awake_strategy_near(const struct fs_awake *awake, const struct fs_awake_facts *facts)
{
    if (all_sleep(facts->enqueued_ns))
        return FS_SLEEP_AT_ONCE;
    return facts->is_front ? strategy_for_front(awake, facts) : FS_YIELD_IN_QUEUE;
}

/*
 * In a crowd, it is up to the next to join.  Nor beside other programs, when that one does not do it
 * either: a thread that has slept until its grant is preferred to them, one that was awake is not.
 */
bool fs_awake_next(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns)
{
    return facts->waiting < FEW && awake->early < PENALTY_HIGH && !facts->only_front
           && cores_suffice(facts) && !all_sleep(now_ns);
}

/*
 * A penalty would keep itself: a thread that does not try learns nothing.  So one in 16 tries, by the low
 * bits of the time.  Alone on its core the thread would keep the holder from running.
 */
bool fs_awake_before_queue(const _Atomic uint8_t *penalty, int64_t start_ns, int64_t now_ns)
{
    bool doubted = atomic_load_explicit(penalty, memory_order_relaxed) >= PENALTY_HIGH;

    if ((doubted && start_ns % 16 != 0) || fs_cpu_count() < 2 || all_sleep(now_ns))
        return false;
    return within(start_ns, now_ns, atomic_load_explicit(&wake_up_ns, memory_order_relaxed) * 2);
}

void fs_awake_learn_before_queue(_Atomic uint8_t *penalty, bool paid)
{
    uint8_t before = atomic_load_explicit(penalty, memory_order_relaxed);
    uint8_t after = penalty_after(before, paid);

    if (after != before)        /* otherwise the cores share its line */
        atomic_store_explicit(penalty, after, memory_order_relaxed);
}

/* One step for each grant, so the time comes to be the median: one late grant changes little. */
void fs_awake_learn_interval(struct fs_awake *awake, int64_t ns)
{
    if (ns > interval_ns(awake))
        awake->interval = (awake->interval + (awake->interval < INTERVAL_MAX)) & (unsigned)INTERVAL_MAX;
    else
        awake->interval = (awake->interval - (awake->interval > 0)) & (unsigned)INTERVAL_MAX;
}

/* The limits are the times for which fs_awake_stay() would have kept each kind of thread awake. */
void fs_awake_learn(struct fs_awake *awake, bool as_front, int64_t front_ns, int core)
{
    int64_t wake_up = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);

    if (as_front) {
        bool soon = front_ns <= wake_up * 2, here = core == fs_cpu_current();

        awake->as_front = penalty_after(awake->as_front, soon && !here) & (unsigned)PENALTY_MAX;
        awake->as_front_here = penalty_after(awake->as_front_here, soon && here) & (unsigned)PENALTY_MAX;
    } else {
        awake->early = penalty_after(awake->early, front_ns <= wake_up + wake_up / 2) & (unsigned)PENALTY_MAX;
    }
}

void fs_awake_learn_in_vain(struct fs_awake *awake, bool as_front, int64_t front_ns)
{
    if (front_ns > atomic_load_explicit(&wake_up_ns, memory_order_relaxed) * 2)
        fs_awake_learn(awake, as_front, front_ns, FS_NO_CORE);
}

/* ======================================================================== *
 *  Awake
 * ======================================================================== */

/*
 * For how long; 0: not at all.  A thread that joined as the head spins for two wake-ups.  One would be
 * the competitive bound (Karlin, Li, Manasse, Owicki, 1991: at most twice the cost of the best
 * choice).  But the releasing thread may also sleep, and then releases only after its own wake-up.
 * One that was woken early spins for half a wake-up, because its predecessor has already run for the
 * time of one; but in a crowd that one may still be waiting for a core.
 */
static int64_t longest_stay(enum fs_strategy plan, int64_t wake_up)
{
    switch (plan) {
    case FS_SPIN_AS_FRONT:
    case FS_YIELD_AS_FRONT:
    case FS_YIELD_WOKEN:
    case FS_YIELD_NEXT:
        return wake_up * 2;
    case FS_SPIN_WOKEN:
        return wake_up / 2;
    case FS_YIELD_IN_QUEUE:
        if (!fs_awake_in_convoy())
            return wake_up * NEAR_WAKE_UPS;
        return wake_up != 0 ? NEAR_NS * 2 : 0;
    default:
        return 0;
    }
}

/*
 * True: the word has changed.  Relaxed: a thread that sees the change goes on to a
 * compare-and-swap, which acquires.
 */
static bool has_changed(const _Atomic int *word, int value)
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
    for (int64_t now = start; within(start, now, longest); now = fs_now_ns()) {
        if (has_changed(word, value))
            return;
    }
}

/*
 * The word is loaded once between two yields: a pause takes 40 ns on some machines, and all threads
 * of the core wait for it.  (With 16 pauses a hand-off on one core took 2.2 us, with none 1.8 us.)
 * But a thread that learns that it is next spins first, once.
 *
 * If each yield of a whole stay comes back at once, nobody that counts needs this core.  Then a thread
 * that does not count may have the unit: one under SCHED_IDLE, or with nice 19, which no yield lets run.
 */
static void yield(const _Atomic int *word, int value, int64_t start, int64_t longest,
                  const _Atomic uint8_t *plan)
{
    bool was_next = false, at_once = true;
    int64_t now = start;

    if (!yields_pay(start) || !fs_cpu_is_time_shared())
        return;
    while (within(start, now, longest)) {
        int64_t before = now;

        if (atomic_load_explicit(word, memory_order_relaxed) != value)
            return;
        if (!was_next && atomic_load_explicit(plan, memory_order_relaxed) == FS_YIELD_NEXT) {
            was_next = true;
            spin(word, value, now, NEXT_NS);
            now = fs_now_ns();
            continue;
        }
        if (!fs_cpu_yield()) {
            back_off_for(&yield_backoff, now, LONGEST_BACKOFF_NS);
            return;
        }
        now = fs_now_ns();
        if (!yield_was_short(before, now))
            return;
        at_once = at_once && now - before < AT_ONCE_NS;
    }
    if (at_once && !was_next && atomic_load_explicit(plan, memory_order_relaxed) == FS_YIELD_IN_QUEUE)
        yields_do_not_pay(start, now);
}

bool fs_awake_stay(const _Atomic int *word, int value, const _Atomic uint8_t *plan,
                   int64_t enqueued_ns, const struct fs_deadline *deadline)
{
    int64_t wake_up = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);
    enum fs_strategy first = atomic_load_explicit(plan, memory_order_relaxed);
    int64_t longest = longest_stay(first, wake_up), start = enqueued_ns;
    bool yields = first >= FS_YIELD_AS_FRONT;

    /* A thread that yields comes back late: it may miss its deadline. */
    if (longest == 0
        || (yields && deadline != NULL && fs_deadline_rest(deadline, NEAR_NS * 2) < NEAR_NS * 2))
        return false;
    if (first != FS_SPIN_AS_FRONT && first != FS_YIELD_AS_FRONT)
        start = fs_now_ns();
    if (yields)
        yield(word, value, start, longest, plan);
    else
        spin(word, value, start, longest);
    return true;
}
