/* SPDX-License-Identifier: MIT */
/*
 * t_posix.c - the POSIX names of fairsem/posix.h: results and errno as glibc has them, order of
 * arrival, and what real programs do to a sem_t.
 *
 * The traps, by which semaphores that look right have failed under real programs:
 *
 *   T1  EINTR, and none after a handler with SA_RESTART
 *   T2  a wait is a cancellation point even if it need not wait; try and post are none
 *   T3  sem_post in a handler, whatever it has interrupted
 *   T4  fork while another thread is inside
 *   T5  memory that is gone as soon as the wait has returned and the semaphore is destroyed
 */
#define _GNU_SOURCE
#include "children.h"
#include "suite.h"
#include "workers.h"

#include <fairsem/posix.h>

#include "park.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOT_CHANGED 4711        /* an errno that no function sets */

#define ck_assert_fails(call, error)       \
    do {                                   \
        errno = NOT_CHANGED;               \
        ck_assert_int_eq(call, -1);        \
        ck_assert_int_eq(errno, error);    \
    } while (0)

/* What succeeds leaves errno alone. */
#define ck_assert_works(call)                \
    do {                                     \
        errno = NOT_CHANGED;                 \
        ck_assert_int_eq(call, 0);           \
        ck_assert_int_eq(errno, NOT_CHANGED); \
    } while (0)

static int value_of(sem_t *sem)
{
    int value = -1;

    ck_assert_works(sem_getvalue(sem, &value));
    return value;
}

/* ---- Threads that make one call ---- */

enum how { WAIT, TIMEDWAIT, CLOCKWAIT, WAYS };

struct caller {
    pthread_t    thread;
    sem_t       *sem;
    enum how     how;
    int          policy, priority;  /* to call with; SCHED_OTHER: as it is */
    _Atomic int *service;           /* counts up as callers are served; may be NULL */
    int          place;             /* r/o after join: *service when this one was served */
    _Atomic int  result;            /* STILL_WAITING, 0, errno, or BROKEN */
};

#define BROKEN   (-2)               /* neither 0 nor -1 was returned */
#define NO_RIGHT (-3)               /* the policy could not be set */

/* An hour from now on the clock that this way of waiting looks at. */
static struct timespec far_away(enum how how)
{
    return from_now(how == CLOCKWAIT ? CLOCK_MONOTONIC : CLOCK_REALTIME, 3600 * 1000);
}

static int wait_somehow(sem_t *sem, enum how how)
{
    struct timespec deadline = far_away(how);

    switch (how) {
    case TIMEDWAIT: return sem_timedwait(sem, &deadline);
    case CLOCKWAIT: return sem_clockwait(sem, CLOCK_MONOTONIC, &deadline);
    default:        return sem_wait(sem);
    }
}

static void *call(void *arg)
{
    struct caller *c = arg;
    int result;

    if (c->policy != SCHED_OTHER) {
        struct sched_param param = { .sched_priority = c->priority };

        if (pthread_setschedparam(pthread_self(), c->policy, &param) != 0) {
            atomic_store(&c->result, NO_RIGHT);
            return NULL;
        }
    }
    result = wait_somehow(c->sem, c->how);
    if (result == 0 && c->service != NULL)
        c->place = atomic_fetch_add(c->service, 1);
    atomic_store(&c->result, result == 0 ? 0 : result == -1 ? errno : BROKEN);
    return NULL;
}

static void caller_start(struct caller *c, sem_t *sem, enum how how)
{
    c->sem = sem;
    c->how = how;
    atomic_store(&c->result, STILL_WAITING);
    start_thread(&c->thread, call, c);
}

/* The same, and return when `expected` stand in line. */
static void caller_queue(struct caller *c, sem_t *sem, enum how how, int expected)
{
    caller_start(c, sem, how);
    await_waiters(&sem->fairsem_inside_, expected);
}

/* Join; returns its result, or STILL_WAITING if it was canceled. */
static int caller_join(struct caller *c)
{
    pthread_join(c->thread, NULL);
    return atomic_load(&c->result);
}

/* ---- Results ---- */

