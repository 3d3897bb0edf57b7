/* SPDX-License-Identifier: MIT */
/*
 * t_fork.c - the child of a threaded process finds the same count and an empty queue.
 * (U52: c-blosc 241, FEX 2739, jemalloc 895 hang on a lock that another thread held.)
 */
#include "askers.h"
#include "children.h"
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(the_child_finds_the_same_count_and_an_empty_queue)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(3);
    struct worker w = { 0 };
    fairsem_stat_t stat;
    pid_t child;

    worker_queue(&w, &sem, 5, 1);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_waiters(&sem) == 0);
        CHILD_CHECK(fairsem_available(&sem) == 3);
        CHILD_CHECK(fairsem_stat(&sem, &stat) == 0);
        CHILD_CHECK(stat.waits == 1 && stat.cancels == 1 && stat.waiters == 0);
        CHILD_CHECK(!fairsem_would_block(&sem, 3));
        CHILD_CHECK(fairsem_tryacquire(&sem, 1) == 0);
        CHILD_CHECK(fairsem_acquire_for(&sem, 3, 1000) == ETIMEDOUT);
        CHILD_CHECK(fairsem_release(&sem, 1) == 0);
        CHILD_CHECK(fairsem_tryacquire_upto(&sem, 9) == 3);
        CHILD_CHECK(fairsem_destroy(&sem) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(worker_join(&w), 0);
}
END_TEST

static void *drain(void *arg)
{
    struct asker *a = arg;

    atomic_store(&a->w.result, fairsem_drain(a->w.sem, a->w.units, &a->how));
    return NULL;
}

START_TEST(the_child_finds_a_drained_semaphore_closed_and_without_waiters)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct asker drainer = { 0 };
    pid_t child;

    asker_start_as(&drainer, &sem, 1, drain);
    await_waiters(&sem, 1);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_waiters(&sem) == 0 && fairsem_closed(&sem) == ESHUTDOWN);
        CHILD_CHECK(fairsem_release(&sem, 1) == 0);
        CHILD_CHECK(fairsem_drain(&sem, 1, NULL) == 0 && fairsem_destroy(&sem) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert(worker_waits(&drainer.w));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&drainer.w), 0);
}
END_TEST

START_TEST(in_a_forked_child_a_ticket_that_waited_is_idle)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_ticket_t ticket = { 0 }, untouched = { 0 };
    fairsem_units_t units = { 0 };
    pid_t child;

    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 2, 0, NULL, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&untouched, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_ticket_state(&ticket) == FAIRSEM_TICKET_IDLE);
        CHILD_CHECK(fairsem_ticket_wait(&ticket, NULL) == EINVAL);
        CHILD_CHECK(fairsem_ticket_claim(&untouched, &units) == EINVAL);
        CHILD_CHECK(fairsem_ticket_return(&untouched) == 0);
        CHILD_CHECK(fairsem_waiters(&sem) == 0 && fairsem_available(&sem) == 1);
        CHILD_CHECK(fairsem_ticket_take(&ticket, &sem, 3, 0, NULL, NULL) == EINPROGRESS);
        CHILD_CHECK(fairsem_ticket_state(&ticket) == FAIRSEM_TICKET_WAITING);
        CHILD_CHECK(fairsem_release(&sem, 2) == 0);
        CHILD_CHECK(fairsem_ticket_claim(&ticket, &units) == 0 && units.n == 3);
        CHILD_CHECK(fairsem_destroy(&sem) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(fairsem_ticket_state(&ticket), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_ticket_state(&untouched), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_ticket_return(&untouched), 0);
    ck_assert_int_eq(fairsem_available(&sem), 3);
}
END_TEST

struct resizer {
    fairsem_t   sem;
    _Atomic int over;
};

static void *resize_all_the_time(void *arg)
{
    struct resizer *r = arg;

    for (int64_t capacity = 8; !atomic_load(&r->over); capacity = 10 - capacity)
        fairsem_set_capacity(&r->sem, capacity);
    return NULL;
}

