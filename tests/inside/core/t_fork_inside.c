/* SPDX-License-Identifier: MIT */
/*
 * t_fork_inside.c - a fork while other threads are inside the library: holding a mutex, or asleep until a
 * ticket is granted or its callback ends.  The child does not have those threads, and their state must not harm
 * the child.
 *
 * The linker redirects the library's sleeps and wakes to this file (--wrap), so that the tests see them.
 */
#include "bare.h"
#include "busy.h"
#include "children.h"
#include "suite.h"
#include "workers.h"

#include "deferred.h"
#include "section.h"
#include "system/fork.h"
#include "tools/annotate.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

void __real_fs_sleep_shortly(int64_t ns);
void __wrap_fs_sleep_shortly(int64_t ns);
void __real_fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline);
void __wrap_fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline);
bool __real_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline);
bool __wrap_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline);
bool __real_fs_wake_queue_add_parker(struct fs_wake_queue *wakes, struct fs_parker *parker);
bool __wrap_fs_wake_queue_add_parker(struct fs_wake_queue *wakes, struct fs_parker *parker);
void __real_fs_wake_queue_add_word(struct fs_wake_queue *wakes, const _Atomic int *word);
void __wrap_fs_wake_queue_add_word(struct fs_wake_queue *wakes, const _Atomic int *word);

int __real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));

static _Atomic bool stays_in_its_first_wait, let_it_go_on, holds_it;

static _Atomic bool sleeps_shortly;     /* a thread waits for the end of a callback */
static _Atomic int parks, wakes_noted;

void __wrap_fs_sleep_shortly(int64_t ns)
{
    atomic_store(&sleeps_shortly, true);
    __real_fs_sleep_shortly(ns);
}

void __wrap_fs_park_on_cond(struct fs_parker *self, const struct fs_deadline *deadline)
{
    atomic_fetch_add(&parks, 1);
    __real_fs_park_on_cond(self, deadline);
}

bool __wrap_fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline)
{
    atomic_fetch_add(&parks, 1);
    return __real_fs_park_on_word(word, value, deadline);
}

bool __wrap_fs_wake_queue_add_parker(struct fs_wake_queue *wakes, struct fs_parker *parker)
{
    atomic_fetch_add(&wakes_noted, 1);
    return __real_fs_wake_queue_add_parker(wakes, parker);
}

void __wrap_fs_wake_queue_add_word(struct fs_wake_queue *wakes, const _Atomic int *word)
{
    atomic_fetch_add(&wakes_noted, 1);
    __real_fs_wake_queue_add_word(wakes, word);
}

/* End a child that hangs.  (Check's own handler would end the test.) */
static void end_in_time(void)
{
    signal(SIGALRM, SIG_DFL);
    hang_alarm();
}

static void *return_it(void *arg)
{
    fairsem_ticket_return(&((struct busy *)arg)->ticket);
    return NULL;
}

static void begin_busy(struct busy *b)
{
    begin_callback(b);
    atomic_store(&sleeps_shortly, false);
    start_thread(&b->returner, return_it, b);
    while (!atomic_load(&sleeps_shortly))
        moment();
}

