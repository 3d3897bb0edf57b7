/* SPDX-License-Identifier: MIT */
/* t_shared_results.c - acquire, release and inspect: each result, with undo and without. */
#include "crowd.h"

#include "shared/handle.h"
#include "shared/kernel.h"
#include "system/deadline.h"
#include "workers.h"

#include <stdio.h>
#include <string.h>

START_TEST(invalid_arguments_are_refused)
{
    for (unsigned flags = 0; flags <= FAIRSEM_SHARED_NO_UNDO; flags++) {
        const fairsem_shared_attr_t attr = { .units = 4, .flags = flags,
                                             .capacity = 4 };
        struct timespec soon = from_now(CLOCK_MONOTONIC, 1000), wrong = { 0, 1000000000 };
        const fairsem_wait_t reserved = { .share_key = 1 };
        fairsem_shared_t *h;

        ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), 0);
        for (int i = 0; i < 2; i++) {
            int64_t n = i == 0 ? -1 : FAIRSEM_MAX_UNITS + 1;

            ck_assert_int_eq(fairsem_shared_acquire(h, n), EINVAL);
            ck_assert_int_eq(fairsem_shared_tryacquire(h, n), EINVAL);
            ck_assert_int_eq(fairsem_shared_acquire_for(h, n, 1), EINVAL);
            ck_assert_int_eq(fairsem_shared_acquire_until(h, n, CLOCK_MONOTONIC, &soon), EINVAL);
            ck_assert_int_eq(fairsem_shared_acquire_with(h, n, NULL), EINVAL);
            ck_assert_int_eq(fairsem_shared_release(h, n), EINVAL);
        }
        ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, 77, NULL), EINVAL);
        ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, CLOCK_MONOTONIC, &wrong), EINVAL);
        ck_assert_int_eq(fairsem_shared_acquire_with(h, 1, &reserved), EINVAL);
        ck_assert_int_eq(fairsem_shared_acquire(h, 5), E2BIG);
        ck_assert_int_eq(fairsem_shared_tryacquire(h, 5), E2BIG);
        ck_assert_int_eq(fairsem_shared_acquire_for(h, FAIRSEM_MAX_UNITS, 1), E2BIG);
        ck_assert_int_eq(fairsem_shared_available(h), 4);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

START_TEST(each_way_to_acquire_takes_what_is_free)
{
    for (unsigned flags = 0; flags <= FAIRSEM_SHARED_NO_UNDO; flags++) {
        fairsem_shared_t *h = make_segment(6, flags);
        struct timespec past = from_now(CLOCK_REALTIME, -1000);
        struct timespec later = from_now(CLOCK_MONOTONIC, 600000);
        const fairsem_wait_t moment = { .timeout_ns = 1000000 };

        errno = 4711;
        ck_assert_int_eq(fairsem_shared_acquire(h, 0), 0);
        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_acquire_for(h, 1, 0), 0);
        ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, CLOCK_REALTIME, &past), 0);
        ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, CLOCK_MONOTONIC, &later), 0);
        ck_assert_int_eq(fairsem_shared_acquire_with(h, 1, NULL), 0);
        ck_assert_int_eq(fairsem_shared_available(h), 0);
        ck_assert_int_eq(fairsem_shared_tryacquire(h, 0), 0);
        ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
        ck_assert_int_eq(fairsem_shared_acquire_for(h, 1, 0), ETIMEDOUT);
        ck_assert_int_eq(fairsem_shared_acquire_for(h, 1, -5), ETIMEDOUT);
        ck_assert_int_eq(wait_and_time_out(h, 1), ETIMEDOUT);
        ck_assert_int_eq(fairsem_shared_acquire_until(h, 1, CLOCK_REALTIME, &past), ETIMEDOUT);
        ck_assert_int_eq(fairsem_shared_acquire_with(h, 1, &moment), ETIMEDOUT);
        ck_assert_int_eq(fairsem_shared_waiters(h), 0);
        ck_assert_int_eq(fairsem_shared_release(h, 6), 0);
        ck_assert_int_eq(fairsem_shared_release(h, 0), 0);
        ck_assert_int_eq(fairsem_shared_available(h), 6);
        ck_assert_int_eq(errno, 4711);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

