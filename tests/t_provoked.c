/* SPDX-License-Identifier: MIT */
/*
 * t_provoked.c - what seldom happens, made to happen: no memory, no keys, a clock that
 * must not be read, a sleep that ends too early, a wake-up that does not come.  (What comes
 * of a wake-up that comes late is in t_late_wakers.c.)
 *
 * The linker sends the library's calls of these functions here first (--wrap).
 */
#include "askers.h"
#include "bare.h"
#include "suite.h"
#include "workers.h"

#include "ticket.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __real_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_signal(pthread_cond_t *c);
int __real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __real_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);
int __real_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);
int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);

bool __real_fs_futex_park(const _Atomic int *word, int value, const struct fs_deadline *deadline);
bool __wrap_fs_futex_park(const _Atomic int *word, int value, const struct fs_deadline *deadline);
void __real_fs_futex_wake(const _Atomic int *word);
void __wrap_fs_futex_wake(const _Atomic int *word);

void __real_fs_callbacks_add(struct fs_callbacks *callbacks, struct fs_ticket *t);
void __wrap_fs_callbacks_add(struct fs_callbacks *callbacks, struct fs_ticket *t);

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);

/* The thread of the test itself, whose allocations are Check's. */
static pthread_t tester;
static pthread_key_t newest_key;    /* the library's: a sanitizer's own was made before */
static _Atomic bool no_memory, no_keys, no_values, early, swallow;
static _Atomic int mallocs, clock_reads, early_returns, swallowed;
static _Atomic int cond_inits_left = 1 << 30;

BARE void *__wrap_malloc(size_t size)
{
    if (pthread_equal(pthread_self(), tester))
        return __real_malloc(size);
    atomic_fetch_add(&mallocs, 1);
    return atomic_load(&no_memory) ? NULL : __real_malloc(size);
}

BARE int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
    atomic_fetch_add(&clock_reads, 1);
    return __real_clock_gettime(clock, ts);
}

BARE int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                       const struct timespec *t)
{
    if (!atomic_load(&early))
        return __real_pthread_cond_timedwait(c, m, t);
    atomic_fetch_add(&early_returns, 1);
    pthread_mutex_unlock(m);
    sched_yield();
    pthread_mutex_lock(m);
    return ETIMEDOUT;
}

/* A wake-up: may it happen? */
static bool wakes(void)
{
    if (!atomic_load(&swallow))
        return true;
    atomic_fetch_add(&swallowed, 1);
    return false;
}

BARE int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
    return wakes() ? __real_pthread_cond_signal(c) : 0;
}

static fairsem_t   handlers_sem;        /* what the handler releases */
static _Thread_local volatile sig_atomic_t in_handler;
static _Atomic bool signal_at_unlock, inside, canceled_now;

/* A handler that is about to leave a critical section waits until it has been canceled. */
BARE int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    if (in_handler) {
        atomic_store(&inside, true);
        while (!atomic_load(&canceled_now))
            continue;
        for (int i = 0; i < 1000; i++)
            sched_yield();
    }
    if (atomic_load(&signal_at_unlock)) {
        atomic_store(&signal_at_unlock, false);
        raise(SIGUSR1);
    }
    return __real_pthread_mutex_unlock(m);
}

static void release_in_handler(int sig)
{
    (void)sig;
    in_handler = atomic_load(&canceled_now) ? 0 : 1;
    fairsem_release(&handlers_sem, 1);
    in_handler = 0;
}

/* The same two for the other kind of sleep. */
bool __wrap_fs_futex_park(const _Atomic int *word, int value, const struct fs_deadline *deadline)
{
    if (!atomic_load(&early) || deadline == NULL)
        return __real_fs_futex_park(word, value, deadline);
    atomic_fetch_add(&early_returns, 1);
    sched_yield();
    return false;
}

void __wrap_fs_futex_wake(const _Atomic int *word)
{
    if (wakes())
        __real_fs_futex_wake(word);
}

BARE int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int error = atomic_load(&no_keys) ? EAGAIN : __real_pthread_key_create(key, destructor);

    if (error == 0)
        newest_key = *key;
    return error;
}

BARE int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
    if (atomic_load(&no_values) && key == newest_key) {
        errno = ENOMEM;     /* as calloc in it does */
        return ENOMEM;
    }
    return __real_pthread_setspecific(key, value);
}

