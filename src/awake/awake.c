/* SPDX-License-Identifier: MIT */
/* awake.c - adaptive spinning; see awake.h, and doc/awake.md for the figures. */
#include "awake/awake.h"

#include "system/deadline.h"
#include "system/system.h"
#include "tools/annotate.h"

/* ======================================================================== *
 *  The state of one semaphore
 * ======================================================================== */

/* More waiters than this form a convoy: most hand-offs go to a thread that must first get a core. */
#define FEW 2

/*
 * In a convoy, a waiter yields only if it is near the front: among the first NEAR_PLACES waiters for each
 * thread that can hold units, and with its grant expected within NEAR_NS.  Other waiters would mostly yield
 * to each other.
 */
#define NEAR_PLACES 12
#define NEAR_NS     INT64_C(200000)

/*
 * With many cores: the time limit of near waiters, in wake-ups.  If the hand-off interval is longer, no
 * waiter is near.
 */
#define NEAR_WAKE_UPS 10

/* For how long a waiter whose strategy becomes FS_YIELD_NEXT spins before it yields again. */
#define NEXT_NS     30000

/*
 * If the hand-off interval is longer, no waiter is pre-woken as the next of its core, and the front
 * only if that pays.
 */
#define SOON_NS     20000

/*
 * If the hand-off interval is longer, the front is not pre-woken between processes, where the penalty
 * of pre-waking is not learned.
 */
#define SOON_UNKNOWN_NS 100000

/* A wait for which staying awake paid, or would have paid, takes one from a penalty; any other adds two. */
#define PENALTY_MAX  15           /* of four bits */
#define PENALTY_HIGH 8            /* from here on, threads sleep at once */

#define INTERVAL_MAX 63           /* 7 ms */

/*
 * `interval` is a logarithm: about 2^(interval/4 - 3) microseconds, in steps of a fifth.  Only a
 * damaged segment has more than the maximum.
 */
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

/* Returns how many threads can hold units at once, if each holds as many as this request. */
static int64_t holders(const struct fs_awake_facts *facts)
{
    int64_t most = facts->each > 0 ? facts->units / facts->each : facts->units;

    return most > 0 ? most : 1;
}

/* Is there a core for one more thread beside the holders of units? */
static bool cores_suffice(const struct fs_awake_facts *facts)
{
    return holders(facts) < fs_cpu_count();
}

/* ======================================================================== *
 *  The state of the process
 * ======================================================================== */

/*
 * Under valgrind nothing is learned, because helgrind reports atomics as races.  So no thread stays
 * awake there; valgrind runs one thread at a time anyway.
 */

/* A longer wake-up has waited for a core, and counts as one of this length. */
#define LONGEST_WAKE_UP_NS 50000

/* Returns false if the clock has gone back, which a tool that fakes the time can cause. */
static bool within(int64_t start_ns, int64_t now_ns, int64_t longest_ns)
{
    return now_ns >= start_ns && now_ns - start_ns < longest_ns;
}

#define LOADS_PER_CLOCK 16      /* a reading of the clock takes at least as long as a pause instruction */

/* A longer yield has cost a time slice, of 1 to 4 ms.  Other threads of this process yield sooner. */
#define LONGEST_YIELD_NS  1000000
#define AT_ONCE_NS        2000          /* no other thread ran during a shorter yield */
#define LONGEST_BACKOFF_NS  640000000

/* MANY_PREEMPTED preempted hand-offs within WINDOW_NS mean that a busy process shares the cores. */
#define MANY_PREEMPTED    6
#define WINDOW_NS         400000000
#define MEMORY_NS         INT64_C(1000000000)   /* after this time the last back-off is forgotten */

/*
 * The average time of a wake-up in this process; 0 if no thread has been woken yet.  Longer samples
 * weigh more: a wake-up on the waker's own core takes a tenth of the time of one across cores, and says
 * nothing about wake-ups across cores.  Relaxed: the number protects nothing, and a lost update is only
 * a lost sample.
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
 * Exponential back-off from something that has just cost time.  The machine may only have been busy for
 * a moment, so the first back-off is short, and a back-off that soon follows another one is longer.
 *
 * Relaxed, like wake_up_ns: a thread that loads an old value only loses time once more, or backs off
 * for a shorter time.
 */
struct backoff {
    _Atomic int64_t until_ns;   /* the end of the last back-off; 0: there was none */
    _Atomic int64_t for_ns;
    const int64_t   shortest_ns, longest_ns;
};

static int64_t backoff_end(const struct backoff *backoff)
{
    return atomic_load_explicit(&backoff->until_ns, memory_order_relaxed);
}

