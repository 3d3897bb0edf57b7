/* SPDX-License-Identifier: MIT */
/*
 * t_convoy.c - more than two waiters: a near waiter yields instead of sleeping, and the next thread that is
 * enqueued, not the granter, pre-wakes a waiter.  t_awake.c tests the policy; doc/awake.md explains it.
 */
#define _GNU_SOURCE             /* syscall */
#include "clockwork.h"

#include "awake/awake.h"
#include "fast_path.h"
#include "queue.h"
#include "section.h"
#include "ticket.h"
#include "wait.h"

#include <sched.h>
#include <signal.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define LOOK 16
#define WAKE_UP 16384
#define NEAR 200000         /* NEAR_NS of awake.c */
#define LATE 1000000
#define MANY 24

/* Each call begins at a later time, so that late yields of earlier tests have no effect. */
static void begin(void)
{
    static int times;

    begin_world(LOOK);
    let_wake_ups_take(WAKE_UP);
    world.now += ++times * INT64_C(10000000000);
}

static fairsem_ticket_t tickets[MANY];

static void take(fairsem_t *sem, int from, int to)
{
    for (int i = from; i < to; i++)
        ck_assert_int_eq(fairsem_ticket_take(&tickets[i], sem, 1, 0, NULL, NULL), EINPROGRESS);
}

static void claim(int from, int to)
{
    for (int i = from; i < to; i++) {
        fairsem_units_t units = { 0 };

        ck_assert_int_eq(fairsem_ticket_claim(&tickets[i], &units), 0);
        ck_assert_int_eq(fairsem_units_forget(&units), 1);
    }
}

/* Wait behind `before` tickets.  The tickets and the thread are granted `after` nanoseconds later. */
static void wait_behind(fairsem_t *sem, int before, int64_t after)
{
    struct units all = { sem, before + 1 };

    take(sem, 0, before);
    begin_plan();
    plan(after, release_units, &all);
    ck_assert_int_eq(fairsem_acquire(sem, 1), 0);
    claim(0, before);
}

/* Be the front for `ns`, while a ticket of a worse priority waits. */
static void be_the_front_for(fairsem_t *sem, int64_t ns)
{
    ck_assert_int_eq(fairsem_ticket_take(&tickets[0], sem, 1, 1, NULL, NULL), EINPROGRESS);
    wait_for(sem, ns);
    ck_assert_int_eq(fairsem_ticket_return(&tickets[0]), 0);
}

static bool yields_as_third(fairsem_t *sem)
{
    wait_behind(sem, 2, NEAR / 2);
    return world.is.yields != 0;
}

START_TEST(a_semaphore_learns_the_hand_off_interval)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    ck_assert(yields_as_third(&sem));
    for (int i = 0; i < 40; i++)
        be_the_front_for(&sem, NEAR / 2);
    ck_assert(!yields_as_third(&sem));      /* three intervals are too long to stay awake */
    for (int i = 0; i < 40; i++)
        be_the_front_for(&sem, NEAR / 10);
    ck_assert(yields_as_third(&sem));
    be_the_front_for(&sem, INT64_C(1000000000));    /* one long interval changes nothing */
    ck_assert(yields_as_third(&sem));
}
END_TEST

/* ---- The next waiter of a core ---- */

/* Requests of imaginary threads. */
static struct fs_wait queued[MANY];

static void enqueue_on(fairsem_t *sem, struct fs_wait *wait, int core)
{
    struct fs_section in;

    fs_section_begin(&in, fs_inside(sem));
    *wait = (struct fs_wait){ .waiter.units = 1 };
    world.core = core;
    fs_enqueue_thread(&in, &wait->waiter, 0);
    ck_assert_int_eq(wait->waiter.in_queue.core, core);
    fs_section_end(&in);
}

/* The holder was enqueued on `holders_core`, or is a ticket (FS_NO_CORE).  `on_core_0` waiters are enqueued on
 * core 0, and behind them one waiter on core 1. */
static void hold_and_queue(fairsem_t *sem, int holders_core, int on_core_0)
{
    struct fs_wait holder;

    for (int i = 0; i < MANY; i++)
        queued[i].waiter.in_queue.strategy = FS_SLEEP_AT_ONCE;
    if (holders_core == FS_NO_CORE) {
        take(sem, 0, 1);
        fairsem_release(sem, 1);
        claim(0, 1);
    } else {
        enqueue_on(sem, &holder, holders_core);
        fairsem_release(sem, 1);
        ck_assert_int_eq(holder.waiter.state, FS_GRANTED);
    }
    for (int i = 0; i < on_core_0; i++)
        enqueue_on(sem, &queued[i], 0);
    enqueue_on(sem, &queued[on_core_0], 1);
    for (int i = 0; i <= on_core_0; i++) {
        queued[i].waiter.in_queue.strategy = FS_SLEEP_AT_ONCE;
        queued[i].waiter.state = FS_PARKED;
    }
}

