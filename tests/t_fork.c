/* SPDX-License-Identifier: MIT */
/*
 * t_fork.c - the child of a threaded process finds the count as it was and an empty line.
 * (U52: c-blosc 241, FEX 2739, jemalloc 895 hang on a lock that another thread held.)
 */
#include "askers.h"
#include "children.h"
#include "suite.h"
#include "workers.h"

#include "semaphore_internal.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

START_TEST(the_child_finds_the_count_as_it_was_and_an_empty_line)
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

/*
 * set_capacity changes two numbers, and another thread may fork after none or one of them.
 * 4 of 4 are in use, and the capacity goes to 8, or to 2.
 */
START_TEST(a_fork_in_the_middle_of_set_capacity_takes_no_units_away)
{
    const fairsem_attr_t attr = { .capacity = 4 };
    const int64_t capacities[] = { 8, 2 };

    for (int i = 0; i < 4; i++) {
        int64_t capacity = capacities[i / 2], now = i % 2 == 0 ? 4 : capacity;
        fairsem_t sem;
        struct fs_sem *s = fs_inside(&sem);
        pid_t child;

        ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
        /* As resize() in capacity.c leaves it, before its second or its third store. */
        atomic_store(&s->word, FS_SLOW);
        s->in_use = 4;
        atomic_store(&s->resizes, 1);
        atomic_store(&s->limit, now);
        child = fork();
        if (child == 0) {
            CHILD_CHECK(fairsem_consume(&sem, 0) == 0);
            CHILD_CHECK(fairsem_capacity(&sem) - fairsem_available(&sem) == 4);
            CHILD_CHECK(fairsem_release(&sem, 4) == 0);
            CHILD_CHECK(fairsem_available(&sem) == now);
            CHILD_CHECK(fairsem_release(&sem, 1) == EOVERFLOW);
            _exit(0);
        }
        ck_assert_int_eq(status_of(child), 0);
    }
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

/* The same with a thread that does it, at whatever moment: four units stay in use. */
START_TEST(a_fork_at_any_moment_of_set_capacity_takes_no_units_away)
{
    const fairsem_attr_t attr = { .capacity = 4 };
    struct resizer r = { .over = 0 };
    pthread_t thread;

    ck_assert_int_eq(fairsem_init(&r.sem, 0, &attr), 0);
    start_thread(&thread, resize_all_the_time, &r);
    for (int i = 0; i < 300; i++) {
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

static void *wait_with_token(void *arg)
{
    struct token_waiter *w = arg;
    const fairsem_wait_t how = { .token = &w->token };

    w->result = fairsem_acquire_with(&w->sem, 1, &how);
    return NULL;
}

/* The waits on the token's list are those of threads that are not there. */
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

/* Threads of the child wait and are served, and its own children in turn. */
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

struct holder {
    struct fs_sem *sem;
    _Atomic int    holds, let_go;
};

static void *hold_the_mutex(void *arg)
{
    struct holder *h = arg;

    pthread_mutex_lock(&h->sem->mutex);
    atomic_store(&h->holds, 1);
    while (!atomic_load(&h->let_go))
        sched_yield();
    pthread_mutex_unlock(&h->sem->mutex);
    return NULL;
}

/* The moment of the fork finds another thread inside the critical section. */
START_TEST(a_mutex_that_a_thread_of_the_parent_held_does_not_hang_the_child)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    struct holder h = { .sem = (struct fs_sem *)&sem };
    pthread_t thread;
    pid_t child;

    start_thread(&thread, hold_the_mutex, &h);
    while (!atomic_load(&h.holds))
        sched_yield();
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_acquire_for(&sem, 2, 1000) == ETIMEDOUT);
        CHILD_CHECK(fairsem_acquire(&sem, 1) == 0);
        CHILD_CHECK(fairsem_release(&sem, 1) == 0);
        CHILD_CHECK(fairsem_destroy(&sem) == 0);
        _exit(0);
    }
    atomic_store(&h.let_go, 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(status_of(child), 0);
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
        fairsem_acquire(h->sem, 1);
        fairsem_release(h->sem, 1);
    }
    return NULL;
}