static void back_off_for(struct backoff *backoff, int64_t now_ns, int64_t ns)
{
    if (fs_under_valgrind)
        return;
    atomic_store_explicit(&backoff->for_ns, ns, memory_order_relaxed);
    atomic_store_explicit(&backoff->until_ns, now_ns + ns, memory_order_relaxed);
}

/* Back off for `times` as long as the last time, or for the shortest time if `times` is 0. */
static void back_off_longer(struct backoff *backoff, int times, int64_t now_ns)
{
    int64_t ns = atomic_load_explicit(&backoff->for_ns, memory_order_relaxed) * times;

    if (ns < backoff->shortest_ns)
        ns = backoff->shortest_ns;
    back_off_for(backoff, now_ns, ns < backoff->longest_ns ? ns : backoff->longest_ns);
}

/* The back-off from yields, which return late on a busy machine. */
static struct backoff yield_backoff = { .shortest_ns = 5000000, .longest_ns = LONGEST_BACKOFF_NS };

static bool yields_pay(int64_t now_ns)
{
    return now_ns >= backoff_end(&yield_backoff);
}

/* Back off, because a thread that began to yield at began_ns has lost time. */
static void yields_do_not_pay(int64_t began_ns, int64_t now_ns)
{
    int64_t since_ns = began_ns - backoff_end(&yield_backoff);

    /*
     * If the yield began before the end of the last back-off, another thread has lost time at the same
     * moment, and has backed off for both.
     */
    if (since_ns >= 0)
        back_off_longer(&yield_backoff,
                        since_ns <= atomic_load_explicit(&yield_backoff.for_ns, memory_order_relaxed) ? 2 : 0,
                        now_ns);
}

/* Returns false if the yield has cost a time slice. */
static bool yield_was_short(int64_t before_ns, int64_t now_ns)
{
    if (now_ns - before_ns < LONGEST_YIELD_NS)
        return true;
    yields_do_not_pay(before_ns, now_ns);
    return false;
}

/*
 * Alongside a busy process, a thread that stays awake shares its core with that process, and is
 * preempted when its units come.  If all waiters sleep, the holder runs on for its time slice, and no
 * queue forms, which gives more than twice the holds.  So no thread stays awake during a back-off, and
 * the next back-off is longer if the process is still busy.
 *
 * A process that computes for a moment, now and then, must not cause this back-off: it preempts few
 * hand-offs in a second, while a busy process preempts 20 to 50.
 */
static struct backoff awake_backoff = {
    .shortest_ns = 100000000, .longest_ns = INT64_C(2560000000)
};

/*
 * Preempted hand-offs: their number in this window, the start of the window, the last hand-off, and the
 * processor time at the start.
 */
static _Atomic int preempted_grants;
static _Atomic int64_t window_start_ns, last_preempted_ns, used_before_ns;

/* Begin a window.  Returns the processor time, in nanoseconds, that this process has used in the last one. */
static int64_t restart_window(int64_t now_ns, int preempted)
{
    int64_t used_ns = fs_process_ns();

    atomic_store_explicit(&preempted_grants, preempted, memory_order_relaxed);
    atomic_store_explicit(&window_start_ns, now_ns, memory_order_relaxed);
    return used_ns - atomic_exchange_explicit(&used_before_ns, used_ns, memory_order_relaxed);
}

static bool all_sleep(int64_t now_ns)
{
    return now_ns < backoff_end(&awake_backoff);
}

/* Is a grant expected soon, by what the semaphore has learned? */
static bool is_soon(const struct fs_awake *awake, bool as_front, bool others_wait)
{
    if (others_wait)
        return interval_ns(awake) <= FS_PREEMPTED_NS / 10;
    return as_front && (awake->as_front < PENALTY_HIGH || awake->as_front_here < PENALTY_HIGH);
}

/*
 * Either the holder or the front was preempted.  If this process has used three quarters of the
 * processor time of the window, its own threads have preempted each other, and no back-off begins.
 *
 * A hand-off counts only if this thread, which releases, is the one that was granted before: it runs on
 * the core of the last holder.  If one thread always releases what another one takes, each hand-off
 * needs a wake-up, unless the other thread is awake.
 */
void fs_awake_preempted(const struct fs_awake *awake, bool as_front, bool others_wait, int64_t front_ns,
                        int64_t now_ns)
{
    int64_t since_ns = atomic_load_explicit(&window_start_ns, memory_order_relaxed);
    int64_t slept_until_ns = backoff_end(&awake_backoff), began_ns = now_ns - front_ns;

    /* If the last counted hand-off came after this wait began, one preemption delayed both: count it once. */
    if (fs_under_valgrind || !is_soon(awake, as_front, others_wait) || began_ns < slept_until_ns
        || began_ns < atomic_load_explicit(&last_preempted_ns, memory_order_relaxed)
        || awake->holders_core != fs_core_byte(fs_cpu_current()))
        return;
    atomic_store_explicit(&last_preempted_ns, now_ns, memory_order_relaxed);
    if (now_ns - since_ns > WINDOW_NS || since_ns < slept_until_ns) {
        (void)restart_window(now_ns, 1);
        return;
    }
    if (atomic_fetch_add_explicit(&preempted_grants, 1, memory_order_relaxed) + 1 != MANY_PREEMPTED
        || restart_window(now_ns, 0) >= (now_ns - since_ns) / 4 * 3 * fs_cpu_count())
        return;
    back_off_longer(&awake_backoff, now_ns - slept_until_ns < MEMORY_NS ? 4 : 0, now_ns);
}

