/* SPDX-License-Identifier: MIT */
/*
 * t_near.c - four and more cores: the waiters that stay awake, the waiters that sleep, and the waiter that each
 * grant pre-wakes.  See src/core/ahead.h.
 *
 * Most waiters are requests without a thread.  One letter stands for each, in the order in which they were
 * enqueued:
 *
 *      a  awake        w  woken by the last grant      s  asleep       t  a ticket     .  gone
 */
#include "children.h"
#include "clockwork.h"

#include "ahead.h"
#include "queue.h"
#include "section.h"
#include "ticket.h"
#include "wait.h"

#define LOOK    16
#define WAKE_UP 16384
#define LONG    300000      /* an interval: longer than ten wake-ups, shorter than a preempted hand-off */
#define AGE     100000
#define MANY    320

static struct fs_wait waiters[MANY];
static int enqueued;

static void begin(int cores)
{
    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    world.now += INT64_C(10000000000);  /* late yields of an earlier test have no effect */
    world.cores = cores;
    enqueued = 0;
}

static struct fs_waiter *next_waiter(int64_t units)
{
    waiters[enqueued] = (struct fs_wait){ .waiter.units = units };
    return &waiters[enqueued++].waiter;
}

static void enqueue_with(fairsem_t *sem, int64_t units, int priority)
{
    struct fs_waiter *w = next_waiter(units);
    struct fs_section in;

    fs_section_begin(&in, fs_inside(sem));
    fs_enqueue_thread(&in, w, priority);
    fs_section_end(&in);
    if (fs_strategy_of(w) == FS_SLEEP_AT_ONCE)
        w->state = FS_PARKED;
}

static void enqueue(fairsem_t *sem, int times)
{
    for (int i = 0; i < times; i++)
        enqueue_with(sem, 1, 0);
}

static void resolve(struct fs_waiter *w, enum fs_waiter_state state, struct fs_section *in)
{
    (void)in;
    atomic_store(&w->state, (int)state);
}

static void enqueue_ticket(fairsem_t *sem)
{
    struct fs_waiter *w = next_waiter(1);
    struct fs_section in;

    atomic_store(&fs_resolve_ticket, resolve);
    fs_section_begin(&in, fs_inside(sem));
    fs_enqueue_ticket(&in, w, 0);
    fs_section_end(&in);
}

static void time_out(fairsem_t *sem, int waiter)
{
    struct fs_section in;

    fs_section_begin(&in, fs_inside(sem));
    fs_dequeue(&in, &waiters[waiter].waiter, FS_BY_DEADLINE);
    fs_section_end(&in);
}

/* Release in one section.  All waiters that were woken earlier have run. */
static void release(fairsem_t *sem, int64_t units)
{
    for (int i = 0; i < enqueued; i++) {
        if (waiters[i].waiter.state == FS_WOKEN)
            waiters[i].waiter.state = FS_QUEUED;
    }
    ck_assert_int_eq(fairsem_release(sem, units), 0);
}

static const char *who(void)
{
    static char letters[MANY + 1];

    for (int i = 0; i < enqueued; i++) {
        int state = waiters[i].waiter.state;

        letters[i] = state == FS_PARKED ? 's' : state == FS_WOKEN ? 'w' : state != FS_QUEUED ? '.'
                     : waiters[i].waiter.in_queue.core == FS_NO_CORE ? 't' : 'a';
    }
    letters[enqueued] = '\0';
    return letters;
}

static int how_many(char letter)
{
    int n = 0;

    for (const char *at = who(); *at != '\0'; at++)
        n += *at == letter;
    return n;
}

static int near_of(const fairsem_t *sem)
{
    return fs_inside(sem)->awake.near;
}

static void release_and_expect(fairsem_t *sem, const char *expected)
{
    release(sem, 1);
    ck_assert_str_eq(who(), expected);
}

/* ---- Waiters that stay awake, and waiters that are woken ---- */

START_TEST(none_of_three_threads_sleeps)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);

    begin(4);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    enqueue(&sem, 2);
    ck_assert_str_eq(who(), "aa");
    release_and_expect(&sem, ".a");
}
END_TEST

START_TEST(the_second_waiter_yields_until_its_grant)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct units all = { &sem, 2 };

    begin(4);
    enqueue(&sem, 1);
    begin_plan();
    plan(5 * WAKE_UP, release_units, &all);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert(!world.seen[0].asleep);
    ck_assert_int_gt(world.seen[0].yields, 0);
    ck_assert_int_eq(world.is.wakes, 0);
}
END_TEST