/* What a program may do with the names besides calling them: the compiler is the test. */
START_TEST(the_functions_have_the_types_of_posix)
{
    int (*init)(sem_t *, int, unsigned) = sem_init;
    int (*one[])(sem_t *) = { sem_destroy, sem_wait, sem_trywait, sem_post, sem_close };
    int (*timed)(sem_t *restrict, const struct timespec *restrict) = sem_timedwait;
    int (*clocked)(sem_t *restrict, clockid_t, const struct timespec *restrict) = sem_clockwait;
    int (*value)(sem_t *restrict, int *restrict) = sem_getvalue;
    sem_t *(*by_name)(const char *, int, ...) = sem_open;
    int (*by_name_too)(const char *) = sem_unlink;
    struct { sem_t slots; sem_t *pointer; } in_a_struct;

    in_a_struct.pointer = &in_a_struct.slots;
    ck_assert_int_eq(init(in_a_struct.pointer, 0, 1), 0);
    ck_assert_int_eq(one[1](&in_a_struct.slots), 0);
    ck_assert(timed != NULL && clocked != NULL && value != NULL && by_name != NULL
              && by_name_too != NULL);
    ck_assert_int_eq(one[0](&in_a_struct.slots), 0);
}
END_TEST

START_TEST(what_succeeds_returns_0_and_leaves_errno_alone)
{
    struct timespec deadline = far_away(TIMEDWAIT);
    struct caller c = { 0 };
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 4));
    ck_assert_works(sem_wait(&sem));
    ck_assert_works(sem_trywait(&sem));
    ck_assert_works(sem_timedwait(&sem, &deadline));
    ck_assert_works(sem_clockwait(&sem, CLOCK_REALTIME, &deadline));
    ck_assert_int_eq(value_of(&sem), 0);
    ck_assert_works(sem_post(&sem));
    ck_assert_int_eq(value_of(&sem), 1);
    ck_assert_works(sem_wait(&sem));
    caller_queue(&c, &sem, WAIT, 1);
    ck_assert_works(sem_destroy(&sem));     /* EBUSY is the library's own */
    ck_assert_works(sem_post(&sem));        /* this one wakes */
    ck_assert_int_eq(caller_join(&c), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

START_TEST(a_value_above_the_largest_is_refused_whatever_pshared_says)
{
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, SEM_VALUE_MAX));
    ck_assert_int_eq(value_of(&sem), SEM_VALUE_MAX);
    ck_assert_works(sem_destroy(&sem));
    ck_assert_fails(sem_init(&sem, 0, SEM_VALUE_MAX + 1u), EINVAL);
    ck_assert_fails(sem_init(&sem, 0, UINT_MAX), EINVAL);
    ck_assert_fails(sem_init(&sem, 1, SEM_VALUE_MAX + 1u), EINVAL);
}
END_TEST

START_TEST(what_would_need_other_processes_fails_with_enosys)
{
    sem_t sem;

    ck_assert_fails(sem_init(&sem, 1, 0), ENOSYS);
    ck_assert_fails(sem_init(&sem, -1, SEM_VALUE_MAX), ENOSYS);
    errno = 0;
    ck_assert(sem_open("/fairsem-posix-test", O_CREAT, 0600, 1) == SEM_FAILED);
    ck_assert_int_eq(errno, ENOSYS);
    ck_assert_works(sem_init(&sem, 0, 0));
    ck_assert_fails(sem_close(&sem), ENOSYS);
    ck_assert_fails(sem_unlink("/fairsem-posix-test"), ENOSYS);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

START_TEST(a_post_beyond_the_largest_value_fails_and_changes_nothing)
{
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, SEM_VALUE_MAX - 1));
    ck_assert_works(sem_post(&sem));
    ck_assert_fails(sem_post(&sem), EOVERFLOW);
    ck_assert_int_eq(value_of(&sem), SEM_VALUE_MAX);
    ck_assert_works(sem_wait(&sem));
    ck_assert_works(sem_post(&sem));
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

START_TEST(a_try_without_a_unit_fails_with_eagain)
{
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 1));
    ck_assert_works(sem_trywait(&sem));
    ck_assert_fails(sem_trywait(&sem), EAGAIN);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* Long past, before the epoch, a moment ago. */