/* Returns the index of the first woken waiter, or `among` if none of these waiters was woken. */
static int first_woken(int among)
{
    int i = 0;

    while (i < among && queued[i].waiter.state != FS_WOKEN)
        i++;
    return i;
}

/* Enqueue a thread on core 1.  Returns the index of the waiter that the thread wakes, or -1, and stores the
 * waiter's strategy. */
static int waiter_woken(int holders_core, int on_core_0, enum fs_strategy *strategy)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    int woken;

    hold_and_queue(&sem, holders_core, on_core_0);
    enqueue_on(&sem, &queued[on_core_0 + 1], 1);
    woken = first_woken(on_core_0 + 1);
    *strategy = woken <= on_core_0 ? queued[woken].waiter.in_queue.strategy : FS_SLEEP_AT_ONCE;
    fairsem_release(&sem, on_core_0 + 2);
    return woken <= on_core_0 ? woken : -1;
}

START_TEST(a_thread_that_is_enqueued_wakes_the_first_waiter_of_its_core)
{
    enum fs_strategy strategy;

    begin();
    for (int i = 1; i <= 7; i++) {
        ck_assert_int_eq(waiter_woken(0, i, &strategy), i);
        ck_assert_int_eq(strategy, FS_YIELD_NEXT);
        ck_assert_int_eq(waiter_woken(FS_NO_CORE, i, &strategy), i);     /* the holder is a ticket */
    }
}
END_TEST

/* A ticket has no thread, and no strategy: its node has the callback's flag `pending` in the same byte. */
START_TEST(a_ticket_near_the_front_gets_no_strategy)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    take(&sem, 0, 6);
    for (int core = 0; core < 3; core++)
        enqueue_on(&sem, &queued[core], core);
    for (int i = 0; i < 6; i++)
        ck_assert(!((struct fs_ticket *)(void *)&tickets[i])->callback.waiter.in_queue.pending);
    fairsem_release(&sem, 9);
    claim(0, 6);
}
END_TEST

START_TEST(a_thread_that_is_enqueued_wakes_the_front_if_its_core_has_the_holder_or_no_near_waiter)
{
    enum fs_strategy strategy;

    begin();
    ck_assert_int_eq(waiter_woken(1, 3, &strategy), 0);
    ck_assert_int_eq(strategy, FS_YIELD_WOKEN);
    ck_assert_int_eq(waiter_woken(0, 8, &strategy), 0);
    ck_assert_int_eq(strategy, FS_YIELD_WOKEN);
}
END_TEST

START_TEST(a_waiter_that_is_awake_learns_that_it_is_next)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);

    begin();
    hold_and_queue(&sem, 0, 2);
    queued[2].waiter.state = FS_QUEUED;
    enqueue_on(&sem, &queued[3], 1);
    ck_assert_int_eq(first_woken(3), 3);
    ck_assert_int_eq(queued[2].waiter.in_queue.strategy, FS_YIELD_NEXT);
    ck_assert_int_eq(queued[1].waiter.in_queue.strategy, FS_SLEEP_AT_ONCE);
    fairsem_release(&sem, 4);
}
END_TEST

static void enqueue_on_core_1(void *sem)
{
    enqueue_on(sem, &queued[MANY - 1], 1);
}

/* Returns how often a thread behind two others yields after another thread has been enqueued on its core. */
static int yields_when_next(int holders_core, int64_t after)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct units all = { &sem, 4 };

    begin();
    world.core_of_others = 1;
    hold_and_queue(&sem, holders_core, 1);
    queued[1].waiter.in_queue.core = 0;
    world.core = 1;
    begin_plan();
    plan(LOOK, enqueue_on_core_1, &sem);
    plan(after, release_units, &all);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    ck_assert(!world.seen[1].asleep);
    return world.seen[1].yields - world.seen[0].yields;
}

START_TEST(the_next_waiter_spins_for_a_few_short_holds_and_then_yields)
{
    ck_assert_int_eq(yields_when_next(0, 30000), 0);
    ck_assert_int_gt(yields_when_next(1, 30000), 0);
    ck_assert_int_gt(yields_when_next(0, 40000), 0);
}
END_TEST