BARE int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
    if (atomic_fetch_sub(&cond_inits_left, 1) <= 0)
        return ENOMEM;
    return __real_pthread_cond_init(c, attr);
}

/* Five waiters that cannot have what a sleep needs: served in order all the same, with
 * deadlines and cancellation. */
static void waits_work_in_order(void)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w[5] = { { 0 } }, timed = { 0 }, canceled = { 0 };
    struct timespec deadline = from_now(CLOCK_REALTIME, 20);
    _Atomic int service = 0;
    void *result;

    timed.clock = CLOCK_REALTIME;
    timed.deadline = &deadline;
    worker_start(&timed, &sem, 1);
    ck_assert_int_eq(worker_join(&timed), ETIMEDOUT);
    worker_queue(&canceled, &sem, 1, 1);
    for (int i = 0; i < 5; i++) {
        w[i].service = &service;
        worker_queue(&w[i], &sem, 1, i + 2);
    }
    if (UNDER_ASAN) {
        /* It takes the stack of a thread canceled in pthread_testcancel for overwritten. */
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(worker_join(&canceled), 0);
    } else {
        pthread_cancel(canceled.thread);
        pthread_join(canceled.thread, &result);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        ck_assert_int_eq(worker_join(&w[i]), 0);
        ck_assert_int_eq(w[i].place, i);
    }
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}

/* Trap 9. */
START_TEST(waits_work_in_order_without_memory)
{
    tester = pthread_self();
    atomic_store(&no_memory, true);
    waits_work_in_order();
}
END_TEST

START_TEST(waits_work_in_order_without_thread_specific_keys)
{
    atomic_store(&no_keys, true);
    waits_work_in_order();
}
END_TEST

START_TEST(waits_work_in_order_without_memory_for_thread_specific_values)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    if (FS_FUTEX_BY_DEFAULT)
        return;     /* there is no key of the library; the newest is a sanitizer's */
    /* A first wait, for the library to make its key. */
    ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 1), ETIMEDOUT);
    atomic_store(&no_values, true);
    waits_work_in_order();
}
END_TEST

START_TEST(waits_work_in_order_without_condition_variables)
{
    atomic_store(&cond_inits_left, 0);
    waits_work_in_order();
    atomic_store(&cond_inits_left, 1);
    waits_work_in_order();
}
END_TEST

static void *wait_twice(void *arg)
{
    fairsem_acquire(arg, 1);
    fairsem_acquire(arg, 1);
    return NULL;
}

/* One allocation for all waits of a thread, and for the thread that comes after it. */
START_TEST(only_the_first_wait_of_a_thread_allocates)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    tester = pthread_self();
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        int after_first, after_second, before = atomic_load(&mallocs);

        start_thread(&thread, wait_twice, &sem);
        await_waiters(&sem, 1);
        after_first = atomic_load(&mallocs);
        ck_assert_int_eq(after_first - before, i == 0 && !FS_FUTEX_BY_DEFAULT ? 1 : 0);
        fairsem_release(&sem, 1);
        await_waiters(&sem, 1);
        fairsem_release(&sem, 1);
        pthread_join(thread, NULL);
        after_second = atomic_load(&mallocs);
        ck_assert_int_eq(after_second, after_first);
    }
}
END_TEST

START_TEST(no_clock_is_read_when_units_are_free)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(2);
    struct timespec deadline = from_now(CLOCK_MONOTONIC, 1000);
    int before = atomic_load(&clock_reads);

    ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 1000000000), 0);
    ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_MONOTONIC, &deadline), 0);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 0), ETIMEDOUT);
    ck_assert_int_eq(fairsem_tryacquire(&sem, 1), EAGAIN);
    ck_assert_int_eq(atomic_load(&clock_reads), before);
}
END_TEST

