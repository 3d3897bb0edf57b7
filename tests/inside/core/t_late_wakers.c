/* SPDX-License-Identifier: MIT */
/*
 * t_late_wakers.c - a releasing thread is delayed between its grants and its wakes or callbacks.  A granted
 * thread may see its grant by itself, return, and sleep in another wait.  No thread may depend on the late
 * wake.
 *
 * The linker redirects the library's calls of these functions to this file (--wrap).
 */
#include "bare.h"
#include "children.h"
#include "restless.h"
#include "suite.h"
#include "workers.h"

#include "section.h"

#include <errno.h>
#include <stdbool.h>

/* A thread sets these to delay its own calls of the functions below. */
static _Thread_local bool late;         /* make no wake before let_go */
static _Thread_local bool late_inside;  /* like `late`, but while holding the first parker's mutex */
static _Thread_local bool waking;
static _Atomic bool held_up, let_go;

static void be_late(void)
{
    atomic_store(&held_up, true);
    while (!atomic_load(&let_go))
        moment();
}

void __real_fs_wake_queue_run(struct fs_wake_queue *wakes);
void __wrap_fs_wake_queue_run(struct fs_wake_queue *wakes);
void __wrap_fs_wake_queue_run(struct fs_wake_queue *wakes)
{
    if (late)
        be_late();
    waking = true;
    __real_fs_wake_queue_run(wakes);
    waking = false;
}

/* If there is no thread to wake, a late thread is delayed before its callbacks. */
void __real_fs_callbacks_run(struct fs_callbacks *callbacks);
void __wrap_fs_callbacks_run(struct fs_callbacks *callbacks);
void __wrap_fs_callbacks_run(struct fs_callbacks *callbacks)
{
    if (late)
        be_late();
    __real_fs_callbacks_run(callbacks);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
BARE int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (late_inside && waking)
        be_late();
    return __real_pthread_mutex_unlock(mutex);
}

/* Return when n waiters are in the queue, all PARKED, so that they may be asleep. */
static void await_parked(fairsem_t *sem, int n)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_section in;
    int parked;

    do {
        moment();
        parked = 0;
        fs_section_begin(&in, s);
        for (struct fs_waitq_node *at = fs_waitq_first(&s->queue); at != NULL;
             at = fs_waitq_behind(&s->queue, at))
            parked += atomic_load(&fs_waiter_of(at)->state) == FS_PARKED;
        fs_section_end(&in);
    } while (parked != n);
}

struct late_release {
    pthread_t  thread;
    fairsem_t *sem;
    int        sleepers;    /* number of waiters that must sleep before the release */
    int64_t    n;
    bool       inside;      /* delayed while it holds a parker's mutex */
    int       *writes;      /* set before the release; may be NULL */
};

static void *release_late(void *arg)
{
    struct late_release *r = arg;

    await_parked(r->sem, r->sleepers);
    if (r->writes != NULL)
        *r->writes = 1;
    late = !r->inside;
    late_inside = r->inside;
    fairsem_release(r->sem, r->n);
    atomic_store(&held_up, true);   /* even if the release has unlocked no parker's mutex */
    return NULL;
}

static void start_late(struct late_release *r)
{
    atomic_store(&held_up, false);
    atomic_store(&let_go, false);
    start_thread(&r->thread, release_late, r);
}

/* Return when the late thread has made all its grants. */
static void await_late(void)
{
    while (!atomic_load(&held_up))
        moment();
}

static void let_it_go(struct late_release *r)
{
    atomic_store(&let_go, true);
    pthread_join(r->thread, NULL);
}

/* A thread that waits for a unit of `first`, restless (see restless.h), and then for a unit of `second`. */
struct traveler {
    pthread_t   thread;
    fairsem_t  *first, *second;
    int         errors;     /* read after the join */
};

static void *travel(void *arg)
{
    struct traveler *t = arg;

    restless = true;
    t->errors = fairsem_acquire(t->first, 1) != 0;
    restless = false;
    t->errors += fairsem_acquire(t->second, 1) != 0;
    return NULL;
}

