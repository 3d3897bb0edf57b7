/* SPDX-License-Identifier: MIT */
/* t_shared_order.c - the order of grants between processes: priority, then arrival. */
#include "crowd.h"

#include "shared/handle.h"

#define CROWD 60

static const fairsem_shared_t *released;
static int woken, woken_with_lock;

static void look_at_the_lock(const char *what)
{
    uint32_t lock = FS_GET(&released->segment->lock);

    if (strcmp(what, "wake") != 0)
        return;
    woken++;
    woken_with_lock += (lock & 1u << 30) != 0 && (lock & 0xfff) == (uint32_t)FS_GET(&released->self);
}

/* CROWD exceeds FS_WAKES.  Each waiter is woken after the unlock, so that it need not wait for the lock. */
START_TEST(one_release_lets_sixty_processes_through)
{
    for (unsigned flags = 0; flags <= FAIRSEM_SHARED_NO_UNDO; flags++) {
        fairsem_shared_t *h = make_segment(CROWD, flags);
        fairsem_shared_stat_t stat;
        pid_t waiters[CROWD];

        ck_assert_int_eq(fairsem_shared_acquire(h, CROWD), 0);
        for (int i = 0; i < CROWD; i++)
            waiters[i] = queue_user(h, 1);
        released = h;
        woken = woken_with_lock = 0;
        fs_shared_step = look_at_the_lock;
        ck_assert_int_eq(fairsem_shared_release(h, CROWD), 0);
        fs_shared_step = NULL;
        ck_assert_int_ge(woken, CROWD);
        ck_assert_int_eq(woken_with_lock, 0);
        for (int i = 0; i < CROWD; i++)
            ck_assert_int_eq(status_of(waiters[i]), 0);
        ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
        ck_assert(stat.available == CROWD && stat.grants == CROWD);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

static void granted_in_places(int64_t aging_ns, const int expected[8], int64_t aged)
{
    static const int priorities[] = { 0, 5, -3, 0, 5, -3, 7, -9 };
    enum { COUNT = sizeof priorities / sizeof priorities[0] };
    const fairsem_shared_attr_t attr = { .units = 1, .aging_ns = aging_ns };
    _Atomic int *places = share((COUNT + 1) * sizeof *places);
    fairsem_shared_stat_t stat;
    fairsem_shared_t *h;
    pid_t waiters[COUNT];

    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    for (int i = 0; i < COUNT; i++)
        waiters[i] = queue_placed(h, 1, priorities[i], &places[i], &places[COUNT]);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(status_of(waiters[i]), 0);
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(atomic_load(&places[i]), expected[i]);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert_int_eq(stat.aged, aged);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}

START_TEST(lower_priority_numbers_come_first_and_equal_numbers_in_arrival_order)
{
    static const int by_priority[] = { 4, 6, 2, 5, 7, 3, 8, 1 };

    granted_in_places(0, by_priority, 0);
    granted_in_places(INT64_MAX, by_priority, 0);
}
END_TEST

/* All requests except the last one overtake a better priority, by age: the last one has the best priority. */
START_TEST(aged_requests_come_first_in_arrival_order)
{
    granted_in_places(1, (const int[]){ 1, 2, 3, 4, 5, 6, 7, 8 }, 7);
}
END_TEST

/*
 * The front wants more units than are free.  A detector grants the aged request behind it.  Returns false if
 * the request had already aged at the release.
 */
static bool check_aging(int64_t aging_ns)
{
    const fairsem_shared_attr_t attr = { .units = 4, .aging_ns = aging_ns };
    _Atomic int *places = share(3 * sizeof *places);
    fairsem_shared_t *h;
    bool was_young;
    pid_t old, head;

    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 4), 0);
    old = queue_placed(h, 2, 0, &places[0], &places[2]);
    head = queue_placed(h, 4, -1, &places[1], &places[2]);
    ck_assert_int_eq(fairsem_shared_release(h, 3), 0);
    was_young = fairsem_shared_waiters(h) == 2;
    ck_assert_int_eq(status_of(old), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(status_of(head), 0);
    ck_assert(atomic_load(&places[0]) == 1 && atomic_load(&places[1]) == 2);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    return was_young;
}

/* On a busy machine the request may age too early, and be granted by the release: repeat with a longer time. */
START_TEST(a_request_that_ages_takes_free_units)
{
    int64_t aging_ns = 20000000;

    while (!check_aging(aging_ns))
        aging_ns *= 2;
}
END_TEST

START_TEST(a_time_out_is_counted_once)
{
    fairsem_shared_t *h = make_segment(1, 0);
    fairsem_shared_stat_t stat;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    ck_assert_int_eq(wait_and_time_out(h, 1), ETIMEDOUT);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert_int_eq(stat.timeouts, stat.waits);
    ck_assert_int_ge(stat.timeouts, 1);
    ck_assert_int_eq(stat.cancels, 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(no_request_overtakes_a_large_request)
{
    for (unsigned flags = 0; flags <= FAIRSEM_SHARED_NO_UNDO; flags++) {
        _Atomic int *places = share(3 * sizeof *places);
        fairsem_shared_t *h = make_segment(4, flags);
        pid_t large, small;

        ck_assert_int_eq(fairsem_shared_acquire(h, 2), 0);
        large = queue_placed(h, 4, 0, &places[0], &places[2]);
        small = queue_placed(h, 1, 0, &places[1], &places[2]);
        ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
        ck_assert_int_eq(fairsem_shared_tryacquire(h, 0), EAGAIN);
        ck_assert_int_eq(fairsem_shared_acquire_for(h, 1, 1), ETIMEDOUT);
        ck_assert_int_eq(fairsem_shared_available(h), 2);
        ck_assert_int_eq(fairsem_shared_release(h, 2), 0);
        ck_assert_int_eq(status_of(large), 0);
        ck_assert_int_eq(status_of(small), 0);
        ck_assert(atomic_load(&places[0]) == 1 && atomic_load(&places[1]) == 2);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("shared order", one_release_lets_sixty_processes_through,
              lower_priority_numbers_come_first_and_equal_numbers_in_arrival_order,
              aged_requests_come_first_in_arrival_order,
              a_request_that_ages_takes_free_units, a_time_out_is_counted_once,
              no_request_overtakes_a_large_request);
}
