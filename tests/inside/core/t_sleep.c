/* SPDX-License-Identifier: MIT */
/*
 * t_sleep.c - a sleep may end too early, and a wake-up may not come: the waiter's state and the clock decide
 * the result of a wait, not the end of the sleep.  And the library reads no clock without need.
 * (t_late_wakers.c has late wake-ups.)
 *
 * The linker redirects the library's calls of these functions to this file (--wrap).
 */
#include "bare.h"
#include "busy.h"
#include "suite.h"
#include "wide_time.h"
#include "workers.h"

#include "system/cond_clock.h"
#include "system/deadline.h"
#include "system/parking.h"
#if FS_HAS_FUTEX
#include "system/futex.h"
#endif

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#endif

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __real_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_signal(pthread_cond_t *c);
bool __real_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline);
bool __wrap_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline);
void __real_fs_unpark_word(const _Atomic int *word);
void __wrap_fs_unpark_word(const _Atomic int *word);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static _Atomic bool early, swallow;
static _Atomic bool old_kernel; /* without the calls for a wide time_t */
static _Atomic int system_calls;
static _Atomic bool raises;     /* the next reading of a clock raises SIGUSR1 */
static _Atomic int clock_reads, early_returns;
static _Atomic int faked_by_s;  /* how far the clocks are ahead of the kernel's */

/* Any system call may have six arguments. */
BARE long __wrap_syscall(long number, ...)
{
    va_list list;
    long arg[6];

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(list, long);
    va_end(list);
    atomic_fetch_add(&system_calls, 1);
#if defined(SYS_futex_time64)
    if (atomic_load(&old_kernel) && number == SYS_futex_time64) {
        errno = ENOSYS;
        return -1;
    }
#endif
    return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

BARE int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
    atomic_fetch_add(&clock_reads, 1);
    if (atomic_exchange(&raises, false))
        pthread_kill(pthread_self(), SIGUSR1);
    if (__real_clock_gettime(clock, ts) != 0)
        return -1;
    ts->tv_sec += atomic_load(&faked_by_s);
    return 0;
}

BARE int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                       const struct timespec *t)
{
    if (!atomic_load(&early))
        return __real_pthread_cond_timedwait(c, m, t);
    atomic_fetch_add(&early_returns, 1);
    pthread_mutex_unlock(m);
    moment();
    pthread_mutex_lock(m);
    return ETIMEDOUT;
}

BARE int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
    return atomic_load(&swallow) ? 0 : __real_pthread_cond_signal(c);
}

/* Like the wrapper of pthread_cond_timedwait(), for a sleep on a word. */
bool __wrap_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline)
{
    if (!atomic_load(&early) || deadline == NULL)
        return __real_fs_park_on_word(word, value, deadline);
    atomic_fetch_add(&early_returns, 1);
    moment();
    return false;
}

void __wrap_fs_unpark_word(const _Atomic int *word)
{
    if (!atomic_load(&swallow))
        __real_fs_unpark_word(word);
}

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

/* U25: some systems wake too early.  The clock decides, not the result of the sleep. */
START_TEST(a_sleep_that_ends_too_early_does_not_end_the_wait)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker w = { 0 };
    struct timespec deadline, now;

    atomic_store(&early, true);
    /* On a slow machine the time may pass before the thread sleeps. */
    for (int64_t ms = 50; atomic_load(&early_returns) == 0; ms *= 4) {
        deadline = from_now(CLOCK_REALTIME, ms);
        ck_assert_int_eq(fairsem_acquire_until(&sem, 1, CLOCK_REALTIME, &deadline), ETIMEDOUT);
    }
    __real_clock_gettime(CLOCK_REALTIME, &now);
    ck_assert(now.tv_sec > deadline.tv_sec
              || (now.tv_sec == deadline.tv_sec && now.tv_nsec >= deadline.tv_nsec));

    deadline = from_now(CLOCK_REALTIME, 3600 * 1000);
    w.clock = CLOCK_REALTIME;
    w.deadline = &deadline;
    atomic_store(&early_returns, 0);
    worker_queue(&w, &sem, 1, 1);
    while (atomic_load(&early_returns) < 10)
        moment();
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
}
END_TEST

