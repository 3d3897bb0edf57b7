/* SPDX-License-Identifier: MIT */
/*
 * t_awake.c - the policy of src/awake/awake.c: for how long a thread stays awake, the decisions in a table of
 * situations, and what the policy learns.  Then: which waits of a semaphore teach the policy.
 */
#include "clockwork.h"

#include "awake/awake.h"
#include "queue.h"
#include "section.h"
#include "wait.h"

#define LOOK    16
#define WAKE_UP 16384
#define SOON    (WAKE_UP / 2)
#define LATE    (WAKE_UP * 10)
#define MS      INT64_C(1000000)

/* Each call begins at a later time, so that back-offs of earlier situations have no effect. */
static void begin(void)
{
    static int times;

    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    world.now += ++times * INT64_C(100000000000);
}

/* ---- Awake: for how long, and how ---- */

/*
 * Stay awake with this strategy until the thread should sleep.  Returns the time for which it was awake.  A
 * thread that was enqueued as the front counts its time from enqueued_ns.  For other strategies, enqueued_ns
 * is long ago and must have no effect.
 */
static int64_t stay(enum fs_strategy strategy, const struct fs_deadline *deadline)
{
    const _Atomic int word = 1;
    const _Atomic uint8_t plan = (uint8_t)strategy;
    bool at_once = strategy == FS_SPIN_AS_FRONT || strategy == FS_YIELD_AS_FRONT;
    int64_t start = world.now;

    begin_plan();
    (void)fs_awake_stay(&word, 1, &plan, at_once ? start : start - 100 * LATE, deadline);
    return world.now - start;
}

/* The clock may be read a few times more, and times are rounded. */
static void assert_about(int64_t ns, int64_t expected)
{
    ck_assert_int_ge(ns, expected - 2 * LOOK);
    ck_assert_int_le(ns, expected + 5 * LOOK);
}

/* Must be the first test: all tests may share a process, and the others measure wake-ups. */
START_TEST(no_thread_stays_awake_until_a_wake_up_has_been_measured)
{
    begin_world(LOOK);
    for (int s = FS_SLEEP_AT_ONCE; s <= FS_YIELD_IN_QUEUE; s++)
        ck_assert_int_eq(stay((enum fs_strategy)s, NULL), 0);
}
END_TEST

START_TEST(each_strategy_has_its_time)
{
    static const struct {
        enum fs_strategy strategy;
        int cores;
        int64_t spins, yields;
    } rows[] = {
        { FS_SLEEP_AT_ONCE, 2, 0, 0 },
        { FS_SPIN_AS_FRONT, 2, 2 * WAKE_UP, 0 },
        { FS_SPIN_WOKEN, 2, WAKE_UP / 2, 0 },
        { FS_YIELD_AS_FRONT, 2, 0, 2 * WAKE_UP },
        { FS_YIELD_WOKEN, 2, 0, 2 * WAKE_UP },
        { FS_YIELD_NEXT, 2, 30000, 2 * WAKE_UP - 30000 },
        { FS_YIELD_IN_QUEUE, 2, 0, 400000 },
        { FS_YIELD_IN_QUEUE, 4, 0, 10 * WAKE_UP },
    };
    const struct fs_deadline soon = fs_deadline_after(1), late = fs_deadline_after(INT64_C(3600000000000));

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const bool yields = rows[i].yields != 0;

        begin();
        world.cores = rows[i].cores;
        world.yield_takes = 2 * LOOK;
        assert_about(stay(rows[i].strategy, &late), rows[i].spins + rows[i].yields);
        assert_about(world.is.yields * 3 * LOOK, rows[i].yields);
        begin();
        world.cores = rows[i].cores;
        assert_about(stay(rows[i].strategy, &soon), yields ? 0 : rows[i].spins);
        world.real_time = true;
        (void)stay(rows[i].strategy, NULL);
        ck_assert_int_eq(world.is.yields, 0);
    }
}
END_TEST

/* A short sample, of a wake-up on the waker's own core, counts less.  A sample of more than 50 us, of a thread
 * that had to wait for a core, counts as 50 us. */
