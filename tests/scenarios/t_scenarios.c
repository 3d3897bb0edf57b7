/* SPDX-License-Identifier: MIT */
/*
 * t_scenarios.c - real threads play the scenarios (language.h), each scenario with races several times.
 *
 * No result depends on time.  After `>` a thread starts when all threads before it wait in a queue or in
 * `after`, or have ended.  A time limit is an hour, or a moment if ETIMEDOUT is a correct result.
 */
#include "emulated.h"
#include "stress.h"
#include "suite.h"
#include "workers.h"

#include "calls.h"
#include "scenarios.c"
#include "script.c"

#define ERRNO_BEFORE 777        /* no function may change it */

fairsem_t sems[SEMS_MAX];
fairsem_token_t the_token;
fairsem_ticket_t tickets[THREADS];
fairsem_share_t shares[SHARES];

enum at { ACTS, WAITS_IN_QUEUE, WATCHES, COMES_AFTER, ENDED };

/* Other threads read `at` and `done` at any time, and the other members after joining the player. */
struct player {
    pthread_t    thread;
    _Atomic int  at, done;      /* done: number of operations that have returned */
    int64_t      held[SEMS_MAX];
    int64_t      result[IN_HANDLER];
    bool         errno_changed;
};

static struct player player[THREADS];
static _Thread_local struct player *self;
static _Atomic int changes;     /* number of changes of `at`, of all players */
static _Atomic bool destroyed[SEMS_MAX], unshared[SHARES];
static _Atomic int called[THREADS];     /* for each ticket, the number of runs of its callback */

static void set_at(struct player *p, enum at at)
{
    atomic_store(&p->at, (int)at);
    atomic_fetch_add(&changes, 1);
}

/* ---- Operations ---- */

static void act_in_callback(fairsem_ticket_t *ticket, void *arg);

static int64_t call_library(const struct op *op)
{
    const int64_t ms = op->past ? -1 : !may_result(op, ETIMEDOUT) ? 3600 * 1000
                       : script_is_determined ? 20 : 1;
    const struct timespec at = from_now(CLOCK_MONOTONIC, ms);
    const fairsem_wait_t how = how_of(op, &the_token, &at, ms * 1000000);
    fairsem_units_t claimed = { .n = 0 };
    const struct parameters with = {
        .sem = &sems[op->sem], .ticket = &tickets[op->ticket], .token = &the_token,
        .guard = &claimed, .how = &how, .at = &at,
        .timeout_ns = ms * 1000000, .callback = act_in_callback, .arg = (void *)(uintptr_t)op,
        .held = self->held[op->sem], .share = share_of(op),
    };
    int64_t n = op->n, result;
    int sem = op->sem;

    if (op->verb == GIVE)
        self->held[op->sem] = 0;
    errno = ERRNO_BEFORE;
    result = result_of_call(op, &with);
    self->errno_changed = self->errno_changed || errno != ERRNO_BEFORE;
    if (op->verb == CLAIM && result == 0) {
        n = claimed.n;
        sem = (int)(claimed.sem - sems);
    }
    if (op->verb == DESTROY && result == 0)
        atomic_store(&destroyed[op->sem], true);
    if (op->verb == UNSHARE && result == 0)
        atomic_store(&unshared[op->share - 1], true);
    self->held[sem] += units_got(op, n, result);
    return result;
}

static void act_in_callback(fairsem_ticket_t *ticket, void *arg)
{
    const struct op *take = arg;

    atomic_fetch_add(&called[ticket - tickets], 1);
    for (int k = 0; k < callback_ops[take->callback]; k++)
        (void)call_library(&callback_script[take->callback][k]);
}

static bool has_turn(const struct op *after)
{
    struct player *other = &player[after->ticket];

    return after->n == 0 ? atomic_load(&other->at) == ENDED
                         : atomic_load(&other->done) >= after->n;
}

/* A later thread may not have started: no scenario of the table kills a later thread. */
static int64_t kill_thread(int id)
{
    return pthread_cancel(self == &player[id] ? pthread_self() : player[id].thread);
}

static int64_t act(const struct op *op)
{
    const int64_t begun_ns = now_ns();

    switch (op->verb) {
    case KILL:
        return kill_thread(op->ticket);
    case AFTER:
        while (!has_turn(op))
            moment();
        return 0;
    case LATER:
        while (now_ns() <= begun_ns + MOMENT_NS)
            moment();
        return 0;
    case CALLBACKS:
        return atomic_load(&called[op->ticket]);
    default:
        return call_library(op);
    }
}

/* ---- Threads ---- */

static void is_canceled(void *arg)
{
    struct player *p = arg;

    p->result[atomic_load(&p->done)] = RESULT_CANCELED;
    for (int i = 0; i < sems_count; i++) {
        if (p->held[i] > 0)
            (void)fairsem_release(&sems[i], p->held[i]);
    }
    set_at(p, ENDED);
}

static void *live(void *arg)
{
    struct player *p = arg;
    const int id = (int)(p - player);

    self = p;
    pthread_cleanup_push(is_canceled, p);
    for (int k = 0; k < ops_count[id]; k++) {
        const struct op *op = &script[id][k];
        const enum verb verb = op->verb;

        set_at(p, verb == AFTER ? COMES_AFTER : verb == WATCH ? WATCHES
                  : verbs[verb].waits ? WAITS_IN_QUEUE : ACTS);
        if (!op->if_held || p->held[op->sem] > 0)
            p->result[k] = act(op);
        set_at(p, ACTS);
        atomic_store(&p->done, k + 1);
    }
    pthread_cleanup_pop(0);
    set_at(p, ENDED);
    return NULL;
}

