/* SPDX-License-Identifier: MIT */
/*
 * t_shared_stopped.c - a process is stopped before a store to the segment, or at another step of a call,
 * perhaps with the lock.  Other processes must not hang: calls with a deadline return, and so do calls that do
 * not wait and calls that inspect.  When the stopped process goes on, no unit is lost.
 *
 * A canceler is delayed in each step, too: it must not access memory that the canceled thread may have freed.
 *
 * A call that hangs ends at the time limit of the test.  `make check` stops processes in every third step,
 * FAIRSEM_SHARED_TIMES=n with n > 1 in every step.
 */
#include "crowd.h"

#include "shared/attach.h"
#include "shared/change.h"
#include "workers.h"

struct stage {
    _Atomic int ready, go;      /* the first child is ready for its call; it may begin the call */
    _Atomic int waits, over;    /* number of waits of the second child; it may end */
};

static struct stage *stage;
static fairsem_shared_t *sem;
static _Atomic int64_t countdown; /* to the step before which this process stops, or 0 */

static void step(const char *what)
{
    (void)what;
    if (atomic_load(&countdown) != 0 && atomic_fetch_sub(&countdown, 1) == 1)
        raise(SIGSTOP);
}

/* ---- The calls of the process that is stopped, which holds one unit of two ---- */

static int run_acquire(void) { return fairsem_shared_acquire(sem, 1); }
static int run_release(void) { return fairsem_shared_release(sem, 1); }
static int run_close(void) { return fairsem_shared_close(sem); }
static int run_available(void) { return fairsem_shared_available(sem) < 0; }
static int run_set_units(void) { return fairsem_shared_set_units(sem, 2); }

static int run_try(void)
{
    FS_PUT(&sem->segment->checked_ns, -1);      /* no recent check, so that a refusal needs the lock */
    return fairsem_shared_tryacquire(sem, 2) == EAGAIN ? 0 : 1;
}

static int run_time_out(void)
{
    int error = fairsem_shared_acquire_for(sem, 2, 1000000);

    return error == ETIMEDOUT ? 0 : 1;
}

static int (*const calls[])(void) = {
    run_acquire, run_try, run_release, run_close, run_available, run_set_units, run_time_out,
};
#define CALLS ((int)(sizeof calls / sizeof calls[0]))

static void be_stopped(int (*call)(void), int64_t k)
{
    CHILD_CHECK(fairsem_shared_acquire(sem, 1) == 0);
    atomic_store(&stage->ready, 1);
    await_flag(&stage->go, 1);
    atomic_store(&countdown, k);
    fs_shared_step = step;
    CHILD_CHECK(call() == 0);
    fs_shared_step = NULL;
    _exit(0);
}

/* ---- The others ---- */

static void be_the_waiter(void)
{
    int error;

    do {
        error = fairsem_shared_acquire_for(sem, 2, 5000000);
        atomic_fetch_add(&stage->waits, 1);
    } while (error == ETIMEDOUT && !atomic_load(&stage->over));
    CHILD_CHECK(error == 0 || error == ETIMEDOUT);
    _exit(0);
}

static void await_wait(pid_t waiter)
{
    int before = atomic_load(&stage->waits);

    while (atomic_load(&stage->waits) < before + 2 && !has_ended(waiter))
        nap(1);
}

static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;

static void *wait_for_token(void *arg)
{
    const fairsem_wait_t how = { .token = &token };
    int *result = arg;

    *result = fairsem_shared_acquire_with(sem, 2, &how);
    return arg;
}