/* Another thread changes the capacity all the time.  Four units stay in use. */
START_TEST(a_fork_at_any_moment_of_set_capacity_loses_no_units)
{
    const fairsem_attr_t attr = { .capacity = 4 };
    struct resizer r = { .over = 0 };
    pthread_t thread;

    ck_assert_int_eq(fairsem_init(&r.sem, 0, &attr), 0);
    start_thread(&thread, resize_all_the_time, &r);
    for (int i = 0; i < stress_times(60); i++) {
        pid_t child = fork();

        if (child == 0) {
            CHILD_CHECK(fairsem_consume(&r.sem, 0) == 0);
            CHILD_CHECK(fairsem_capacity(&r.sem) - fairsem_available(&r.sem) == 4);
            _exit(0);
        }
        ck_assert_int_eq(status_of(child), 0);
    }
    atomic_store(&r.over, 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(fairsem_capacity(&r.sem) - fairsem_available(&r.sem), 4);
}
END_TEST

struct token_waiter {
    pthread_t       thread;
    fairsem_t       sem;
    fairsem_token_t token;
    int             result;
};

struct taker {
    fairsem_t        sem;
    fairsem_ticket_t ticket;
    _Atomic int      over;
};

static void *take_all_the_time(void *arg)
{
    struct taker *t = arg;
    fairsem_units_t units = { 0 };

    while (!atomic_load(&t->over)) {
        if (fairsem_ticket_take(&t->ticket, &t->sem, 1, 0, NULL, NULL) != 0
            || fairsem_ticket_claim(&t->ticket, &units) != 0 || fairsem_units_release(&units) != 0)
            return arg;
    }
    return NULL;
}

/* If the child finds the ticket granted, the ticket's unit must not be free as well. */
START_TEST(a_fork_at_any_moment_of_a_take_duplicates_no_unit)
{
    static struct taker t = { .sem = FAIRSEM_INITIALIZER(1) };
    pthread_t thread;
    void *failed;

    start_thread(&thread, take_all_the_time, &t);
    for (int i = 0; i < stress_times(300); i++) {
        pid_t child = fork();

        if (child == 0) {
            fairsem_units_t units = { 0 };

            CHILD_CHECK(fairsem_ticket_claim(&t.ticket, &units) != 0
                        || fairsem_available(&t.sem) == 0);
            _exit(0);
        }
        ck_assert_int_eq(status_of(child), 0);
    }
    atomic_store(&t.over, 1);
    pthread_join(thread, &failed);
    ck_assert_ptr_null(failed);
}
END_TEST

static void *wait_with_token(void *arg)
{
    struct token_waiter *w = arg;
    const fairsem_wait_t how = { .token = &w->token };

    w->result = fairsem_acquire_with(&w->sem, 1, &how);
    return NULL;
}

/* The waits on the token's list belong to threads that the child does not have. */
START_TEST(a_token_in_the_child_cancels_no_waits_of_the_parent)
{
    struct token_waiter w = { .result = STILL_WAITING };
    pid_t child;

    ck_assert_int_eq(fairsem_init(&w.sem, 0, NULL), 0);
    ck_assert_int_eq(fairsem_token_init(&w.token), 0);
    start_thread(&w.thread, wait_with_token, &w);
    await_waiters(&w.sem, 1);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_token_cancel(&w.token, ECANCELED) == 0);
        CHILD_CHECK(fairsem_waiters(&w.sem) == 0);
        CHILD_CHECK(fairsem_release(&w.sem, 1) == 0);
        CHILD_CHECK(fairsem_available(&w.sem) == 1);
        CHILD_CHECK(fairsem_token_destroy(&w.token) == 0);
        CHILD_CHECK(fairsem_destroy(&w.sem) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_waiters(&w.sem), 1);
    ck_assert_int_eq(fairsem_token_reason(&w.token), 0);
    ck_assert_int_eq(fairsem_release(&w.sem, 1), 0);
    pthread_join(w.thread, NULL);
    ck_assert_int_eq(w.result, 0);
}
END_TEST