START_TEST(the_time_of_a_wake_up_is_an_average_of_50_us_at_most)
{
    static const struct { int64_t before, sample, after; } rows[] = {
        { WAKE_UP, 2 * WAKE_UP, WAKE_UP + WAKE_UP / 4 },
        { WAKE_UP, WAKE_UP / 2, WAKE_UP - WAKE_UP / 32 },
        { WAKE_UP, -WAKE_UP, WAKE_UP },
        { WAKE_UP, 1000000, WAKE_UP + (50000 - WAKE_UP) / 4 },
        { 1000000, 48000, 50000 - 2000 / 16 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        begin_world(LOOK);
        let_wake_ups_take(rows[i].before);
        fs_awake_note_wake_up(world.now - rows[i].sample);
        assert_about(stay(FS_SPIN_AS_FRONT, NULL), 2 * rows[i].after);
    }
}
END_TEST

/* ---- Yields that do not pay ---- */

static bool yields_pay_at(int64_t when)
{
    world.now = when;
    (void)stay(FS_YIELD_WOKEN, NULL);
    return world.is.yields != 0;
}

/* Yield for a time slice, as to another program.  Returns the time at the end. */
static int64_t yield_late(void)
{
    world.yield_takes = 3 * MS;
    (void)stay(FS_YIELD_IN_QUEUE, NULL);
    ck_assert_int_eq(world.is.yields, 1);
    world.yield_takes = LOOK;
    return world.now;
}

START_TEST(each_late_yield_makes_the_back_off_longer)
{
    int64_t backoff = 5 * MS, late;

    begin();
    late = yield_late();
    for (int i = 0; i < 20; i++) {
        ck_assert(!yields_pay_at(late + backoff - MS / 2));
        world.now = late + backoff + MS / 2;
        late = yield_late();
        if (i < 7)
            backoff *= 2;
    }
    ck_assert(!yields_pay_at(late + backoff - MS));
    ck_assert(yields_pay_at(late + backoff + MS));
    world.now += backoff;
    late = yield_late();        /* long after the last late yield: the back-off is short again */
    ck_assert(!yields_pay_at(late + 4 * MS));
    ck_assert(yields_pay_at(late + 6 * MS));
}
END_TEST

static void yield_late_too(void *unused)
{
    static const _Atomic int word = 1;
    static const _Atomic uint8_t plan = FS_YIELD_IN_QUEUE;

    (void)unused;
    (void)fs_awake_stay(&word, 1, &plan, 0, NULL);
}

START_TEST(threads_with_late_yields_at_the_same_time_cause_one_back_off)
{
    begin();
    world.in_yield = yield_late_too;
    world.yield_takes = 3 * MS;
    (void)stay(FS_YIELD_IN_QUEUE, NULL);
    ck_assert_int_eq(world.is.yields, 2);
    ck_assert(yields_pay_at(world.now + 3 * MS));       /* the back-off ended 5 ms after the first late yield */
}
END_TEST

/* If all yields return at once, they give no core to the holders of the units. */
START_TEST(a_yield_in_the_queue_does_not_pay_if_no_other_thread_runs)
{
    static const struct { enum fs_strategy strategy; int yield_takes; bool in_vain; } rows[] = {
        { FS_YIELD_IN_QUEUE, LOOK, true }, { FS_YIELD_IN_QUEUE, 1900, true },
        { FS_YIELD_IN_QUEUE, 2000, false }, { FS_YIELD_IN_QUEUE, 990 * 1000, false },
        { FS_YIELD_WOKEN, LOOK, false }, { FS_YIELD_NEXT, LOOK, false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int64_t end;

        begin();
        world.yield_takes = rows[i].yield_takes;
        (void)stay(rows[i].strategy, NULL);
        end = world.now;
        world.yield_takes = LOOK;
        ck_assert_int_eq(!yields_pay_at(end + 4 * MS), rows[i].in_vain);
        ck_assert(yields_pay_at(end + 6 * MS));
    }
}
END_TEST

/* ---- While other programs have the cores, all sleep ---- */

static bool all_sleep_at(int64_t when)
{
    const struct fs_awake nothing_learned = { 0 };
    const struct fs_awake_facts alone = { .units = 1, .each = 1 };

    return !fs_awake_prewakes_front(&nothing_learned, &alone, when);
}

/* Preempt `times` hand-offs of this semaphore, one every `apart` nanoseconds.  Returns the time of the last. */
static int64_t preempt(int times, const struct fs_awake *awake, int64_t apart, bool as_front, bool others_wait)
{
    for (int i = 0; i < times; i++)
        fs_awake_preempted(awake, as_front, others_wait, FS_PREEMPTED_NS, world.now += apart);
    return world.now;
}

START_TEST(six_preempted_hand_offs_make_all_threads_sleep_if_a_hand_off_was_due)
{
    static const struct {
        const char *what;
        struct fs_awake known;
        int times;
        int64_t apart;
        bool as_front, others_wait, own_process, all_sleep;
    } rows[] = {
        { "others wait", { .interval = 38 }, 6, 2 * MS, false, true, false, true },
        { "within 0.4 s", { 0 }, 6, 79 * MS, true, true, false, true },
        { "in more than 0.4 s", { 0 }, 6, 81 * MS, true, true, false, false },
        { "only five", { 0 }, 5, 2 * MS, true, true, false, false },
        { "in the same moment", { 0 }, 20, MS / 4, true, true, false, false },
        { "the own process has the cores", { 0 }, 20, 2 * MS, true, true, true, false },
        { "the releaser is another thread", { .holders_core = 1 }, 20, 2 * MS, true, true, false, false },
        { "long intervals", { .interval = 39 }, 20, 2 * MS, true, true, false, false },
        { "alone, and awake", { .interval = 63 }, 6, 2 * MS, true, false, false, true },
        { "alone, and yields", { .as_front = 8, .as_front_here = 7 }, 6, 2 * MS, true, false, false, true },
        { "alone, and spins", { .as_front = 7, .as_front_here = 8 }, 6, 2 * MS, true, false, false, true },
        { "alone, asleep", { .as_front = 8, .as_front_here = 8 }, 20, 2 * MS, true, false, false, false },
        { "alone, became the front", { 0 }, 20, 2 * MS, false, false, false, false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        begin();
        world.others_compute = !rows[i].own_process;
        preempt(rows[i].times, &rows[i].known, rows[i].apart, rows[i].as_front, rows[i].others_wait);
        ck_assert_msg(all_sleep_at(world.now) == rows[i].all_sleep, "%s", rows[i].what);
    }
}
END_TEST

START_TEST(each_back_off_makes_all_threads_sleep_for_longer)
{
    const struct fs_awake awake = { 0 };
    int64_t backoff = 100 * MS, late;

    begin();
    world.others_compute = true;
    late = preempt(6, &awake, 2 * MS, true, true);
    for (int i = 0; i < 6; i++) {
        ck_assert(all_sleep_at(late + backoff - MS));
        ck_assert(!all_sleep_at(late + backoff));
        world.now = late + backoff + MS;
        /* Hand-offs before the back-off do not count. */
        ck_assert(!all_sleep_at(preempt(5, &awake, 2 * MS, true, true)));
        late = preempt(1, &awake, 2 * MS, true, true);
        backoff = backoff < 640 * MS ? backoff * 4 : 2560 * MS;
    }
    world.now = late + backoff + 1100 * MS;     /* long after the back-off */
    late = preempt(6, &awake, 2 * MS, true, true);
    ck_assert(all_sleep_at(late + 99 * MS));
    ck_assert(!all_sleep_at(late + 100 * MS));
}
END_TEST

/* ---- Situations ---- */

enum { FRONT = 1, ONLY_FRONT = 2, UNKNOWN = 4 };        /* is_front, only_front, prewake_unknown */
enum machine { QUIET, LATE_YIELD, PREEMPTED };          /* what has just happened on the machine */

/* Steps of the hand-off interval: the last step of at most 20 us, of at most 100 us and of at most 164 us, and
 * the last step with which three hand-offs take at most 0.2 ms. */
enum { SHORT = 29, MIDDLE = 38, TEN_WAKE_UPS = 41, THREE_NEAR = 36 };

/*
 * The holder was enqueued on core 0.  A thread is enqueued on `core`, as the last of `waiting` requests.  The
 * expected answers for a convoy: the thread's strategy, which waiter it pre-wakes, and whether the granter
 * pre-wakes the new front (`next`).  For more cores: the thread's strategy, and the number of near waiters.
 */
static const struct situation {
    const char *what;
    struct { int as_front, here, prewake, interval; } known;
    int64_t waiting, units, each;
    int flags, cores, core;
    enum machine machine;
    enum fs_strategy strategy;
    enum fs_prewake prewakes;
    bool next;
    enum fs_strategy near_strategy;
    int near;
} situations[] = {
#define SLEEP  FS_SLEEP_AT_ONCE
#define SPIN   FS_SPIN_AS_FRONT
#define YIELD  FS_YIELD_AS_FRONT
#define QUEUE  FS_YIELD_IN_QUEUE
#define NOBODY FS_PREWAKE_NOBODY
#define HEAD   FS_PREWAKE_FRONT
#define OWN    FS_PREWAKE_ON_CORE
    { "the front", { 0 }, 1, 1, 1, FRONT, 2, 1, QUIET, SPIN, NOBODY, true, SPIN, 2 },
    { "it never paid", { 8, 8, 0, 0 }, 1, 1, 1, FRONT, 2, 1, QUIET, SLEEP, NOBODY, true, SLEEP, 2 },
    { "the penalty is lower", { 7, 8, 0, 0 }, 1, 1, 1, FRONT, 2, 1, QUIET, SPIN, NOBODY, true, SPIN, 2 },
    { "it pays on this core", { 8, 7, 0, 0 }, 1, 1, 1, FRONT, 2, 1, QUIET, YIELD, NOBODY, true, YIELD, 2 },
    { "the holder has the only core", { 0 }, 1, 1, 1, FRONT, 1, 1, QUIET, YIELD, NOBODY, false, YIELD, 0 },
    { "two holders, two cores", { 0 }, 1, 2, 1, FRONT, 2, 1, QUIET, YIELD, NOBODY, false, YIELD, 1 },
    { "two holders, three cores", { 0 }, 1, 2, 1, FRONT, 3, 1, QUIET, SPIN, NOBODY, true, SPIN, 2 },
    { "each holds two units", { 0 }, 1, 3, 2, FRONT, 2, 1, QUIET, SPIN, NOBODY, true, SPIN, 2 },
    { "too few units for anybody", { 0 }, 1, 1, 2, FRONT, 2, 1, QUIET, SPIN, NOBODY, true, SPIN, 2 },
    { "units of no size", { 0 }, 1, 1, 0, FRONT, 2, 1, QUIET, SPIN, NOBODY, true, SPIN, 2 },
    { "only the front", { 8, 0, 0, 0 }, 1, 1, 1, FRONT | ONLY_FRONT, 2, 1, QUIET, SLEEP, NOBODY, false, SLEEP, 0 },
    { "only the front, spins", { 0 }, 1, 1, 1, FRONT | ONLY_FRONT, 2, 1, QUIET, SPIN, NOBODY, false, SPIN, 0 },
    { "the front, late yields", { 8, 0, 0, 0 }, 1, 1, 1, FRONT, 2, 1, LATE_YIELD, SLEEP, NOBODY, true, SLEEP, 1 },
    { "the front, all sleep", { 0 }, 1, 1, 1, FRONT, 2, 1, PREEMPTED, SLEEP, NOBODY, false, SLEEP, 0 },
    { "the second", { 0 }, 2, 1, 1, 0, 2, 1, QUIET, SLEEP, NOBODY, false, QUEUE, 2 },
    { "the third, on a free core", { 0 }, 3, 1, 1, 0, 2, 1, QUIET, QUEUE, OWN, false, QUEUE, 2 },
    { "on the holder's core", { 0 }, 3, 1, 1, 0, 2, 0, QUIET, QUEUE, HEAD, false, QUEUE, 2 },
    { "the third, late yields", { 0 }, 3, 1, 1, 0, 2, 1, LATE_YIELD, SLEEP, NOBODY, false, QUEUE, 1 },
    { "the third, all sleep", { 0 }, 3, 1, 1, 0, 2, 1, PREEMPTED, SLEEP, NOBODY, false, SLEEP, 0 },
    { "the third, only the front", { 0 }, 3, 1, 1, ONLY_FRONT, 2, 1, QUIET, SLEEP, NOBODY, false, QUEUE, 0 },
    { "better than two others", { 0 }, 3, 1, 1, FRONT, 2, 1, QUIET, SPIN, NOBODY, false, SPIN, 2 },
    { "the last of the near", { 0 }, 11, 1, 1, 0, 2, 1, QUIET, QUEUE, OWN, false, QUEUE, 2 },
    { "the first behind them", { 0 }, 12, 1, 1, 0, 2, 1, QUIET, SLEEP, OWN, false, QUEUE, 2 },
    { "two holders, the last", { 0 }, 23, 2, 1, 0, 2, 1, QUIET, QUEUE, OWN, false, QUEUE, 1 },
    { "two holders, behind", { 0 }, 24, 2, 1, 0, 2, 1, QUIET, SLEEP, OWN, false, QUEUE, 1 },
    { "three in 0.2 ms", { 0, 0, 0, THREE_NEAR }, 3, 1, 1, 0, 2, 1, QUIET, QUEUE, HEAD, false, QUEUE, 2 },
    { "not in 0.2 ms", { 0, 0, 0, THREE_NEAR + 1 }, 3, 1, 1, 0, 2, 1, QUIET, SLEEP, HEAD, false, QUEUE, 2 },
    { "short intervals", { 0, 0, 8, SHORT }, 3, 1, 1, 0, 2, 1, QUIET, QUEUE, OWN, false, QUEUE, 2 },
    { "the same core", { 0, 0, 8, SHORT }, 3, 1, 1, 0, 2, 0, QUIET, QUEUE, HEAD, false, QUEUE, 2 },
    { "longer, wakes that cost", { 0, 0, 8, SHORT + 1 }, 3, 1, 1, 0, 2, 1, QUIET, QUEUE, NOBODY, false, QUEUE, 2 },
    { "longer, wakes that pay", { 0, 0, 7, SHORT + 1 }, 3, 1, 1, 0, 2, 1, QUIET, QUEUE, HEAD, false, QUEUE, 2 },
    { "unknown, short", { 0, 0, 8, MIDDLE }, 3, 1, 1, UNKNOWN, 2, 1, QUIET, SLEEP, HEAD, false, QUEUE, 2 },
    { "unknown, longer", { 0, 0, 0, MIDDLE + 1 }, 3, 1, 1, UNKNOWN, 2, 1, QUIET, SLEEP, NOBODY, false, QUEUE, 2 },
    { "the granter's wake does not pay", { 0, 0, 8, 0 }, 1, 1, 1, 0, 2, 1, QUIET, SLEEP, NOBODY, false, QUEUE, 2 },
    { "the granter's wake pays", { 0, 0, 7, 0 }, 1, 1, 1, 0, 2, 1, QUIET, SLEEP, NOBODY, true, QUEUE, 2 },
    { "four cores", { 0 }, 4, 1, 1, 0, 4, 1, QUIET, QUEUE, OWN, false, QUEUE, 5 },
    { "no spare core", { 0 }, 4, 4, 1, 0, 4, 1, QUIET, QUEUE, OWN, false, QUEUE, 2 },
    { "more units than cores", { 0 }, 4, 9, 1, 0, 4, 1, QUIET, QUEUE, OWN, false, QUEUE, 2 },
    { "64 cores, 32 holders", { 0 }, 4, 32, 1, 0, 64, 1, QUIET, QUEUE, OWN, false, QUEUE, 63 },
    { "64 cores, 34 holders", { 0 }, 4, 34, 1, 0, 64, 1, QUIET, QUEUE, OWN, false, QUEUE, 62 },
    { "400 cores", { 0 }, 4, 1, 1, 0, 400, 1, QUIET, QUEUE, OWN, false, QUEUE, 63 },
    { "a hand-off in a wake-up", { 0, 0, 0, 28 }, 4, 1, 1, 0, 16, 1, QUIET, QUEUE, OWN, false, QUEUE, 4 },
    { "a hand-off in two", { 0, 0, 0, 33 }, 4, 1, 1, 0, 16, 1, QUIET, QUEUE, HEAD, false, QUEUE, 2 },
    { "in ten", { 0, 0, 0, TEN_WAKE_UPS }, 4, 1, 1, 0, 16, 1, QUIET, SLEEP, HEAD, false, QUEUE, 2 },
    { "in more", { 0, 0, 0, TEN_WAKE_UPS + 1 }, 4, 1, 1, 0, 16, 1, QUIET, SLEEP, HEAD, false, QUEUE, 0 },
    { "a damaged segment", { 0, 0, 0, 63 }, 4, 1, 1, 0, 16, 1, QUIET, SLEEP, HEAD, false, QUEUE, 0 },
};

START_TEST(each_situation_has_its_answers)
{
    for (size_t i = 0; i < sizeof(situations) / sizeof(*situations); i++) {
        const struct situation *s = &situations[i];
        const struct fs_awake awake = {
            .as_front = (uint8_t)s->known.as_front & 15, .as_front_here = (uint8_t)s->known.here & 15,
            .prewake = (uint16_t)s->known.prewake & 15, .interval = (uint16_t)s->known.interval & 63,
        }, nothing_learned = { 0 };
        struct fs_awake_facts facts = {
            .waiting = s->waiting, .units = s->units, .each = s->each, .is_front = (s->flags & FRONT) != 0,
            .only_front = (s->flags & ONLY_FRONT) != 0, .prewake_unknown = (s->flags & UNKNOWN) != 0,
        };
        enum fs_strategy strategy;
        enum fs_prewake prewakes;

        begin();
        if (s->machine == LATE_YIELD)
            (void)yield_late();
        world.others_compute = true;
        if (s->machine == PREEMPTED)
            preempt(6, &nothing_learned, 2 * MS, true, true);
        world.cores = s->cores;
        facts.enqueued_ns = world.now;
        prewakes = fs_awake_enqueued(&awake, &facts, s->core, &strategy);
        ck_assert_msg(strategy == s->strategy, "%s: strategy %d", s->what, (int)strategy);
        ck_assert_msg(prewakes == s->prewakes, "%s: wakes %d", s->what, (int)prewakes);
        ck_assert_msg(fs_awake_prewakes_front(&awake, &facts, world.now) == s->next, "%s: the granter", s->what);
        ck_assert_msg(fs_awake_strategy_near(&awake, &facts) == s->near_strategy, "%s: near strategy", s->what);
        ck_assert_msg(fs_awake_near(&awake, &facts, world.now) == s->near, "%s: %d near", s->what,
                      fs_awake_near(&awake, &facts, world.now));
    }
}
END_TEST

START_TEST(fewer_than_four_cores_make_a_convoy)
{
    begin();
    for (world.cores = 1; world.cores <= 5; world.cores++)
        ck_assert_int_eq(fs_awake_in_convoy(), world.cores < 4);
}
END_TEST

/* With bounded bypass.  With a high penalty, one thread of 16 stays awake nevertheless. */
START_TEST(a_thread_stays_awake_before_the_queue_for_two_wake_ups)
{
    static const struct { int penalty, ns, begins, cores; bool preempted, stays; } rows[] = {
        { 0, 0, 1, 2, false, true }, { 7, 2 * WAKE_UP - 4 * LOOK, 1, 2, false, true },
        { 0, 2 * WAKE_UP + 4 * LOOK, 1, 2, false, false }, { 0, -1, 1, 2, false, false },
        { 8, 0, 1, 2, false, false }, { 15, 0, 16, 2, false, true }, { 15, 0, 15, 2, false, false },
        { 0, 0, 1, 1, false, false }, { 0, 0, 1, 2, true, false },
    };
    const struct fs_awake nothing_learned = { 0 };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const _Atomic uint8_t penalty = (uint8_t)rows[i].penalty;
        int64_t start;

        begin();
        world.others_compute = true;
        if (rows[i].preempted)
            preempt(6, &nothing_learned, 2 * MS, true, true);
        world.cores = rows[i].cores;
        start = world.now / 16 * 16 + rows[i].begins;
        ck_assert_msg(fs_awake_before_queue(&penalty, start, start + rows[i].ns) == rows[i].stays, "row %zu", i);
    }
}
END_TEST

/* ---- Lessons ---- */

START_TEST(a_wait_that_pays_takes_one_from_a_penalty_any_other_adds_two)
{
    static const struct { int before, paid, in_vain; } rows[] = {
        { 0, 0, 2 }, { 1, 0, 3 }, { 7, 6, 9 }, { 12, 11, 14 }, { 13, 12, 15 }, { 14, 13, 15 }, { 15, 14, 15 },
    };

    begin();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        for (int paid = 0; paid <= 1; paid++) {
            const unsigned before = (unsigned)rows[i].before & 15;
            const int expected = paid ? rows[i].paid : rows[i].in_vain;
            struct fs_awake awake = { .as_front = before & 15, .as_front_here = before & 15, .prewake = before & 15 };
            _Atomic uint8_t before_queue = (uint8_t)before;

            fs_awake_learn(&awake, false, paid ? WAKE_UP : 2 * WAKE_UP, 0);
            fs_awake_learn(&awake, true, paid ? SOON : LATE, 1);
            ck_assert_int_eq(awake.prewake, expected);
            ck_assert_int_eq(awake.as_front, expected);
            ck_assert_int_eq(awake.as_front_here, rows[i].in_vain);     /* the waiter was on another core */
            fs_awake_learn_before_queue(&before_queue, paid != 0);
            ck_assert_int_eq(before_queue, expected);
        }
    }
}
END_TEST

START_TEST(a_grant_is_soon_within_two_wake_ups_and_one_and_a_half_after_a_pre_wake)
{
    static const struct { int64_t ns; bool soon, soon_after_early_wake, in_vain; } rows[] = {
        { WAKE_UP * 3 / 2 - 4 * LOOK, true, true, false }, { WAKE_UP * 3 / 2 + 4 * LOOK, true, false, false },
        { WAKE_UP * 2 - 4 * LOOK, true, false, false }, { WAKE_UP * 2 + 4 * LOOK, false, false, true },
    };

    begin();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct fs_awake here = { .as_front_here = 4 }, there = { .as_front = 4 }, early = { .prewake = 4 };
        struct fs_awake timed_out = { .as_front = 4, .as_front_here = 4 };

        fs_awake_learn(&here, true, rows[i].ns, world.core);
        fs_awake_learn(&there, true, rows[i].ns, world.core + 1);
        fs_awake_learn(&early, false, rows[i].ns, world.core);
        fs_awake_learn_timed_out(&timed_out, true, rows[i].ns);
        ck_assert_int_eq(here.as_front_here, rows[i].soon ? 3 : 6);
        ck_assert_int_eq(here.as_front, 2);
        ck_assert_int_eq(there.as_front, rows[i].soon ? 3 : 6);
        ck_assert_int_eq(early.prewake, rows[i].soon_after_early_wake ? 3 : 6);
        ck_assert_int_eq(timed_out.as_front, rows[i].in_vain ? 6 : 4);
        ck_assert_int_eq(timed_out.as_front_here, rows[i].in_vain ? 6 : 4);
        ck_assert_int_eq(early.as_front, 0);
    }
}
END_TEST