/* More units can be in use than can be free at a time.  The canceled waiters return all of theirs. */
START_TEST(units_returned_by_canceled_sleepers_cannot_overflow_the_count)
{
    const fairsem_attr_t no_spin = { .flags = FAIRSEM_NO_SPIN };
    fairsem_t sem;
    struct worker w[4] = { { 0 } };

    ck_assert_int_eq(fairsem_init(&sem, 0, &no_spin), 0);
    for (int i = 0; i < 4; i++)
        worker_queue(&w[i], &sem, FAIRSEM_MAX_UNITS, i + 1);
    for (int i = 0; i < 1000; i++)
        moment();
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

static void end_the_thread(int sig)
{
    (void)sig;
    pthread_exit(NULL);
}

/*
 * The signal comes when the thread reads the clock in the section that enqueues its request.  The handler is
 * deferred to the end of that section, runs while the request is in the queue, and ends the thread.
 */
START_TEST(a_handler_may_end_a_thread_that_was_just_enqueued)
{
    const fairsem_attr_t interruptible = { .flags = FAIRSEM_INTERRUPTIBLE };
    struct sigaction action = { .sa_handler = end_the_thread };
    struct worker w = { 0 };
    fairsem_t sem;
    void *result;

    if (UNDER_TSAN)
        NOT_HERE("ThreadSanitizer delays signals by itself");
    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    if (!FS_HAS_FUTEX)
        NOT_HERE("no interruptible semaphores here");
    ck_assert_int_eq(fairsem_init(&sem, 0, &interruptible), 0);
    atomic_store(&raises, true);
    worker_start(&w, &sem, 1);
    ck_assert_int_eq(pthread_join(w.thread, &result), 0);
    ck_assert_ptr_null(result);
    ck_assert(!atomic_load(&raises));
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* With a deadline in the past, the sleep ends at once.  With a far deadline, it ends long before the deadline,
 * because the clock may be set during the sleep. */
START_TEST(a_sleep_without_the_clock_of_its_deadline_ends)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const struct fs_deadline far = fs_deadline_after(INT64_C(3600000000000));
    const struct fs_deadline passed = { .clock = CLOCK_MONOTONIC };
    pthread_cond_t cond;

    if (FS_HAS_COND_CLOCK)
        NOT_HERE("each condition variable has the clock of its deadlines");
    ck_assert(fs_cond_init(&cond, CLOCK_MONOTONIC));
    pthread_mutex_lock(&mutex);
    fs_cond_sleep_until(&cond, &mutex, &passed);
    fs_cond_sleep_until(&cond, &mutex, &far);
    pthread_mutex_unlock(&mutex);
}
END_TEST

/*
 * A tool such as libfaketime replaces functions of the C library, but not the system call that sleeps on a
 * futex.
 */
START_TEST(a_deadline_is_a_time_of_the_clock_that_the_caller_sees)
{
    static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };
    static const int ahead_s[] = { 24 * 3600, -24 * 3600 };
    const fairsem_attr_t interruptible = { .flags = FAIRSEM_INTERRUPTIBLE };
    fairsem_t sem;

    if (!FS_HAS_FUTEX)
        NOT_HERE("no interruptible semaphores here");
    ck_assert_int_eq(fairsem_init(&sem, 0, &interruptible), 0);
    for (int i = 0; i < 4; i++) {
        const clockid_t clock = clocks[i / 2];
        struct fs_deadline deadline = { .clock = clock };

        atomic_store(&faked_by_s, ahead_s[i % 2]);
        deadline.at = from_now(clock, 20);
        ck_assert_int_eq(fairsem_acquire_until(&sem, 1, clock, &deadline.at), ETIMEDOUT);
        ck_assert(fs_deadline_passed(&deadline));
    }
    atomic_store(&faked_by_s, 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(a_thread_sleeps_on_a_kernel_without_the_call_for_a_wide_time)
{
    const fairsem_attr_t interruptible = { .flags = FAIRSEM_INTERRUPTIBLE };
    fairsem_t sem;

    if (!FS_HAS_FUTEX || sizeof(time_t) <= sizeof(long))
        NOT_HERE("time_t is as wide as long");
    ck_assert_int_eq(fairsem_init(&sem, 0, &interruptible), 0);
    atomic_store(&system_calls, 0);
    atomic_store(&old_kernel, true);
    ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 20000000), ETIMEDOUT);
    atomic_store(&old_kernel, false);
    ck_assert_int_le(atomic_load(&system_calls), 100);      /* spinning would take many more */
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* The sleeping thread notices the new time soon. */
START_TEST(a_faked_clock_may_be_set_while_a_thread_sleeps)
{
    const fairsem_attr_t interruptible = { .flags = FAIRSEM_INTERRUPTIBLE };
    struct worker w = { .clock = CLOCK_MONOTONIC };
    struct timespec at;
    fairsem_t sem;

    if (!FS_HAS_FUTEX)
        NOT_HERE("no interruptible semaphores here");
    ck_assert_int_eq(fairsem_init(&sem, 0, &interruptible), 0);
    atomic_store(&faked_by_s, 60);
    at = from_now(w.clock, 3600 * 1000);
    w.deadline = &at;
    worker_queue(&w, &sem, 1, 1);
    atomic_store(&faked_by_s, 7200);
    ck_assert_int_eq(worker_join(&w), ETIMEDOUT);
    atomic_store(&faked_by_s, 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

#if defined(__linux__)
struct sleeper {
    void         (*sleep)(void);
    _Atomic bool asynchronous, canceled;
    _Atomic long thread;        /* the kernel's number, once the thread is about to sleep */
    bool         slept;
};

/* The C library's own signals, which pthread_sigmask() does not block. */
static void block_signals_of_libc(void)
{
    const unsigned long long mask = 1ULL << 31 | 1ULL << 32;

    insist(0, (int)__real_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof mask));
}

static void unblock_all(int sig, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;

    (void)sig;
    (void)info;
    memset(&interrupted->uc_sigmask, 0, 8);
}

static void *sleep_after_cancel(void *arg)
{
    struct sleeper *s = arg;
    int ignored;

    block_signals_of_libc();
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &ignored);
    atomic_store(&s->asynchronous, true);
    while (!atomic_load(&s->canceled))
        continue;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &ignored);
    atomic_store(&s->thread, __real_syscall(SYS_gettid));
    s->sleep();
    s->slept = true;
    return NULL;
}

