/* SPDX-License-Identifier: MIT */
/*
 * t_shared_death.c - units and places in the queue when a process is killed, ends, forks or calls exec.
 */
#include "crowd.h"

#include "shared/attach.h"
#include "shared/handle.h"
#include "system/deadline.h"
#include "workers.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

START_TEST(units_of_a_killed_holder_go_to_the_next_waiter)
{
    fairsem_shared_t *h = make_segment(3, 0);
    fairsem_shared_stat_t stat;
    pid_t holder = fork_holder(h, 3), waiter;

    waiter = queue_user(h, 2);
    /* The waiter itself must find the death: no other process makes a call. */
    kill_child(holder);
    ck_assert_int_eq(status_of(waiter), 0);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert_int_eq(stat.available, 3);
    ck_assert_int_eq(stat.returned, 3);
    ck_assert_int_ge(stat.deaths, 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(a_zombie_is_dead_and_a_stopped_process_is_not)
{
    fairsem_shared_t *h = make_segment(2, 0);
    pid_t zombie = fork_holder(h, 1), stopped;
    siginfo_t info;

    stopped = fork_holder(h, 1);
    stop_child(stopped);
    ck_assert_int_eq(kill(zombie, SIGKILL), 0);
    ck_assert_int_eq(waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    ck_assert_int_eq(fairsem_shared_acquire_for(h, 2, 1), ETIMEDOUT);
    kill_child(stopped);
    kill_child(zombie);
    ck_assert_int_eq(fairsem_shared_available(h), 2);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* A waiter is granted the only unit of the capacity, and its process dies before the thread runs. */
START_TEST(a_unit_that_a_dead_process_was_granted_fills_the_segment_again)
{
    const fairsem_shared_attr_t attr = { .capacity = 1, .flags = FAIRSEM_SHARED_NO_UNDO };
    fairsem_shared_t *h;
    pid_t waiter;

    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), 0);
    waiter = queue_user(h, 1);
    stop_child(waiter);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    kill_child(waiter);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* The parent keeps its units when a child closes the inherited handle, or ends. */
START_TEST(a_child_is_a_process_of_its_own)
{
    _Atomic int *lives = share(2 * sizeof *lives), *may_end = lives + 1;
    fairsem_shared_t *h = make_segment(3, 0);
    fairsem_shared_stat_t stat;
    pid_t child, survivor;

    ck_assert_int_eq(fairsem_shared_acquire(h, 2), 0);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_shared_release(h, 1) == EPERM);
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        CHILD_CHECK(fairsem_shared_stat(h, &stat) == 0);
        CHILD_CHECK(stat.mine == 1 && stat.held == 3 && stat.processes == 2);
        CHILD_CHECK(fairsem_shared_close(h) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    /* A child that outlives its parent does not hold the parent's units. */
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        survivor = fork();
        if (survivor == 0) {
            atomic_store(lives, 1);
            await_flag(may_end, 1);
            atomic_store(lives, 2);
            _exit(0);
        }
        await_flag(lives, 1);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    ck_assert_int_eq(atomic_load(lives), 1);
    atomic_store(may_end, 1);
    await_flag(lives, 2);
    ck_assert_int_eq(fairsem_shared_release(h, 2), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(a_process_that_closes_before_its_end_is_not_counted_as_dead)
{
    fairsem_shared_t *h = make_segment(2, 0);
    fairsem_shared_stat_t stat;
    pid_t child = fork();

    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        CHILD_CHECK(fairsem_shared_close(h) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert(stat.deaths == 0 && stat.returned == 0 && stat.repairs == 0);
    ck_assert(stat.available == 2 && stat.processes == 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(a_process_that_exits_without_a_close_is_counted_as_dead)
{
    fairsem_shared_t *h = make_segment(2, 0);
    fairsem_shared_stat_t stat;
    pid_t child = fork();

    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0 && fairsem_shared_release(h, 1) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert(stat.deaths == 1 && stat.returned == 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

static void exec_sleep(void)
{
    execl("/bin/sleep", "sleep", "1000000", (char *)NULL);
    _exit(127);
}

/* Make a pipe, whose second end an exec closes. */
static void make_pipe(int ends[2])
{
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[1], F_SETFD, FD_CLOEXEC), 0);
}

/* Wait until the child runs another program: the exec has closed the child's copy of the pipe's second end. */
static void await_exec(int ends[2])
{
    char byte;

    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

/* Wait for a whole check for dead processes: until two have begun. */
static void await_check(fairsem_shared_t *h)
{
    for (int i = 0; i < 2; i++) {
        int64_t last = FS_GET(&h->segment->checked_ns);

        while (FS_GET(&h->segment->checked_ns) == last)
            nap(1);
    }
}

START_TEST(exec_returns_the_units_of_the_process)
{
    _Atomic int *flag = share(sizeof *flag);
    fairsem_shared_t *h = make_segment(1, 0);
    pid_t child = fork();

    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        atomic_store(flag, 1);
        exec_sleep();
    }
    await_flag(flag, 1);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    kill_child(child);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(keep_on_exec_keeps_the_units_until_the_new_program_ends)
{
    fairsem_shared_t *h = make_segment(2, 0);
    pid_t child, other;
    int ends[2];

    make_pipe(ends);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        CHILD_CHECK(fairsem_shared_keep_on_exec(h, true) == 0);
        CHILD_CHECK(fairsem_shared_acquire(h, 2) == EBUSY);     /* it would wait */
        CHILD_CHECK(fairsem_shared_tryacquire(h, 1) == 0);
        CHILD_CHECK(fairsem_shared_release(h, 1) == 0);
        CHILD_CHECK(fairsem_shared_keep_on_exec(h, false) == 0);
        CHILD_CHECK(fairsem_shared_acquire_for(h, 2, 1) == ETIMEDOUT);
        CHILD_CHECK(fairsem_shared_keep_on_exec(h, true) == 0);
        exec_sleep();
    }
    await_exec(ends);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    other = queue_user(h, 2);
    await_check(h);         /* `other` checks, and finds the sleeping program alive */
    ck_assert_int_eq(fairsem_shared_waiters(h), 1);
    kill_child(child);
    ck_assert_int_eq(status_of(other), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

START_TEST(keep_on_exec_of_the_parent_keeps_nothing_for_a_child)
{
    fairsem_shared_t *h = make_segment(2, 0);
    pid_t child;
    int ends[2];

    make_pipe(ends);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_keep_on_exec(h, true), 0);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        exec_sleep();
    }
    await_exec(ends);
    ck_assert_int_eq(fairsem_shared_keep_on_exec(h, false), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    kill_child(child);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* main() after an exec, in mode after-close: the process has closed the descriptor before the exec. */
static int after_close(const char *name)
{
    fairsem_shared_t *h;
    fairsem_shared_stat_t stat;

    if (fairsem_shared_open(&h, name, 0, 0, NULL) != 0 || fairsem_shared_stat(h, &stat) != 0)
        return 1;
    return stat.mine != 0 || stat.held != 0 || fairsem_shared_tryacquire(h, 2) != 0 ? 2 : 0;
}

/* main() after an exec, in mode after-failure: an open fails; a second exec leads to after_exec(). */
static int after_failure(const char *name)
{
    const fairsem_shared_attr_t wrong = { .flags = FAIRSEM_SHARED_NO_UNDO };
    fairsem_shared_t *h;

    if (fairsem_shared_open(&h, name, O_CREAT, 0600, &wrong) != EINVAL)
        return 1;
    raise(SIGSTOP);
    execl("/proc/self/exe", "t_shared_death", "after-exec", name, (char *)NULL);
    return 127;
}

/* main() after an exec, in mode after-exec: the process still has the units. */
static int after_exec(const char *name)
{
    fairsem_shared_t *h;
    fairsem_shared_stat_t stat;

    if (fairsem_shared_open(&h, name, 0, 0, NULL) != 0 || fairsem_shared_stat(h, &stat) != 0)
        return 2;
    if (stat.mine != 2 || stat.processes != 2 || FS_GET(&h->segment->keepers) != 0)
        return 3;
    if (fairsem_shared_acquire_for(h, 1, 1000000) != ETIMEDOUT
        || fairsem_shared_release(h, 1) != 0)
        return 4;
    return 0;
}

/* Returns a child that acquires both units of a named segment, keeps them, and executes this program. */
static pid_t fork_keeper(fairsem_shared_t **h, const char *mode)
{
    pid_t child;

    *h = make_own_named(2, 0);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(*h, 2) == 0);
        CHILD_CHECK(fairsem_shared_keep_on_exec(*h, true) == 0);
        if (strcmp(mode, "after-close") == 0)
            close((*h)->fd);
        execl("/proc/self/exe", "t_shared_death", mode, own_name(), (char *)NULL);
        _exit(127);
    }
    ck_assert_int_gt(child, 0);
    return child;
}

static void check_after_exec(const char *mode)
{
    fairsem_shared_t *h;
    pid_t child = fork_keeper(&h, mode);

    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 2);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}

START_TEST(after_exec_the_new_program_finds_its_units)
{
    check_after_exec("after-exec");
}
END_TEST

/* The new program has the process ID of the units' owner, but not the owner's liveness lock. */
START_TEST(after_exec_the_new_program_does_not_find_units_of_a_closed_descriptor)
{
    check_after_exec("after-close");
}
END_TEST

/* Closing the descriptor would release the liveness lock. */
START_TEST(after_exec_a_failed_open_keeps_the_units)
{
    fairsem_shared_t *h;
    pid_t child = fork_keeper(&h, "after-failure");
    int status;

    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    ck_assert(WIFSTOPPED(status));
    ck_assert_int_eq(fairsem_shared_available(h), 0);
    ck_assert_int_eq(kill(child, SIGCONT), 0);
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 2);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/*
 * A program closes all descriptors, and other processes take it for dead.  Its own calls must return EBADF,
 * even when another file has the descriptor's number.
 */
START_TEST(closing_the_descriptor_harms_only_the_process_that_closes_it)
{
    fairsem_shared_t *h = make_segment(3, 0);
    pid_t holder = fork_holder(h, 2), child;

    child = fork();
    if (child == 0) {
        int null;

        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0);
        for (int fd = 3; fd < 100; fd++)
            close(fd);
        CHILD_CHECK(fairsem_shared_acquire_for(h, 1, 1) == EBADF);
        do {
            null = open("/dev/null", O_RDWR);
        } while (null >= 0 && null < 60);
        CHILD_CHECK(fairsem_shared_acquire_for(h, 1, 1) == EBADF);
        CHILD_CHECK(fairsem_shared_available(h) == -1);
        CHILD_CHECK(fairsem_shared_close(h) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    kill_child(holder);
    ck_assert_int_eq(fairsem_shared_available(h), 3);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/*
 * A daemon uses the segment, and then closes all descriptors.  (A call notices that only in a later tick of
 * the kernel's clock.)
 */
START_TEST(a_process_that_has_closed_all_descriptors_acquires_nothing)
{
    fairsem_shared_t *h = make_segment(1, 0);
    pid_t child = fork();

    if (child == 0) {
        int64_t tick_ns;

        CHILD_CHECK(fairsem_shared_acquire(h, 1) == 0 && fairsem_shared_release(h, 1) == 0);
        for (int fd = 3; fd < 100; fd++)
            close(fd);
        for (tick_ns = fs_tick_ns(); fs_tick_ns() == tick_ns;)
            nap(1);
        CHILD_CHECK(fairsem_shared_acquire(h, 1) == EBADF);
        CHILD_CHECK(fairsem_shared_tryacquire(h, 1) == EBADF);
        CHILD_CHECK(fairsem_shared_release(h, 1) == EBADF);
        CHILD_CHECK(fairsem_shared_close(h) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* The count is `keepers`.  A process that attaches searches for kept units only if the count is not 0. */
START_TEST(the_count_of_processes_that_keep_units_is_exact)
{
    fairsem_shared_t *h = make_segment(2, 0);
    const _Atomic int32_t *keepers = &h->segment->keepers;
    pid_t child;

    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(fairsem_shared_keep_on_exec(h, true), 0);
    ck_assert_int_eq(*keepers, 1);
    for (int dies = 0; dies < 2; dies++) {
        child = fork();
        if (child == 0) {
            CHILD_CHECK(fairsem_shared_keep_on_exec(h, true) == 0 && *keepers == 2);
            CHILD_CHECK(dies || fairsem_shared_close(h) == 0);
            _exit(0);
        }
        ck_assert_int_eq(status_of(child), 0);
        ck_assert_int_eq(fairsem_shared_available(h), 2);      /* reaps the child */
        ck_assert_int_eq(*keepers, 1);
    }
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(fairsem_shared_keep_on_exec(h, false), 0);
    ck_assert_int_eq(*keepers, 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

static _Atomic int asleep, may_go_on;

static void stay_in_the_wait(const char *what)
{
    if (strcmp(what, "sleep") == 0) {
        atomic_store(&asleep, 1);
        await_flag(&may_go_on, 1);
    }
}

static void *wait_for_a_unit(void *h)
{
    CHILD_CHECK(fairsem_shared_acquire(h, 1) == EBADF);
    return h;
}

/* If `missed`, wait until the parent has taken this process for dead, and removed the waiter's request. */
static void close_beside_a_waiter(fairsem_shared_t *h, bool missed)
{
    pthread_t waiter;

    fs_shared_step = stay_in_the_wait;
    start_thread(&waiter, wait_for_a_unit, h);
    await_flag(&asleep, 1);
    for (int fd = 3; fd < 100; fd++)
        close(fd);
    for (int looks = 0; missed && FS_GET(&h->segment->waiters) != 0 && looks < 300000; looks++)
        nap(1);
    CHILD_CHECK(fairsem_shared_close(h) == EBUSY);
    atomic_store(&may_go_on, 1);
    CHILD_CHECK(pthread_join(waiter, NULL) == 0);
    CHILD_CHECK(fairsem_shared_close(h) == 0);
    _exit(0);
}

START_TEST(a_handle_stays_open_while_a_thread_waits_even_if_its_descriptor_is_closed)
{
    for (int missed = 0; missed < 2; missed++) {
        fairsem_shared_t *h = make_segment(1, 0);
        pid_t child;

        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        child = fork();
        if (child == 0)
            close_beside_a_waiter(h, missed != 0);
        while (missed && fairsem_shared_waiters(h) == 0 && !has_ended(child))
            nap(1);
        while (missed && fairsem_shared_waiters(h) != 0)
            nap(1);
        ck_assert_int_eq(status_of(child), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

static pid_t forked;

/* Fork in the middle of a wait.  In the child no thread waits. */
static void fork_in_the_wait(const char *what)
{
    if (strcmp(what, "sleep") != 0)
        return;
    fs_shared_step = NULL;
    forked = fork();
}

START_TEST(a_child_that_is_forked_in_a_wait_can_close_the_handle)
{
    fairsem_shared_t *h = make_segment(1, 0);

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    fs_shared_step = fork_in_the_wait;
    while (fairsem_shared_acquire_for(h, 1, 1000000) == ETIMEDOUT && fs_shared_step != NULL)
        continue;
    if (forked == 0) {
        CHILD_CHECK(fairsem_shared_close(h) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(forked), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* The process has lost its liveness lock, and must attach again. */
START_TEST(a_process_that_was_taken_for_dead_starts_with_nothing)
{
    const fairsem_shared_attr_t attr = { .units = 2 };
    fairsem_shared_t *h;
    pid_t child;
    int fd;

    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT, 0600, &attr), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 2), 0);
    fd = shm_open(own_name(), O_RDWR, 0);
    ck_assert_int_ge(fd, 0);
    close(fd);      /* the kernel releases our liveness lock */
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(h, 2) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 1), EPERM);
    ck_assert_int_eq(fairsem_shared_acquire(h, 2), 0);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* One child holds both units of a new segment; two more children wait, for one unit each. */
static fairsem_shared_t *make_queue_of_two(pid_t *holder, pid_t *head, pid_t *second)
{
    fairsem_shared_t *h = make_segment(2, 0);

    *holder = fork_holder(h, 2);
    *head = queue_user(h, 1);
    *second = queue_user(h, 1);
    return h;
}

/*
 * The front waiter is stopped, so the second waiter must find the dead holder.  If `ahead`, the last check was
 * made by a process of another time namespace, whose clock is ahead of ours.
 */
static void check_stopped_head(bool ahead)
{
    pid_t holder, head, second;
    fairsem_shared_t *h = make_queue_of_two(&holder, &head, &second);

    stop_child(head);
    if (ahead)
        FS_PUT(&h->segment->checked_ns, INT64_MAX);
    kill_child(holder);
    ck_assert_int_eq(status_of(second), 0);
    ck_assert_int_eq(kill(head, SIGCONT), 0);
    ck_assert_int_eq(status_of(head), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}

START_TEST(a_stopped_front_of_the_queue_does_not_hide_the_dead)
{
    check_stopped_head(false);
}
END_TEST

START_TEST(another_clock_does_not_hide_the_dead)
{
    check_stopped_head(true);
}
END_TEST

/*
 * The clock of a restored container may be ahead of ours, so that its request seems to come from the future.
 * Such a request has not aged.
 */
START_TEST(another_clock_ages_no_request)
{
    const fairsem_shared_attr_t attr = { .units = 1, .aging_ns = INT64_C(3600000000000) };
    _Atomic int *places = share(3 * sizeof *places);
    fairsem_shared_t *h;
    pid_t ahead, urgent;

    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    ahead = queue_placed(h, 1, 0, &places[0], &places[2]);
    FS_PUT(&h->slots[FS_GET(&h->segment->head)].enqueued_ns, INT64_MAX / 2);
    urgent = queue_placed(h, 1, -5, &places[1], &places[2]);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(status_of(urgent), 0);
    ck_assert_int_eq(status_of(ahead), 0);
    ck_assert(atomic_load(&places[1]) == 1 && atomic_load(&places[0]) == 2);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* A signal each millisecond makes each sleep shorter than the period of the detectors. */
START_TEST(signals_do_not_hide_the_dead)
{
    pid_t holder, head, second;
    fairsem_shared_t *h;

    users_get_signals = true;
    h = make_queue_of_two(&holder, &head, &second);
    kill_child(holder);
    ck_assert_int_eq(status_of(head), 0);
    ck_assert_int_eq(status_of(second), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* The last two waiters are the detectors.  Both are stopped, so the first waiter must check. */
START_TEST(stopped_waiters_do_not_hide_the_dead)
{
    pid_t holder, first, last[2];
    fairsem_shared_t *h = make_queue_of_two(&holder, &first, &last[0]);

    last[1] = queue_user(h, 1);
    for (int i = 0; i < 2; i++)
        stop_child(last[i]);
    kill_child(holder);
    ck_assert_int_eq(status_of(first), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(kill(last[i], SIGCONT), 0);
        ck_assert_int_eq(status_of(last[i]), 0);
    }
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* A call returns ENOBUFS or EBUSY only after a check, even if another check was made a moment before. */
START_TEST(no_caller_is_refused_because_of_the_dead)
{
    fairsem_shared_t *h = make_small_segment(2, 0, 1, 8);
    fairsem_shared_stat_t stat;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    for (int i = 0; i < 8; i++) {
        pid_t waiter = queue_user(h, 2);

        kill_child(waiter);
        ck_assert_int_eq(wait_and_time_out(h, 2), ETIMEDOUT);
    }
    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert_int_eq(stat.lost, 8);
    ck_assert_int_eq(fairsem_shared_keep_on_exec(h, true), 0);
    for (int i = 0; i < 8; i++) {
        pid_t holder = fork_holder(h, 1);

        ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
        kill_child(holder);
        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    }
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* Waiters behind the front are checked only when their slots are needed. */
START_TEST(no_caller_is_refused_because_of_the_dead_behind_the_front)
{
    fairsem_shared_t *h = make_small_segment(2, 0, 2, 8);
    pid_t head, behind;

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    head = queue_user(h, 2);
    behind = queue_user(h, 2);
    kill_child(behind);
    ck_assert_int_eq(wait_and_time_out(h, 2), ETIMEDOUT);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(status_of(head), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* After a recent check, a refusal would not check again.  So the test makes the last check 20 ms old. */
START_TEST(a_refusal_without_a_wait_checks_the_holders_first)
{
    fairsem_shared_t *h = make_segment(1, 0);
    struct timespec past = from_now(CLOCK_MONOTONIC, -1000);

    for (int way = 0; way < 3; way++) {
        pid_t holder = fork_holder(h, 1);
        int error;

        kill_child(holder);
        FS_PUT(&h->segment->checked_ns, fs_tick_ns() - 20000000);
        error = way == 0   ? fairsem_shared_tryacquire(h, 1)
                : way == 1 ? fairsem_shared_acquire_for(h, 1, 0)
                           : fairsem_shared_acquire_until(h, 1, CLOCK_MONOTONIC, &past);
        ck_assert_int_eq(error, 0);
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    }
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "after-close") == 0)
        return after_close(argv[2]);
    if (argc == 3 && strcmp(argv[1], "after-failure") == 0)
        return after_failure(argv[2]);
    if (argc == 3)
        return after_exec(argv[2]);
    RUN_SUITE("shared death", units_of_a_killed_holder_go_to_the_next_waiter,
              a_zombie_is_dead_and_a_stopped_process_is_not,
              a_unit_that_a_dead_process_was_granted_fills_the_segment_again,
              a_child_is_a_process_of_its_own,
              a_process_that_closes_before_its_end_is_not_counted_as_dead,
              a_process_that_exits_without_a_close_is_counted_as_dead,
              exec_returns_the_units_of_the_process,
              keep_on_exec_keeps_the_units_until_the_new_program_ends,
              keep_on_exec_of_the_parent_keeps_nothing_for_a_child,
              after_exec_the_new_program_finds_its_units,
              after_exec_the_new_program_does_not_find_units_of_a_closed_descriptor,
              after_exec_a_failed_open_keeps_the_units,
              closing_the_descriptor_harms_only_the_process_that_closes_it,
              a_process_that_has_closed_all_descriptors_acquires_nothing,
              the_count_of_processes_that_keep_units_is_exact,
              a_handle_stays_open_while_a_thread_waits_even_if_its_descriptor_is_closed,
              a_child_that_is_forked_in_a_wait_can_close_the_handle,
              a_process_that_was_taken_for_dead_starts_with_nothing, signals_do_not_hide_the_dead,
              another_clock_ages_no_request,
              a_stopped_front_of_the_queue_does_not_hide_the_dead,
              stopped_waiters_do_not_hide_the_dead, another_clock_does_not_hide_the_dead,
              no_caller_is_refused_because_of_the_dead,
              no_caller_is_refused_because_of_the_dead_behind_the_front,
              a_refusal_without_a_wait_checks_the_holders_first);
}