/* Step 0 ends at 125 ns, and four steps double the interval. */
START_TEST(an_interval_learns_a_step_from_each_hand_off)
{
    static const struct { int before; int64_t ns; int after; } rows[] = {
        { 0, 124, 0 }, { 0, 125, 0 }, { 0, 126, 1 }, { 1, 149, 0 }, { 1, 150, 2 }, { 2, 177, 1 }, { 2, 178, 3 },
        { 3, 210, 2 }, { 3, 211, 4 }, { 4, 250, 3 }, { 4, 251, 5 }, { 62, INT64_MAX, 63 }, { 63, INT64_MAX, 63 },
        { 63, 210 << 15, 62 },
    };

    begin();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct fs_awake awake = { .interval = (unsigned)rows[i].before & 63 };

        fs_awake_granted(&awake, 7, rows[i].ns);
        ck_assert_msg(awake.interval == rows[i].after && awake.holders_core == 7, "row %zu", i);
    }
}
END_TEST

/* ---- The waits of a semaphore ---- */

/* Was the front awake when its unit came? */
static bool awake_as_head(fairsem_t *sem, int64_t after)
{
    wait_for(sem, after);
    return !world.seen[0].asleep;
}

/* Did the front stay awake at all?  Its unit comes late. */
static bool tries_as_head(fairsem_t *sem)
{
    wait_for(sem, LATE);
    ck_assert(world.seen[0].asleep);
    return world.seen[0].awake > LOOK; /* the decision may take one look at the clock */
}

