/* SPDX-License-Identifier: MIT */
/*
 * t_shared_cut.c - a process is killed before each store to the segment, and before each other step
 * of a call.  No unit is lost, and no waiter waits for ever.
 *
 * For each call and each k, a child is killed in its k-th step.  The segment must then be as if the
 * child had died just before or just after the commit point.  A second repair must change nothing.
 * A waiter in another process must get its unit.
 *
 * Another test delays a canceler in each step: it must not touch what others may have freed.
 */
#include "crowd.h"

#include "shared/attach.h"
#include "shared/repair.h"
#include "shared/watch.h"
#include "workers.h"

#include <string.h>

struct stage {
    _Atomic int ready;          /* the child is about to begin its call */
    _Atomic int go;             /* it may begin */
    _Atomic int reached;        /* it has come to the end of its call */
};

static struct stage *stage;
static fairsem_shared_t *sem;
static _Atomic int64_t countdown; /* to the step at which this process dies; 0: never */

static void step(const char *what)
{
    (void)what;
    if (atomic_load(&countdown) != 0 && atomic_fetch_sub(&countdown, 1) == 1)
        kill(getpid(), SIGKILL);
}

/* What the child does before its steps are counted, and the call in which it is killed. */
struct call {
    const char *name;
    int  held;                  /* units that the child holds before, of two */
    bool others;                /* another child waits for two */
    int  ours;                  /* units that the test holds, and releases when the child waits */
    int (*run)(void);
    int  change;                /* without undo: by how much it changes the units */
};

static int run_acquire(void) { return fairsem_shared_acquire(sem, 1); }
static int run_try(void) { return fairsem_shared_tryacquire(sem, 2) == EAGAIN ? 0 : 1; }
static int run_release(void) { return fairsem_shared_release(sem, 1); }
static int run_close(void) { return fairsem_shared_close(sem); }
static int run_stat(void) { return fairsem_shared_available(sem) < 0; }
static int run_keep(void) { return fairsem_shared_keep_on_exec(sem, true); }

static int run_time_out(void)
{
    return fairsem_shared_acquire_for(sem, 1, 1000000) == ETIMEDOUT ? 0 : 1;
}

static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;

static void *cancel_soon(void *arg)
{
    fairsem_shared_stat_t stat;

    do {
        if (fairsem_shared_stat(sem, &stat) != 0)
            break;
    } while (stat.waiters == 0);
    fairsem_token_cancel(&token, ECANCELED);
    return arg;
}

static int run_cancel(void)
{
    const fairsem_wait_t how = { .token = &token };
    pthread_t thread;
    int result;

    if (pthread_create(&thread, NULL, cancel_soon, NULL) != 0)
        return 1;
    result = fairsem_shared_acquire_with(sem, 1, &how);
    pthread_join(thread, NULL);
    return result == ECANCELED ? 0 : 1;
}

static const struct call calls[] = {
    { "acquire",          0, false, 0, run_acquire,  -1 },
    { "refused try",      1, false, 0, run_try,       0 },
    { "release",          1, false, 0, run_release,  +1 },
    { "release, granted", 1, true,  0, run_release,  +1 },
    { "close",            1, false, 0, run_close,     0 },
    { "close, granted",   1, true,  0, run_close,     0 },
    { "stat",             1, true,  0, run_stat,      0 },
    { "wait, receive",    0, false, 2, run_acquire,  -1 },
    { "time out",         0, false, 2, run_time_out,  0 },
    { "cancel",           0, false, 2, run_cancel,    0 },
    { "keep",             1, false, 0, run_keep,      0 },
};
#define CALLS ((int)(sizeof calls / sizeof calls[0]))

/* Dies in step k, or sets stage->reached: the call has fewer steps. */
static void be_the_child(const struct call *call, int64_t k)
{
    CHILD_CHECK(call->held == 0 || fairsem_shared_acquire(sem, call->held) == 0);
    atomic_store(&stage->ready, 1);
    await_flag(&stage->go, 1);
    atomic_store(&countdown, k);
    fs_shared_step = step;
    CHILD_CHECK(call->run() == 0);
    fs_shared_step = NULL;
    atomic_store(&stage->reached, 1);
    _exit(0);
}

/*
 * A second repair changes nothing in the segment.  `other` is stopped meanwhile, because a process
 * that waits for the lock writes to it.
 */