/* ======================================================================== *
 *  The policy
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

/* The strategy that will probably pay. */
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
 * Pre-waking by a thread that is enqueued costs less than by the releasing thread.  So it pays if
 * intervals are short, whatever the penalty.  The pre-woken front yields, so it takes no core from the
 * holders.
 */
static enum fs_prewake whom_to_prewake(const struct fs_awake *awake, const struct fs_awake_facts *facts,
                                       int core)
{
    int64_t interval = interval_ns(awake);

    if (facts->only_front || facts->is_front || facts->waiting <= FEW || !yields_pay(facts->enqueued_ns))
        return FS_PREWAKE_NOBODY;
    if (interval <= SOON_NS && fs_core_byte(core) != awake->holders_core)
        return FS_PREWAKE_ON_CORE;
    if (facts->prewake_unknown)
        return interval <= SOON_UNKNOWN_NS ? FS_PREWAKE_FRONT : FS_PREWAKE_NOBODY;
    return interval <= SOON_NS || awake->prewake < PENALTY_HIGH ? FS_PREWAKE_FRONT : FS_PREWAKE_NOBODY;
}

enum fs_prewake fs_awake_enqueued(const struct fs_awake *awake, const struct fs_awake_facts *facts,
                                  int core, enum fs_strategy *strategy)
{
    if (all_sleep(facts->enqueued_ns)) {
        *strategy = FS_SLEEP_AT_ONCE;
        return FS_PREWAKE_NOBODY;
    }
    *strategy = strategy_for(awake, facts);
    return whom_to_prewake(awake, facts, core);
}

/*
 * A waiter should be woken two wake-ups before its grant: with a shorter lead it may still sleep then.
 * But near waiters need cores besides those of the holders.  Holders and near waiters are at most one
 * and a half times as many as the cores.  That many keep all cores busy; with more, the next waiter
 * would wait for a core.
 */
int fs_awake_near(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns)
{
    int64_t wake_up = atomic_load_explicit(&wake_up_ns, memory_order_relaxed), interval = interval_ns(awake);
    int64_t cores = fs_cpu_count(), spare = cores - holders(facts), most = cores / 2;
    int64_t wanted = wake_up * 2 / interval + 2;

    if (facts->only_front || interval > wake_up * NEAR_WAKE_UPS || all_sleep(now_ns))
        return 0;
    if (!yields_pay(now_ns))
        return 1;
    if (spare > 0)
        most += spare;
    if (most > FS_NEAR_MAX)
        most = FS_NEAR_MAX;
    return (int)(wanted < most ? wanted : most);
}

enum fs_strategy fs_awake_strategy_near(const struct fs_awake *awake, const struct fs_awake_facts *facts)
{
    if (all_sleep(facts->enqueued_ns))
        return FS_SLEEP_AT_ONCE;
    return facts->is_front ? strategy_for_front(awake, facts) : FS_YIELD_IN_QUEUE;
}

/*
 * In a convoy, the next thread that is enqueued pre-wakes the front instead.  On a busy machine no
 * thread should pre-wake: the kernel lets a thread that has slept until its grant preempt the busy
 * process, but not one that was awake.
 */
bool fs_awake_prewakes_front(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns)
{
    return facts->waiting < FEW && awake->prewake < PENALTY_HIGH && !facts->only_front
           && cores_suffice(facts) && !all_sleep(now_ns);
}

/*
 * A high penalty would stay high, because a thread that does not try learns nothing.  So one thread in
 * 16 tries, chosen by the low bits of the time.  On a single core no thread tries, because it would
 * keep the holder from running.
 */
bool fs_awake_before_queue(const _Atomic uint8_t *penalty, int64_t start_ns, int64_t now_ns)
{
    bool is_high = atomic_load_explicit(penalty, memory_order_relaxed) >= PENALTY_HIGH;

    if ((is_high && start_ns % 16 != 0) || fs_cpu_count() < 2 || all_sleep(now_ns))
        return false;
    return within(start_ns, now_ns, atomic_load_explicit(&wake_up_ns, memory_order_relaxed) * 2);
}