/* Was the second waiter pre-woken when the ticket before it was granted?  The waiter's own unit comes late. */
static bool woken_early_as_second(fairsem_t *sem)
{
    wait_as_second(sem, LATE, LATE);
    ck_assert(world.seen[1].asleep);
    return world.seen[1].wakes != 0;
}

/* Returns in how many waits the thread stays awake or is pre-woken, although that does not pay. */
static int tries(fairsem_t *sem, bool (*try_it)(fairsem_t *), int waits)
{
    int n = 0;

    for (int i = 0; i < waits; i++)
        n += try_it(sem);
    return n;
}

static void assert_awake(fairsem_t *sem, bool (*awake)(fairsem_t *, int64_t), int64_t soon, int times)
{
    for (int i = 0; i < times; i++)
        ck_assert(awake(sem, soon));
}

static const fairsem_attr_t no_spin = { .flags = FAIRSEM_NO_SPIN };
static const fairsem_attr_t interruptible = { .flags = FAIRSEM_INTERRUPTIBLE };
static const fairsem_attr_t with_bypass = { .flags = FAIRSEM_BOUNDED_BYPASS,
                                            .bypass_ns = INT64_C(1) << 60 };

static void time_out_after(fairsem_t *sem, int64_t ns)
{
    struct fs_wait wait = { .waiter.units = 1 };
    struct fs_section in;

    fs_section_begin(&in, fs_inside(sem));
    fs_enqueue_thread(&in, &wait.waiter, 0);
    fs_section_end(&in);
    world.now += ns;
    fs_section_begin(&in, fs_inside(sem));
    fs_dequeue(&in, &wait.waiter, FS_BY_DEADLINE);
    fs_section_end(&in);
}