static void make_calls(void)
{
    fairsem_shared_stat_t stat;
    fairsem_shared_user_t users[8];
    FILE *null = fopen("/dev/null", "w");
    int count = 8, error;

    error = fairsem_shared_tryacquire(sem, 1);
    ck_assert(error == EAGAIN || error == 0);
    if (error == 0)
        ck_assert_int_eq(fairsem_shared_release(sem, 1), 0);
    error = fairsem_shared_acquire_for(sem, 1, 1000000);
    ck_assert(error == ETIMEDOUT || error == 0);
    if (error == 0)
        ck_assert_int_eq(fairsem_shared_release(sem, 1), 0);
    ck_assert_int_eq(fairsem_shared_stat(sem, &stat), 0);
    ck_assert_int_eq(fairsem_shared_users(sem, users, &count), 0);
    ck_assert_int_ge(fairsem_shared_available(sem), 0);
    ck_assert_int_ge(fairsem_shared_waiters(sem), 0);
    ck_assert_int_eq(fairsem_shared_dump(sem, null), 0);
    fclose(null);
}

static pthread_t thread;
static int       thread_result;

static void cancel(void)
{
    if (fairsem_token_cancel(&token, ECANCELED) == 0)
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/*
 * Returns true when the child is stopped, or false when it has ended.  A child that sleeps may wait behind
 * this process's request: cancel the request.
 */
static bool await_stop(pid_t child)
{
    int status;

    do {
        nap(1);
        if (waitpid(child, &status, WUNTRACED | WNOHANG) == child)
            return WIFSTOPPED(status);
    } while (!sleeps(child));
    cancel();
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    return WIFSTOPPED(status);
}

/* Stop a process in step k of a call, and make other calls.  Returns false if the call has no step k. */
static bool stop_in_step(int (*call)(void), int64_t k)
{
    pid_t stopped, waiter;
    bool was_stopped;

    stage = share(sizeof *stage);
    sem = make_small_segment(2, 0, 16, 8);
    if ((stopped = fork()) == 0)
        be_stopped(call, k);
    await_flag(&stage->ready, 1);
    if ((waiter = fork()) == 0)
        be_the_waiter();
    ck_assert_int_eq(fairsem_token_init(&token), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_token, &thread_result), 0);
    await_queue(sem, 2);
    atomic_store(&stage->go, 1);
    was_stopped = await_stop(stopped);
    if (was_stopped) {
        make_calls();
        await_wait(waiter);
    }
    atomic_store(&stage->over, 1);
    ck_assert_int_eq(status_of(waiter), 0);
    cancel();
    ck_assert(thread_result == ECANCELED || thread_result == 0);
    if (was_stopped) {
        ck_assert_int_eq(kill(stopped, SIGCONT), 0);
        ck_assert_int_eq(status_of(stopped), 0);
    }
    ck_assert_int_eq(fairsem_shared_waiters(sem), 0);
    ck_assert_int_eq(fairsem_shared_available(sem), thread_result == 0 ? 0 : 2);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
    ck_assert_int_eq(fairsem_token_destroy(&token), 0);
    munmap(stage, sizeof *stage);
    return was_stopped;
}

static int marks;

/* Lower limits, about half of the real numbers: marks of a call without a wait, and stops of all calls. */
enum { FEW_MARKS = 4, FEW_STOPS = 70 };

static void count_mark(const char *what)
{
    (void)what;
    marks++;
}

/* Without marks (FS_STEP), which only a build for tests has, no test would stop a process. */
static void must_have_marks(void)
{
    fairsem_shared_t *h = make_segment(1, 0);

    fs_shared_step = count_mark;
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    fs_shared_step = NULL;
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    ck_assert_int_ge(marks, FEW_MARKS);
}

START_TEST(no_thread_waits_past_its_deadline_while_a_process_is_stopped)
{
    int stride = setting("FAIRSEM_SHARED_TIMES", 1, 1) > 1 ? 1 : 3, all = 0;

    must_have_marks();
    for (int i = 0; i < CALLS; i++) {
        int stops = 0;

        for (int64_t k = 1; stop_in_step(calls[i], k); k += stride)
            stops++;
        ck_assert_int_gt(stops, 0);
        all += stops * stride;
    }
    ck_assert_int_ge(all, FEW_STOPS);
}
END_TEST

/* ---- A thread that attaches ---- */