START_TEST(each_grant_wakes_the_waiter_that_becomes_near)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue(&sem, 8);
    ck_assert_str_eq(who(), "aaaaasss");
    release_and_expect(&sem, ".aaaawss");
    release_and_expect(&sem, "..aaaaws");
    release_and_expect(&sem, "...aaaaw");
    release_and_expect(&sem, "....aaaa");
    enqueue(&sem, 2);
    ck_assert_str_eq(who(), "....aaaaas");
}
END_TEST

START_TEST(a_thread_that_becomes_near_stays_awake_until_its_grant)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct units rest = { &sem, 5 };

    begin(4);
    enqueue(&sem, 5);
    begin_plan();
    plan(LONG, release_one, &sem);
    plan(LONG + 5 * WAKE_UP, release_units, &rest);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert(world.seen[0].asleep);
    ck_assert_int_eq(world.seen[0].yields, 0);
    ck_assert(!world.seen[1].asleep);
    ck_assert_int_gt(world.seen[1].yields, 0);
    ck_assert_int_eq(world.is.wakes, 1);
}
END_TEST

START_TEST(a_section_wakes_two_waiters_at_most)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue(&sem, 12);
    ck_assert_str_eq(who(), "aaaaasssssss");
    release(&sem, 3);
    ck_assert_str_eq(who(), "...aawwsssss");
    release_and_expect(&sem, "....aaawwsss");
    release_and_expect(&sem, ".....aaaawss");
}
END_TEST

START_TEST(a_waiter_that_sleeps_again_is_woken_when_it_is_the_front)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue(&sem, 6);
    waiters[1].waiter.state = waiters[2].waiter.state = FS_PARKED;
    release_and_expect(&sem, ".wsaaw");
    release_and_expect(&sem, "..waaa");
}
END_TEST

/* ---- How many ---- */

/* Teach the semaphore a hand-off interval of `ns`: enqueue requests, and grant all of them but the last. */
static void learn_interval(fairsem_t *sem, int requests, int64_t ns)
{
    enqueue(sem, requests);
    for (int i = 0; i < requests - 1; i++) {
        world.now += ns;
        release(sem, 1);
    }
}

START_TEST(with_intervals_longer_than_ten_wake_ups_no_waiter_is_near)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    learn_interval(&sem, 60, LONG);
    ck_assert_int_eq(how_many('w'), 0);
    ck_assert_int_eq(near_of(&sem), 0);
    release(&sem, 1);
    enqueued = 0;
    enqueue(&sem, 4);
    ck_assert_str_eq(who(), "asss");
    release_and_expect(&sem, ".sss");
    release_and_expect(&sem, "..ss");
}
END_TEST

START_TEST(with_shorter_intervals_more_waiters_become_near_but_two_at_a_time)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    int most = 0;

    begin(4);
    learn_interval(&sem, 60, LONG);
    release(&sem, 1);
    enqueued = 0;
    enqueue(&sem, 80);
    for (int i = 0; i < 60; i++) {
        release(&sem, 1);
        ck_assert_int_le(how_many('w'), 2);
        ck_assert_int_le(how_many('a') + how_many('w'), 5);
        if (how_many('w') > most)
            most = how_many('w');
    }
    ck_assert_int_eq(most, 2);
    ck_assert_int_eq(how_many('a') + how_many('w'), 5);
}
END_TEST

/* Near waiters: the number of hand-off intervals in the time of two wake-ups, plus two. */
START_TEST(as_many_waiters_are_near_as_intervals_pass_in_two_wake_ups)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(16);
    learn_interval(&sem, 60, 3 * WAKE_UP);
    release(&sem, 1);
    enqueued = 0;
    enqueue(&sem, 4);
    ck_assert_str_eq(who(), "aass");
    release_and_expect(&sem, ".aws");
}
END_TEST

/* The holders have all the cores, or there are more units than cores. */
START_TEST(with_no_spare_core_half_as_many_waiters_are_awake_as_there_are_cores)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(4);

    begin(4);
    ck_assert_int_eq(fairsem_acquire(&sem, 4), 0);
    enqueue(&sem, 4);
    ck_assert_str_eq(who(), "aass");
    release_and_expect(&sem, ".aws");
    release_and_expect(&sem, "..aw");
}
END_TEST

