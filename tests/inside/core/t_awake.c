/* SPDX-License-Identifier: MIT */
/*
 * t_awake.c - the front of the queue stays awake for its grant where that pays, and sleeps where it does not.
 * Each semaphore learns from its grants which of the two pays, by the numbers in src/awake/awake.c.  (t_spin.c
 * tests for how long a thread stays awake.)
 *
 * A unit that is released SOON finds the front awake; one that is released LATE finds it asleep.  A
 * second waiter waits behind a ticket, and may be pre-woken when the ticket is granted.
 */
#include "clockwork.h"

#include "queue.h"
#include "section.h"
#include "wait.h"

#define WAKE_UP 16384
#define LOOK    (WAKE_UP / 16)
#define SOON    (WAKE_UP / 2)
#define LATE    (WAKE_UP * 10)
/* For a waiter that is pre-woken: its wake-up plus less than half of one, or much more. */
#define SOON_AFTER_PRE_WAKE (WAKE_UP + WAKE_UP / 4)
#define LATE_AFTER_PRE_WAKE (WAKE_UP * 10)

static void begin(void)
{
    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
}

/* Was it awake when its unit came? */
static bool awake_as_front(fairsem_t *sem, int64_t after)
{
    wait_for(sem, after);
    return !world.seen[0].asleep;
}

/* Did the front stay awake at all?  Its unit comes late. */
static bool tries_as_front(fairsem_t *sem)
{
    wait_for(sem, LATE);
    ck_assert(world.seen[0].asleep);
    return world.seen[0].awake > LOOK; /* the decision may take one look at the clock */
}

static bool awake_as_second(fairsem_t *sem, int64_t after)
{
    wait_as_second(sem, LATE, after);
    return !world.seen[1].asleep;
}

/* Was the second waiter pre-woken, when the ticket before it was granted?  Its own unit comes late. */
static bool pre_woken_as_second(fairsem_t *sem)
{
    wait_as_second(sem, LATE, LATE_AFTER_PRE_WAKE);
    ck_assert(world.seen[1].asleep);
    return world.seen[1].wakes != 0;
}

/* Returns how many of the waits stay awake, or are pre-woken, although that does not pay. */
static int tries(fairsem_t *sem, bool (*try_it)(fairsem_t *), int waits)
{
    int n = 0;

    for (int i = 0; i < waits; i++)
        n += try_it(sem);
    return n;
}

/* Returns how many waits it takes until one is awake for a grant that comes soon. */
static int until_awake(fairsem_t *sem, bool (*awake)(fairsem_t *, int64_t), int64_t soon)
{
    int n = 1;

    while (!awake(sem, soon) && n < 100000)
        n++;
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

/* ---- Lessons ---- */

/* Either penalty after a grant that came soon, or late. */
static int after(int penalty, bool soon)
{
    if (soon)
        return penalty > 0 ? penalty - 1 : 0;
    return penalty + 2 < 15 ? penalty + 2 : 15;
}

/* Any sequence of soon and late grants: the thread stays awake while the penalty is below 8. */
static void learn_both(fairsem_t *sem, uint32_t seed, int late_in_16)
{
    int as_front = 0, prewake = 0;

    for (int i = 0; i < 2000; i++) {
        bool soon;

        seed = seed * 1664525 + 1013904223;
        soon = (int)(seed >> 28) >= late_in_16;
        if ((seed >> 20 & 1) != 0) {
            wait_for(sem, soon ? SOON : LATE);
            ck_assert_int_eq(world.seen[0].awake != 0, as_front < 8);
            as_front = after(as_front, soon);
        } else {
            wait_as_second(sem, LATE, soon ? SOON_AFTER_PRE_WAKE : LATE_AFTER_PRE_WAKE);
            ck_assert_int_eq(world.seen[1].wakes != 0, prewake < 8);
            prewake = after(prewake, soon);
        }
    }
}

START_TEST(a_wait_that_pays_takes_one_from_the_penalty_any_other_adds_two)
{
    begin();
    for (int late_in_16 = 0; late_in_16 <= 16; late_in_16++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);

        learn_both(&sem, (uint32_t)late_in_16, late_in_16);
    }
}
END_TEST

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
    ck_assert(!awake_as_front(&sem, SOON));
}
END_TEST

/* The unit might have come a moment later. */
START_TEST(a_front_that_times_out_soon_teaches_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    for (int i = 0; i < 20; i++)
        time_out_after(&sem, 2 * WAKE_UP - LOOK);
    ck_assert(awake_as_front(&sem, SOON));
}
END_TEST

/* A front that sleeps teaches as much as one that stayed awake. */
START_TEST(eight_grants_undo_what_a_semaphore_learned_from_any_number)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    ck_assert_int_eq(tries(&sem, tries_as_front, 10000), 4);
    for (int i = 0; i < 8; i++)
        ck_assert(!awake_as_front(&sem, SOON));
    assert_awake(&sem, awake_as_front, SOON, 100);
}
END_TEST