static void stop_with_lock(const char *what)
{
    if (strcmp(what, "locked") == 0) {
        fs_shared_step = NULL;
        raise(SIGSTOP);
    }
}

static void *acquire_and_release(void *arg)
{
    CHILD_CHECK(fairsem_shared_acquire(sem, 1) == 0 && fairsem_shared_release(sem, 1) == 0);
    return arg;
}

/*
 * The first thread of a child attaches.  It gets the entry of a dead process, and so needs the lock.  The
 * second thread must return at its deadline, and does not own the units of the dead process.
 */
static void be_the_child(void)
{
    fairsem_shared_stat_t stat;
    pthread_t first;

    CHILD_CHECK(fairsem_shared_acquire_for(sem, 1, 1000000) == ETIMEDOUT);
    CHILD_CHECK(pthread_create(&first, NULL, acquire_and_release, NULL) == 0);
    while (pthread_mutex_trylock(&sem->attaching) == 0) {
        pthread_mutex_unlock(&sem->attaching);
        nap(1);
    }
    CHILD_CHECK(fairsem_shared_acquire_for(sem, 1, 1000000) == ETIMEDOUT);
    CHILD_CHECK(fairsem_shared_tryacquire(sem, 1) == EAGAIN);
    CHILD_CHECK(fairsem_shared_stat(sem, &stat) == 0 && stat.mine == 0);
    atomic_store(&stage->over, 1);
    CHILD_CHECK(pthread_join(first, NULL) == 0);
    CHILD_CHECK(fairsem_shared_tryacquire(sem, 1) == 0);
    _exit(0);
}

static void *wait_by_token(void *arg)
{
    const fairsem_wait_t how = { .token = &token };

    CHILD_CHECK(fairsem_shared_acquire_with(sem, 1, &how) == EPIPE);
    return arg;
}

/* pthread_cancel() and a token each end a call that waits to attach.  Afterwards the handle can be closed. */
static void be_the_canceled_child(void)
{
    pthread_t first;
    void *end;

    fs_shared_check_fork(sem);
    for (int by_token = 0; by_token < 2; by_token++) {
        CHILD_CHECK(pthread_create(&first, NULL, by_token ? wait_by_token : acquire_and_release, NULL) == 0);
        while (pthread_mutex_trylock(&sem->attaching) == 0) {
            pthread_mutex_unlock(&sem->attaching);
            nap(1);
        }
        CHILD_CHECK((by_token ? fairsem_token_cancel(&token, EPIPE) : pthread_cancel(first)) == 0);
        CHILD_CHECK(pthread_join(first, &end) == 0);
        CHILD_CHECK(end == (by_token ? NULL : PTHREAD_CANCELED));
    }
    CHILD_CHECK(fairsem_shared_close(sem) == 0);
    atomic_store(&stage->over, 1);
    _exit(0);
}

/* The table of three processes is full: one process is dead, and another is stopped with the lock. */
static void check_a_child_that_cannot_attach(void (*be_it)(void))
{
    const fairsem_shared_attr_t attr = { .units = 3, .max_processes = 3 };
    pid_t dead, stopped, child;
    int status;

    must_have_marks();
    stage = share(sizeof *stage);
    ck_assert_int_eq(fairsem_shared_open(&sem, own_name(), O_CREAT, 0600, &attr), 0);
    dead = fork_holder(sem, 1);
    if ((stopped = fork()) == 0) {
        CHILD_CHECK(fairsem_shared_acquire(sem, 1) == 0);
        fs_shared_step = stop_with_lock;
        CHILD_CHECK(fairsem_shared_set_units(sem, 3) == 0);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(stopped, &status, WUNTRACED), stopped);
    ck_assert(WIFSTOPPED(status));
    kill_child(dead);
    if ((child = fork()) == 0)
        be_it();
    while (!atomic_load(&stage->over) && !has_ended(child))
        nap(1);
    ck_assert_int_eq(kill(stopped, SIGCONT), 0);
    ck_assert_int_eq(status_of(stopped), 0);
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_shared_available(sem), 3);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
    munmap(stage, sizeof *stage);
}

