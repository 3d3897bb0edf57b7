/* SPDX-License-Identifier: MIT */
/* awake.c - adaptive spinning; see awake.h, and doc/awake.md for reasons and figures. */
#include "awake/awake.h"

#include "system/deadline.h"
#include "system/system.h"
#include "tools/annotate.h"

/* ======================================================================== *
 *  The state of one semaphore
 * ======================================================================== */

/* More waiters than this form a convoy: most hand-offs go to a thread that must first get a core. */
#define CONVOY_ABOVE 2

/*
 * In a convoy, a waiter behind the front yields without a pre-wake only if its grant is expected within
 * NEAR_NS.  Also, fewer than NEAR_PLACES waiters must wait for each thread that can hold units.  Other waiters
 * would mostly yield to each other.
 */
#define NEAR_PLACES 12
#define NEAR_NS     INT64_C(200000)

/*
 * With many cores, a near waiter yields for at most the time of NEAR_WAKE_UPS wake-ups.  If the hand-off
 * interval is longer than that time, no waiter is near.
 */
#define NEAR_WAKE_UPS 10

/* Spin limit of FS_YIELD_NEXT. */
#define SPIN_NEXT_NS     30000

/* Up to this hand-off interval, a thread that is enqueued pre-wakes a waiter even if the penalty is high. */
#define PREWAKE_NS     20000

/* Processes that share a semaphore learn no penalty of pre-waking: up to this interval, pre-wake the front. */
#define PREWAKE_SHARED_NS 100000

/*
 * Each penalty is for one action: spinning, yielding or pre-waking.  A wait for which the action paid, or
 * would have paid, takes one from the penalty; any other wait adds two.
 */
#define PENALTY_MAX  15           /* of four bits */
#define PENALTY_HIGH 8            /* from this value on, the action is not taken; the exceptions are below */

#define INTERVAL_MAX 63           /* 7 ms */

/* `interval` is a logarithm: about 2^(interval/4 - 3) microseconds.  Each step adds a fifth. */
static int64_t interval_ns(const struct fs_awake *awake)
{
    static const int64_t quarter[] = { 125, 149, 177, 210 };
    int steps = awake->interval;

    return quarter[steps % 4] << (steps / 4);
}

static uint8_t penalty_after(uint8_t penalty, bool paid)
{
    if (paid)
        return penalty != 0 ? penalty - 1 : 0;
    return penalty + 2 < PENALTY_MAX ? penalty + 2 : PENALTY_MAX;
}

/* Returns how many threads can hold units at once, if each holds as many as this request wants. */
static int64_t holders(const struct fs_awake_facts *facts)
{
    int64_t most = facts->each > 0 ? facts->units / facts->each : facts->units;

    return most > 0 ? most : 1;
}

/* Can a waiter spin without taking a core from a holder? */
static bool cores_suffice(const struct fs_awake_facts *facts)
{
    return holders(facts) < fs_cpu_count();
}

/* ======================================================================== *
 *  The state of the process
 * ======================================================================== */

/*
 * Under valgrind this state never changes, because helgrind reports atomics as races.  So wake_up_ns stays 0,
 * and all waiters sleep at once.  Valgrind runs one thread at a time anyway.
 */

/* If a wake-up takes longer than this limit, the thread has waited for a core: count only the limit. */
#define LONGEST_WAKE_UP_NS 50000

/* Has less than longest_ns passed since start_ns?  False if a tool that fakes the time sets the clock back. */
static bool within(int64_t start_ns, int64_t now_ns, int64_t longest_ns)
{
    return now_ns >= start_ns && now_ns - start_ns < longest_ns;
}

#define LOADS_PER_CLOCK 16      /* reading the clock costs a pause instruction or more */

/*
 * A yield of LONGEST_YIELD_NS or more has let another process run for a time slice.  Threads of this process
 * would have given the core back sooner.
 */
#define LONGEST_YIELD_NS  1000000
#define AT_ONCE_NS        2000          /* no other thread ran during a shorter yield */
#define LONGEST_BACKOFF_NS  640000000

/* MANY_PREEMPTED preempted hand-offs within WINDOW_NS mean that a busy process shares the cores. */
#define MANY_PREEMPTED    6
#define WINDOW_NS         400000000
#define MEMORY_NS         INT64_C(1000000000)   /* a back-off that ended longer ago is forgotten */

/*
 * The average time of a wake-up in this process; 0 until one is measured.  Samples above the average weigh
 * more: a wake-up on the waker's own core takes a tenth of the time of a wake-up across cores, and tells
 * nothing about wake-ups across cores.  Relaxed: a lost update is only a lost sample.
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
 * Exponential back-off: for a time, no thread yields, or no thread stays awake.  Relaxed: a thread that
 * loads an old value loses time once more, or backs off for a shorter time.
 */
