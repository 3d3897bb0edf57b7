/* SPDX-License-Identifier: MIT */
/* actors.c - the threads of a scenario: each does its operations, and records their results. */
#include "explorer.h"

#include "../../scenarios/calls.h"
#include "system/parking.h"

#include <string.h>

#define ERRNO_BEFORE 777        /* errno before each call; no call may change it */

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = ns % 1000000000 };
}

static int64_t kill_thread(const struct op *op)
{
    thread[op->ticket].cancel_pending = true;
    thread_change();
    return 0;
}

bool script_turn(const struct thread *t)
{
    const struct op *op = &script[id_of(t)][t->op];
    uint64_t others = run.returned >> (op->ticket * OPS_MAX);

    return op->n == 0 ? thread[op->ticket].at == ENDED : (others >> (op->n - 1) & 1) != 0;
}

static int64_t wait_for_turn(void)
{
    stop(WAITS_ITS_TURN, "waits for its turn", NULL, NULL);
    user_came_after(&script[id_of(self)][self->op]);
    return 0;
}

static int64_t let_time_pass(void)
{
    step("lets time pass", NULL, NULL);
    run.now += MOMENT_NS;
    return 0;
}

/* A callback's argument is its take: the ticket may be taken again before the callback runs. */
static int64_t call_library(const struct op *op, struct call *call)
{
    const struct timespec at = timespec_of(self->op_deadline);
    const int64_t timeout_ns = self->op_deadline - run.now;
    const fairsem_wait_t how = how_of(op, &the_token, &at, timeout_ns);
    fairsem_units_t claimed = { .n = 0 };
    const struct parameters with = {
        .sem = &sems[op->sem], .ticket = &tickets[op->ticket], .token = &the_token,
        .guard = &claimed, .how = &how, .at = &at,
        .timeout_ns = timeout_ns, .callback = called_back,
        .arg = (void *)(uintptr_t)(id_of(self) * OPS_MAX + self->op), .held = call->n,
        .share = share_of(op),
    };
    int64_t result = result_of_call(op, &with);

    if (op->verb == CLAIM) {
        call->n = claimed.n;
        call->sem = claimed.sem != NULL ? (int)(claimed.sem - sems) : 0;
    }
    if (op->verb == RETURN)
        user_returned(op->ticket);
    if (op->verb == DESTROY && result == 0) {
        run.sem_dead[op->sem] = true;
        user_destroyed(op->sem);
    }
    if (op->verb == UNSHARE && result == 0) {
        run.share_dead[op->share - 1] = true;
        user_unshared(op->share - 1);
    }
    return result;
}

static int64_t act(const struct op *op, struct call *call)
{
    switch (op->verb) {
    case KILL:  return kill_thread(op);
    case AFTER: return wait_for_turn();
    case LATER: return let_time_pass();
    case CALLBACKS: return callbacks_made(op->ticket);
    default:    return call_library(op, call);
    }
}

static int call_number(const struct thread *t)
{
    return id_of(t) * OPS_MAX + t->op;
}

static struct call *call_of(const struct thread *t)
{
    return &run.call[call_number(t)];
}

static void begin(const struct op *op)
{
    struct thread *t = self;
    struct call *call = call_of(t);
    char words[100];

    call->phase = CALLED;
    call->after = run.returned;
    user_calls(call, call_number(t));
    call->n = op->n;
    call->sem = op->sem;
    if (op->verb == GIVE) {     /* now: the release may run a callback, with a `give` of its own */
        call->n = run.held[id_of(t)][op->sem];
        run.held[id_of(t)][op->sem] = 0;
    }
    t->op_deadline = !has_deadline(op) ? 0 : op->past ? run.now - 1
                     : may_result(op, ETIMEDOUT) ? run.now + OP_TIME_NS : NEVER_NS;
    run.capacity_changes += op->verb == CAPACITY && scenario->capacity != 0;
    oracle_op_begins();
    errno = ERRNO_BEFORE;
    trace("T%d > %s\n", id_of(t), op_words(op, words, sizeof words));
}

static void finish(const struct op *op, int64_t result)
{
    int id = id_of(self);
    struct call *call = call_of(self);
    char words[100];

    if (errno != ERRNO_BEFORE && result != RESULT_CANCELED)
        fail("errno", "%s changes it", verbs[op->verb].word);
    if (!may_result(op, result))
        fail("result", "%s returns %lld", op_words(op, words, sizeof words), (long long)result);
    call->phase = RETURNED;
    call->result = result;
    run.returned |= UINT64_C(1) << call_number(self);
    user_has_returned(call, call_number(self), __builtin_frame_address(0));
    run.held[id][call->sem] += op->verb == GIVE && result != 0 ? call->n
                                                               : units_got(op, call->n, result);
    self->op_deadline = 0;
    if (op->verb == TAKE)
        callbacks_of_take(id * OPS_MAX + self->op);
    oracle_op_ends();
    coverage_result(op, result);
    trace("T%d < %s = %lld\n", id, op_words(op, words, sizeof words), (long long)result);
}

/* Does not return if the thread is canceled. */
void perform(int k)
{
    const struct op *op = &script[id_of(self)][k];

    self->op = k;
    if (op->if_held && run.held[id_of(self)][op->sem] == 0)
        return;
    begin(op);
    finish(op, act(op, call_of(self)));
}

void run_handler(void)
{
    int interrupted = self->op;
    int64_t deadline = self->op_deadline;

    if (scenario->handler == NULL)
        return;
    perform(IN_HANDLER);
    self->op = interrupted;
    self->op_deadline = deadline;
}

_Noreturn void thread_ends(void)
{
    struct thread *t = self;

    if (t->cancel_disabled) {
        finish(&script[id_of(t)][t->op], RESULT_CANCELED);
        if (run.held[id_of(t)][0] > 0)
            perform(WHEN_CANCELED);
    }
    quiet = script_quiet_parkers;
    thread_destroys_keys();
    quiet = false;
    thread_change();
    stop(ENDED, "has ended", NULL, NULL);
    __builtin_unreachable();
}

static void live(void)
{
    if (script_follows[id_of(self)]) {
        stop(FOLLOWS, "follows", NULL, NULL);
        user_follows();
    }
    for (int k = 0; k < ops_count[id_of(self)]; k++) {
        if (k > 0)
            step("goes on", NULL, NULL);
        perform(k);
    }
    thread_ends();
}

static void make_things(void)
{
    for (int i = 0; i < sems_count; i++) {
        if (!make_semaphore(scenario, &sems[i]))
            fail("explorer", "a semaphore cannot be made");
    }
    for (int i = 0; i < SHARES; i++)
        fairsem_share_init(&shares[i], (uint32_t)weight_of_share(i + 1));
    memset(&the_token, 0, sizeof the_token);
    fairsem_token_init(&the_token);
    if (scenario->canceled != 0)
        fairsem_token_cancel(&the_token, scenario->canceled);
    fs_thread_id();     /* caches the id before the run: all fibres share the cached value */
    memset(tickets, 0, sizeof tickets);
}

static void have_parker(void)
{
    quiet = true;
    fs_parker_self();
    quiet = false;
}

void actors_start(void)
{
    make_things();
    for (int i = 0; i < threads_count; i++) {
        struct thread *t = &thread[i];

        t->doing = "starts";
        t->at = READY;
        t->cancelable = script_cancelable[i];
        self = t;
        if (script_quiet_parkers)
            have_parker();
        self = NULL;
        fibre_prepare(&t->fibre, stack_top(i), live);
    }
}