/* U25: some systems wake too early.  The clock decides, not what the sleep returned. */
START_TEST(a_sleep_that_ends_too_early_does_not_end_the_wait)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w = { 0 };
    struct timespec deadline, now;

    atomic_store(&early, true);
    /* A machine that is slow enough lets the time pass before there is a sleep. */
    for (int ms = 50; atomic_load(&early_returns) == 0 && ms < 60000; ms *= 4) {
        deadline = from_now(CLOCK_REALTIME, ms);
        ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_REALTIME, &deadline), ETIMEDOUT);
    }
    __real_clock_gettime(CLOCK_REALTIME, &now);
    ck_assert(now.tv_sec > deadline.tv_sec
              || (now.tv_sec == deadline.tv_sec && now.tv_nsec >= deadline.tv_nsec));
    ck_assert_int_gt(atomic_load(&early_returns), 0);

    deadline = from_now(CLOCK_REALTIME, 3600 * 1000);
    w.clock = CLOCK_REALTIME;
    w.deadline = &deadline;
    atomic_store(&early_returns, 0);
    worker_queue(&w, &sem, 1, 1);
    while (atomic_load(&early_returns) < 10)
        sched_yield();
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
}
END_TEST

/* For tests that hold back a wake-up: without the one that alerts the next in line. */
static const fairsem_attr_t no_spin = { .flags = FAIRSEM_NO_SPIN };

/* If the waiter was asleep, `swallowed` counts up. */
static void grant_to_a_sleeper_without_waking_it(fairsem_t *sem)
{
    atomic_store(&swallow, true);
    ck_assert_int_eq(fairsem_release(sem, 1), 0);
    atomic_store(&swallow, false);
}

/*
 * U13, U51, the narrowest moment: granted, still asleep, then canceled.  The units must
 * reach the next in line.  The signal that would wake the waiter is lost on purpose, so
 * that the cancel finds it granted, round after round.
 */
START_TEST(units_granted_to_a_canceled_sleeper_go_to_the_next_in_line)
{
    int caught = 0;

    for (int round = 0; round < 1000 && caught < 20; round++) {
        fairsem_t sem;
        struct worker w1 = { 0 }, w2 = { 0 };

        ck_assert_int_eq(fairsem_init(&sem, 0, &no_spin), 0);
        atomic_store(&swallowed, 0);
        worker_queue(&w1, &sem, 1, 1);
        worker_queue(&w2, &sem, 1, 2);
        for (int i = 0; i < 1000; i++)
            sched_yield();      /* no order rests on this: without a sleeper, another round */
        grant_to_a_sleeper_without_waking_it(&sem);
        ck_assert_int_eq(fairsem_waiters(&sem), 1);
        ck_assert_int_eq(fairsem_available(&sem), 0);
        pthread_cancel(w1.thread);
        if (worker_join(&w1) == 0) {
            ck_assert_int_eq(fairsem_release(&sem, 1), 0);
        } else {
            caught += atomic_load(&swallowed);
        }
        ck_assert_int_eq(worker_join(&w2), 0);
        ck_assert_int_eq(fairsem_available(&sem), 0);
    }
    ck_assert_int_ge(caught, 20);
}
END_TEST

/* The same for a time-out: granted, still asleep, the deadline passes.  It has the unit. */
START_TEST(a_sleeper_that_was_granted_before_its_deadline_has_its_units)
{
    int caught = 0;

    for (int round = 0; round < 1000 && caught < 5; round++) {
        fairsem_t sem;
        struct worker w = { 0 };
        struct timespec deadline = from_now(CLOCK_MONOTONIC, 100);

        ck_assert_int_eq(fairsem_init(&sem, 0, &no_spin), 0);
        atomic_store(&swallowed, 0);
        w.clock = CLOCK_MONOTONIC;
        w.deadline = &deadline;
        worker_start(&w, &sem, 1);
        while (fairsem_waiters(&sem) != 1 && worker_waits(&w))
            sched_yield();
        for (int i = 0; i < 1000; i++)
            sched_yield();
        grant_to_a_sleeper_without_waking_it(&sem);
        if (worker_join(&w) == 0) {
            ck_assert_int_eq(fairsem_available(&sem), 0);
            caught += atomic_load(&swallowed);
        } else {
            ck_assert_int_eq(fairsem_available(&sem), 1);
        }
    }
    ck_assert_int_ge(caught, 5);
}
END_TEST

static void *wait_with_errno(void *arg)
{
    static int seen;

    errno = 4711;
    fairsem_acquire(arg, 1);
    fairsem_acquire_for(arg, 1, 2000000);
    seen = errno;
    return &seen;
}