/* The scenario of U52: fork at any moment while four threads hammer. */
START_TEST(a_fork_at_any_moment_leaves_the_child_a_semaphore_that_works)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(2);
    struct hammer h[4];
    _Atomic int stop = 0;

    for (int i = 0; i < 4; i++) {
        h[i] = (struct hammer){ .sem = &sem, .stop = &stop };
        start_thread(&h[i].thread, hammer, &h[i]);
    }
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();

        if (child == 0) {
            struct worker w = { 0 };
            int64_t available = fairsem_available(&sem);

            CHILD_CHECK(available >= 0 && available <= 2);
            CHILD_CHECK(fairsem_waiters(&sem) == 0);
            CHILD_CHECK(fairsem_tryacquire_upto(&sem, 2) == available);
            if (!UNDER_ASAN) {      /* its allocator does not survive such a fork */
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
}
END_TEST

/* ---- Fork handlers of the application ---- */

static fairsem_t in_handlers = FAIRSEM_INITIALIZER(1);
static pthread_mutex_t app_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int in_prepare;

static void acquire_before(void)
{
    fairsem_acquire(&in_handlers, 1);
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

/* The usual way to keep a thing consistent across fork, with a semaphore as the lock; the
 * wait in the handler is the first one of its thread. */
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
START_TEST(a_release_in_a_handler_of_the_child_serves_no_thread_of_the_parent)
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

static void *wait_with_app_lock(void *arg)
{
    struct holder *h = arg;

    pthread_mutex_lock(&app_lock);
    atomic_store(&h->holds, 1);
    while (!atomic_load(&in_prepare))
        sched_yield();
    fairsem_acquire((fairsem_t *)h->sem, 1);
    pthread_mutex_unlock(&app_lock);
    return NULL;
}

/* A fork waits for a lock of the application, whose holder makes its first wait. */
START_TEST(no_lock_of_the_library_is_held_while_the_handlers_of_the_application_run)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct holder h = { .sem = (struct fs_sem *)&sem };
    pthread_t holder, releaser;
    pid_t child;

    ck_assert_int_eq(pthread_atfork(lock_app, unlock_app, unlock_app), 0);
    start_thread(&holder, wait_with_app_lock, &h);
    start_thread(&releaser, release_when_waited_for, &sem);
    while (!atomic_load(&h.holds))
        sched_yield();
    child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(status_of(child), 0);
    pthread_join(holder, NULL);
    pthread_join(releaser, NULL);
}
END_TEST

struct caller {
    fairsem_ticket_t ticket;
    fairsem_t        other;
    fairsem_ticket_t *busy;         /* whose callback another thread runs */
    _Atomic int      in_callback, let_go;
    int              status;
};

static void stay_in_callback(fairsem_ticket_t *ticket, void *arg)
{
    struct caller *c = arg;

    (void)ticket;
    atomic_store(&c->in_callback, 1);
    while (!atomic_load(&c->let_go))
        sched_yield();
}

/* In the child the thread that called back goes on, and no other does. */
static void fork_in_callback(fairsem_ticket_t *ticket, void *arg)
{
    struct caller *c = arg;
    fairsem_units_t units = { 0 };
    pid_t child = fork();

    if (child == 0) {
        alarm(10);
        CHILD_CHECK(fairsem_ticket_return(c->busy) == 0);
        CHILD_CHECK(fairsem_ticket_claim(ticket, &units) == 0);
        CHILD_CHECK(fairsem_units_release(&units) == 0);
        CHILD_CHECK(fairsem_ticket_return(ticket) == 0);
        CHILD_CHECK(fairsem_acquire(&c->other, 1) == 0);
        _exit(0);
    }
    c->status = status_of(child);
}

static void *release_one(void *arg)
{
    fairsem_release(arg, 1);
    return NULL;
}

START_TEST(a_callback_may_fork_while_another_one_runs)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0), busy_sem = FAIRSEM_INITIALIZER(0);
    struct caller busy = { .status = 0 };
    struct caller c = { .other = FAIRSEM_INITIALIZER(1), .busy = &busy.ticket, .status = -1 };
    pthread_t thread;

    ck_assert_int_eq(fairsem_ticket_take(&busy.ticket, &busy_sem, 1, 0, stay_in_callback, &busy),
                     EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&c.ticket, &sem, 1, 0, fork_in_callback, &c), EINPROGRESS);
    start_thread(&thread, release_one, &busy_sem);
    while (!atomic_load(&busy.in_callback))
        sched_yield();
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    ck_assert_int_eq(c.status, 0);
    atomic_store(&busy.let_go, 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(fairsem_ticket_state(&c.ticket), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_ticket_return(&c.ticket), 0);
    ck_assert_int_eq(fairsem_ticket_return(&busy.ticket), 0);
}
END_TEST

struct two_tickets {
    fairsem_t        sem;
    fairsem_ticket_t first, second;
    pid_t            child;
    int              second_calls;
};

static void fork_and_look_at_the_second(fairsem_ticket_t *ticket, void *arg)
{
    struct two_tickets *both = arg;
    fairsem_units_t units = { 0 };

    (void)ticket;
    both->child = fork();
    if (both->child != 0)
        return;
    alarm(10);
    CHILD_CHECK(fairsem_ticket_state(&both->second) == FAIRSEM_TICKET_GRANTED);
    CHILD_CHECK(fairsem_ticket_claim(&both->second, &units) == 0 && units.n == 1);
    CHILD_CHECK(fairsem_ticket_return(&both->second) == 0);
}

static void count_second(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    ((struct two_tickets *)arg)->second_calls++;
}