START_TEST(staying_awake_pays_if_the_grant_comes_within_two_wake_ups)
{
    begin();
    for (int64_t ns = LOOK; ns < 4 * WAKE_UP; ns += LOOK) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);

        for (int i = 0; i < 20; i++)
            wait_for(&sem, ns);
        if (ns < 2 * WAKE_UP - 4 * LOOK)
            ck_assert(!world.seen[0].asleep);
        if (ns > 2 * WAKE_UP + 4 * LOOK)
            ck_assert_int_eq(world.seen[0].awake, 0);
    }
}
END_TEST

START_TEST(pre_waking_pays_if_the_grant_comes_within_one_and_a_half_wake_ups)
{
    begin();
    for (int64_t ns = LOOK; ns < 4 * WAKE_UP; ns += LOOK) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);

        for (int i = 0; i < 20; i++)
            wait_as_second(&sem, LATE, ns);
        if (ns < WAKE_UP + WAKE_UP / 2 - 4 * LOOK)
            ck_assert_int_ne(world.seen[1].wakes, 0);
        if (ns > WAKE_UP + WAKE_UP / 2 + 4 * LOOK)
            ck_assert_int_eq(world.seen[1].wakes, 0);
    }
}
END_TEST

/* ---- Waits that teach nothing ---- */

/* A ticket waits for more units than there will be, behind all threads. */
static void let_a_ticket_wait(fairsem_t *sem, fairsem_ticket_t *ticket)
{
    ck_assert_int_eq(fairsem_ticket_take(ticket, sem, 1000000, 1, NULL, NULL), EINPROGRESS);
}

START_TEST(units_that_are_there_at_once_teach_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = { 0 };

    begin();
    tries(&sem, tries_as_front, 10000);
    let_a_ticket_wait(&sem, &ticket);
    ck_assert_int_eq(fairsem_release(&sem, 10000), 0);
    for (int i = 0; i < 10000; i++)
        ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_le(tries(&sem, tries_as_front, 1000), 2);
}
END_TEST

static void cancel(void *token)
{
    fairsem_token_cancel(token, 0);
}

/* Wait until the token is canceled, which finds the thread awake or asleep. */
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
    assert_awake(&sem, awake_as_front, SOON, 100);
    for (int i = 0; i < 1000; i++)
        wait_until_canceled(&sem, LATE);
    assert_awake(&sem, awake_as_front, SOON, 100);
    tries(&sem, tries_as_front, 1000);
    for (int i = 0; i < 1000; i++)
        wait_until_canceled(&sem, SOON);
    ck_assert_int_le(tries(&sem, tries_as_front, 100), 2);
}
END_TEST

/* ---- The front ---- */

static bool yields_as_front(fairsem_t *sem, int64_t after)
{
    return awake_as_front(sem, after) && world.seen[0].yields != 0;
}

static bool spins_as_front(fairsem_t *sem, int64_t after)
{
    return awake_as_front(sem, after) && world.seen[0].yields == 0;
}

/* A thread that spins on the releaser's core only delays it. */
START_TEST(a_releaser_on_the_same_core_is_a_reason_to_yield)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    world.core_of_others = world.core;
    for (int i = 0; i < 20; i++)
        awake_as_front(&sem, SOON);
    assert_awake(&sem, yields_as_front, SOON, 1000);
    ck_assert_int_le(tries(&sem, tries_as_front, 1000), 10);
    ck_assert_int_le(until_awake(&sem, yields_as_front, SOON), 20);
    world.core_of_others = world.core + 1;
    ck_assert_int_le(until_awake(&sem, spins_as_front, SOON), 20);
}
END_TEST

START_TEST(a_front_that_yields_does_so_for_two_wake_ups)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    world.cores = 1;
    ck_assert(tries_as_front(&sem));
    ck_assert_int_gt(world.seen[0].yields, 0);
    ck_assert_int_ge(world.seen[0].awake, 2 * WAKE_UP - 2 * LOOK);
    ck_assert_int_le(world.seen[0].awake, 2 * WAKE_UP + 2 * LOOK);
}
END_TEST

/* Not even for a grant that comes soon.  A thread that must not stay awake is not pre-woken either. */
START_TEST(no_thread_stays_awake_with_the_flag_that_says_so)
{
    fairsem_t sem;

    begin();
    ck_assert_int_eq(fairsem_init(&sem, 0, &no_spin), 0);
    for (int round = 0; round < 10; round++) {
        wait_for(&sem, SOON);
        ck_assert(world.seen[0].asleep);
        ck_assert_int_eq(world.seen[0].awake, 0);
        wait_as_second(&sem, LATE, SOON_AFTER_PRE_WAKE);
        ck_assert(world.seen[1].asleep);
        ck_assert_int_eq(world.seen[1].awake, 0);
        ck_assert_int_eq(world.seen[1].wakes, 0);
    }
}
END_TEST