bool __real_fs_cpu_is_time_shared(void);

#define DEADLINE 6      /* SCHED_DEADLINE */

/* Returns false if this process may not have the policy, or the system does not have it. */
static bool set_policy(int policy)
{
    const struct sched_param lowest = { .sched_priority = sched_get_priority_min(policy) };

#if defined(SYS_sched_setattr)
    if (policy == DEADLINE) {
        struct {
            uint32_t size, policy;
            uint64_t flags;
            int32_t  nice;
            uint32_t priority;
            uint64_t runtime, deadline, period;
        } attr = { .size = sizeof attr, .policy = DEADLINE, .runtime = 5000000,
                   .deadline = 10000000, .period = 10000000 };

        return syscall(SYS_sched_setattr, 0, &attr, 0) == 0;
    }
#endif
    return pthread_setschedparam(pthread_self(), policy, &lowest) == 0;
}

static void *get_time_shared(void *policy)
{
    static bool shared;

    if (!set_policy(*(int *)policy))
        return NULL;
    shared = __real_fs_cpu_is_time_shared();
    return &shared;
}

START_TEST(the_policy_of_a_thread_says_whether_it_is_time_shared)
{
    int policies[] = { SCHED_OTHER, SCHED_FIFO, SCHED_RR, DEADLINE };

    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        void *shared;

        ck_assert_int_eq(pthread_create(&thread, NULL, get_time_shared, &policies[i]), 0);
        ck_assert_int_eq(pthread_join(thread, &shared), 0);
        ck_assert(i != 0 || shared != NULL);
        ck_assert(shared == NULL || *(bool *)shared == (i == 0));
    }
}
END_TEST

START_TEST(with_no_spin_or_bounded_bypass_no_waiter_yields)
{
    const fairsem_attr_t attr[] = {
        { .flags = FAIRSEM_NO_SPIN },
        { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = INT64_C(1) << 60 },
        { .flags = FAIRSEM_NO_SPIN | FAIRSEM_INTERRUPTIBLE },
    };

    begin();
    for (int i = 0; i < (FS_HAS_FUTEX ? 3 : 2); i++) {
        fairsem_t sem;

        ck_assert_int_eq(fairsem_init(&sem, 0, &attr[i]), 0);
        ck_assert(!yields_as_third(&sem));
    }
}
END_TEST

#if FS_HAS_FUTEX
static void *current_wait;

static void nothing(void)
{
}

static void begin_wait(void *wait)
{
    current_wait = wait;
}

static void handler_runs(void *unused)
{
    (void)unused;
    fs_interrupt_wait(current_wait, false);
}

/* Interrupt the wait as the interposer does when a handler has run while the thread yielded. */
START_TEST(a_handler_ends_the_wait_of_a_thread_that_is_awake)
{
    static const struct fs_signal_hooks guard = { nothing, nothing, begin_wait, nothing };
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };
    fairsem_t sem;

    begin();
    fs_signal_hooks = &guard;
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    take(&sem, 0, 2);
    begin_plan();
    plan(NEAR, handler_runs, NULL);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), EINTR);
    ck_assert_int_gt(world.is.yields, 0);
    ck_assert(!world.is.asleep);
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    fs_signal_hooks = NULL;
}
END_TEST

/* ---- Without an interposer: signals are blocked while the thread is awake ---- */

static volatile sig_atomic_t handled;

static void note(int sig)
{
    (void)sig;
    handled++;
}

static void get_signal(void *unused)
{
    (void)unused;
    ck_assert_int_eq(raise(SIGUSR1), 0);
    ck_assert_int_eq(handled, 0);
}

/* A signal comes when the thread has yielded for a while.  The unit comes after `after` ns; with 0, never. */
static int wait_and_get_signal(fairsem_t *sem, void (*handler)(int), int flags, int64_t timeout_ns,
                               int64_t after)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
    const fairsem_attr_t attr = { .flags = FAIRSEM_INTERRUPTIBLE };
    const fairsem_wait_t how = { .timeout_ns = timeout_ns };
    struct units all = { sem, 3 };
    int error;

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    handled = 0;
    begin();
    ck_assert_int_eq(fairsem_init(sem, 0, &attr), 0);
    take(sem, 0, 2);
    begin_plan();
    plan(NEAR / 2, get_signal, NULL);
    if (after != 0)
        plan(after, release_units, &all);
    errno = 4711;
    error = fairsem_acquire_with(sem, 1, &how);
    ck_assert_int_eq(errno, 4711);
    ck_assert_int_gt(world.is.yields, 10);
    if (error != 0) {
        ck_assert_int_eq(fairsem_waiters(sem), 2);
        ck_assert_int_eq(fairsem_release(sem, 2), 0);
    }
    claim(0, 2);
    return error;
}