START_TEST(a_front_that_times_out_late_teaches_that_it_does_not_pay)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    for (int i = 0; i < 4; i++)
        time_out_after(&sem, 2 * WAKE_UP + LOOK);
    ck_assert(!awake_as_head(&sem, SOON));
}
END_TEST

/* The unit might have come a moment later. */
START_TEST(a_front_that_times_out_soon_teaches_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    for (int i = 0; i < 20; i++)
        time_out_after(&sem, 2 * WAKE_UP - LOOK);
    ck_assert(awake_as_head(&sem, SOON));
}
END_TEST

/* Enqueue a ticket behind all threads, for more units than there will be. */
static void let_a_ticket_wait(fairsem_t *sem, fairsem_ticket_t *ticket)
{
    ck_assert_int_eq(fairsem_ticket_take(ticket, sem, 1000000, 1, NULL, NULL), EINPROGRESS);
}

START_TEST(units_that_are_there_at_once_teach_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = { 0 };

    begin();
    tries(&sem, tries_as_head, 10000);
    let_a_ticket_wait(&sem, &ticket);
    ck_assert_int_eq(fairsem_release(&sem, 10000), 0);
    for (int i = 0; i < 10000; i++)
        ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_le(tries(&sem, tries_as_head, 1000), 2);
}
END_TEST