/* Signals are blocked while it is awake.  After a pre-wake it would have to block them again. */
START_TEST(an_interruptible_front_stays_awake_but_is_not_pre_woken)
{
    fairsem_t sem;

    if (!FS_HAS_FUTEX)
        NOT_HERE("no interruptible semaphores here");
    begin();
    ck_assert_int_eq(fairsem_init(&sem, 0, &interruptible), 0);
    assert_awake(&sem, awake_as_front, SOON, 1000);
    for (int round = 0; round < 10; round++) {
        wait_as_second(&sem, LATE, SOON_AFTER_PRE_WAKE);
        ck_assert(world.seen[1].asleep);
        ck_assert_int_eq(world.seen[1].wakes, 0);
    }
}
END_TEST

START_TEST(only_the_front_stays_awake)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    assert_awake(&sem, awake_as_front, SOON, 100);
    for (int i = 0; i < 100; i++) {
        wait_as_second(&sem, SOON, LATE_AFTER_PRE_WAKE);
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
    assert_awake(&sem, awake_as_front, SOON, 100);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
}
END_TEST

/* The cores of the waiter and of the granter do not matter. */
START_TEST(pre_waking_depends_on_the_time_alone)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    world.core_of_others = world.core;
    assert_awake(&sem, awake_as_second, SOON_AFTER_PRE_WAKE, 1000);
}
END_TEST

/* A woken thread would find no unit to take, see bypass.h. */
START_TEST(no_thread_is_pre_woken_where_threads_may_pass)
{
    fairsem_t sem;

    begin();
    ck_assert_int_eq(fairsem_init(&sem, 0, &with_bypass), 0);
    for (int i = 0; i < 10; i++)
        ck_assert(!pre_woken_as_second(&sem));
}
END_TEST

/* The front is woken to compete, and is granted the free units when it runs. */
START_TEST(a_front_that_is_woken_to_compete_learns_from_it)
{
    fairsem_t sem;

    begin();
    world.now++;        /* not a time at which a thread stays awake before it is enqueued, whatever the penalty */
    ck_assert_int_eq(fairsem_init(&sem, 0, &with_bypass), 0);
    atomic_store(&fs_inside(&sem)->before_queue, 15);
    assert_awake(&sem, awake_as_front, SOON, 100);
    ck_assert_int_le(tries(&sem, tries_as_front, 1000), 10);
    ck_assert_int_le(until_awake(&sem, awake_as_front, SOON), 20);
}
END_TEST

/* ---- Beside other programs ---- */

#define VERY_LATE 1600000       /* more than a millisecond */
#define MS        INT64_C(1000000)

/* Many short hand-off intervals, then a preempted hand-off.  Returns the time of that. */
static int64_t is_late_on(fairsem_t *sem, int core_of_releaser)
{
    int core = world.core_of_others;

    for (int i = 0; i < 20; i++)
        wait_for(sem, SOON);
    world.core_of_others = core_of_releaser;
    wait_for(sem, VERY_LATE);
    world.core_of_others = core;
    return world.now;
}

/* The releaser runs on the core of the thread that was granted before. */
static int64_t is_late_once(fairsem_t *sem)
{
    return is_late_on(sem, world.core);
}

static int64_t is_late(fairsem_t *sem, int times)
{
    while (times-- > 1)
        (void)is_late_once(sem);
    return is_late_once(sem);
}

static bool stays_awake_at(fairsem_t *sem, int64_t when)
{
    world.now = when;
    for (int i = 0; i < 8; i++) {       /* several times: the semaphore may have learned that it does not pay */
        if (awake_as_front(sem, SOON))
            return true;
    }
    return false;
}

#define MANY 6          /* preempted hand-offs, in less than 0.4 s */

START_TEST(all_sleep_while_other_programs_have_the_cores_for_longer_each_time)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0), other = FAIRSEM_INITIALIZER(0);
    int64_t backoff = 100 * MS, late;

    begin();
    world.others_compute = true;
    late = is_late(&sem, MANY);
    for (int i = 0; i < 6; i++) {
        ck_assert(!stays_awake_at(&other, late + backoff - MS));
        ck_assert(!stays_awake_at(&sem, late + backoff - MS));
        ck_assert(stays_awake_at(&sem, late + backoff));
        late = is_late(&sem, MANY);
        backoff = backoff < 640 * MS ? backoff * 4 : 2560 * MS;
    }
    ck_assert(!stays_awake_at(&sem, late + backoff - MS));
    ck_assert(stays_awake_at(&sem, late + backoff + 1100 * MS));
    late = is_late(&sem, MANY);         /* the last back-off was long ago */
    ck_assert(!stays_awake_at(&sem, late + 99 * MS));
    ck_assert(stays_awake_at(&sem, late + 100 * MS));
}
END_TEST