/* The handler runs when the thread stops yielding, and ends the wait by the kernel's rule for a sleep. */
START_TEST(a_handler_that_was_deferred_while_its_thread_was_awake_ends_the_wait)
{
    const int64_t hour = INT64_C(3600000000000);
    sigset_t usr1, before;
    fairsem_t sem;

    begin();
    ck_assert_int_eq(wait_and_get_signal(&sem, note, 0, 0, 0), EINTR);
    ck_assert_int_eq(handled, 1);
    ck_assert_int_eq(wait_and_get_signal(&sem, note, SA_RESTART, hour, 0), EINTR);
    ck_assert_int_eq(handled, 1);
    ck_assert_int_eq(wait_and_get_signal(&sem, note, SA_RESTART, 0, LATE), 0);
    ck_assert_int_eq(handled, 1);
    ck_assert_int_eq(wait_and_get_signal(&sem, SIG_IGN, 0, 0, LATE), 0);
    ck_assert_int_eq(wait_and_get_signal(&sem, note, 0, 0, NEAR), 0);  /* the grant precedes the handler */
    ck_assert_int_eq(handled, 1);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &usr1, &before), 0);
    ck_assert_int_eq(wait_and_get_signal(&sem, note, 0, hour, LATE), 0);
    ck_assert_int_eq(handled, 0);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    ck_assert_int_eq(handled, 1);
}
END_TEST

#define OF_HANDLERS a_handler_ends_the_wait_of_a_thread_that_is_awake, \
    a_handler_that_was_deferred_while_its_thread_was_awake_ends_the_wait,
#else
#define OF_HANDLERS
#endif

/* ---- The thread that wakes the next front ---- */

/* A thread sleeps behind one ticket, and before `behind` other tickets.  The first ticket is granted.  Returns
 * the number of wakes by that grant. */
static int wakes_by_the_granter(fairsem_t *sem, int behind)
{
    struct units one = { sem, 1 };

    take(sem, 0, 1);
    for (int i = 0; i < behind; i++)    /* with a worse priority: behind the thread */
        ck_assert_int_eq(fairsem_ticket_take(&tickets[1 + i], sem, 1, 1, NULL, NULL),
                         EINPROGRESS);
    begin_plan();
    plan(LATE, release_units, &one);
    plan(LATE + WAKE_UP, release_units, &one);
    ck_assert_int_eq(fairsem_acquire(sem, 1), 0);
    claim(0, 1);
    for (int i = 0; i < behind; i++)
        fairsem_ticket_return(&tickets[1 + i]);
    return world.seen[1].wakes;
}

START_TEST(in_a_convoy_the_granter_leaves_pre_waking_to_others)
{
    fairsem_t few = FAIRSEM_INITIALIZER(0), convoy = FAIRSEM_INITIALIZER(0);

    begin();
    ck_assert_int_eq(wakes_by_the_granter(&few, 0), 1);
    ck_assert_int_eq(wakes_by_the_granter(&convoy, 1), 0);
    ck_assert_int_eq(wakes_by_the_granter(&convoy, 5), 0);
}
END_TEST

struct newcomer {
    fairsem_t      *sem;
    fairsem_token_t token;
    int             wakes;      /* number of wakes before the newcomer sleeps */
    act_fn         *afterwards; /* called before the front runs, may be NULL */
    int             yields;     /* number of yields before the front runs */
};

static void cancel(void *arg)
{
    struct newcomer *n = arg;

    n->wakes = world.is.wakes;
    fairsem_token_cancel(&n->token, 0);
}

static void enqueue_and_be_canceled(void *arg)
{
    struct newcomer *n = arg;
    const fairsem_wait_t how = { .token = &n->token, .priority = 2 };

    world.is.wakes = 0;
    ck_assert_int_eq(fairsem_acquire_with(n->sem, 1, &how), ECANCELED);
    world.woken = n->wakes != 0;    /* of the front: the newcomer's own wake does not count */
    if (n->afterwards != NULL)
        n->afterwards(NULL);
    n->yields = world.is.yields;
}