START_TEST(a_grant_to_a_ticket_teaches_nothing_even_if_others_wait)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    for (int i = 0; i < 20; i++) {
        fairsem_ticket_t first = { 0 }, second = { 0 };

        ck_assert_int_eq(fairsem_ticket_take(&first, &sem, 1, 0, NULL, NULL), EINPROGRESS);
        ck_assert_int_eq(fairsem_ticket_take(&second, &sem, 1, 0, NULL, NULL), EINPROGRESS);
        world.now += LATE;
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        fairsem_ticket_return(&second);
        fairsem_ticket_return(&first);
        ck_assert_int_eq(fairsem_tryacquire(&sem, 1), 0);
    }
    ck_assert_int_eq(fs_inside(&sem)->awake.interval, 0);
    ck_assert(awake_as_head(&sem, SOON));
}
END_TEST

START_TEST(an_interval_is_learned_only_if_others_wait)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = { 0 };

    begin();
    wait_for(&sem, LATE);
    ck_assert_int_eq(fs_inside(&sem)->awake.interval, 0);
    let_a_ticket_wait(&sem, &ticket);
    wait_for(&sem, LATE);
    ck_assert_int_eq(fs_inside(&sem)->awake.interval, 1);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
}
END_TEST

static void cancel(void *token)
{
    fairsem_token_cancel(token, 0);
}