START_TEST(a_thread_that_cannot_attach_yet_delays_no_other_thread)
{
    check_a_child_that_cannot_attach(be_the_child);
}
END_TEST

START_TEST(a_token_and_pthread_cancel_end_a_call_that_cannot_attach_yet)
{
    check_a_child_that_cannot_attach(be_the_canceled_child);
}
END_TEST

/* ---- An aged request behind a stopped one ---- */

#define OLD_NS INT64_C(60000000000)

static fairsem_shared_t *aging;
static _Atomic int *joined, *may_sleep;

/*
 * Called before the first sleep of the request.  Wait until another request is in the queue, and age.  Then
 * pretend that processes have just been checked, so that no check comes before the time-out.
 */
static void become_aged(const char *what)
{
    int64_t now;

    if (strcmp(what, "sleep") != 0 || atomic_load(joined) != 0)
        return;
    atomic_store(joined, 1);
    await_flag(may_sleep, 1);
    now = fs_now_ns();
    for (int i = 0; i < aging->max_waiters; i++) {
        if (FS_GET(&aging->slots[i].process) == FS_GET(&aging->self))
            atomic_store(&aging->slots[i].enqueued_ns, now - OLD_NS);
    }
    atomic_store(&aging->segment->checked_ns, now);
}

static pid_t fork_aging(fairsem_shared_t *h)
{
    pid_t child = fork();
    int result = ETIMEDOUT;

    if (child == 0) {
        aging = h;
        fs_shared_step = become_aged;
        /* On a busy machine the time-out may come before the request is in the queue: try a longer one. */
        for (int64_t ns = 1000000; atomic_load(joined) == 0; ns *= 2)
            result = fairsem_shared_acquire_for(h, 2, ns);
        CHILD_CHECK(result == 0);
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    return child;
}

/* On a busy machine a detector may grant the aged request before its time-out: then the test shows nothing. */
START_TEST(a_request_that_has_aged_at_its_time_out_takes_free_units)
{
    const fairsem_shared_attr_t attr = { .units = 4, .aging_ns = OLD_NS };
    fairsem_shared_t *h;
    pid_t old, head;

    must_have_marks();
    joined = share(2 * sizeof *joined);
    may_sleep = joined + 1;
    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 3), 0);
    old = fork_aging(h);
    await_flag(joined, 1);
    head = queue_placed(h, 4, -1, NULL, NULL);
    stop_child(head);
    ck_assert_int_eq(fairsem_shared_release(h, 2), 0);
    atomic_store(may_sleep, 1);
    ck_assert_int_eq(status_of(old), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(kill(head, SIGCONT), 0);
    ck_assert_int_eq(status_of(head), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* ---- A canceler that is delayed in any step ---- */

#define NAP_MS 30

static _Thread_local int64_t steps_left;       /* countdown to the step in which this thread sleeps, or 0 */
static _Thread_local bool napped;

/* Sleep so long that threads that wait for the lock wait in order, and check its owner (lock.h). */
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

/* Returns true if the canceler has slept in its step k. */
static bool cancel_in_step(int64_t k, int64_t timeout_ns)
{
    pthread_t waiter;

    sem = make_segment(1, 0);
    ck_assert_int_eq(fairsem_shared_acquire(sem, 1), 0);
    ck_assert_int_eq(fairsem_token_init(&their_token), 0);
    their_timeout_ns = timeout_ns;
    atomic_store(&their_wait, STILL_WAITING);
    atomic_store(&may_close, 0);
    fs_shared_step = nap_in_step;
    start_thread(&waiter, wait_and_close, NULL);
    while (fairsem_shared_waiters(sem) == 0 && atomic_load(&their_wait) == STILL_WAITING)
        nap(0);         /* a short wait may be over before we see it in the queue */
    atomic_store(&may_close, 1);
    napped = false;
    steps_left = k;
    ck_assert_int_eq(fairsem_token_cancel(&their_token, EPIPE), 0);
    ck_assert_int_eq(pthread_join(waiter, NULL), 0);
    fs_shared_step = NULL;
    steps_left = 0;
    ck_assert(their_wait == EPIPE || (timeout_ns != 0 && their_wait == ETIMEDOUT));
    ck_assert_int_eq(their_close, 0);
    ck_assert_int_eq(fairsem_token_destroy(&their_token), 0);
    return napped;
}

/* The waiter closes its handle at once: a canceler that still used the segment, or the wait, would crash. */
START_TEST(a_canceled_waiter_can_close_when_its_canceler_is_done)
{
    int64_t steps = 0;

    must_have_marks();
    while (cancel_in_step(steps + 1, 0))
        steps++;
    ck_assert_int_ge(steps, FEW_MARKS);
    /* If the time-out comes before the cancellation, the canceler has no step k: try a longer time-out. */
    for (int64_t k = 1; k <= steps; k++) {
        for (int64_t ns = NAP_MS / 2 * INT64_C(1000000); !cancel_in_step(k, ns); ns *= 2)
            continue;
    }
}
END_TEST

/* ---- Damage that is found in a step ---- */

/* Mark the segment as damaged, as another process may without the lock, just before CONTENDED is cleared. */
static void damage_before_contended_is_cleared(const char *what)
{
    if (strcmp(what, "clear CONTENDED") == 0) {
        fs_shared_step = NULL;
        (void)fs_shared_set_damaged(sem);
    }
}

START_TEST(damage_closes_the_fast_path_even_if_a_section_is_about_to_open_it)
{
    fairsem_shared_stat_t stat;

    must_have_marks();
    sem = make_segment(2, FAIRSEM_SHARED_NO_UNDO);
    ck_assert_int_eq(fairsem_shared_tryacquire(sem, 1), 0);
    fs_shared_step = damage_before_contended_is_cleared;
    ck_assert_int_eq(fairsem_shared_stat(sem, &stat), ENOTRECOVERABLE);
    ck_assert(fs_shared_step == NULL);      /* that step was reached */
    ck_assert_int_eq(fairsem_shared_tryacquire(sem, 1), ENOTRECOVERABLE);
    ck_assert_int_eq(fairsem_shared_release(sem, 1), ENOTRECOVERABLE);
    (void)fairsem_shared_close(sem);
}
END_TEST

/* ---- pthread_cancel in a step ---- */

enum { NOT_YET, BY_PTHREAD_CANCEL, BY_TOKEN };
static _Atomic int asleep, canceled;

/* A thread that is about to sleep in the queue waits here until the test says how the wait is canceled. */
static void be_canceled(const char *what)
{
    if (strcmp(what, "sleep") != 0)
        return;
    atomic_store(&asleep, 1);
    await_flag(&canceled, BY_PTHREAD_CANCEL);
    if (atomic_load(&canceled) == BY_PTHREAD_CANCEL)
        (void)pthread_cancel(pthread_self());
}

/* Start a thread that waits for a unit, with a token.  Returns when the thread is in be_canceled(). */
static pthread_t start_canceled(unsigned flags)
{
    pthread_t waiter;

    sem = make_segment(1, flags);
    ck_assert_int_eq(fairsem_shared_acquire(sem, 1), 0);
    ck_assert_int_eq(fairsem_token_init(&their_token), 0);
    their_timeout_ns = 0;
    atomic_store(&asleep, 0);
    atomic_store(&canceled, NOT_YET);
    atomic_store(&may_close, 0);
    atomic_store(&their_wait, STILL_WAITING);
    fs_shared_step = be_canceled;
    start_thread(&waiter, wait_and_close, NULL);
    await_flag(&asleep, 1);
    return waiter;
}

static void end_canceled(pthread_t waiter)
{
    void *end;

    atomic_store(&canceled, BY_PTHREAD_CANCEL);
    ck_assert_int_eq(pthread_join(waiter, &end), 0);
    ck_assert_ptr_eq(end, PTHREAD_CANCELED);
    fs_shared_step = NULL;
}

START_TEST(a_canceled_thread_leaves_a_damaged_segment_that_can_be_closed)
{
    pthread_t waiter;

    must_have_marks();
    waiter = start_canceled(0);
    (void)fs_shared_set_damaged(sem);
    end_canceled(waiter);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
    ck_assert_int_eq(fairsem_token_destroy(&their_token), 0);
}
END_TEST

/* The lock is not free, and the token is canceled, too.  The unit that the thread was granted is free again. */
START_TEST(a_canceled_thread_returns_its_grant)
{
    must_have_marks();
    for (unsigned flags = 0; flags <= FAIRSEM_SHARED_NO_UNDO; flags++) {
        struct fs_shared_section in;
        pthread_t waiter;

        waiter = start_canceled(flags);
        ck_assert_int_eq(fs_shared_enter(&in, sem, FS_LOCK_WAIT, NULL), 0);
        ck_assert_int_eq(fs_shared_give_back(&in, 1), 0);
        fs_shared_section_grant(&in);
        ck_assert_int_eq(in.available, 0);
        ck_assert_int_eq(fairsem_token_cancel(&their_token, EPIPE), 0);
        end_canceled(waiter);
        ck_assert_int_eq(fs_shared_section_end(&in), 0);
        ck_assert_int_eq(fairsem_shared_available(sem), 1);
        ck_assert_int_eq(fairsem_shared_close(sem), 0);
        ck_assert_int_eq(fairsem_token_destroy(&their_token), 0);
    }
}
END_TEST

/* The lock is not free, so the thread abandons its slot.  A later section cleans up, and counts a cancel. */
START_TEST(a_cancel_without_the_lock_is_counted_as_a_cancel)
{
    must_have_marks();
    for (int by_token = 0; by_token < 2; by_token++) {
        struct fs_shared_section in;
        fairsem_shared_stat_t stat;
        pthread_t waiter;

        waiter = start_canceled(0);
        ck_assert_int_eq(fs_shared_enter(&in, sem, FS_LOCK_WAIT, NULL), 0);
        if (by_token) {
            ck_assert_int_eq(fairsem_token_cancel(&their_token, EPIPE), 0);
            atomic_store(&canceled, BY_TOKEN);
            while (atomic_load(&their_wait) == STILL_WAITING)
                nap(1);
            ck_assert_int_eq(their_wait, EPIPE);
        } else {
            end_canceled(waiter);
        }
        ck_assert_int_eq(fs_shared_section_end(&in), 0);
        ck_assert_int_eq(fairsem_shared_stat(sem, &stat), 0);
        ck_assert(stat.waits == 1 && stat.waiters == 0 && stat.grants == 0);
        ck_assert(stat.cancels == 1 && stat.timeouts == 0);
        atomic_store(&may_close, 1);
        if (by_token)
            ck_assert_int_eq(pthread_join(waiter, NULL), 0);
        else
            ck_assert_int_eq(fairsem_shared_close(sem), 0);
        fs_shared_step = NULL;
        ck_assert_int_eq(fairsem_token_destroy(&their_token), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("shared, stopped", no_thread_waits_past_its_deadline_while_a_process_is_stopped,
              a_thread_that_cannot_attach_yet_delays_no_other_thread,
              a_token_and_pthread_cancel_end_a_call_that_cannot_attach_yet,
              a_request_that_has_aged_at_its_time_out_takes_free_units,
              a_canceled_waiter_can_close_when_its_canceler_is_done,
              damage_closes_the_fast_path_even_if_a_section_is_about_to_open_it,
              a_canceled_thread_leaves_a_damaged_segment_that_can_be_closed,
              a_canceled_thread_returns_its_grant,
              a_cancel_without_the_lock_is_counted_as_a_cancel);
}