/* More threads than fit into the list of threads to wake again (deferred.h). */
START_TEST(one_release_wakes_any_number_of_threads_that_a_late_release_has_yet_to_wake)
{
    enum { MANY = 20 };
    fairsem_t first = FAIRSEM_INITIALIZER(0), second = FAIRSEM_INITIALIZER(0);
    struct traveler t[MANY];
    struct late_release late_one = { .sem = &first, .sleepers = MANY, .n = MANY };

    for (int i = 0; i < MANY; i++) {
        t[i] = (struct traveler){ .first = &first, .second = &second };
        start_thread(&t[i].thread, travel, &t[i]);
    }
    start_late(&late_one);
    await_late();
    await_parked(&second, MANY);
    ck_assert_int_eq(fairsem_release(&second, MANY), 0);
    for (int i = 0; i < MANY; i++) {
        pthread_join(t[i].thread, NULL);
        ck_assert_int_eq(t[i].errors, 0);
    }
    let_it_go(&late_one);
}
END_TEST

/*
 * FAIRSEM_BOUNDED_BYPASS: the front has been woken to compete, and this thread takes the unit.  Nothing but the
 * acquire orders this thread after the releaser, so that ThreadSanitizer can find a missing order.  Therefore
 * the test loads the word relaxed: repeated calls of fairsem_tryacquire() would order the threads.
 */
START_TEST(a_thread_that_passes_sees_what_the_releaser_wrote)
{
    const fairsem_attr_t attr = {
        .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = INT64_C(3600) * 1000000000
    };
    fairsem_t sem;
    struct worker sleeper = { 0 };
    int written = 0;
    struct late_release late_one = { .sem = &sem, .sleepers = 1, .n = 1, .writes = &written };

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    worker_queue(&sleeper, &sem, 1, 1);
    start_late(&late_one);
    while ((atomic_load_explicit(&fs_inside(&sem)->word, memory_order_relaxed) & FS_CONTENDED) != 0)
        moment();
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert_int_eq(written, 1);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    let_it_go(&late_one);
    ck_assert_int_eq(worker_join(&sleeper), 0);
}
END_TEST

/*
 * With bounded bypass: the late release has marked the front waiter as woken to compete, but has not made the
 * wake, and CONTENDED is clear.
 */
struct on_its_way {
    fairsem_t           sem;
    struct worker       front;
    struct late_release late_one;
};

static void start_front_waiter(struct on_its_way *t)
{
    const fairsem_attr_t attr = {
        .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = INT64_C(3600) * 1000000000
    };

    t->front = (struct worker){ 0 };
    t->late_one = (struct late_release){ .sem = &t->sem, .sleepers = 1, .n = 1 };
    ck_assert_int_eq(fairsem_init(&t->sem, 0, &attr), 0);
    worker_queue(&t->front, &t->sem, 1, 1);
    start_late(&t->late_one);
    await_late();
    ck_assert_int_eq(atomic_load(&fs_inside(&t->sem)->word) & FS_CONTENDED, 0);
}

START_TEST(a_request_for_no_units_would_block_while_a_request_for_one_would_not)
{
    struct on_its_way t;

    start_front_waiter(&t);
    ck_assert(!fairsem_would_block(&t.sem, 1));
    ck_assert(fairsem_would_block(&t.sem, 0));
    let_it_go(&t.late_one);
    ck_assert_int_eq(worker_join(&t.front), 0);
}
END_TEST

START_TEST(a_request_for_no_units_does_not_pass_the_front_waiter)
{
    struct on_its_way t;

    start_front_waiter(&t);
    ck_assert_int_eq(fairsem_tryacquire(&t.sem, 0), EAGAIN);
    let_it_go(&t.late_one);
    ck_assert_int_eq(worker_join(&t.front), 0);
}
END_TEST

/* Any section grants the waiter its unit. */
START_TEST(a_granter_wakes_a_waiter_whose_first_waker_is_held_up)
{
    struct on_its_way t;

    start_front_waiter(&t);
    ck_assert_int_eq(fairsem_consume(&t.sem, 0), 0);
    ck_assert_int_eq(worker_join(&t.front), 0);
    let_it_go(&t.late_one);
}
END_TEST