static void check_repair_is_idempotent(pid_t other)
{
    static const struct fs_dead nobody;
    static unsigned char once[65536];
    struct fs_shared_section in;

    ck_assert_int_le(sem->size, (int64_t)sizeof once);
    ck_assert_int_eq(fs_watch_check(sem, NULL, FS_EVERYBODY), 0);
    ck_assert_int_eq(fs_shared_enter(&in, sem, NULL), 0);
    if (other != 0) {
        siginfo_t info;

        ck_assert_int_eq(kill(other, SIGSTOP), 0);
        ck_assert_int_eq(waitid(P_PID, (id_t)other, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
    }
    fs_shared_repair(&in, &nobody);
    memcpy(once, sem->segment, (size_t)sem->size);
    fs_shared_repair(&in, &nobody);
    ck_assert_int_eq(memcmp(once, sem->segment, (size_t)sem->size), 0);
    if (other != 0)
        ck_assert_int_eq(kill(other, SIGCONT), 0);
    ck_assert_int_eq(fs_shared_section_end(&in), 0);
}

static int64_t drain(void)
{
    int64_t units = 0;

    while (fairsem_shared_tryacquire(sem, 1) == 0)
        units++;
    return units;
}

/* No other process is left, so all units that exist are free. */
static void check_units(const struct call *call, bool undo, bool died)
{
    int64_t units;

    units = drain();
    if (undo || call->others)
        ck_assert_int_eq(units, 2);
    else if (died)
        ck_assert(units == 2 - call->held || units == 2 - call->held + call->change);
    else
        ck_assert_int_eq(units, 2 - call->held + call->change);
    ck_assert_int_eq(fairsem_shared_waiters(sem), 0);
}

/* Returns whether the child died. */
static bool cut(const struct call *call, unsigned flags, int64_t k)
{
    bool undo = (flags & FAIRSEM_SHARED_NO_UNDO) == 0;
    pid_t child, other = 0;
    int status;

    memset(stage, 0, sizeof *stage);
    sem = make_small_segment(2, flags, 4, 4);
    ck_assert_int_eq(fairsem_shared_acquire(sem, call->ours), 0);
    child = fork();
    if (child == 0)
        be_the_child(call, k);
    await_flag(&stage->ready, 1);
    if (call->others) {
        other = fork_waiter(sem, 2, NULL, NULL);
        await_queue(sem, 1);
    }
    atomic_store(&stage->go, 1);
    if (call->ours != 0 && call->run == run_acquire) {
        while (waitpid(child, &status, WNOHANG) == 0 && fairsem_shared_waiters(sem) == 0)
            nap(0);
        ck_assert_int_eq(fairsem_shared_release(sem, call->ours), 0);
    }
    waitpid(child, &status, 0);
    if (call->ours != 0 && call->run != run_acquire)
        ck_assert_int_eq(fairsem_shared_release(sem, call->ours), 0);
    ck_assert_msg(atomic_load(&stage->reached) || !WIFEXITED(status) || WEXITSTATUS(status) == 0,
                  "%s: line %d", call->name, WEXITSTATUS(status));
    /* One time in eight the waiter must find the death without our help. */
    if (k % 8 != 0)
        check_repair_is_idempotent(other);
    /* Without undo, the unit of the child is still missing if it died before its release. */
    if (other != 0 && !undo && fairsem_shared_waiters(sem) != 0)
        ck_assert_int_eq(fairsem_shared_release(sem, 1), 0);
    if (other != 0)
        ck_assert_int_eq(status_of(other), 0);
    check_repair_is_idempotent(0);
    check_units(call, undo, !atomic_load(&stage->reached));
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
    return !atomic_load(&stage->reached);
}

static int64_t new_total;

static int run_set_units(void) { return fairsem_shared_set_units(sem, new_total); }

/* The child holds one of two units, and dies in step k when it changes how many there are. */
static bool cut_change(int64_t k)
{
    static const struct call change = { "set units", 1, false, 0, run_set_units, 0 };
    fairsem_shared_stat_t stat;
    pid_t child;
    bool died;

    memset(stage, 0, sizeof *stage);
    sem = make_small_segment(2, 0, 4, 4);
    child = fork();
    if (child == 0)
        be_the_child(&change, k);
    await_flag(&stage->ready, 1);
    atomic_store(&stage->go, 1);
    waitpid(child, NULL, 0);
    died = !atomic_load(&stage->reached);
    check_repair_is_idempotent(0);
    ck_assert_int_eq(fairsem_shared_stat(sem, &stat), 0);
    ck_assert(stat.capacity == new_total || (died && stat.capacity == 2));
    ck_assert_int_eq(drain(), stat.capacity);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
    return died;
}

START_TEST(units_changed_by_one_that_dies_are_as_before_or_as_asked)
{
    int64_t steps = 0;

    stage = share(sizeof *stage);
    for (new_total = 0; new_total <= 4; new_total += 2) {
        for (int64_t k = 1; cut_change(k); k++)
            steps++;
    }
    ck_assert_int_gt(steps, 15);
}
END_TEST

/*
 * Has the call so many steps?  One with a time has fewer if that passes before it sleeps, as it may
 * on a busy machine: only who ends three times in a row has no such step.
 */
static bool has_step(const struct call *call, unsigned flags, int64_t k)
{
    for (int tries = call->run == run_time_out ? 3 : 1; tries > 0; tries--) {
        if (cut(call, flags, k))
            return true;
    }
    return false;
}

static void cut_everywhere(unsigned flags)
{
    int64_t steps = 0;

    stage = share(sizeof *stage);
    for (int i = 0; i < CALLS; i++) {
        int64_t k = 1;

        while (has_step(&calls[i], flags, k))
            k++;
        steps += k - 1;
    }
    ck_assert_int_gt(steps, 100);
}

START_TEST(a_death_in_any_step_loses_no_unit)
{
    cut_everywhere(0);
}
END_TEST

START_TEST(without_undo_a_call_cut_by_death_is_done_or_not_done)
{
    cut_everywhere(FAIRSEM_SHARED_NO_UNDO);
}
END_TEST

/*
 * The first child dies in a release that grants.  The second child repairs the segment, and dies in
 * step k of that.
 */
static bool cut_repair(unsigned flags, int64_t first_step, int64_t k)
{
    bool undo = (flags & FAIRSEM_SHARED_NO_UNDO) == 0;
    struct call release = { "release", 1, true, 0, run_release, +1 };
    pid_t child, other, second;
    bool died;

    memset(stage, 0, sizeof *stage);
    sem = make_small_segment(2, flags, 4, 4);
    child = fork();
    if (child == 0)
        be_the_child(&release, first_step);
    await_flag(&stage->ready, 1);
    other = fork_waiter(sem, 2, NULL, NULL);
    await_queue(sem, 1);
    atomic_store(&stage->go, 1);
    waitpid(child, NULL, 0);
    died = !atomic_load(&stage->reached);
    second = fork();
    if (second == 0) {
        atomic_store(&countdown, k);
        fs_shared_step = step;
        (void)fairsem_shared_available(sem);
        fs_shared_step = NULL;
        atomic_store(&stage->reached, 2);
        _exit(0);
    }
    waitpid(second, NULL, 0);
    if (k % 8 != 0)
        check_repair_is_idempotent(other);
    if (!undo && atomic_load(&stage->reached) != 1) {
        /* The first child may have died before its release: then the waiter needs another unit. */
        if (fairsem_shared_waiters(sem) != 0)
            ck_assert_int_eq(fairsem_shared_release(sem, 1), 0);
    }
    ck_assert_int_eq(status_of(other), 0);
    ck_assert_int_eq(drain(), 2);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
    return died && atomic_load(&stage->reached) != 2;
}

static void cut_repairs(unsigned flags)
{
    const char *times = getenv("FAIRSEM_SHARED_TIMES");
    int stride = times != NULL ? 1 : 7;

    stage = share(sizeof *stage);
    for (int64_t first = 1; first < 60; first += stride) {
        for (int64_t k = 1; cut_repair(flags, first, k); k += stride)
            continue;
    }
}

START_TEST(a_repair_can_be_cut_short_anywhere)
{
    cut_repairs(0);
}
END_TEST

START_TEST(a_repair_without_undo_can_be_cut_short_anywhere)
{
    cut_repairs(FAIRSEM_SHARED_NO_UNDO);
}
END_TEST

/* ---- A canceler that is delayed in any step ---- */

#define NAP_MS 30

static _Thread_local int64_t steps_left;       /* to the step in which this thread naps; 0: none */
static _Thread_local bool napped;

/* Longer than others wait for the lock before they sleep in order, and look at its owner. */
static void nap_in_step(const char *what)
{
    (void)what;
    if (steps_left != 0 && --steps_left == 0) {
        napped = true;
        nap(NAP_MS);
    }
}

static fairsem_token_t their_token;
static int64_t their_timeout_ns;
static _Atomic int their_wait;          /* STILL_WAITING, or the result */
static int their_close;                 /* read when the thread has ended */
static _Atomic int may_close;

static void *wait_and_close(void *arg)
{
    const fairsem_wait_t how = { .token = &their_token, .timeout_ns = their_timeout_ns };

    atomic_store(&their_wait, fairsem_shared_acquire_with(sem, 1, &how));
    while (!atomic_load(&may_close))
        nap(0);
    their_close = fairsem_shared_close(sem);
    return arg;
}

/* True if the canceler has napped in step k, of a cancellation of a wait. */
static bool cancel_in_step(int64_t k, int64_t timeout_ns)
{
    pthread_t thread;

    sem = make_segment(1, 0);
    ck_assert_int_eq(fairsem_shared_acquire(sem, 1), 0);
    ck_assert_int_eq(fairsem_token_init(&their_token), 0);
    their_timeout_ns = timeout_ns;
    atomic_store(&their_wait, STILL_WAITING);
    atomic_store(&may_close, 0);
    fs_shared_step = nap_in_step;
    start_thread(&thread, wait_and_close, NULL);
    while (fairsem_shared_waiters(sem) == 0 && atomic_load(&their_wait) == STILL_WAITING)
        nap(0);         /* it comes, and may leave before we look */
    atomic_store(&may_close, 1);
    napped = false;
    steps_left = k;
    ck_assert_int_eq(fairsem_token_cancel(&their_token, EPIPE), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    fs_shared_step = NULL;
    steps_left = 0;
    ck_assert(their_wait == EPIPE || (timeout_ns != 0 && their_wait == ETIMEDOUT));
    ck_assert_int_eq(their_close, 0);
    ck_assert_int_eq(fairsem_token_destroy(&their_token), 0);
    return napped;
}

/* It closes its handle at once.  A canceler that still used the segment, or the wait, would crash. */
START_TEST(a_canceled_waiter_returns_when_its_canceler_is_through)
{
    int64_t steps = 0;

    while (cancel_in_step(steps + 1, 0))
        steps++;
    /* If the time had passed before the cancellation, there was nothing to cancel: a longer one. */
    for (int64_t k = 1; k <= steps; k++) {
        for (int64_t ns = NAP_MS / 2 * INT64_C(1000000); !cancel_in_step(k, ns); ns *= 2)
            continue;
    }
}
END_TEST

/* Another process finds damage without the lock, at the worst moment. */
static void damage_before_slow_is_cleared(const char *what)
{
    if (strcmp(what, "clear SLOW") == 0) {
        fs_shared_step = NULL;
        (void)fs_shared_is_damaged(sem);
    }
}

START_TEST(damage_closes_the_fast_path_even_if_a_section_is_about_to_open_it)
{
    fairsem_shared_stat_t stat;

    sem = make_segment(2, FAIRSEM_SHARED_NO_UNDO);
    ck_assert_int_eq(fairsem_shared_tryacquire(sem, 1), 0);
    fs_shared_step = damage_before_slow_is_cleared;
    ck_assert_int_eq(fairsem_shared_stat(sem, &stat), ENOTRECOVERABLE);
    ck_assert(fs_shared_step == NULL);      /* that step was reached */
    ck_assert_int_eq(fairsem_shared_tryacquire(sem, 1), ENOTRECOVERABLE);
    ck_assert_int_eq(fairsem_shared_release(sem, 1), ENOTRECOVERABLE);
    (void)fairsem_shared_close(sem);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared cut", a_death_in_any_step_loses_no_unit,
              units_changed_by_one_that_dies_are_as_before_or_as_asked,
              without_undo_a_call_cut_by_death_is_done_or_not_done,
              a_repair_can_be_cut_short_anywhere, a_repair_without_undo_can_be_cut_short_anywhere,
              a_canceled_waiter_returns_when_its_canceler_is_through,
              damage_closes_the_fast_path_even_if_a_section_is_about_to_open_it);
}