START_TEST(the_child_and_the_grandchild_can_have_waiters_of_their_own)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct worker parents = { 0 }, childs = { 0 }, grandchilds = { 0 };
    pid_t child, grandchild;
    int status;

    worker_queue(&parents, &sem, 1, 1);
    child = fork();
    if (child == 0) {
        worker_queue(&childs, &sem, 1, 1);
        grandchild = fork();
        if (grandchild == 0) {
            worker_queue(&grandchilds, &sem, 1, 1);
            CHILD_CHECK(fairsem_release(&sem, 1) == 0);
            CHILD_CHECK(worker_join(&grandchilds) == 0);
            _exit(0);
        }
        CHILD_CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
        CHILD_CHECK(fairsem_waiters(&sem) == 1);
        CHILD_CHECK(fairsem_release(&sem, 1) == 0);
        CHILD_CHECK(worker_join(&childs) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(worker_join(&parents), 0);
}
END_TEST

struct hammer {
    pthread_t    thread;
    fairsem_t   *sem;
    _Atomic int *stop;
};

static void *hammer(void *arg)
{
    struct hammer *h = arg;

    while (!atomic_load(h->stop)) {
        insist(0, fairsem_acquire(h->sem, 1));
        fairsem_release(h->sem, 1);
    }
    return NULL;
}

static void fork_among_hammers(unsigned flags)
{
    const fairsem_attr_t attr = { .flags = flags };
    struct hammer h[4];
    _Atomic int stop = 0;
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 2, &attr), 0);
    for (int i = 0; i < 4; i++) {
        h[i] = (struct hammer){ .sem = &sem, .stop = &stop };
        start_thread(&h[i].thread, hammer, &h[i]);
    }
    for (int i = 0; i < stress_times(50); i++) {
        pid_t child = fork();

        if (child == 0) {
            struct worker w = { 0 };
            int64_t available = fairsem_available(&sem);

            CHILD_CHECK(available >= 0 && available <= 2);
            CHILD_CHECK(fairsem_waiters(&sem) == 0);
            CHILD_CHECK(fairsem_tryacquire_upto(&sem, 2) == available);
            if (!UNDER_ASAN) {      /* ASan's allocator does not survive a fork while other threads run */
                worker_queue(&w, &sem, 1, 1);
                CHILD_CHECK(fairsem_release(&sem, 1) == 0);
                CHILD_CHECK(worker_join(&w) == 0);
            }
            CHILD_CHECK(fairsem_destroy(&sem) == 0);
            _exit(0);
        }
        ck_assert_int_eq(status_of(child), 0);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 4; i++)
        pthread_join(h[i].thread, NULL);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}

/* The scenario of U52: fork at any moment while four threads acquire and release. */
START_TEST(a_fork_at_any_moment_leaves_the_child_a_semaphore_that_works)
{
    fork_among_hammers(0);
    if (can_be_interruptible())
        fork_among_hammers(FAIRSEM_INTERRUPTIBLE);
}
END_TEST

/* ---- Fork handlers of the application ---- */

static fairsem_t in_handlers = FAIRSEM_INITIALIZER(1);
static pthread_mutex_t app_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int in_prepare;

static void acquire_before(void)
{
    insist(0, fairsem_acquire(&in_handlers, 1));
}

static void release_after(void)
{
    fairsem_release(&in_handlers, 1);
}

static void *release_when_waited_for(void *arg)
{
    await_waiters(arg, 1);
    fairsem_release(arg, 1);
    return NULL;
}

/* The usual way to keep data consistent across a fork, with a semaphore as the lock.  The wait in
 * acquire_before() is the first wait of the forking thread. */
START_TEST(a_semaphore_can_be_held_across_a_fork_by_the_handlers_of_the_application)
{
    pthread_t thread;
    pid_t child;

    ck_assert_int_eq(fairsem_acquire(&in_handlers, 1), 0);
    start_thread(&thread, release_when_waited_for, &in_handlers);
    ck_assert_int_eq(pthread_atfork(acquire_before, release_after, release_after), 0);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_available(&in_handlers) == 1);
        CHILD_CHECK(fairsem_acquire(&in_handlers, 1) == 0);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(fairsem_available(&in_handlers), 1);
}
END_TEST

/* A unit that a handler of the child releases must not go to a waiter of the parent. */
START_TEST(a_release_in_a_handler_of_the_child_grants_no_thread_of_the_parent)
{
    struct worker w = { 0 };
    pid_t child;

    ck_assert_int_eq(pthread_atfork(NULL, NULL, release_after), 0);
    worker_queue(&w, &in_handlers, 2, 1);
    ck_assert_int_eq(fairsem_available(&in_handlers), 1);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_waiters(&in_handlers) == 0);
        CHILD_CHECK(fairsem_available(&in_handlers) == 2);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_release(&in_handlers, 1), 0);
    ck_assert_int_eq(worker_join(&w), 0);
}
END_TEST