/* Only two requests for two units can be granted at a time. */
START_TEST(fewer_holders_leave_cores_for_the_near)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(4);

    begin(4);
    ck_assert_int_eq(fairsem_acquire(&sem, 4), 0);
    for (int i = 0; i < 6; i++)
        enqueue_with(&sem, 2, 0);
    ck_assert_str_eq(who(), "aaaass");
    release(&sem, 2);
    ck_assert_str_eq(who(), ".aaaws");
}
END_TEST

/* Grow and shrink the queue.  `may` waiters, at most FS_NEAR_MAX, are near and awake all the time. */
static void grow_and_shrink(int cores, int units, int may)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    int expected = may < FS_NEAR_MAX ? may : FS_NEAR_MAX;

    ck_assert_int_eq(fairsem_init(&sem, units, NULL), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, units), 0);
    begin(cores);
    enqueue(&sem, expected + 10);
    for (int i = 0; i < 12; i++) {
        ck_assert_int_eq(near_of(&sem), expected);
        ck_assert_int_eq(how_many('a') + how_many('w'), expected);
        release(&sem, 1);
        enqueue(&sem, i % 2);
        if (i % 5 == 0)
            time_out(&sem, enqueued - 1);
    }
}

START_TEST(no_more_waiters_are_near_than_the_cores_can_use)
{
    for (int cores = 4; cores <= 64; cores *= 2) {
        grow_and_shrink(cores, 1, cores - 1 + cores / 2);
        grow_and_shrink(cores, cores / 2, cores);
        grow_and_shrink(cores, cores - 1, 1 + cores / 2);
        grow_and_shrink(cores, cores, cores / 2);
        grow_and_shrink(cores, cores * 2, cores / 2);
    }
}
END_TEST

START_TEST(on_the_largest_machines_63_waiters_are_near)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(400);
    enqueue(&sem, 260);
    ck_assert_int_eq(near_of(&sem), 63);
    ck_assert_int_eq(how_many('a'), 63);
}
END_TEST

START_TEST(cores_may_come_and_go_while_threads_wait)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue(&sem, 6);
    world.cores = 2;
    enqueue(&sem, 1);
    release(&sem, 2);
    world.cores = 8;
    enqueue(&sem, 4);
    release(&sem, 9);
    ck_assert_str_eq(who(), "...........");
    ck_assert_int_eq(near_of(&sem), 0);
    ck_assert_ptr_null(fs_inside(&sem)->far);
    enqueue(&sem, 12);
    ck_assert_str_eq(who(), "...........aaaaaaaaaaas");
}
END_TEST

/* ---- While yields do not pay ---- */

/* Yield for a time slice, as to another program. */
static void yield_late(void)
{
    static const _Atomic int word = 1;
    static const _Atomic uint8_t strategy = FS_YIELD_IN_QUEUE;

    world.yield_takes = 3000000;
    (void)fs_awake_stay(&word, 1, &strategy, 0, NULL);
    world.yield_takes = LOOK;
}

START_TEST(after_a_late_yield_only_the_front_is_near)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    yield_late();
    enqueue(&sem, 4);
    ck_assert_str_eq(who(), "asss");
    release_and_expect(&sem, ".wss");
    release_and_expect(&sem, "..ws");
}
END_TEST

START_TEST(after_a_late_yield_a_grant_wakes_the_front_which_spins)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    yield_late();
    enqueue(&sem, 1);
    begin_plan();
    plan(LONG, release_one, &sem);
    plan(LONG + WAKE_UP + WAKE_UP / 4, release_one, &sem);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert(world.seen[0].asleep);
    ck_assert_int_eq(world.seen[1].wakes, 1);
    ck_assert(!world.seen[1].asleep);
    ck_assert_int_eq(world.is.yields, 0);
    ck_assert_int_eq(world.is.wakes, 1);
}
END_TEST

/* ---- Flags ---- */

START_TEST(with_bounded_bypass_only_the_front_is_awake)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = INT64_C(1) << 60 };
    fairsem_t sem;

    begin(4);
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    enqueue(&sem, 4);
    ck_assert_str_eq(who(), "asss");
    release_and_expect(&sem, ".sss");
    release_and_expect(&sem, ".wss");   /* woken to compete */
}
END_TEST