/* The child leaves the callback, too, and finds nothing to call after it. */
START_TEST(what_is_due_after_a_callback_that_forks_is_called_in_the_parent)
{
    struct two_tickets both = { .sem = FAIRSEM_INITIALIZER(0) };

    ck_assert_int_eq(fairsem_ticket_take(&both.first, &both.sem, 1, 0,
                                         fork_and_look_at_the_second, &both), EINPROGRESS);
    ck_assert_int_eq(fairsem_ticket_take(&both.second, &both.sem, 1, 0, count_second, &both),
                     EINPROGRESS);
    ck_assert_int_eq(fairsem_release(&both.sem, 2), 0);
    if (both.child == 0) {
        CHILD_CHECK(both.second_calls == 0);
        CHILD_CHECK(fairsem_ticket_return(&both.first) == 0);
        CHILD_CHECK(fairsem_available(&both.sem) == 1);
        _exit(0);
    }
    ck_assert_int_eq(status_of(both.child), 0);
    ck_assert_int_eq(both.second_calls, 1);
    ck_assert_int_eq(fairsem_ticket_return(&both.first), 0);
    ck_assert_int_eq(fairsem_ticket_return(&both.second), 0);
    ck_assert_int_eq(fairsem_available(&both.sem), 2);
}
END_TEST

struct behind {
    fairsem_t        sem;
    fairsem_ticket_t ticket;
    pthread_t        waiter;        /* only in this thread the callback forks */
    _Atomic int      over;
    pid_t            child;
};

static void fork_in_the_waiter(fairsem_ticket_t *ticket, void *arg)
{
    struct behind *b = arg;

    (void)ticket;
    if (pthread_equal(pthread_self(), b->waiter))
        b->child = fork();
}

static void *release_one_for_the_second(void *arg)
{
    struct behind *b = arg;

    while (fairsem_waiters(&b->sem) != 2 && !atomic_load(&b->over))
        sched_yield();
    fairsem_release(&b->sem, 1);
    return NULL;
}

/*
 * A wait with a token times out and lets a ticket behind it go, whose callback forks.  Its
 * thread goes on in the child, where the token's list is another one.  (If the time is out
 * before the unit is there: another round, with more time.)
 */
START_TEST(a_callback_may_fork_at_the_end_of_a_wait_with_a_token)
{
    fairsem_t other = FAIRSEM_INITIALIZER(0);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct asker waiter = { .how = { .token = &token } };
    struct behind b = { .child = -1, .waiter = pthread_self() };

    asker_queue(&waiter, &other, 1, 1);
    for (int64_t ms = 20; b.child == -1; ms *= 2) {
        struct timespec deadline = from_now(CLOCK_MONOTONIC, ms);
        const fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = &deadline,
                                     .token = &token };
        pthread_t releaser;
        int result;

        ck_assert_int_eq(fairsem_init(&b.sem, 0, NULL), 0);
        atomic_store(&b.over, 0);
        ck_assert_int_eq(fairsem_ticket_take(&b.ticket, &b.sem, 1, 1, fork_in_the_waiter, &b),
                         EINPROGRESS);
        start_thread(&releaser, release_one_for_the_second, &b);
        result = fairsem_acquire_with(&b.sem, 2, &how);
        if (b.child == 0) {
            CHILD_CHECK(result == ETIMEDOUT);
            CHILD_CHECK(fairsem_token_destroy(&token) == 0);
            _exit(0);
        }
        ck_assert_int_eq(result, ETIMEDOUT);
        atomic_store(&b.over, 1);
        pthread_join(releaser, NULL);
        ck_assert_int_eq(fairsem_ticket_return(&b.ticket), 0);
    }
    ck_assert_int_eq(status_of(b.child), 0);
    ck_assert_int_eq(fairsem_token_cancel(&token, 0), 0);
    ck_assert_int_eq(worker_join(&waiter.w), ECANCELED);
}
END_TEST

int main(void)
{
    if (UNDER_TSAN) {
        puts("skipped: ThreadSanitizer does not follow a fork of a threaded process");
        return 77;
    }
    RUN_SUITE("fork", the_child_finds_the_count_as_it_was_and_an_empty_line,
              a_fork_in_the_middle_of_set_capacity_takes_no_units_away,
              a_fork_at_any_moment_of_set_capacity_takes_no_units_away,
              a_token_in_the_child_cancels_no_waits_of_the_parent,
              the_child_and_the_grandchild_can_have_waiters_of_their_own,
              a_mutex_that_a_thread_of_the_parent_held_does_not_hang_the_child,
              a_fork_at_any_moment_leaves_the_child_a_semaphore_that_works,
              a_semaphore_can_be_held_across_a_fork_by_the_handlers_of_the_application,
              a_release_in_a_handler_of_the_child_serves_no_thread_of_the_parent,
              no_lock_of_the_library_is_held_while_the_handlers_of_the_application_run,
              a_callback_may_fork_while_another_one_runs,
              what_is_due_after_a_callback_that_forks_is_called_in_the_parent,
              a_callback_may_fork_at_the_end_of_a_wait_with_a_token);
}