/* In the child, the thread that runs the callback does not exist, nor does the thread that waits for its end. */
START_TEST(threads_of_the_child_can_wait_for_callbacks_where_one_of_the_parent_did)
{
    struct busy parents, childs;
    pid_t child;

    begin_busy(&parents);
    child = fork();
    if (child == 0) {
        end_in_time();
        for (int i = 0; i < 3; i++) {
            begin_busy(&childs);
            end_busy(&childs);
            CHILD_CHECK(fairsem_available(&childs.sem) == 1);
        }
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    end_busy(&parents);
    ck_assert_int_eq(fairsem_available(&parents.sem), 1);
}
END_TEST

struct watched {
    fairsem_ticket_t ticket;
    _Atomic int      result;
};

static void *wait_for_ticket(void *arg)
{
    struct watched *w = arg;

    atomic_store(&w->result, fairsem_ticket_wait(&w->ticket, NULL));
    return NULL;
}

static void watch_until_asleep(pthread_t *thread, struct watched *w)
{
    int before = atomic_load(&parks);

    atomic_store(&w->result, STILL_WAITING);
    start_thread(thread, wait_for_ticket, w);
    while (atomic_load(&parks) == before)
        moment();
}

START_TEST(a_ticket_granted_in_the_child_wakes_no_thread_of_the_parent)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct watched w = { .result = STILL_WAITING };
    pthread_t parents, childs;
    pid_t child;

    ck_assert_int_eq(fairsem_ticket_take(&w.ticket, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    watch_until_asleep(&parents, &w);
    child = fork();
    if (child == 0) {
        end_in_time();
        CHILD_CHECK(fairsem_ticket_state(&w.ticket) == FAIRSEM_TICKET_IDLE);
        CHILD_CHECK(fairsem_ticket_take(&w.ticket, &sem, 1, 0, NULL, NULL) == EINPROGRESS);
        CHILD_CHECK(fairsem_release(&sem, 1) == 0);
        CHILD_CHECK(fairsem_ticket_state(&w.ticket) == FAIRSEM_TICKET_GRANTED);
        CHILD_CHECK(atomic_load(&wakes_noted) == 0);
        CHILD_CHECK(fairsem_ticket_return(&w.ticket) == 0);
        CHILD_CHECK(fairsem_tryacquire(&sem, 1) == 0);

        CHILD_CHECK(fairsem_ticket_take(&w.ticket, &sem, 1, 0, NULL, NULL) == EINPROGRESS);
        watch_until_asleep(&childs, &w);
        CHILD_CHECK(fairsem_release(&sem, 1) == 0);
        CHILD_CHECK(pthread_join(childs, NULL) == 0);
        CHILD_CHECK(atomic_load(&w.result) == 0);
        CHILD_CHECK(atomic_load(&wakes_noted) == 1);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_ticket_state(&w.ticket), FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    pthread_join(parents, NULL);
    ck_assert_int_eq(w.result, 0);
    ck_assert_int_eq(fairsem_ticket_return(&w.ticket), 0);
}
END_TEST

/* ---------------------------------------------------------------- a fork in a wait */

/* In the child, the thread that forked sleeps again in its wait before the other thread begins to sleep. */
static struct {
    fairsem_t    sem;
    bool         may;
    pid_t        child;
    int          parks_before;
} forked = { .sem = FAIRSEM_INITIALIZER(0) };

static void await_parks(int count)
{
    while (atomic_load(&parks) < forked.parks_before + count)
        moment();
}

static void *wait_in_the_child(void *unused)
{
    (void)unused;
    await_parks(1);
    CHILD_CHECK(fairsem_acquire(&forked.sem, 1) == 0);
    _exit(0);
}

static void *release_in_the_child(void *unused)
{
    (void)unused;
    await_parks(2);
    CHILD_CHECK(fairsem_release(&forked.sem, 1) == 0);
    return NULL;
}

/* Fork; in the parent, end the wait. */
static void fork_in_a_callback(fairsem_ticket_t *ticket, void *sem)
{
    pthread_t waiter, releaser;

    (void)ticket;
    if (!forked.may)
        return;
    forked.parks_before = atomic_load(&parks);
    forked.child = fork();
    if (forked.child == 0) {
        end_in_time();
        start_thread(&waiter, wait_in_the_child, NULL);
        start_thread(&releaser, release_in_the_child, NULL);
    } else {
        insist(0, fairsem_close(sem, 0));
    }
}

/*
 * One unit is free, and the front wants two.  The ticket `older` behind the front ages.  When this thread is
 * enqueued, it grants `older`, and runs the callback of `older` before it sleeps.  If `older` ages too early,
 * as on a slow machine, returns false: try again with a longer aging_ns.
 */
static bool forks_in_a_wait(int64_t aging_ns)
{
    const fairsem_attr_t attr = { .aging_ns = aging_ns };
    const struct timespec ms = { .tv_nsec = 1000000 };
    fairsem_ticket_t head = { { 0 } }, older = { { 0 } };
    fairsem_t sem;
    int64_t end;
    bool forks;

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    forked.may = false;
    ck_assert_int_eq(fairsem_ticket_take(&older, &sem, 1, 1, fork_in_a_callback, &sem),
                     EINPROGRESS);
    end = fs_now_ns() + aging_ns;
    ck_assert_int_eq(fairsem_ticket_take(&head, &sem, 2, 0, NULL, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    forks = fairsem_ticket_state(&older) == FAIRSEM_TICKET_WAITING;
    forked.may = forks;
    while (fs_now_ns() <= end)
        nanosleep(&ms, NULL);
    if (forks)
        ck_assert_int_eq(fairsem_acquire(&sem, 1), ESHUTDOWN);
    ck_assert_int_eq(fairsem_ticket_return(&older), 0);
    ck_assert_int_eq(fairsem_ticket_return(&head), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
    return forks;
}

/* In the child, the thread continues its wait with the parker that it had in the parent. */
START_TEST(a_thread_that_forks_in_its_wait_does_not_share_its_parker)
{
    int64_t aging_ns = 10000000;

    while (!forks_in_a_wait(aging_ns))
        aging_ns *= 2;
    ck_assert_int_eq(status_of(forked.child), 0);
}
END_TEST

/* ---------------------------------------------------------------- a mutex held */

struct holder {
    struct fs_sem *sem;
    _Atomic int    holds, let_go;
};

static void *hold_the_mutex(void *arg)
{
    struct holder *h = arg;
    struct fs_section in;

    fs_section_begin(&in, h->sem);
    atomic_store(&h->holds, 1);
    while (!atomic_load(&h->let_go))
        moment();
    fs_section_end(&in);
    return NULL;
}

START_TEST(a_mutex_that_a_thread_of_the_parent_held_does_not_hang_the_child)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    struct holder h = { .sem = (struct fs_sem *)&sem };
    pthread_t thread;
    pid_t child;

    start_thread(&thread, hold_the_mutex, &h);
    while (!atomic_load(&h.holds))
        moment();
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

/* The first wait of a process creates the library's key.  Delay the thread that does so, but not a child. */
BARE int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int result = __real_pthread_key_create(key, destructor);

    atomic_store(&stays_in_its_first_wait, true);
    while (holds_it && !atomic_load(&let_it_go_on))
        moment();
    return result;
}

/* musl's pthread_once() would wait for ever in the child. */
#if defined(__GLIBC__)
static void *wait_for_the_first_time(void *sem)
{
    insist(0, fairsem_acquire(sem, 1));
    return NULL;
}

/*
 * A child that was forked during the initialization initializes the library again.  The second initialization
 * must not harm the child's own forks: a fork handler that is registered twice would point to itself.
 */
START_TEST(a_fork_during_the_first_wait_of_all_leaves_a_child_that_can_fork)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    pthread_t thread;
    pid_t child;

    if (UNDER_RACE_DETECTOR)
        NOT_HERE("under valgrind threads sleep on futexes");
    atomic_store(&holds_it, true);
    start_thread(&thread, wait_for_the_first_time, &sem);
    while (!atomic_load(&stays_in_its_first_wait))
        moment();
    child = fork();
    if (child == 0) {
        pid_t grandchild;

        end_in_time();
        atomic_store(&let_it_go_on, true);
        CHILD_CHECK(fairsem_acquire_for(&sem, 1, 1000) == ETIMEDOUT);
        grandchild = fork();
        if (grandchild == 0) {
            end_in_time();
            CHILD_CHECK(fairsem_acquire_for(&sem, 1, 1000) == ETIMEDOUT);
            _exit(0);
        }
        CHILD_CHECK(status_of(grandchild) == 0);
        _exit(0);
    }
    atomic_store(&let_it_go_on, true);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(status_of(child), 0);
}
END_TEST

/* Must be the first test: if all tests share a process, this test must create the key. */
#define WHERE_A_KEY_IS_MADE a_fork_during_the_first_wait_of_all_leaves_a_child_that_can_fork,
#else
#define WHERE_A_KEY_IS_MADE
#endif

/* A thread of the child holds the lock of fork.c. */
static _Atomic bool has_lock;

static void keep_lock(void *arg)
{
    (void)arg;
    atomic_store(&has_lock, true);
    for (;;)
        moment();
}

static void *take_lock(void *arg)
{
    fs_fork_exclude(keep_lock, NULL);
    return arg;
}

static void use_what_is_fresh(void)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    fairsem_ticket_t ticket = { 0 };
    const fairsem_wait_t how = { .token = &token };

    CHILD_CHECK(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL) == EINPROGRESS);
    CHILD_CHECK(fairsem_token_cancel(&token, ECANCELED) == 0);
    CHILD_CHECK(fairsem_acquire_with(&sem, 1, &how) == ECANCELED);
    CHILD_CHECK(fairsem_release(&sem, 1) == 0);
    CHILD_CHECK(fairsem_ticket_return(&ticket) == 0);
}

START_TEST(in_a_child_a_fresh_object_takes_no_lock_of_the_process)
{
    pid_t child = fork();

    if (child == 0) {
        pthread_t thread;

        end_in_time();
        start_thread(&thread, take_lock, NULL);
        while (!atomic_load(&has_lock))
            moment();
        use_what_is_fresh();
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
}
END_TEST

int main(void)
{
    if (UNDER_TSAN)
        return program_not_here("ThreadSanitizer does not follow a fork of a threaded process");
    RUN_SUITE("fork inside", WHERE_A_KEY_IS_MADE
              threads_of_the_child_can_wait_for_callbacks_where_one_of_the_parent_did,
              a_ticket_granted_in_the_child_wakes_no_thread_of_the_parent,
              a_thread_that_forks_in_its_wait_does_not_share_its_parker,
              a_mutex_that_a_thread_of_the_parent_held_does_not_hang_the_child,
              in_a_child_a_fresh_object_takes_no_lock_of_the_process);
}