struct token_waiter {
    fairsem_t      *sem;
    fairsem_token_t token;
    int             result;
};

static void *acquire_with_token(void *arg)
{
    struct token_waiter *w = arg;
    const fairsem_wait_t how = { .token = &w->token };

    w->result = fairsem_acquire_with(w->sem, 1, &how);
    return NULL;
}

/*
 * A granted waiter still sleeps when its token is canceled: the cancel comes too late.  But the waiter is still
 * on the token's list, so fairsem_token_destroy() must refuse.  (On a futex, the waiter may have seen the grant
 * just before its sleep.  Then the test repeats.)
 */
START_TEST(a_token_is_in_use_until_its_granted_waiter_has_returned)
{
    bool refused = false;

    while (!refused) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        struct token_waiter w = { &sem, FAIRSEM_TOKEN_INITIALIZER, STILL_WAITING };
        struct late_release late_one = { .sem = &sem, .sleepers = 1, .n = 1 };
        pthread_t waiter;

        start_thread(&waiter, acquire_with_token, &w);
        start_late(&late_one);
        await_late();
        ck_assert_int_eq(fairsem_token_cancel(&w.token, 0), 0);
        refused = fairsem_token_destroy(&w.token) == EBUSY;
        let_it_go(&late_one);
        pthread_join(waiter, NULL);
        ck_assert_int_eq(w.result, 0);
        ck_assert(!refused || fairsem_token_destroy(&w.token) == 0);
    }
}
END_TEST

static void do_nothing(fairsem_ticket_t *ticket, void *arg)
{
    (void)ticket;
    (void)arg;
}

/* Take a ticket with a callback.  The first call registers the reset of callbacks in a child. */
static void ask_for_a_callback(void)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_ticket_t ticket = { 0 };

    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, do_nothing, NULL), 0);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
}

/* In the child, the mutex of the copied parker is locked by the late thread, which the child does not have. */
static void fork_while_being_woken(bool callback_before, bool callback_after)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0), other = FAIRSEM_INITIALIZER(0);
    struct late_release late_one = { .sem = &sem, .sleepers = 1, .n = 1, .inside = true };
    pid_t child;

    if (UNDER_TSAN)
        NOT_HERE("ThreadSanitizer does not support a forked child with threads");
    if (callback_before)
        ask_for_a_callback();
    start_late(&late_one);
    restless = true;
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    restless = false;
    await_late();
    if (callback_after)
        ask_for_a_callback();
    child = fork();
    if (child == 0) {
        hang_alarm();
        CHILD_CHECK(fairsem_acquire_for(&other, 1, 1000000) == ETIMEDOUT);
        _exit(0);
    }
    let_it_go(&late_one);
    ck_assert_int_eq(status_of(child), 0);
}

START_TEST(a_thread_that_forks_while_it_is_being_woken_can_wait_in_the_child)
{
    fork_while_being_woken(false, false);
}
END_TEST

START_TEST(a_child_can_wait_where_callbacks_came_after_parkers)
{
    fork_while_being_woken(false, true);
}
END_TEST

START_TEST(a_child_can_wait_where_callbacks_came_before_parkers)
{
    fork_while_being_woken(true, false);
}
END_TEST

int main(void)
{
    RUN_SUITE("late wakers", one_release_wakes_any_number_of_threads_that_a_late_release_has_yet_to_wake,
              a_thread_that_passes_sees_what_the_releaser_wrote,
              a_request_for_no_units_would_block_while_a_request_for_one_would_not,
              a_request_for_no_units_does_not_pass_the_front_waiter,
              a_granter_wakes_a_waiter_whose_first_waker_is_held_up,
              a_token_is_in_use_until_its_granted_waiter_has_returned,
              a_thread_that_forks_while_it_is_being_woken_can_wait_in_the_child,
              a_child_can_wait_where_callbacks_came_after_parkers,
              a_child_can_wait_where_callbacks_came_before_parkers);
}