static void lock_app(void)
{
    atomic_store(&in_prepare, 1);
    pthread_mutex_lock(&app_lock);
}

static void unlock_app(void)
{
    pthread_mutex_unlock(&app_lock);
}

struct holder {
    fairsem_t  *sem;
    _Atomic int holds;
};

static void *wait_with_app_lock(void *arg)
{
    struct holder *h = arg;

    pthread_mutex_lock(&app_lock);
    atomic_store(&h->holds, 1);
    while (!atomic_load(&in_prepare))
        moment();
    insist(0, fairsem_acquire(h->sem, 1));
    pthread_mutex_unlock(&app_lock);
    return NULL;
}

/* The fork waits for a lock of the application, while the holder of that lock waits for a semaphore for the
 * first time. */
START_TEST(no_lock_of_the_library_is_held_while_the_handlers_of_the_application_run)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct holder h = { .sem = &sem };
    pthread_t holder, releaser;
    pid_t child;

    ck_assert_int_eq(pthread_atfork(lock_app, unlock_app, unlock_app), 0);
    start_thread(&holder, wait_with_app_lock, &h);
    start_thread(&releaser, release_when_waited_for, &sem);
    while (!atomic_load(&h.holds))
        moment();
    child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(status_of(child), 0);
    pthread_join(holder, NULL);
    pthread_join(releaser, NULL);
}
END_TEST

#if defined(__linux__)
static void *release_when_it_is_in_the_dump(void *arg)
{
    fairsem_t *sem = arg;
    char *text, expected[40];
    size_t size;
    FILE *file = open_memstream(&text, &size);

    await_waiters(sem, 1);
    fairsem_dump(sem, file);
    fclose(file);
    snprintf(expected, sizeof expected, ": thread %d ", (int)getpid());
    CHILD_CHECK(strstr(text, expected) != NULL);
    free(text);
    CHILD_CHECK(fairsem_release(sem, 1) == 0);
    return NULL;
}

/* The thread has waited in the parent, where it had another thread number than in the child. */
START_TEST(a_dump_in_the_child_shows_the_new_thread_number)
{
    const fairsem_attr_t attr[] = { { .flags = 0 }, { .flags = FAIRSEM_INTERRUPTIBLE } };

    for (int i = 0; i < 1 + can_be_interruptible(); i++) {
        pthread_t thread;
        fairsem_t sem;
        pid_t child;

        ck_assert_int_eq(fairsem_init(&sem, 0, &attr[i]), 0);
        ck_assert_int_eq(fairsem_acquire_for(&sem, 1, 1000), ETIMEDOUT);
        child = fork();
        if (child == 0) {
            CHILD_CHECK(pthread_create(&thread, NULL, release_when_it_is_in_the_dump, &sem) == 0);
            CHILD_CHECK(fairsem_acquire(&sem, 1) == 0);
            CHILD_CHECK(pthread_join(thread, NULL) == 0);
            _exit(0);
        }
        ck_assert_int_eq(status_of(child), 0);
    }
}
END_TEST
#define LINUX_ONLY a_dump_in_the_child_shows_the_new_thread_number,
#else
#define LINUX_ONLY
#endif

int main(void)
{
    if (UNDER_TSAN)
        return program_not_here("ThreadSanitizer does not follow a fork of a threaded process");
    RUN_SUITE("fork", LINUX_ONLY the_child_finds_the_same_count_and_an_empty_queue,
              the_child_finds_a_drained_semaphore_closed_and_without_waiters,
              in_a_forked_child_a_ticket_that_waited_is_idle,
              a_fork_at_any_moment_of_set_capacity_loses_no_units,
              a_fork_at_any_moment_of_a_take_duplicates_no_unit,
              a_token_in_the_child_cancels_no_waits_of_the_parent,
              the_child_and_the_grandchild_can_have_waiters_of_their_own,
              a_fork_at_any_moment_leaves_the_child_a_semaphore_that_works,
              a_semaphore_can_be_held_across_a_fork_by_the_handlers_of_the_application,
              a_release_in_a_handler_of_the_child_grants_no_thread_of_the_parent,
              no_lock_of_the_library_is_held_while_the_handlers_of_the_application_run);
}