/* Wait until the token is canceled, `after` nanoseconds later: the thread is awake if that is soon. */
static void wait_until_canceled(fairsem_t *sem, int64_t after)
{
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    const fairsem_wait_t how = { .token = &token };

    begin_plan();
    plan(after, cancel, &token);
    ck_assert_int_eq(fairsem_acquire_with(sem, 1, &how), ECANCELED);
    ck_assert_int_eq(fairsem_token_destroy(&token), 0);
}

START_TEST(waits_that_end_without_a_grant_teach_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    assert_awake(&sem, awake_as_head, SOON, 100);
    for (int i = 0; i < 1000; i++)
        wait_until_canceled(&sem, LATE);
    assert_awake(&sem, awake_as_head, SOON, 100);
    tries(&sem, tries_as_head, 1000);
    for (int i = 0; i < 1000; i++)
        wait_until_canceled(&sem, SOON);
    ck_assert_int_le(tries(&sem, tries_as_head, 100), 2);
}
END_TEST

/* Not even if the grant comes soon.  A thread that must not stay awake is not pre-woken either. */
START_TEST(with_no_spin_no_thread_stays_awake)
{
    fairsem_t sem;

    begin();
    ck_assert_int_eq(fairsem_init(&sem, 0, &no_spin), 0);
    for (int round = 0; round < 10; round++) {
        wait_for(&sem, SOON);
        ck_assert(world.seen[0].asleep);
        ck_assert_int_eq(world.seen[0].awake, 0);
        wait_as_second(&sem, LATE, (WAKE_UP + WAKE_UP / 4));
        ck_assert(world.seen[1].asleep);
        ck_assert_int_eq(world.seen[1].awake, 0);
        ck_assert_int_eq(world.seen[1].wakes, 0);
    }
}
END_TEST

/* Signals are blocked while the front is awake.  A pre-woken thread would have to block them again. */
START_TEST(an_interruptible_front_stays_awake_but_is_not_pre_woken)
{
    fairsem_t sem;

    if (!FS_HAS_FUTEX)
        NOT_HERE("no interruptible semaphores here");
    begin();
    ck_assert_int_eq(fairsem_init(&sem, 0, &interruptible), 0);
    assert_awake(&sem, awake_as_head, SOON, 1000);
    for (int round = 0; round < 10; round++) {
        wait_as_second(&sem, LATE, (WAKE_UP + WAKE_UP / 4));
        ck_assert(world.seen[1].asleep);
        ck_assert_int_eq(world.seen[1].wakes, 0);
    }
}
END_TEST

START_TEST(only_the_front_stays_awake)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    assert_awake(&sem, awake_as_head, SOON, 100);
    for (int i = 0; i < 100; i++) {
        wait_as_second(&sem, SOON, LATE);
        ck_assert(world.seen[0].asleep);
        ck_assert_int_eq(world.seen[0].awake, 0);
    }
}
END_TEST

START_TEST(a_thread_that_is_enqueued_as_the_front_before_others_stays_awake)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = { 0 };

    begin();
    let_a_ticket_wait(&sem, &ticket);
    assert_awake(&sem, awake_as_head, SOON, 100);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
}
END_TEST

/* A pre-woken thread would find no unit to take: see bypass.h. */
START_TEST(no_thread_is_pre_woken_where_threads_may_pass)
{
    fairsem_t sem;

    begin();
    ck_assert_int_eq(fairsem_init(&sem, 0, &with_bypass), 0);
    for (int i = 0; i < 10; i++)
        ck_assert(!woken_early_as_second(&sem));
}
END_TEST