/*
 * Another thread is enqueued while the front sleeps and `behind` tickets wait behind it.  Returns how often
 * the front yields after that.
 */
static int enqueue_newcomer(struct newcomer *n, int behind)
{
    struct units all = { n->sem, 1 };

    for (int i = 0; i < behind; i++)
        ck_assert_int_eq(fairsem_ticket_take(&tickets[i], n->sem, 1, 1, NULL, NULL), EINPROGRESS);
    begin_plan();
    plan(LATE, enqueue_and_be_canceled, n);
    plan(2 * LATE, cancel, n);
    plan(9 * LATE, release_units, &all);
    ck_assert_int_eq(fairsem_acquire(n->sem, 1), 0);
    for (int i = 0; i < behind; i++)
        fairsem_ticket_return(&tickets[i]);
    return world.seen[2].yields - n->yields;
}

static int wakes_by_a_newcomer(fairsem_t *sem, int behind)
{
    struct newcomer n = { sem, FAIRSEM_TOKEN_INITIALIZER, 0, NULL, 0 };

    enqueue_newcomer(&n, behind);
    return n.wakes;
}

START_TEST(in_a_convoy_a_thread_that_is_enqueued_wakes_the_front)
{
    fairsem_t few = FAIRSEM_INITIALIZER(0), convoy = FAIRSEM_INITIALIZER(0);

    begin();
    ck_assert_int_eq(wakes_by_a_newcomer(&few, 0), 0);
    ck_assert_int_eq(wakes_by_a_newcomer(&convoy, 1), 1);
    world.cores = 1;        /* the holder's core: a woken thread yields, as with more cores */
    ck_assert_int_eq(wakes_by_a_newcomer(&convoy, 1), 1);
}
END_TEST

static void yield_very_late(void *unused)
{
    static const _Atomic int word = 1;
    static const _Atomic uint8_t plan = FS_YIELD_IN_QUEUE;

    (void)unused;
    world.yield_takes = 3 * LATE;
    (void)fs_awake_stay(&word, 1, &plan, 0, NULL);
    world.yield_takes = LOOK;
}

static fairsem_t *released_soon;
static int wakes_again;

static void release_before_it_runs(void *unused)
{
    int before = world.is.wakes;

    (void)unused;
    fairsem_release(released_soon, 1);
    wakes_again = world.is.wakes - before;
}

/* The pre-wake has been made.  (Before a wake has been made, no thread relies on it: t_late_wakers.c.) */
START_TEST(a_front_that_was_pre_woken_is_not_woken_again)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct newcomer n = { &sem, FAIRSEM_TOKEN_INITIALIZER, 0, release_before_it_runs, 0 };

    begin();
    released_soon = &sem;
    wakes_again = -1;
    enqueue_newcomer(&n, 1);
    ck_assert_int_eq(wakes_again, 0);
}
END_TEST

static int yields_of_a_woken_front(bool real_time, act_fn *before_it_runs)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct newcomer n = { &sem, FAIRSEM_TOKEN_INITIALIZER, 0, before_it_runs, 0 };

    begin();
    world.yield_takes = 2000;       /* other threads run meanwhile */
    world.real_time = real_time;
    return enqueue_newcomer(&n, 1);
}

START_TEST(a_front_that_a_newcomer_woke_yields_if_yields_pay)
{
    ck_assert_int_gt(yields_of_a_woken_front(false, NULL), 0);
    ck_assert_int_eq(yields_of_a_woken_front(false, yield_very_late), 0);
    ck_assert_int_eq(yields_of_a_woken_front(true, NULL), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("convoy", a_semaphore_learns_the_hand_off_interval,
              a_thread_that_is_enqueued_wakes_the_first_waiter_of_its_core,
              a_ticket_near_the_front_gets_no_strategy,
              a_thread_that_is_enqueued_wakes_the_front_if_its_core_has_the_holder_or_no_near_waiter,
              a_waiter_that_is_awake_learns_that_it_is_next,
              the_next_waiter_spins_for_a_few_short_holds_and_then_yields,
              the_policy_of_a_thread_says_whether_it_is_time_shared,
              with_no_spin_or_bounded_bypass_no_waiter_yields, OF_HANDLERS
              in_a_convoy_the_granter_leaves_pre_waking_to_others,
              in_a_convoy_a_thread_that_is_enqueued_wakes_the_front,
              a_front_that_was_pre_woken_is_not_woken_again,
              a_front_that_a_newcomer_woke_yields_if_yields_pay);
}