struct backoff {
    _Atomic int64_t until_ns;   /* end of the last back-off, or 0 before the first one */
    _Atomic int64_t for_ns;     /* length of the last back-off */
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

/*
 * Begin a back-off.  Its length is that of the last back-off multiplied by `times`, but at least shortest_ns
 * and at most longest_ns.
 */
static void back_off_longer(struct backoff *backoff, int times, int64_t now_ns)
{
    int64_t ns = atomic_load_explicit(&backoff->for_ns, memory_order_relaxed) * times;

    if (ns < backoff->shortest_ns)
        ns = backoff->shortest_ns;
    back_off_for(backoff, now_ns, ns < backoff->longest_ns ? ns : backoff->longest_ns);
}

/* The back-off from yielding: yields return late on a busy machine, or are refused, or do not run the holder. */
static struct backoff yield_backoff = { .shortest_ns = 5000000, .longest_ns = LONGEST_BACKOFF_NS };

static bool yields_pay(int64_t now_ns)
{
    return now_ns >= backoff_end(&yield_backoff);
}

/* Back off: a thread that began to yield at began_ns has lost time. */
static void yields_do_not_pay(int64_t began_ns, int64_t now_ns)
{
    int64_t since_ns = began_ns - backoff_end(&yield_backoff);

    /*
     * No thread begins to yield during a back-off.  So if the last back-off ends after began_ns, another
     * thread began that back-off while this thread was yielding.  Both threads have lost time for the same
     * reason, so begin no second back-off.
     */
    if (since_ns >= 0)
        back_off_longer(&yield_backoff,
                        since_ns <= atomic_load_explicit(&yield_backoff.for_ns, memory_order_relaxed) ? 2 : 0,
                        now_ns);
}

/* If the yield has cost a time slice, backs off and returns false. */
static bool yield_was_short(int64_t before_ns, int64_t now_ns)
{
    if (now_ns - before_ns < LONGEST_YIELD_NS)
        return true;
    yields_do_not_pay(before_ns, now_ns);
    return false;
}

/*
 * The back-off from staying awake.  Alongside a busy process, an awake waiter may be preempted when its units
 * come.  If all waiters sleep, the holder runs on for its time slice, and no queue forms.  Then there are more
 * than twice as many holds as with awake waiters.
 *
 * A process that computes only now and then must not cause this back-off.  That process preempts few
 * hand-offs in a second; a busy process preempts 20 to 50.
 */
static struct backoff awake_backoff = {
    .shortest_ns = 100000000, .longest_ns = INT64_C(2560000000)
};

/*
 * Preempted hand-offs, counted in windows of time.  used_before_ns: the processor time of this process at the
 * start of the window.
 */
static _Atomic int preempted_grants;
static _Atomic int64_t window_start_ns, last_preempted_ns, used_before_ns;

/* Begin a window.  Returns the nanoseconds of processor time that this process used in the previous window. */
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

/* Do the learned interval or penalties say that the grant should have come soon? */
static bool is_soon(const struct fs_awake *awake, bool as_front, bool others_wait)
{
    if (others_wait)
        return interval_ns(awake) <= FS_PREEMPTED_NS / 10;
    return as_front && (awake->as_front < PENALTY_HIGH || awake->as_front_here < PENALTY_HIGH);
}

/*
 * Count a preempted hand-off, and after MANY_PREEMPTED of them begin a back-off.  But if this process has
 * used three quarters of all cores or more during the window, its own threads have preempted each other, and
 * no back-off begins.
 *
 * A hand-off counts only if the releasing thread runs on holders_core.  That thread has probably held the units
 * itself, and during a back-off can take and release units without a queue (see awake_backoff).  If one thread
 * always takes units and another one releases them, each unit is handed off, and a back-off would only add a
 * wake-up to each hand-off.
 */
void fs_awake_preempted(const struct fs_awake *awake, bool as_front, bool others_wait, int64_t front_ns,
                        int64_t now_ns)
{
    int64_t since_ns = atomic_load_explicit(&window_start_ns, memory_order_relaxed);
    int64_t slept_until_ns = backoff_end(&awake_backoff), began_ns = now_ns - front_ns;

    /*
     * If this waiter was already the front at the last counted hand-off, one preemption delayed both
     * hand-offs: do not count it twice.
     */
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

/* Returns the strategy of a thread that was enqueued in a convoy. */
static enum fs_strategy strategy_for(const struct fs_awake *awake, const struct fs_awake_facts *facts)
{
    if (facts->is_front)
        return strategy_for_front(awake, facts);
    if (facts->only_front || !yields_pay(facts->enqueued_ns))
        return FS_SLEEP_AT_ONCE;
    if (facts->waiting > CONVOY_ABOVE && facts->waiting / NEAR_PLACES < holders(facts)
        && facts->waiting * interval_ns(awake) <= NEAR_NS)
        return FS_YIELD_IN_QUEUE;
    return FS_SLEEP_AT_ONCE;
}

/*
 * A thread that has been enqueued is about to sleep, and leaves its core free.  So a pre-wake by that thread
 * costs less than a pre-wake by the releasing thread, which has work to do.  With short intervals the enqueued
 * thread's pre-wake pays even if the penalty is high.  The pre-woken front yields, and so takes no core from
 * the holders.
 */
static enum fs_prewake whom_to_prewake(const struct fs_awake *awake, const struct fs_awake_facts *facts,
                                       int core)
{
    int64_t interval = interval_ns(awake);

    if (facts->only_front || facts->is_front || facts->waiting <= CONVOY_ABOVE || !yields_pay(facts->enqueued_ns))
        return FS_PREWAKE_NOBODY;
    if (interval <= PREWAKE_NS && fs_core_byte(core) != awake->holders_core)
        return FS_PREWAKE_ON_CORE;
    if (facts->prewake_unknown)
        return interval <= PREWAKE_SHARED_NS ? FS_PREWAKE_FRONT : FS_PREWAKE_NOBODY;
    return interval <= PREWAKE_NS || awake->prewake < PENALTY_HIGH ? FS_PREWAKE_FRONT : FS_PREWAKE_NOBODY;
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
 * The time from a waiter's pre-wake to its grant should be that of two wake-ups or more.  Otherwise the waiter
 * may still be asleep at the grant.
 *
 * The limit of near waiters is the number of spare cores (cores that no holder needs), plus half of all cores.
 * With only the spare cores as the limit, cores would be idle, because some near waiters yield.
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
 * With CONVOY_ABOVE waiters or more, the granting thread leaves pre-waking to the next thread that is enqueued.
 *
 * On a busy machine (all_sleep()) no thread pre-wakes.  The kernel lets a woken thread preempt the busy
 * process if the thread has slept until its grant, but not if the thread was awake before.
 */
bool fs_awake_prewakes_front(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns)
{
    return facts->waiting < CONVOY_ABOVE && awake->prewake < PENALTY_HIGH && !facts->only_front
           && cores_suffice(facts) && !all_sleep(now_ns);
}

/*
 * While the penalty is high, one thread in 16 still stays awake, chosen by the low bits of start_ns.
 * Otherwise the penalty would stay high.  On a single core no thread stays awake: a spin would keep the holder
 * from running.
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

/* One step for each grant, so the estimate approaches the median, and one long interval changes it little. */
void fs_awake_learn_interval(struct fs_awake *awake, int64_t ns)
{
    if (ns > interval_ns(awake))
        awake->interval = (awake->interval + (awake->interval < INTERVAL_MAX)) & (unsigned)INTERVAL_MAX;
    else
        awake->interval = (awake->interval - (awake->interval > 0)) & (unsigned)INTERVAL_MAX;
}

/*
 * The limits of front_ns are those of longest_stay().  For a pre-woken front, the time of one wake-up is
 * added, because the thread may still have been asleep when it became the front.
 */
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

void fs_awake_learn_timed_out(struct fs_awake *awake, bool as_front, int64_t front_ns)
{
    if (front_ns > atomic_load_explicit(&wake_up_ns, memory_order_relaxed) * 2)
        fs_awake_learn(awake, as_front, front_ns, FS_NO_CORE);
}

/* ======================================================================== *
 *  Spinning and yielding
 * ======================================================================== */

/*
 * Returns the time limit of spinning or yielding, or 0 if the thread is to sleep at once.  wake_up: the
 * average time of a wake-up.
 *
 * Enqueued as the front: twice wake_up.  With wake_up alone, a wait would cost at most twice as much as with
 * the best choice (Karlin, Li, Manasse, Owicki, 1991).  But the holder may be asleep, and then releases only
 * after its own wake-up.
 *
 * FS_SPIN_WOKEN: half of wake_up.  The release should come soon, because the holder already held its units
 * while this thread woke up.  FS_YIELD_WOKEN and FS_YIELD_NEXT: twice wake_up, because in a convoy the holder
 * may still wait for a core.  FS_YIELD_IN_QUEUE: see NEAR_NS and NEAR_WAKE_UPS.
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

/* Relaxed: after the spin, the callers of fs_awake_stay() load the word again, with acquire order. */
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
 * Between two yields the word is loaded once, without a pause instruction: a pause takes 40 ns on some
 * machines, and delays all threads of the core.  Only a thread that is FS_YIELD_NEXT spins first, once.
 *
 * If every yield returns at once until `longest` has passed, no other thread of this priority needs this core.
 * The holder may be a thread under SCHED_IDLE or with nice 19, and no yield lets such a thread run.  So a
 * thread that is FS_YIELD_IN_QUEUE begins a back-off from yields.
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
            spin(word, value, now, SPIN_NEXT_NS);
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

    /* Do not yield shortly before the deadline: a yield may return late. */
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