/* The front is woken to compete, and is granted the free units when it runs. */
START_TEST(a_front_that_is_woken_to_compete_learns_from_it)
{
    fairsem_t sem;

    begin();
    world.now++;        /* off the multiples of 16: then a thread stays awake before the queue in any case */
    ck_assert_int_eq(fairsem_init(&sem, 0, &with_bypass), 0);
    atomic_store(&fs_inside(&sem)->before_queue, 15);
    assert_awake(&sem, awake_as_head, SOON, 100);
    ck_assert_int_le(tries(&sem, tries_as_head, 1000), 10);
    for (int i = 0; i < 8; i++)
        (void)awake_as_head(&sem, SOON);
    ck_assert(awake_as_head(&sem, SOON));
}
END_TEST

static bool a_second_is_woken_early(void)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    return woken_early_as_second(&sem);
}

/* Six preempted hand-offs in 0.4 s. */
START_TEST(preempted_hand_offs_of_one_semaphore_make_all_threads_sleep)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    world.others_compute = true;
    world.core_of_others = world.core;  /* the releaser counts as the last granted thread */
    for (int i = 0; i < 6; i++) {
        ck_assert(a_second_is_woken_early());
        for (int k = 0; k < 20; k++)
            wait_for(&sem, SOON);
        wait_for(&sem, 2 * MS);
    }
    ck_assert(!a_second_is_woken_early());
    world.now += 100 * MS;
    ck_assert(a_second_is_woken_early());
}
END_TEST

/* Returns how long a front spins that requests n units. */
static int64_t spins_beside_holders(int64_t units, int64_t capacity, int64_t n, int cores)
{
    const fairsem_attr_t attr = { .capacity = capacity };
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, units, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, units), 0);
    world.cores = cores;
    begin_plan();
    plan(LATE, release_units, &(struct units){ &sem, n });
    ck_assert_int_eq(fairsem_acquire(&sem, n), 0);
    return spun(0);
}

START_TEST(the_holders_are_counted_by_the_units_that_there_can_be)
{
    static const struct { int64_t units, capacity, each; int cores; bool spins; } rows[] = {
        { 2, 0, 1, 2, false }, { 2, 0, 1, 3, true }, { 29, 0, 10, 3, true }, { 29, 0, 10, 2, false },
        { 1, 3, 1, 3, false }, { 1, 3, 1, 4, true },
        /* The capacity of a sem_t says nothing about the holders. */
        { 1, INT_MAX, 1, 2, true }, { 2, INT_MAX, 1, 2, false },
        /* At least one holder is assumed, even if there were too few units at first. */
        { 0, 0, 1, 2, true }, { 0, 0, 1, 1, false }, { 3, 0, 7, 2, true }, { 3, 3, 3, 2, true },
    };
    fairsem_t two = FAIRSEM_INITIALIZER(2);

    begin();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_about(spins_beside_holders(rows[i].units, rows[i].capacity, rows[i].each, rows[i].cores),
                     rows[i].spins ? 2 * WAKE_UP : 0);
    ck_assert_int_eq(fairsem_acquire(&two, 2), 0);
    world.cores = 2;
    wait_for(&two, LATE);
    ck_assert_int_eq(spun(0), 0);
}
END_TEST

START_TEST(a_thread_granted_while_it_is_awake_goes_on_at_once)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    int64_t before;

    begin();
    before = world.now;
    wait_for(&sem, WAKE_UP);
    ck_assert(!world.seen[0].asleep);
    ck_assert_int_eq(world.is.wakes, 0);
    assert_about(world.now - before, WAKE_UP);
}
END_TEST

int main(void)
{
    RUN_SUITE("awake", no_thread_stays_awake_until_a_wake_up_has_been_measured,
              each_strategy_has_its_time,
              the_time_of_a_wake_up_is_an_average_of_50_us_at_most,
              each_late_yield_makes_the_back_off_longer,
              threads_with_late_yields_at_the_same_time_cause_one_back_off,
              a_yield_in_the_queue_does_not_pay_if_no_other_thread_runs,
              six_preempted_hand_offs_make_all_threads_sleep_if_a_hand_off_was_due,
              each_back_off_makes_all_threads_sleep_for_longer,
              each_situation_has_its_answers,
              fewer_than_four_cores_make_a_convoy,
              a_thread_stays_awake_before_the_queue_for_two_wake_ups,
              a_wait_that_pays_takes_one_from_a_penalty_any_other_adds_two,
              a_grant_is_soon_within_two_wake_ups_and_one_and_a_half_after_a_pre_wake,
              an_interval_learns_a_step_from_each_hand_off,
              a_front_that_times_out_late_teaches_that_it_does_not_pay,
              a_front_that_times_out_soon_teaches_nothing,
              units_that_are_there_at_once_teach_nothing,
              a_grant_to_a_ticket_teaches_nothing_even_if_others_wait,
              an_interval_is_learned_only_if_others_wait,
              waits_that_end_without_a_grant_teach_nothing,
              with_no_spin_no_thread_stays_awake,
              an_interruptible_front_stays_awake_but_is_not_pre_woken,
              only_the_front_stays_awake,
              a_thread_that_is_enqueued_as_the_front_before_others_stays_awake,
              no_thread_is_pre_woken_where_threads_may_pass,
              a_front_that_is_woken_to_compete_learns_from_it,
              preempted_hand_offs_of_one_semaphore_make_all_threads_sleep,
              the_holders_are_counted_by_the_units_that_there_can_be,
              a_thread_granted_while_it_is_awake_goes_on_at_once);
}