START_TEST(a_release_of_too_much_is_refused_and_changes_nothing)
{
    const fairsem_shared_attr_t bounded = { .units = 1, .capacity = 2,
                                            .flags = FAIRSEM_SHARED_NO_UNDO };
    fairsem_shared_stat_t stat;
    fairsem_shared_t *h = make_segment(2, 0);

    ck_assert_int_eq(fairsem_shared_release(h, 1), EPERM);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 2), EPERM);
    ck_assert_int_eq(fairsem_shared_release(h, FAIRSEM_MAX_UNITS), EPERM);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert(stat.over_releases == 3 && stat.available == 1 && stat.mine == 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);

    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &bounded), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 2), EOVERFLOW);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert(stat.over_releases == 2 && stat.available == 2 && stat.capacity == 2);
    ck_assert_int_eq(fairsem_shared_close(h), 0);

    h = make_segment(1, FAIRSEM_SHARED_NO_UNDO);
    ck_assert_int_eq(fairsem_shared_release(h, FAIRSEM_MAX_UNITS), EOVERFLOW);
    ck_assert_int_eq(fairsem_shared_release(h, FAIRSEM_MAX_UNITS - 1), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 1), EOVERFLOW);
    ck_assert_int_eq(fairsem_shared_acquire(h, FAIRSEM_MAX_UNITS), 0);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert(stat.capacity == -1 && stat.available == 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(a_full_queue_refuses_requests_that_would_wait)
{
    fairsem_shared_t *h = make_small_segment(1, 0, 2, 8);
    fairsem_shared_stat_t stat;
    pid_t waiter[2];

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    for (int i = 0; i < 2; i++)
        waiter[i] = queue_user(h, 1);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), ENOBUFS);
    ck_assert_int_eq(fairsem_shared_acquire_for(h, 1, 5), ENOBUFS);
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(status_of(waiter[i]), 0);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert(stat.refused == 2 && stat.waits == 2 && stat.grants == 2 && stat.waiters_max == 2);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

static uint64_t waits_in_histogram(fairsem_shared_t *h, uint64_t *counts)
{
    uint64_t sum = 0;

    memset(counts, 0x5a, FAIRSEM_WAIT_BUCKETS * sizeof *counts);
    ck_assert_int_eq(fairsem_shared_stat_histogram(h, counts), 0);
    for (int i = 0; i < FAIRSEM_WAIT_BUCKETS; i++)
        sum += counts[i];
    return sum;
}