START_TEST(fewer_preempted_hand_offs_change_nothing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    world.others_compute = true;
    for (int i = 0; i < 10; i++)
        ck_assert(stays_awake_at(&sem, is_late(&sem, MANY - 1) + 400 * MS));
    for (int i = 0; i < 10; i++)
        ck_assert(stays_awake_at(&sem, is_late(&sem, 1) + 90 * MS));
}
END_TEST

/* The process is preempted for a moment, which delays hand-offs of many semaphores. */
START_TEST(hand_offs_preempted_at_one_moment_count_once)
{
    fairsem_t sem[MANY];
    int64_t begun;
    int core;

    begin();
    core = world.core_of_others;
    world.others_compute = true;
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(fairsem_init(&sem[i], 0, NULL), 0);
        for (int k = 0; k < 20; k++)
            wait_for(&sem[i], SOON);
    }
    begun = world.now;
    world.core_of_others = world.core;
    for (int i = 0; i < MANY; i++) {
        world.now = begun + i;
        wait_for(&sem[i], VERY_LATE);
    }
    world.core_of_others = core;
    ck_assert(stays_awake_at(&sem[0], world.now));
}
END_TEST

START_TEST(hand_offs_preempted_before_a_back_off_do_not_count_after_it)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    int64_t late;

    begin();
    world.others_compute = true;
    late = is_late(&sem, MANY);
    ck_assert(stays_awake_at(&sem, late + 100 * MS));
    ck_assert(stays_awake_at(&sem, is_late(&sem, MANY - 1)));
    ck_assert(!stays_awake_at(&sem, is_late(&sem, 1)));
}
END_TEST

START_TEST(nobody_is_pre_woken_while_all_sleep)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    int64_t late;

    begin();
    world.others_compute = true;
    late = is_late(&sem, MANY);
    ck_assert(!pre_woken_as_second(&sem));
    world.now = late + 100 * MS;
    ck_assert(pre_woken_as_second(&sem));
}
END_TEST

START_TEST(threads_stay_awake_if_their_own_process_has_the_cores)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    for (int i = 0; i < 20; i++)
        ck_assert(stays_awake_at(&sem, is_late_once(&sem)));
}
END_TEST

START_TEST(a_preempted_hand_off_changes_nothing_where_releasers_do_not_acquire)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    world.others_compute = true;
    for (int i = 0; i < 10; i++)
        ck_assert(stays_awake_at(&sem, is_late_on(&sem, !world.core)));
}
END_TEST

START_TEST(a_preempted_hand_off_changes_nothing_where_intervals_are_long)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0), other = FAIRSEM_INITIALIZER(0);

    begin();
    world.others_compute = true;
    for (int i = 0; i < 100; i++)
        wait_for(&sem, LATE);
    for (int i = 0; i < 10; i++)
        wait_for(&sem, VERY_LATE);
    ck_assert(awake_as_front(&other, SOON));
}
END_TEST

int main(void)
{
    RUN_SUITE("awake", a_front_that_times_out_late_teaches_that_it_does_not_pay,
              a_front_that_times_out_soon_teaches_nothing,
              a_wait_that_pays_takes_one_from_the_penalty_any_other_adds_two,
              eight_grants_undo_what_a_semaphore_learned_from_any_number,
              staying_awake_pays_if_the_grant_comes_within_two_wake_ups,
              pre_waking_pays_if_the_grant_comes_within_one_and_a_half_wake_ups,
              units_that_are_there_at_once_teach_nothing,
              waits_that_end_without_a_grant_teach_nothing,
              a_releaser_on_the_same_core_is_a_reason_to_yield,
              a_front_that_yields_does_so_for_two_wake_ups,
              no_thread_stays_awake_with_the_flag_that_says_so,
              an_interruptible_front_stays_awake_but_is_not_pre_woken,
              only_the_front_stays_awake,
              a_thread_that_is_enqueued_as_the_front_before_others_stays_awake,
              pre_waking_depends_on_the_time_alone,
              no_thread_is_pre_woken_where_threads_may_pass,
              a_front_that_is_woken_to_compete_learns_from_it,
              all_sleep_while_other_programs_have_the_cores_for_longer_each_time,
              fewer_preempted_hand_offs_change_nothing,
              hand_offs_preempted_at_one_moment_count_once,
              hand_offs_preempted_before_a_back_off_do_not_count_after_it,
              nobody_is_pre_woken_while_all_sleep,
              threads_stay_awake_if_their_own_process_has_the_cores,
              a_preempted_hand_off_changes_nothing_where_releasers_do_not_acquire,
              a_preempted_hand_off_changes_nothing_where_intervals_are_long);
}