START_TEST(a_deadline_in_the_past_fails_with_etimedout_unless_a_unit_is_free)
{
    const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    for (int i = 0; i < 2; i++) {
        const struct timespec deadlines[] = {
            { 0, 0 }, { -1, 0 }, { -1, 999999999 }, { INT32_MIN, 0 }, from_now(clocks[i], -1),
        };

        for (size_t k = 0; k < sizeof deadlines / sizeof deadlines[0]; k++) {
            ck_assert_fails(sem_clockwait(&sem, clocks[i], &deadlines[k]), ETIMEDOUT);
            ck_assert_works(sem_post(&sem));
            ck_assert_works(sem_clockwait(&sem, clocks[i], &deadlines[k]));
            if (clocks[i] == CLOCK_REALTIME) {
                ck_assert_fails(sem_timedwait(&sem, &deadlines[k]), ETIMEDOUT);
                ck_assert_works(sem_post(&sem));
                ck_assert_works(sem_timedwait(&sem, &deadlines[k]));
            }
        }
    }
    ck_assert_int_eq(value_of(&sem), 0);
    ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

static int64_t ms_since(clockid_t clock, const struct timespec *start)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)(now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
}

START_TEST(a_deadline_to_come_fails_with_etimedout_and_not_before)
{
    struct timespec start = from_now(CLOCK_MONOTONIC, 0);
    struct timespec monotonic = from_now(CLOCK_MONOTONIC, 30), realtime;
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    ck_assert_fails(sem_clockwait(&sem, CLOCK_MONOTONIC, &monotonic), ETIMEDOUT);
    ck_assert_int_ge(ms_since(CLOCK_MONOTONIC, &start), 30);
    realtime = from_now(CLOCK_REALTIME, 30);
    ck_assert_fails(sem_timedwait(&sem, &realtime), ETIMEDOUT);
    ck_assert_int_ge(ms_since(CLOCK_REALTIME, &realtime), 0);
    realtime = from_now(CLOCK_REALTIME, 30);
    ck_assert_fails(sem_clockwait(&sem, CLOCK_REALTIME, &realtime), ETIMEDOUT);
    ck_assert_int_ge(ms_since(CLOCK_REALTIME, &realtime), 0);
    ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* Also with a unit free, which must stay: glibc looks at the arguments first. */
START_TEST(a_deadline_that_is_none_fails_with_einval_even_if_a_unit_is_free)
{
    const long nanoseconds[] = { -1, 1000000000, LONG_MIN, LONG_MAX };
    const clockid_t clocks[] = { CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, -1, 4711 };
    struct timespec good = far_away(CLOCKWAIT);
    sem_t sem;

    for (unsigned units = 0; units < 2; units++) {
        ck_assert_works(sem_init(&sem, 0, units));
        for (int i = 0; i < 4; i++) {
            struct timespec bad = { .tv_sec = good.tv_sec, .tv_nsec = nanoseconds[i] };

            ck_assert_fails(sem_timedwait(&sem, &bad), EINVAL);
            ck_assert_fails(sem_clockwait(&sem, CLOCK_REALTIME, &bad), EINVAL);
            ck_assert_fails(sem_clockwait(&sem, CLOCK_MONOTONIC, &bad), EINVAL);
            bad.tv_sec = -1;
            ck_assert_fails(sem_timedwait(&sem, &bad), EINVAL);
            ck_assert_fails(sem_clockwait(&sem, clocks[i], &good), EINVAL);
        }
        ck_assert_int_eq(value_of(&sem), (int)units);
        ck_assert_works(sem_destroy(&sem));
    }
}
END_TEST

/* ---- Order ---- */

START_TEST(the_value_is_0_while_somebody_waits)
{
    struct caller c[2] = { { 0 } };
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    caller_queue(&c[0], &sem, WAIT, 1);
    caller_queue(&c[1], &sem, TIMEDWAIT, 2);
    ck_assert_int_eq(value_of(&sem), 0);
    ck_assert_works(sem_post(&sem));
    ck_assert_int_eq(value_of(&sem), 0);    /* it is the first waiter's, returned or not */
    ck_assert_works(sem_post(&sem));
    ck_assert_works(sem_post(&sem));
    ck_assert_int_eq(value_of(&sem), 1);
    ck_assert_int_eq(caller_join(&c[0]), 0);
    ck_assert_int_eq(caller_join(&c[1]), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* Every unit goes to the oldest, in whatever way he waits, and not to who posted it. */
START_TEST(five_waiters_are_served_in_order_of_arrival_and_nobody_passes)
{
    struct caller c[5] = { { 0 } };
    _Atomic int service = 0;
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 1));
    ck_assert_works(sem_wait(&sem));
    for (int i = 0; i < 5; i++) {
        c[i].service = &service;
        caller_queue(&c[i], &sem, (enum how)(i % WAYS), i + 1);
    }
    for (int i = 0; i < 5; i++) {
        ck_assert_works(sem_post(&sem));
        ck_assert_fails(sem_trywait(&sem), EAGAIN);
        ck_assert_int_eq(caller_join(&c[i]), 0);
        ck_assert_int_eq(c[i].place, i);
        ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 4 - i);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

static void *is_real_time_allowed(void *arg)
{
    struct sched_param param = { .sched_priority = 1 };

    *(int *)arg = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
    return NULL;
}

/* POSIX, sem_post: the highest priority waiting, and of those the one that waited longest. */
START_TEST(waiters_with_a_real_time_priority_go_first_in_the_order_of_priority_then_arrival)
{
    static const struct { int policy, priority, place; } row[] = {
        { SCHED_OTHER, 0, 4 }, { SCHED_FIFO, 1, 2 }, { SCHED_OTHER, 0, 5 }, { SCHED_RR, 3, 0 },
        { SCHED_FIFO, 1, 3 },  { SCHED_OTHER, 0, 6 }, { SCHED_FIFO, 2, 1 },
    };
    enum { COUNT = sizeof row / sizeof row[0] };
    struct caller c[COUNT] = { { 0 } };
    _Atomic int service = 0;
    pthread_t thread;
    int error = 0;
    sem_t sem;

    start_thread(&thread, is_real_time_allowed, &error);
    pthread_join(thread, NULL);
    if (error != 0) {
        printf("skipped: real-time priorities, which cannot be set here: %s\n", strerror(error));
        return;
    }
    ck_assert_works(sem_init(&sem, 0, 0));
    for (int i = 0; i < COUNT; i++) {
        c[i].service = &service;
        c[i].policy = row[i].policy;
        c[i].priority = row[i].priority;
        caller_queue(&c[i], &sem, (enum how)(i % WAYS), i + 1);
    }
    for (int place = 0; place < COUNT; place++) {
        ck_assert_works(sem_post(&sem));
        while (atomic_load(&service) != place + 1)
            sched_yield();
    }
    for (int i = 0; i < COUNT; i++) {
        ck_assert_int_eq(caller_join(&c[i]), 0);
        ck_assert_int_eq(c[i].place, row[i].place);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* ---- Lifetime ---- */

START_TEST(destroying_a_semaphore_that_is_waited_for_changes_nothing)
{
    struct caller c[3] = { { 0 } };
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    for (int i = 0; i < 3; i++) {
        caller_queue(&c[i], &sem, WAIT, i + 1);
        ck_assert_works(sem_destroy(&sem));
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(caller_join(&c[i]), 0);
    }
    ck_assert_works(sem_post(&sem));
    ck_assert_works(sem_wait(&sem));
    ck_assert_works(sem_destroy(&sem));
    ck_assert_works(sem_init(&sem, 0, 7));
    ck_assert_int_eq(value_of(&sem), 7);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

struct relay {
    _Atomic(sem_t *) sem;   /* of this round; NULL between rounds */
    _Atomic int      stop;
};

/* A while between nothing and some microseconds, in a different place every time. */
static void dawdle(int round)
{
    for (int spin = round % 97 * 80; spin > 0; spin--)
        atomic_signal_fence(memory_order_seq_cst);
}

static void *post_what_comes(void *arg)
{
    struct relay *relay = arg;
    int round = 0;

    while (!atomic_load(&relay->stop)) {
        sem_t *sem = atomic_exchange(&relay->sem, NULL);

        if (sem != NULL) {
            dawdle(round++);
            sem_post(sem);
        } else {
            sched_yield();
        }
    }
    return NULL;
}

struct memory {
    void *(*get)(void);
    void  (*lose)(void *memory);
};

static void *get_page(void)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return page != MAP_FAILED ? page : NULL;
}

static void lose_page(void *page)
{
    munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

static void *get_heap(void)
{
    return aligned_alloc(_Alignof(sem_t), sizeof(sem_t));
}

/* Filled first, so that a late touch shows without a sanitizer, too. */
static void lose_heap(void *memory)
{
    memset(memory, 0xa5, sizeof(sem_t));
    free(memory);
}

static const struct memory page_memory = { get_page, lose_page };
static const struct memory heap_memory = { get_heap, lose_heap };

/*
 * The poster comes at every moment between the entry to the wait and the sleep, and the memory
 * goes as soon as the wait returns.
 */
static void wait_and_lose(const struct memory *memory, int rounds)
{
    struct relay relay = { .sem = NULL };
    pthread_t thread;

    start_thread(&thread, post_what_comes, &relay);
    for (int i = 0; i < rounds; i++) {
        sem_t *sem = memory->get();

        if (sem == NULL || sem_init(sem, 0, 0) != 0)
            ck_abort_msg("no semaphore");
        atomic_store(&relay.sem, sem);
        if (i % 4 == WAYS) {
            while (sem_trywait(sem) != 0)
                continue;
        } else if (wait_somehow(sem, (enum how)(i % 4)) != 0) {
            ck_abort_msg("wait failed");
        }
        if (sem_destroy(sem) != 0)
            ck_abort_msg("destroy failed");
        memory->lose(sem);
    }
    atomic_store(&relay.stop, 1);
    pthread_join(thread, NULL);
}

/* T5: the poster must not look at the semaphore after its unit could be taken. */
START_TEST(who_has_waited_may_destroy_and_unmap_at_once)
{
    wait_and_lose(&page_memory, 20000);
}
END_TEST

START_TEST(who_has_waited_may_destroy_and_free_at_once)
{
    wait_and_lose(&heap_memory, 20000);
}
END_TEST

/* ---- T2: cancellation ---- */

struct pending {
    sem_t   *sem;
    enum how how;
    int      sum;       /* r/o after join: of what must return 0 */
};

static void *wait_with_a_pending_cancel(void *arg)
{
    struct pending *p = arg;

    pthread_cancel(pthread_self());
    wait_somehow(p->sem, p->how);
    return NULL;
}

/* A loop of waits that never have to wait must end, too, and must not take a unit along. */
START_TEST(a_pending_cancel_acts_in_a_wait_even_if_a_unit_is_free_and_takes_none)
{
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 3));
    for (int how = 0; how < WAYS; how++) {
        struct pending p = { .sem = &sem, .how = (enum how)how };
        pthread_t thread;
        void *result;

        start_thread(&thread, wait_with_a_pending_cancel, &p);
        pthread_join(thread, &result);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
        ck_assert_int_eq(value_of(&sem), 3);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

static void *use_with_a_pending_cancel(void *arg)
{
    struct pending *p = arg;
    sem_t own;
    int value;

    pthread_cancel(pthread_self());
    p->sum += sem_init(&own, 0, 1) + sem_trywait(&own) + sem_post(&own)
              + sem_getvalue(&own, &value) + sem_destroy(&own);
    p->sum += sem_post(p->sem) + sem_trywait(p->sem);
    p->sum += sem_trywait(p->sem) == -1 && errno == EAGAIN ? 0 : 1000;
    p->sum += sem_post(p->sem);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    p->sum += wait_somehow(p->sem, p->how);
    return p;
}

/* Also on the way to a waiter, which is another way through the library. */
START_TEST(nothing_but_a_wait_is_a_cancellation_point)
{
    for (int how = 0; how < WAYS; how++) {
        struct pending p = { .how = (enum how)how };
        pthread_t thread;
        void *result;
        sem_t sem;

        ck_assert_works(sem_init(&sem, 0, 0));
        p.sem = &sem;
        start_thread(&thread, use_with_a_pending_cancel, &p);
        pthread_join(thread, &result);
        ck_assert_ptr_eq(result, &p);
        ck_assert_int_eq(p.sum, 0);
        ck_assert_int_eq(value_of(&sem), 0);
        ck_assert_works(sem_destroy(&sem));
    }
}
END_TEST

static void *post_with_a_pending_cancel(void *arg)
{
    struct pending *p = arg;

    pthread_cancel(pthread_self());
    p->sum = sem_post(p->sem) + sem_trywait(p->sem);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return p;
}

START_TEST(a_post_that_serves_a_waiter_is_no_cancellation_point)
{
    struct caller c[2] = { { 0 } };
    struct pending p = { 0 };
    pthread_t thread;
    void *result;
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    p.sem = &sem;
    caller_queue(&c[0], &sem, WAIT, 1);
    caller_queue(&c[1], &sem, WAIT, 2);
    start_thread(&thread, post_with_a_pending_cancel, &p);
    pthread_join(thread, &result);
    ck_assert_ptr_eq(result, &p);
    ck_assert_int_eq(p.sum, -1);        /* posted; the try failed */
    ck_assert_works(sem_post(&sem));
    ck_assert_int_eq(caller_join(&c[0]), 0);
    ck_assert_int_eq(caller_join(&c[1]), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* The cancel comes before, with or after the post: the unit reaches one of both, or is free. */
START_TEST(a_canceled_waiter_loses_no_unit)
{
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    for (int round = 0; round < 500; round++) {
        struct caller c = { 0 }, behind = { 0 };

        caller_queue(&c, &sem, (enum how)(round % WAYS), 1);
        caller_queue(&behind, &sem, WAIT, 2);
        for (int i = 0; i < round % 20; i++)
            sched_yield();
        if (round % 2 == 0) {
            sem_post(&sem);
            pthread_cancel(c.thread);
        } else {
            pthread_cancel(c.thread);
            sem_post(&sem);
        }
        if (caller_join(&c) == 0)
            ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(caller_join(&behind), 0);
        ck_assert_int_eq(value_of(&sem), 0);
        ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 0);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* ---- T1 and T3: signals ---- */

static sem_t       *handlers_sem;       /* what the handler posts */
static int          handlers_posts;     /* how often */
static _Atomic int  begun, handled, handlers_faults;

static void note(int sig)
{
    (void)sig;
    atomic_fetch_add(&handled, 1);
}

static void post_some(int sig)
{
    int before = errno;

    (void)sig;
    atomic_fetch_add(&begun, 1);
    errno = NOT_CHANGED;
    for (int i = 0; i < handlers_posts; i++) {
        if (sem_post(handlers_sem) != 0 || errno != NOT_CHANGED)
            atomic_fetch_add(&handlers_faults, 1);
    }
    atomic_fetch_add(&handled, 1);
    errno = before;
}

/* SIGUSR1 runs `handler`, with these flags. */
static void handle(void (*handler)(int), int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    atomic_store(&begun, 0);
    atomic_store(&handled, 0);
    atomic_store(&handlers_faults, 0);
    handlers_posts = 1;
}

/* Signal until it has returned: the handler may have run before the sleep. */
static void signal_until_result(struct caller *c)
{
    while (atomic_load(&c->result) == STILL_WAITING) {
        pthread_kill(c->thread, SIGUSR1);
        sched_yield();
    }
}

/* Who was behind moves up; no unit goes astray. */
START_TEST(a_handler_without_sa_restart_ends_a_wait_with_eintr)
{
    sem_t sem;

    handle(note, 0);
    ck_assert_works(sem_init(&sem, 0, 0));
    for (int how = 0; how < WAYS; how++) {
        struct caller c = { 0 }, behind = { 0 };

        caller_queue(&c, &sem, (enum how)how, 1);
        caller_queue(&behind, &sem, WAIT, 2);
        signal_until_result(&c);
        ck_assert_int_eq(caller_join(&c), EINTR);
        ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 1);
        ck_assert_int_eq(value_of(&sem), 0);
        ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(caller_join(&behind), 0);
        ck_assert_int_eq(value_of(&sem), 0);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

START_TEST(a_handler_with_sa_restart_does_not_end_a_wait)
{
    struct caller c = { 0 };
    sem_t sem;

    handle(note, SA_RESTART);
    ck_assert_works(sem_init(&sem, 0, 0));
    caller_queue(&c, &sem, WAIT, 1);
    for (int i = 1; i <= 200; i++) {
        pthread_kill(c.thread, SIGUSR1);
        while (atomic_load(&handled) < i)
            sched_yield();
        ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 1);
    }
    ck_assert_works(sem_post(&sem));
    ck_assert_int_eq(caller_join(&c), 0);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

/* The oldest waiter is served by his own handler, which then must not count as interruption. */
START_TEST(a_handler_may_post_what_its_own_thread_is_first_to_wait_for)
{
    for (int round = 0; round < 200; round++) {
        struct caller c = { 0 }, behind = { 0 };
        static sem_t sem;

        handle(post_some, round % 2 == 0 ? 0 : SA_RESTART);
        handlers_sem = &sem;
        ck_assert_works(sem_init(&sem, 0, 0));
        caller_queue(&c, &sem, (enum how)(round / 2 % WAYS), 1);
        caller_queue(&behind, &sem, WAIT, 2);
        pthread_kill(c.thread, SIGUSR1);
        ck_assert_int_eq(caller_join(&c), 0);
        ck_assert_int_eq(atomic_load(&handlers_faults), 0);
        ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 1);
        ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(caller_join(&behind), 0);
        ck_assert_int_eq(value_of(&sem), 0);
        ck_assert_works(sem_destroy(&sem));
    }
}
END_TEST

static _Atomic int stop;

/* All ways in and out, so that a signal can find the thread in any of them. */
static void *take_and_give(void *arg)
{
    for (int i = 0; !atomic_load(&stop); i++) {
        struct timespec soon = from_now(CLOCK_REALTIME, 1);
        int result = i % 3 == 0 ? sem_wait(arg) : i % 3 == 1 ? sem_timedwait(arg, &soon)
                                                             : sem_trywait(arg);
        if (result == 0)
            sem_post(arg);
    }
    return NULL;
}

static void storm(int flags)
{
    static sem_t sem;
    pthread_t thread[4];
    int taken;

    handle(post_some, flags);
    ck_assert_works(sem_init(&sem, 0, 1));
    handlers_sem = &sem;
    for (int i = 0; i < 4; i++)
        start_thread(&thread[i], take_and_give, &sem);
    for (taken = 0; taken < 10000; taken++) {
        struct timespec soon;

        /* What the handlers add is taken away, so that there is always somebody in line.
         * Two signals may have become one: then there is another. */
        do {
            pthread_kill(thread[taken % 4], SIGUSR1);
            soon = from_now(CLOCK_REALTIME, 1);
        } while (sem_timedwait(&sem, &soon) != 0);
    }
    atomic_store(&stop, 1);
    ck_assert_works(sem_post(&sem));        /* all may have been taken: for the last waits */
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(atomic_load(&handlers_faults), 0);
    ck_assert_int_eq(value_of(&sem), 2 + atomic_load(&handled) - taken);
    ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 0);
    ck_assert_works(sem_destroy(&sem));
}

/* T3: the handler interrupts sem_wait, sem_post and the others on the same semaphore. */
START_TEST(a_handler_may_post_whatever_it_interrupted)
{
    storm(0);
}
END_TEST

START_TEST(a_handler_with_sa_restart_may_post_whatever_it_interrupted)
{
    storm(SA_RESTART);
}
END_TEST

static void *take_until_stopped(void *arg)
{
    while (!atomic_load(&stop))
        sem_wait(arg);
    return NULL;
}

/*
 * A thread sleeps, a handler interrupts it and posts, and there the thread is canceled.  A
 * post is no cancellation point, in a handler neither: it must not be left half done, with
 * the semaphore locked for ever or the thread it has served not woken.
 */
START_TEST(a_cancel_does_not_strike_in_a_post_of_a_handler)
{
    static sem_t asleep, posted;
    pthread_t taker[3];

    handle(post_some, SA_RESTART);
    handlers_posts = 10;
    handlers_sem = &posted;
    ck_assert_works(sem_init(&asleep, 0, 0));
    ck_assert_works(sem_init(&posted, 0, 0));
    for (int i = 0; i < 3; i++)
        start_thread(&taker[i], take_until_stopped, &posted);
    for (int round = 0; round < 10000; round++) {
        struct caller c = { 0 };

        await_waiters(&posted.fairsem_inside_, 3);
        ck_assert_int_eq(value_of(&posted), 0);
        caller_queue(&c, &asleep, (enum how)(round % WAYS), 1);
        pthread_kill(c.thread, SIGUSR1);
        while (atomic_load(&begun) == round)
            continue;
        for (int i = 0; i < 4; i++)     /* about as long as the handler takes */
            dawdle(round);
        pthread_cancel(c.thread);
        caller_join(&c);
        ck_assert_int_eq(fairsem_waiters(&asleep.fairsem_inside_), 0);
    }
    await_waiters(&posted.fairsem_inside_, 3);
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        ck_assert_works(sem_post(&posted));
    for (int i = 0; i < 3; i++)
        pthread_join(taker[i], NULL);
    ck_assert_int_eq(atomic_load(&handlers_faults), 0);
    ck_assert_works(sem_destroy(&posted));
    ck_assert_works(sem_destroy(&asleep));
}
END_TEST

/* ---- T4: fork ---- */

static void use_in_child(sem_t *sem, int least, int most)
{
    struct timespec soon = from_now(CLOCK_REALTIME, 1);
    int value = -1;

    CHILD_CHECK(sem_getvalue(sem, &value) == 0 && value >= least && value <= most);
    for (int i = 0; i < value; i++)
        CHILD_CHECK(sem_wait(sem) == 0);
    CHILD_CHECK(sem_trywait(sem) == -1 && errno == EAGAIN);
    CHILD_CHECK(sem_timedwait(sem, &soon) == -1 && errno == ETIMEDOUT);
    CHILD_CHECK(sem_post(sem) == 0);    /* for none of the threads that stayed behind */
    CHILD_CHECK(sem_getvalue(sem, &value) == 0 && value == 1);
    if (!UNDER_ASAN) {                  /* its allocator does not survive such a fork */
        struct caller c = { 0 };

        CHILD_CHECK(sem_wait(sem) == 0);
        caller_queue(&c, sem, WAIT, 1);
        CHILD_CHECK(sem_post(sem) == 0);
        CHILD_CHECK(caller_join(&c) == 0);
    }
    CHILD_CHECK(sem_destroy(sem) == 0);
    _exit(0);
}

START_TEST(the_child_of_a_process_whose_threads_wait_has_a_semaphore_that_works)
{
    struct caller c[3] = { { 0 } };
    pid_t child;
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    for (int i = 0; i < 3; i++)
        caller_queue(&c[i], &sem, (enum how)i, i + 1);
    child = fork();
    if (child == 0)
        use_in_child(&sem, 0, 0);
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_waiters(&sem.fairsem_inside_), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(caller_join(&c[i]), 0);
    }
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

START_TEST(a_fork_at_any_moment_leaves_the_child_a_semaphore_that_works)
{
    pthread_t thread[3];
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 2));
    for (int i = 0; i < 3; i++)
        start_thread(&thread[i], take_and_give, &sem);
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();

        if (child == 0)
            use_in_child(&sem, 0, 2);
        ck_assert_int_eq(status_of(child), 0);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(value_of(&sem), 2);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

START_TEST(a_system_without_futexes_says_so)
{
    sem_t sem;

    if (FS_HAS_FUTEX)
        ck_assert_works(sem_init(&sem, 0, 0));
    else
        ck_assert_fails(sem_init(&sem, 0, 0), ENOSYS);
}
END_TEST

#define WITHOUT_SIGNALS                                                                  \
    a_system_without_futexes_says_so, the_functions_have_the_types_of_posix,             \
    what_succeeds_returns_0_and_leaves_errno_alone,                                      \
    a_value_above_the_largest_is_refused_whatever_pshared_says,                          \
    what_would_need_other_processes_fails_with_enosys,                                   \
    a_post_beyond_the_largest_value_fails_and_changes_nothing,                           \
    a_try_without_a_unit_fails_with_eagain,                                              \
    a_deadline_in_the_past_fails_with_etimedout_unless_a_unit_is_free,                   \
    a_deadline_to_come_fails_with_etimedout_and_not_before,                              \
    a_deadline_that_is_none_fails_with_einval_even_if_a_unit_is_free,                    \
    the_value_is_0_while_somebody_waits,                                                 \
    five_waiters_are_served_in_order_of_arrival_and_nobody_passes,                       \
    waiters_with_a_real_time_priority_go_first_in_the_order_of_priority_then_arrival,    \
    destroying_a_semaphore_that_is_waited_for_changes_nothing,                           \
    who_has_waited_may_destroy_and_unmap_at_once,                                        \
    who_has_waited_may_destroy_and_free_at_once,                                         \
    a_pending_cancel_acts_in_a_wait_even_if_a_unit_is_free_and_takes_none,               \
    nothing_but_a_wait_is_a_cancellation_point,                                          \
    a_post_that_serves_a_waiter_is_no_cancellation_point

int main(void)
{
    if (!FS_HAS_FUTEX)
        RUN_SUITE("posix", a_system_without_futexes_says_so);
    /* ThreadSanitizer holds signals back in a call it does not know, loses track of threads
     * that are canceled in one, and does not follow a fork of a threaded process. */
    if (UNDER_TSAN)
        RUN_SUITE("posix", WITHOUT_SIGNALS);
    RUN_SUITE("posix", WITHOUT_SIGNALS, a_canceled_waiter_loses_no_unit,
              a_handler_without_sa_restart_ends_a_wait_with_eintr,
              a_handler_with_sa_restart_does_not_end_a_wait,
              a_handler_may_post_what_its_own_thread_is_first_to_wait_for,
              a_handler_may_post_whatever_it_interrupted,
              a_handler_with_sa_restart_may_post_whatever_it_interrupted,
              a_cancel_does_not_strike_in_a_post_of_a_handler,
              the_child_of_a_process_whose_threads_wait_has_a_semaphore_that_works,
              a_fork_at_any_moment_leaves_the_child_a_semaphore_that_works);
}