static bool is_asleep(long thread)
{
    char path[64], state = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    file = fopen(path, "re");
    if (file == NULL)
        return true;
    insist(1, fscanf(file, "%*d %*s %c", &state));
    fclose(file);
    return state == 'S';
}

/*
 * glibc cancels a thread by a signal, if the thread allows asynchronous cancellation when the cancel is sent.
 * Start a thread for which that signal comes later, in s->sleep().
 */
static pthread_t cancel_late(struct sleeper *s)
{
    struct sigaction action = { .sa_sigaction = unblock_all, .sa_flags = SA_SIGINFO };
    pthread_t thread;

    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, sleep_after_cancel, s), 0);
    while (!atomic_load(&s->asynchronous))
        moment();
    ck_assert_int_eq(pthread_cancel(thread), 0);
    atomic_store(&s->canceled, true);
    while (atomic_load(&s->thread) == 0 || !is_asleep(atomic_load(&s->thread)))
        moment();
    ck_assert_int_eq(pthread_kill(thread, SIGUSR1), 0);
    return thread;
}

static void sleep_shortly(void)
{
    fs_sleep_shortly(999999999);
}

static struct busy busy;

static void return_ticket(void)
{
    insist(0, fairsem_ticket_return(&busy.ticket));
}
#endif

START_TEST(a_late_cancel_does_not_end_a_short_sleep)
{
#if defined(__linux__)
    struct sleeper s = { .sleep = sleep_shortly };

    ck_assert_int_eq(pthread_join(cancel_late(&s), NULL), 0);
    ck_assert(s.slept);
#else
    NOT_HERE("only Linux has the system call that blocks the signal of a cancel");
#endif
}
END_TEST

START_TEST(a_late_cancel_does_not_end_the_wait_for_a_callback)
{
#if defined(__linux__)
    struct sleeper s = { .sleep = return_ticket };

    begin_callback(&busy);
    busy.returner = cancel_late(&s);
    end_busy(&busy);
    ck_assert(s.slept);
    ck_assert_int_eq(fairsem_ticket_state(&busy.ticket), FAIRSEM_TICKET_IDLE);
    ck_assert_int_eq(fairsem_available(&busy.sem), 1);
    ck_assert_int_eq(fairsem_destroy(&busy.sem), 0);
#else
    NOT_HERE("only Linux has the system call that blocks the signal of a cancel");
#endif
}
END_TEST

int main(void)
{
    RUN_SUITE("sleep", no_clock_is_read_when_units_are_free,
              a_sleep_without_the_clock_of_its_deadline_ends,
              a_sleep_that_ends_too_early_does_not_end_the_wait,
              a_deadline_is_a_time_of_the_clock_that_the_caller_sees,
              a_thread_sleeps_on_a_kernel_without_the_call_for_a_wide_time,
              a_faked_clock_may_be_set_while_a_thread_sleeps,
              a_late_cancel_does_not_end_a_short_sleep, a_late_cancel_does_not_end_the_wait_for_a_callback,
              a_handler_may_end_a_thread_that_was_just_enqueued,
              units_returned_by_canceled_sleepers_cannot_overflow_the_count);
}