/* A wait that times out is in no bucket, and not in wait_ns_total, which is the length of the only grant. */
START_TEST(each_wait_that_was_granted_is_in_the_bucket_of_its_length)
{
    fairsem_shared_t *h = make_segment(1, 0);
    uint64_t counts[FAIRSEM_WAIT_BUCKETS];
    fairsem_shared_stat_t stat;
    pid_t waiter;
    int i = 0;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    do {
        ck_assert_int_eq(fairsem_shared_acquire_for(h, 1, 1000000), ETIMEDOUT);
        ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    } while (stat.timeouts == 0);
    waiter = queue_user(h, 1);
    ck_assert_uint_eq(waits_in_histogram(h, counts), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(status_of(waiter), 0);
    ck_assert_uint_eq(waits_in_histogram(h, counts), 1);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    while (stat.wait_ns_total > INT64_C(1000) << i && i < FAIRSEM_WAIT_BUCKETS - 1)
        i++;
    ck_assert_uint_eq(counts[i], 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

struct asker {
    fairsem_shared_t *h;
    fairsem_token_t   token;
    pthread_t         thread;
    int               result;
};

static void *ask(void *arg)
{
    struct asker *a = arg;
    const fairsem_wait_t how = { .token = &a->token };

    a->result = fairsem_shared_acquire_with(a->h, 1, &how);
    return arg;
}

START_TEST(a_token_cancels_only_the_wait_that_uses_it)
{
    struct asker first = { .token = FAIRSEM_TOKEN_INITIALIZER }, second = first;
    fairsem_shared_t *h = make_segment(1, 0);
    const fairsem_wait_t how = { .token = &first.token };
    fairsem_shared_stat_t stat;

    first.h = second.h = h;
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    start_thread(&first.thread, ask, &first);
    await_queue(h, 1);
    start_thread(&second.thread, ask, &second);
    await_queue(h, 2);
    ck_assert_int_eq(fairsem_shared_close(h), EBUSY);
    ck_assert_int_eq(fairsem_shared_keep_on_exec(h, true), EBUSY);
    ck_assert_int_eq(fairsem_token_cancel(&first.token, 4711), 0);
    pthread_join(first.thread, NULL);
    ck_assert_int_eq(first.result, 4711);
    ck_assert_int_eq(fairsem_shared_waiters(h), 1);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    pthread_join(second.thread, NULL);
    ck_assert_int_eq(second.result, 0);
    ck_assert_int_eq(fairsem_shared_acquire_with(h, 1, &how), 4711);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert(stat.cancels == 1 && stat.grants == 1 && stat.mine == 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);

    /* A canceled token also stops the fast path, which would take the free unit without the lock. */
    h = make_segment(1, FAIRSEM_SHARED_NO_UNDO);
    ck_assert_int_eq(fairsem_shared_acquire_with(h, 1, &how), 4711);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    ck_assert_int_eq(fairsem_token_destroy(&first.token), 0);
    ck_assert_int_eq(fairsem_token_destroy(&second.token), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

static void *wait_for_ever(void *arg)
{
    insist(0, fairsem_shared_acquire(arg, 1));
    return NULL;
}

START_TEST(a_canceled_thread_leaves_the_queue)
{
    fairsem_shared_t *h = make_segment(1, 0);
    pthread_t thread;
    void *end;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    start_thread(&thread, wait_for_ever, h);
    await_queue(h, 1);
    ck_assert_int_eq(pthread_cancel(thread), 0);
    ck_assert_int_eq(pthread_join(thread, &end), 0);
    ck_assert_ptr_eq(end, PTHREAD_CANCELED);
    ck_assert_int_eq(fairsem_shared_waiters(h), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* Returns a child that takes a liveness lock, like a process that attaches, and then stops. */
static pid_t fork_attaching(int byte)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
    _Atomic int *flag = share(sizeof *flag);
    pid_t child = fork();

    if (child == 0) {
        CHILD_CHECK(fcntl(shm_open(own_name(), O_RDWR, 0), F_SETLK, &lock) == 0);
        atomic_store(flag, 1);
        for (;;)
            pause();
    }
    ck_assert_int_gt(child, 0);
    await_flag(flag, 1);
    return child;
}

static void *try_canceled(void *arg)
{
    pthread_cancel(pthread_self());
    if (fairsem_shared_tryacquire(arg, 1) != EUSERS)
        return arg;
    pthread_testcancel();
    return arg;
}

/* The call waits a moment for an entry in the table of processes.  Only a wait in the queue can be canceled. */
START_TEST(a_first_call_that_need_not_wait_is_not_a_cancellation_point)
{
    const fairsem_shared_attr_t attr = { .units = 1, .max_processes = 2 };
    fairsem_shared_t *h;
    pid_t comes, child;

    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT, 0600, &attr), 0);
    comes = fork_attaching(1);
    child = fork();
    if (child == 0) {
        pthread_t thread;
        void *end;

        CHILD_CHECK(pthread_create(&thread, NULL, try_canceled, h) == 0);
        CHILD_CHECK(pthread_join(thread, &end) == 0 && end == PTHREAD_CANCELED);
        CHILD_CHECK(fairsem_shared_tryacquire(h, 1) == EUSERS);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    kill_child(comes);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(users_and_dump_show_holders_and_waiters)
{
    fairsem_shared_t *h = make_segment(3, 0);
    fairsem_shared_user_t users[4];
    fairsem_shared_stat_t stat;
    pid_t holder = fork_holder(h, 2), waiter;
    char text[4096] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    int count = 4;

    nap(50);        /* more than a tick of the kernel's clock, so that the child has held its units longer */
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    waiter = queue_user(h, 1);
    ck_assert_int_eq(fairsem_shared_users(h, users, &count), 0);
    ck_assert_int_eq(count, 3);
    ck_assert(users[0].pid == holder && users[0].units == 2 && users[0].place == 0);
    ck_assert(users[1].pid == getpid() && users[1].units == 1 && users[1].mine == 1);
    ck_assert(users[2].pid == waiter && users[2].units == 1 && users[2].place == 1);
    for (int i = 0; i < count; i++)     /* all are in one namespace */
        ck_assert_int_eq(users[i].local_pid, users[i].pid);
    ck_assert_int_ge(users[0].ns, users[1].ns);
    count = 1;
    ck_assert_int_eq(fairsem_shared_users(h, users, &count), 0);
    ck_assert(count == 3 && users[0].pid == holder);
    count = 0;
    ck_assert_int_eq(fairsem_shared_users(h, NULL, &count), 0);
    ck_assert_int_eq(count, 3);
    nap(50);        /* more than a tick again, so that the wait has a length */
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert_int_ge(stat.oldest_wait_ns, 10000000);
    FS_PUT(&h->segment->count.wait_ns_total, INT64_C(1000000000000000));
    ck_assert_int_eq(fairsem_shared_dump(h, file), 0);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "available 0 of 3, in use 3, held 3 (1 here), processes 3 of 64"));
    ck_assert_ptr_nonnull(strstr(text, " for 1 unit, the first lacks 1\n"));
    ck_assert_ptr_nonnull(strstr(text, "holds 2 for"));
    ck_assert_ptr_nonnull(strstr(text, "waits in place 1 for 1, priority 0"));
    ck_assert_ptr_null(strstr(text, "longest wait 0.000000 s"));
    ck_assert_ptr_nonnull(strstr(text, "all waits 1000"));
    ck_assert_ptr_null(strstr(text, "all waits 1000000.000000 s, "));
    file = fopen("/dev/full", "w");
    if (file != NULL) {
        ck_assert_int_eq(fairsem_shared_dump(h, file), EIO);
        fclose(file);
    }
    kill_child(holder);
    ck_assert_int_eq(status_of(waiter), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* A priority can put a short wait ahead of a long one. */
START_TEST(waiters_are_shown_behind_holders_and_in_the_order_of_the_queue)
{
    fairsem_shared_t *h = make_segment(1, 0);
    fairsem_shared_user_t users[3];
    pid_t second, first;
    int count = 3;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    nap(50);        /* more than a tick of the kernel's clock, here and below */
    second = queue_placed(h, 1, 1, NULL, NULL);
    nap(50);
    first = queue_user(h, 1);
    ck_assert_int_eq(fairsem_shared_users(h, users, &count), 0);
    ck_assert_int_eq(count, 3);
    ck_assert(users[0].mine == 1 && users[0].place == 0);
    ck_assert(users[1].pid == first && users[1].place == 1);
    ck_assert(users[2].pid == second && users[2].place == 2);
    ck_assert_int_lt(users[1].ns, users[2].ns);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(status_of(first), 0);
    ck_assert_int_eq(status_of(second), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* Returns a child that waits for a unit, holds it, and waits for another unit. */
static pid_t fork_double_waiter(fairsem_shared_t *h, _Atomic int *flag)
{
    pid_t child = fork();

    if (child == 0) {
        for (int i = 0; i < 2; i++) {
            CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
            atomic_fetch_add(flag, 1);
        }
        for (;;)
            pause();
    }
    ck_assert_int_gt(child, 0);
    return child;
}

START_TEST(a_process_that_waited_holds_since_its_first_grant)
{
    _Atomic int *flag = share(sizeof *flag);
    fairsem_shared_t *h = make_segment(2, 0);
    int64_t before = fs_tick_ns(), granted, asked;
    fairsem_shared_user_t user;
    pid_t child;
    int count = 1;

    ck_assert_int_eq(fairsem_shared_acquire(h, 2), 0);
    child = fork_double_waiter(h, flag);
    await_queue(h, 1);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    await_flag(flag, 1);
    granted = fs_now_ns();
    await_queue(h, 1);
    nap(50);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    await_flag(flag, 2);
    asked = fs_now_ns();
    ck_assert_int_eq(fairsem_shared_users(h, &user, &count), 0);
    ck_assert(count == 1 && user.pid == child && user.units == 2 && user.place == 0);
    ck_assert_int_ge(user.ns, asked - granted);
    ck_assert_int_le(user.ns, fs_now_ns() - before);
    kill_child(child);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* A process that is stopped in the queue is granted units, which its thread cannot receive. */
START_TEST(a_granted_process_that_is_stopped_is_shown_as_a_holder)
{
    fairsem_shared_t *h = make_segment(2, 0);
    fairsem_shared_user_t users[2];
    fairsem_shared_stat_t stat;
    int count = 2;
    pid_t waiter, behind;

    ck_assert_int_eq(fairsem_shared_acquire(h, 2), 0);
    waiter = queue_user(h, 2);
    behind = queue_user(h, 1);
    stop_child(waiter);
    ck_assert_int_eq(fairsem_shared_release(h, 2), 0);
    ck_assert_int_eq(fairsem_shared_users(h, users, &count), 0);
    ck_assert_int_eq(count, 2);
    ck_assert(users[0].pid == waiter && users[0].units == 2 && users[0].place == 0);
    ck_assert(users[0].mine == 0);
    ck_assert(users[1].pid == behind && users[1].units == 1 && users[1].place == 1);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert(stat.held == 2 && stat.waiting_units == 1);
    ck_assert_int_eq(kill(waiter, SIGCONT), 0);
    ck_assert_int_eq(status_of(waiter), 0);
    ck_assert_int_eq(status_of(behind), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* The acquire takes its unit in a section, not on the fast path, because another request waits. */
START_TEST(without_undo_no_process_holds_units)
{
    const fairsem_wait_t urgent = { .priority = -1 };
    fairsem_shared_t *h = make_segment(2, FAIRSEM_SHARED_NO_UNDO);
    fairsem_shared_stat_t stat;
    pid_t child = queue_user(h, 3);

    ck_assert_int_eq(fairsem_shared_acquire_with(h, 1, &urgent), 0);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert(stat.available == 1 && stat.held == 0 && stat.mine == 0);
    ck_assert_int_eq(fairsem_shared_release(h, 2), 0);
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared results", invalid_arguments_are_refused,
              each_way_to_acquire_takes_what_is_free,
              a_release_of_too_much_is_refused_and_changes_nothing,
              a_full_queue_refuses_requests_that_would_wait,
              each_wait_that_was_granted_is_in_the_bucket_of_its_length,
              a_token_cancels_only_the_wait_that_uses_it, a_canceled_thread_leaves_the_queue,
              a_first_call_that_need_not_wait_is_not_a_cancellation_point,
              users_and_dump_show_holders_and_waiters,
              waiters_are_shown_behind_holders_and_in_the_order_of_the_queue,
              a_process_that_waited_holds_since_its_first_grant,
              a_granted_process_that_is_stopped_is_shown_as_a_holder,
              without_undo_no_process_holds_units);
}