/* Is the thread busy?  In `after` it is busy if its turn has come, or if it is the last started thread. */
static bool acts(int t, bool last)
{
    const int at = atomic_load(&player[t].at);

    return at == ACTS || (at == COMES_AFTER
                          && (last || has_turn(&script[t][atomic_load(&player[t].done)])));
}

/* Do the first `started` threads wait?  A thread between its grant and its return is in a call, but in no
 * queue, so the requests in the queues are counted, too. */
static bool all_wait(int started)
{
    const int before = atomic_load(&changes);
    int64_t must_wait = 0, wait = 0;

    for (int t = 0; t < started; t++) {
        if (acts(t, t == started - 1))
            return false;
        must_wait += atomic_load(&player[t].at) == WAITS_IN_QUEUE;
    }
    for (int t = 0; t < THREADS; t++)
        must_wait += fairsem_ticket_state(&tickets[t]) == FAIRSEM_TICKET_WAITING;
    for (int i = 0; i < sems_count; i++)
        wait += atomic_load(&destroyed[i]) ? 0 : fairsem_waiters(&sems[i]);
    return wait == must_wait && atomic_load(&changes) == before;
}

static void check_results(const struct scenario *what, int t)
{
    ck_assert_msg(!player[t].errno_changed, "%s: T%d finds another errno", what->name, t);
    for (int k = 0; k < ops_count[t]; k++) {
        const struct op *op = &script[t][k];

        ck_assert_msg(may_result(op, player[t].result[k]), "%s: T%d: %s returns %lld, not %lld\n    %s",
                      what->name, t, verbs[op->verb].word, (long long)player[t].result[k],
                      (long long)op->result[0], what->threads);
        if (player[t].result[k] == RESULT_CANCELED)
            break;
    }
}

/* Return and destroy all objects: no request may be left behind, whatever has happened. */
static void clear(void)
{
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(fairsem_ticket_return(&tickets[t]), 0);
    ck_assert_int_eq(fairsem_token_destroy(&the_token), 0);
    for (int i = 0; i < sems_count; i++)
        ck_assert(atomic_load(&destroyed[i]) || fairsem_destroy(&sems[i]) == 0);
    for (int i = 0; i < SHARES; i++)
        ck_assert(atomic_load(&unshared[i]) || fairsem_share_destroy(&shares[i]) == 0);
}

/* ---- Scenarios ---- */

static void prepare(const struct scenario *what)
{
    memset(player, 0, sizeof player);
    for (int i = 0; i < THREADS; i++)
        atomic_store(&called[i], 0);
    for (int i = 0; i < sems_count; i++) {
        atomic_store(&destroyed[i], false);
        ck_assert(make_semaphore(what, &sems[i]));
    }
    for (int i = 0; i < SHARES; i++) {
        atomic_store(&unshared[i], false);
        ck_assert_int_eq(fairsem_share_init(&shares[i], (uint32_t)weight_of_share(i + 1)), 0);
    }
    ck_assert_int_eq(fairsem_token_init(&the_token), 0);
    if (what->canceled != 0)
        ck_assert_int_eq(fairsem_token_cancel(&the_token, what->canceled), 0);
}

static void play(const struct scenario *what, int round)
{
    prepare(what);
    for (int t = 0; t < threads_count; t++) {
        start_thread(&player[t].thread, live, &player[t]);
        while (t + 1 < threads_count && script_follows[t + 1] && !all_wait(t + 1))
            moment();
    }
    for (int t = 0; t < threads_count; t++) {
        for (int i = 0; script_cancelable[t] && i < round; i++)
            moment();
        if (script_cancelable[t])
            ck_assert_int_eq(pthread_cancel(player[t].thread), 0);
    }
    for (int t = 0; t < threads_count; t++) {
        while (atomic_load(&player[t].at) != ENDED)     /* before a join: a thread may still kill another */
            moment_sleep();
    }
    for (int t = 0; t < threads_count; t++)
        pthread_join(player[t].thread, NULL);
    for (int t = 0; t < threads_count; t++)
        check_results(what, t);
    clear();
}

static const struct scenario *played[sizeof scenarios / sizeof scenarios[0]];
static int played_count;

START_TEST(the_results_are_as_the_scenario_says)
{
    const struct scenario *what = played[_i];

    ck_assert_msg(script_read(what) && !script_has_processes, "%s: no scenario: %s", what->name, what->threads);
    if (emulated() && (what->flags & FAIRSEM_INTERRUPTIBLE) != 0
        && strstr(what->threads, "killed") != NULL)
        NOT_HERE("under an emulator a thread in a futex cannot always be canceled");
    printf("%s\n", what->name);         /* for the log, in case the scenario never ends */
    for (int round = 0; round < (script_is_determined ? 1 : stress_times(20)); round++)
        play(what, round);
}
END_TEST

/* Only the explorer plays scenarios with signals, without memory, or with threads that may wait for ever. */
static bool can_be_played(const struct scenario *what)
{
    return !what->may_block && what->signals == 0 && what->no_memory == 0
           && ((what->flags & FAIRSEM_INTERRUPTIBLE) == 0 || can_be_interruptible());
}

int main(void)
{
    TCase *tcase = tcase_create("scenarios");

    for (int i = 0; i < scenarios_count; i++) {
        if (can_be_played(&scenarios[i]))
            played[played_count++] = &scenarios[i];
    }
    tcase_add_loop_test(tcase, the_results_are_as_the_scenario_says, 0, played_count);
    return run_case("scenarios", tcase);
}