START_TEST(with_no_spin_no_waiter_is_awake_or_pre_woken)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN };
    fairsem_t sem;

    begin(4);
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    enqueue(&sem, 4);
    ck_assert_str_eq(who(), "ssss");
    release_and_expect(&sem, ".sss");
    ck_assert_int_eq(near_of(&sem), 0);
}
END_TEST

/* ---- A waiter leaves from the middle ---- */

START_TEST(after_a_near_waiter_times_out_the_next_becomes_near_at_the_next_grant)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue(&sem, 8);
    time_out(&sem, 2);
    ck_assert_str_eq(who(), "aa.aasss");
    release_and_expect(&sem, ".a.aawws");
    release_and_expect(&sem, "...aaaaw");
}
END_TEST

START_TEST(the_first_far_waiter_may_leave)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue(&sem, 8);
    time_out(&sem, 5);
    ck_assert_str_eq(who(), "aaaaa.ss");
    release_and_expect(&sem, ".aaaa.ws");
    time_out(&sem, 7);
    release_and_expect(&sem, "..aaa.a.");
    enqueue(&sem, 2);      /* all waiters are near, so the next enqueued thread becomes near as well */
    ck_assert_str_eq(who(), "..aaa.a.as");
}
END_TEST

/* ---- Not in the order of arrival ---- */

START_TEST(a_better_priority_becomes_near_before_the_far_waiters)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue_with(&sem, 1, -1);
    enqueue(&sem, 6);
    enqueue_with(&sem, 1, -1);     /* becomes the second in the queue */
    ck_assert_str_eq(who(), "aaaaasss");
    release_and_expect(&sem, ".aaaassw");
    release_and_expect(&sem, ".aaaaws.");
    release_and_expect(&sem, "..aaaaw.");
}
END_TEST

START_TEST(a_better_priority_that_times_out_leaves_the_far_waiters_as_they_were)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue_with(&sem, 1, -1);
    enqueue(&sem, 6);
    enqueue_with(&sem, 1, -1);
    time_out(&sem, 7);
    release_and_expect(&sem, ".aaaaws.");
    release_and_expect(&sem, "..aaaaw.");
}
END_TEST

START_TEST(a_better_priority_that_becomes_the_front_is_awake_beside_the_near)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue(&sem, 7);
    enqueue_with(&sem, 1, -1);
    ck_assert_str_eq(who(), "aaaaassa");
    release_and_expect(&sem, "aaaaass.");
    release_and_expect(&sem, ".aaaaws.");
}
END_TEST

START_TEST(a_ticket_is_counted_when_it_becomes_near_and_is_never_woken)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue(&sem, 1);
    enqueue_ticket(&sem);
    enqueue(&sem, 2);
    enqueue_ticket(&sem);
    enqueue(&sem, 2);
    ck_assert_str_eq(who(), "atsstss");
    ck_assert_int_eq(near_of(&sem), 1);
    release_and_expect(&sem, ".twstss");
    ck_assert_int_eq(near_of(&sem), 2);
    release_and_expect(&sem, "..awtss");
    ck_assert_int_eq(near_of(&sem), 3);
    release_and_expect(&sem, "...atww");
    ck_assert(!waiters[1].waiter.in_queue.pending && !waiters[4].waiter.in_queue.pending);
}
END_TEST

static void init_with_aging(fairsem_t *sem)
{
    const fairsem_attr_t attr = { .aging_ns = AGE };

    ck_assert_int_eq(fairsem_init(sem, 0, &attr), 0);
}

/*
 * Enqueue five near requests, `worse` requests of a worse priority, and later `better` requests of a better
 * priority.  Grant the first five.  At the end, only the requests of the worse priority have waited for AGE.
 */
static void enqueue_and_let_some_pass(fairsem_t *sem, int worse, int better)
{
    enqueue(sem, 5);
    for (int i = 0; i < worse; i++)
        enqueue_with(sem, 1, 5);
    world.now += AGE / 2;
    enqueue(sem, better);
    for (int i = 0; i < 5; i++)
        release(sem, 1);
    world.now += AGE * 3 / 4;
}

START_TEST(an_aged_waiter_that_jumps_the_queue_is_woken_as_the_front_only)
{
    fairsem_t sem;

    begin(4);
    init_with_aging(&sem);
    enqueue_and_let_some_pass(&sem, 2, 6);
    ck_assert_str_eq(who(), ".....ssaaaaws");
    release_and_expect(&sem, "......waaaaas");
    ck_assert_int_eq(near_of(&sem), 5);
    release_and_expect(&sem, ".......aaaaas");
    release_and_expect(&sem, "........aaaaw");
}
END_TEST