void fs_awake_learn_before_queue(_Atomic uint8_t *penalty, bool paid)
{
    uint8_t before = atomic_load_explicit(penalty, memory_order_relaxed);
    uint8_t after = penalty_after(before, paid);

    if (after != before)        /* a store without a change would take the cache line from other cores */
        atomic_store_explicit(penalty, after, memory_order_relaxed);
}

/* One step for each grant, so the interval approaches the median: one preempted hand-off changes little. */
void fs_awake_learn_interval(struct fs_awake *awake, int64_t ns)
{
    if (ns > interval_ns(awake))
        awake->interval = (awake->interval + (awake->interval < INTERVAL_MAX)) & (unsigned)INTERVAL_MAX;
    else
        awake->interval = (awake->interval - (awake->interval > 0)) & (unsigned)INTERVAL_MAX;
}

/* The time limits are those of longest_stay(). */
void fs_awake_learn(struct fs_awake *awake, bool as_front, int64_t front_ns, int core)
{
    int64_t wake_up = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);

    if (as_front) {
        bool soon = front_ns <= wake_up * 2, here = core == fs_cpu_current();

        awake->as_front = penalty_after(awake->as_front, soon && !here) & (unsigned)PENALTY_MAX;
        awake->as_front_here = penalty_after(awake->as_front_here, soon && here) & (unsigned)PENALTY_MAX;
    } else {
        awake->prewake = penalty_after(awake->prewake, front_ns <= wake_up + wake_up / 2) & (unsigned)PENALTY_MAX;
    }
}

void fs_awake_learn_in_vain(struct fs_awake *awake, bool as_front, int64_t front_ns)
{
    if (front_ns > atomic_load_explicit(&wake_up_ns, memory_order_relaxed) * 2)
        fs_awake_learn(awake, as_front, front_ns, FS_NO_CORE);
}

/* ======================================================================== *
 *  Spinning and yielding
 * ======================================================================== */

/*
 * Returns the spin limit, or 0 to sleep at once.  A thread that was enqueued as the front spins for two
 * wake-ups.  One wake-up would be the competitive bound (Karlin, Li, Manasse, Owicki, 1991: at most
 * twice the cost of the best choice), but the releasing thread may also sleep, and releases only after
 * its own wake-up.  A pre-woken front spins for half a wake-up, because its predecessor has already
 * held the unit during a whole one.  In a convoy it yields for two wake-ups, because the predecessor
 * may still wait for a core.
 */
static int64_t longest_stay(enum fs_strategy strategy, int64_t wake_up)
{
    switch (strategy) {
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

/* Relaxed: a thread that sees the change goes on to a compare-and-swap, which acquires. */
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
 * The word is loaded once between two yields: a pause instruction takes 40 ns on some machines, and
 * delays all threads of the core.  But a thread whose strategy becomes FS_YIELD_NEXT first spins, once.
 *
 * If every yield returns at once until the time is over, no other thread of this priority needs this
 * core.  Then the holder may be a thread under SCHED_IDLE or with nice 19, which no yield lets run.
 */
static void yield(const _Atomic int *word, int value, int64_t start, int64_t longest,
                  const _Atomic uint8_t *strategy)
{
    bool was_next = false, at_once = true;
    int64_t now = start;

    if (!yields_pay(start) || !fs_cpu_is_time_shared())
        return;
    while (within(start, now, longest)) {
        int64_t before = now;

        if (atomic_load_explicit(word, memory_order_relaxed) != value)
            return;
        if (!was_next && atomic_load_explicit(strategy, memory_order_relaxed) == FS_YIELD_NEXT) {
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
    if (at_once && !was_next && atomic_load_explicit(strategy, memory_order_relaxed) == FS_YIELD_IN_QUEUE)
        yields_do_not_pay(start, now);
}

bool fs_awake_stay(const _Atomic int *word, int value, const _Atomic uint8_t *strategy,
                   int64_t enqueued_ns, const struct fs_deadline *deadline)
{
    int64_t wake_up = atomic_load_explicit(&wake_up_ns, memory_order_relaxed);
    enum fs_strategy first = atomic_load_explicit(strategy, memory_order_relaxed);
    int64_t longest = longest_stay(first, wake_up), start = enqueued_ns;
    bool yields = first >= FS_YIELD_AS_FRONT;

    /* A yield may return after the deadline. */
    if (longest == 0
        || (yields && deadline != NULL && fs_deadline_rest(deadline, NEAR_NS * 2) < NEAR_NS * 2))
        return false;
    if (first != FS_SPIN_AS_FRONT && first != FS_YIELD_AS_FRONT)
        start = fs_now_ns();
    if (yields)
        yield(word, value, start, longest, strategy);
    else
        spin(word, value, start, longest);
    return true;
}