START_TEST(errno_is_not_touched_without_memory_either)
{
    _Atomic bool *const missing[] = { &no_memory, &no_values };

    tester = pthread_self();
    for (int i = 0; i < 2; i++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        pthread_t thread;
        void *seen;

        atomic_store(missing[i], true);
        start_thread(&thread, wait_with_errno, &sem);
        await_waiters(&sem, 1);
        fairsem_release(&sem, 1);
        pthread_join(thread, &seen);
        atomic_store(missing[i], false);
        ck_assert_int_eq(*(int *)seen, 4711);
    }
}
END_TEST

static fairsem_t guarded;               /* whose mutex has doors in front of it */
static _Thread_local bool first_door, second_door;
static _Atomic bool at_first_door, at_second_door;

/*
 * Who comes by the first door waits there for somebody at the second, and he in turn until
 * the first one stands in line.
 */
BARE int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    if (first_door && m == &fs_inside(&guarded)->mutex) {
        first_door = false;
        atomic_store(&at_first_door, true);
        while (!atomic_load(&at_second_door))
            sched_yield();
    } else if (second_door && m == &fs_inside(&guarded)->mutex) {
        second_door = false;
        atomic_store(&at_second_door, true);
        while (fairsem_waiters(&guarded) != 1)
            sched_yield();
    }
    return __real_pthread_mutex_lock(m);
}

static void *wait_behind_the_first_door(void *arg)
{
    const fairsem_wait_t how = { .token = arg };

    first_door = true;
    fairsem_acquire_with(&guarded, 1, &how);
    return NULL;
}

/* A token is canceled: between its first wait and its second, the second joins its line. */
START_TEST(no_wait_takes_less_than_no_time)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct asker a = { .how = { .token = &token } };
    pthread_t late;
    fairsem_stat_t stat;

    ck_assert_int_eq(fairsem_init(&guarded, 0, NULL), 0);
    start_thread(&late, wait_behind_the_first_door, &token);
    while (!atomic_load(&at_first_door))
        sched_yield();
    asker_queue(&a, &sem, 1, 1);
    second_door = true;
    ck_assert_int_eq(fairsem_token_cancel(&token, 0), 0);
    ck_assert_int_eq(worker_join(&a.w), ECANCELED);
    pthread_join(late, NULL);
    fairsem_stat(&guarded, &stat);
    ck_assert_int_eq(stat.waits, 1);
    ck_assert_int_ge(stat.wait_ns_total, 0);
    ck_assert_int_ge(stat.wait_ns_max, 0);
}
END_TEST

/* Units can be in use that could never all be free.  Canceled grants bring them back. */
START_TEST(units_that_come_back_from_canceled_sleepers_cannot_overflow_the_count)
{
    fairsem_t sem;
    struct worker w[4] = { { 0 } };

    ck_assert_int_eq(fairsem_init(&sem, 0, &no_spin), 0);
    for (int i = 0; i < 4; i++)
        worker_queue(&w[i], &sem, FAIRSEM_MAX_UNITS, i + 1);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    atomic_store(&swallow, true);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(fairsem_release(&sem, FAIRSEM_MAX_UNITS), 0);
    for (int i = 0; i < 4; i++) {
        pthread_cancel(w[i].thread);
        worker_join(&w[i]);
    }
    ck_assert_int_ge(fairsem_available(&sem), 0);
    ck_assert_int_le(fairsem_available(&sem), FAIRSEM_MAX_UNITS);
}
END_TEST

static fairsem_ticket_t second_ticket;
static _Atomic bool first_is_due, let_second_be;
static _Atomic int called_back;

/* The second of two tickets that one release serves is told when its time has come. */
void __wrap_fs_callbacks_add(struct fs_callbacks *callbacks, struct fs_ticket *t)
{
    if ((void *)t == (void *)&second_ticket) {
        atomic_store(&first_is_due, true);
        while (!atomic_load(&let_second_be))
            sched_yield();
    }
    __real_fs_callbacks_add(callbacks, t);
}

static void call_back(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
    atomic_fetch_add(&called_back, 1);
}

static void *release_two(void *arg)
{
    fairsem_release(arg, 2);
    return NULL;
}