START_TEST(the_first_far_waiter_may_age)
{
    struct fs_section in;
    fairsem_t sem;

    begin(4);
    init_with_aging(&sem);
    enqueue_and_let_some_pass(&sem, 1, 5);
    ck_assert_ptr_eq(fs_inside(&sem)->far, &waiters[5].waiter);
    fs_section_begin(&in, fs_inside(&sem));     /* marks the first far request as aged */
    fs_section_end(&in);
    ck_assert_ptr_eq(fs_front(fs_inside(&sem)), &waiters[5].waiter);
    enqueue(&sem, 1);
    ck_assert_str_eq(who(), ".....saaaaws");
    release_and_expect(&sem, "......aaaaas");
    release_and_expect(&sem, ".......aaaaw");
}
END_TEST

/* ---- The end ---- */

START_TEST(after_a_close_no_waiter_is_near)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin(4);
    enqueue(&sem, 8);
    ck_assert_int_eq(fairsem_close(&sem, EPIPE), 0);
    ck_assert_str_eq(who(), "........");
    ck_assert_int_eq(near_of(&sem), 0);
    ck_assert_ptr_null(fs_inside(&sem)->far);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), EPIPE);
}
END_TEST

START_TEST(in_a_forked_child_no_waiter_is_near)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pid_t child;

    begin(4);
    enqueue(&sem, 8);
    child = fork();
    if (child == 0) {
        enqueued = 0;
        enqueue(&sem, 7);
        CHILD_CHECK(strcmp(who(), "aaaaass") == 0);
        CHILD_CHECK(near_of(&sem) == 5);
        release(&sem, 1);
        CHILD_CHECK(strcmp(who(), ".aaaaws") == 0);
        release(&sem, 7);
        CHILD_CHECK(near_of(&sem) == 0 && fairsem_acquire(&sem, 1) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    release_and_expect(&sem, ".aaaawss");
}
END_TEST

/* The ticket still has the flag `near` of an earlier queue. */
START_TEST(no_waiter_is_near_where_all_sleep_at_once)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN };
    fairsem_ticket_t ticket = { { 0 } };
    struct fs_waiter *w = &fs_ticket_inside(&ticket)->callback.waiter;
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    w->in_queue.near = true;
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    ck_assert(!w->in_queue.near);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("near", no_waiter_is_near_where_all_sleep_at_once,
              none_of_three_threads_sleeps, the_second_waiter_yields_until_its_grant,
              each_grant_wakes_the_waiter_that_becomes_near,
              a_thread_that_becomes_near_stays_awake_until_its_grant, a_section_wakes_two_waiters_at_most,
              a_waiter_that_sleeps_again_is_woken_when_it_is_the_front,
              with_intervals_longer_than_ten_wake_ups_no_waiter_is_near,
              with_shorter_intervals_more_waiters_become_near_but_two_at_a_time,
              as_many_waiters_are_near_as_intervals_pass_in_two_wake_ups,
              with_no_spare_core_half_as_many_waiters_are_awake_as_there_are_cores,
              fewer_holders_leave_cores_for_the_near,
              no_more_waiters_are_near_than_the_cores_can_use,
              on_the_largest_machines_63_waiters_are_near,
              cores_may_come_and_go_while_threads_wait,
              after_a_late_yield_only_the_front_is_near,
              after_a_late_yield_a_grant_wakes_the_front_which_spins,
              with_bounded_bypass_only_the_front_is_awake, with_no_spin_no_waiter_is_awake_or_pre_woken,
              after_a_near_waiter_times_out_the_next_becomes_near_at_the_next_grant,
              the_first_far_waiter_may_leave, a_better_priority_becomes_near_before_the_far_waiters,
              a_better_priority_that_times_out_leaves_the_far_waiters_as_they_were,
              a_better_priority_that_becomes_the_front_is_awake_beside_the_near,
              a_ticket_is_counted_when_it_becomes_near_and_is_never_woken,
              an_aged_waiter_that_jumps_the_queue_is_woken_as_the_front_only,
              the_first_far_waiter_may_age, after_a_close_no_waiter_is_near,
              in_a_forked_child_no_waiter_is_near);
}