/* The only callback that is due is withdrawn, and then there is another one. */
START_TEST(a_callback_is_called_though_the_one_before_it_was_withdrawn)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t first = { 0 };
    fairsem_units_t units = { 0 };
    pthread_t releaser;

    ck_assert_int_eq(fairsem_ticket_take(&first, &sem, 1, 0, call_back, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&second_ticket, &sem, 1, 0, call_back, NULL), EINPROGRESS);
    start_thread(&releaser, release_two, &sem);
    while (!atomic_load(&first_is_due))
        sched_yield();
    ck_assert_int_eq(fairsem_ticket_claim(&first, &units), 0);
    ck_assert_int_eq(fairsem_ticket_return(&first), 0);
    atomic_store(&let_second_be, true);
    pthread_join(releaser, NULL);
    ck_assert_int_eq(called_back, 1);
    ck_assert_int_eq(fairsem_ticket_return(&second_ticket), 0);
}
END_TEST

static void prepare_handler(void)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };
    struct sigaction action = { .sa_handler = release_in_handler, .sa_flags = SA_RESTART };

    ck_assert_int_eq(fairsem_init(&handlers_sem, 0, &attr), 0);
    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
}

/* A sleep on a futex can be canceled at any instruction; a handler that interrupts it must
 * not, or it would take the mutex of what it releases to its grave. */
START_TEST(a_handler_is_not_canceled_while_it_has_a_lock)
{
    struct worker w = { 0 };

    if (!FS_HAS_FUTEX || UNDER_TSAN)
        return;
    prepare_handler();
    worker_queue(&w, &handlers_sem, FAIRSEM_MAX_UNITS, 1);  /* more than signals bring */
    while (!atomic_load(&inside)) {
        pthread_kill(w.thread, SIGUSR1);
        sched_yield();
    }
    pthread_cancel(w.thread);
    atomic_store(&canceled_now, true);
    ck_assert_int_eq(worker_join(&w), STILL_WAITING);
    ck_assert_int_ge(fairsem_available(&handlers_sem), 1);
    ck_assert_int_eq(fairsem_waiters(&handlers_sem), 0);
    ck_assert_int_eq(fairsem_destroy(&handlers_sem), 0);
}
END_TEST

/* In a forked child both the token and the handler's semaphore must be adopted. */
START_TEST(a_handler_may_release_while_something_is_adopted)
{
    static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    pid_t child;
    int status = -1;

    if (!FS_HAS_FUTEX || UNDER_TSAN)
        return;
    prepare_handler();
    atomic_store(&canceled_now, true);  /* the handler need not wait */
    ck_assert_int_eq(fairsem_close(&handlers_sem, 0), 0);
    child = fork();
    if (child == 0) {
        alarm(60);
        atomic_store(&signal_at_unlock, true);
        fairsem_token_cancel(&token, 0);
        _exit(fairsem_available(&handlers_sem) == 1 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_dump_without_memory_has_the_summary_and_says_what_is_missing)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w = { 0 };
    FILE *file = tmpfile();
    int lines = 0, c, error;

    ck_assert_ptr_nonnull(file);
    setvbuf(file, NULL, _IONBF, 0);
    worker_queue(&w, &sem, 1, 1);
    atomic_store(&no_memory, true);
    error = fairsem_dump(&sem, file);
    atomic_store(&no_memory, false);
    ck_assert_int_eq(error, ENOMEM);
    rewind(file);
    while ((c = getc(file)) != EOF)
        lines += c == '\n';
    fclose(file);
    ck_assert_int_eq(lines, 3);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("provoked", waits_work_in_order_without_memory,
              waits_work_in_order_without_thread_specific_keys,
              waits_work_in_order_without_memory_for_thread_specific_values,
              waits_work_in_order_without_condition_variables,
              only_the_first_wait_of_a_thread_allocates, no_clock_is_read_when_units_are_free,
              a_sleep_that_ends_too_early_does_not_end_the_wait,
              units_granted_to_a_canceled_sleeper_go_to_the_next_in_line,
              a_sleeper_that_was_granted_before_its_deadline_has_its_units,
              errno_is_not_touched_without_memory_either, no_wait_takes_less_than_no_time,
              units_that_come_back_from_canceled_sleepers_cannot_overflow_the_count,
              a_callback_is_called_though_the_one_before_it_was_withdrawn,
              a_handler_is_not_canceled_while_it_has_a_lock,
              a_handler_may_release_while_something_is_adopted,
              a_dump_without_memory_has_the_summary_and_says_what_is_missing);
}
