/* SPDX-License-Identifier: MIT */
/* actors.c - the threads of a scenario: each does its operations, and records their results. */
#include "explorer.h"

#include "parking.h"

#include <string.h>

#define ERRNO_BEFORE 777        /* no function may change it */

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = ns % 1000000000 };
}

/* The same limit either as a deadline or as a time-out. */
static fairsem_wait_t how_of(const struct op *op, const struct timespec *deadline)
{
    fairsem_wait_t how = {
        .clock = CLOCK_MONOTONIC, .deadline = deadline, .priority = op->priority,
        .token = op->token ? &the_token : NULL,
    };

    if (deadline != NULL && (op->ticket + op->n) % 2 != 0) {
        how.deadline = NULL;
        how.timeout_ns = OP_TIME_NS;
    }
    return how;
}

static int64_t acquire(const struct op *op, bool timed)
{
    struct timespec at = timespec_of(self->op_deadline);
    const fairsem_wait_t how = how_of(op, timed ? &at : NULL);

    if (!op->token && op->priority == 0)
        return timed ? fairsem_acquire_until(&sems[op->sem], op->n, CLOCK_MONOTONIC, &at)
                     : fairsem_acquire(&sems[op->sem], op->n);
    return fairsem_acquire_with(&sems[op->sem], op->n, &how);
}

static int64_t drain(const struct op *op)
{
    struct timespec at = timespec_of(self->op_deadline);
    const fairsem_wait_t how = how_of(op, op->timed ? &at : NULL);

    return fairsem_drain(&sems[op->sem], op->n, &how);
}

/* The callback's argument is the take: its ticket may have been taken again by then. */
static int64_t take(const struct op *op)
{
    void *which = (void *)(uintptr_t)(id_of(self) * OPS_MAX + self->op);

    return fairsem_ticket_take(&tickets[op->ticket], &sems[op->sem], op->n, op->priority,
                               op->calls ? called_back : NULL, which);
}

static int64_t claim(const struct op *op, struct call *call)
{
    fairsem_units_t units = { 0 };
    int64_t result = fairsem_ticket_claim(&tickets[op->ticket], &units);

    call->n = units.n;
    call->sem = units.sem != NULL ? (int)(units.sem - sems) : 0;
    return result;
}

static int64_t watch(const struct op *op)
{
    struct timespec at = timespec_of(self->op_deadline);
    const fairsem_wait_t how = how_of(op, op->timed ? &at : NULL);

    return fairsem_ticket_wait(&tickets[op->ticket], &how);
}

static int64_t kill_thread(const struct op *op)
{
    thread[op->ticket].cancel_pending = true;
    thread_change();
    return 0;
}

static int64_t return_ticket(const struct op *op)
{
    int64_t result = fairsem_ticket_return(&tickets[op->ticket]);

    user_returned(op->ticket);
    return result;
}

/*
 * The counters must fit together, because stat returns them of one moment.  (Times 16: a number of
 * units must not look like RESULT_CANCELED.)
 */
static int64_t stat_of(const struct op *op)
{
    fairsem_stat_t stat;

    fairsem_stat(&sems[op->sem], &stat);
    if (stat.cancels < 0)
        fail("stat", "the counters do not add up");
    return stat.available * 16 + stat.waiters;
}

static int64_t destroy(const struct op *op)
{
    int64_t result = fairsem_destroy(&sems[op->sem]);

    if (result == 0) {
        run.sem_dead[op->sem] = true;
        user_destroyed(op->sem);
    }
    return result;
}

/* For `after`: how far is the other thread? */
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

static int64_t act(const struct op *op, struct call *call)
{
    fairsem_t *s = &sems[op->sem];

    switch (op->verb) {
    case ACQUIRE:   return acquire(op, false);
    case TIMED:     return acquire(op, true);
    case FOR:       return fairsem_acquire_for(s, op->n, OP_TIME_NS);
    case TRY:       return fairsem_tryacquire(s, op->n);
    case UPTO:      return fairsem_tryacquire_upto(s, op->n);
    case RELEASE:   return fairsem_release(s, op->n);
    case GIVE:      return call->n > 0 ? fairsem_release(s, call->n) : 0;
    case CLOSE:     return fairsem_close(s, (int)op->n);
    case DRAIN:     return drain(op);
    case CAPACITY:  return fairsem_set_capacity(s, op->n);
    case CONSUME:   return fairsem_consume(s, op->n);
    case DESTROY:   return destroy(op);
    case WOULD:     return fairsem_would_block(s, op->n);
    case STAT:      return stat_of(op);
    case AVAILABLE: return fairsem_available(s) * 16;
    case WAITERS:   return fairsem_waiters(s);
    case SIZE:      return fairsem_capacity(s) * 16;
    case IS_CLOSED: return fairsem_closed(s);
    case STATE:     return (int64_t)fairsem_ticket_state(&tickets[op->ticket]);
    case CANCEL:    return fairsem_token_cancel(&the_token, (int)op->n);
    case TAKE:      return take(op);
    case CLAIM:     return claim(op, call);
    case RETURN:    return return_ticket(op);
    case WATCH:     return watch(op);
    case KILL:      return kill_thread(op);
    case AFTER:     return wait_for_turn();
    case LATER:     return let_time_pass();
    case NO_VERB: case VERBS: break;
    }
    return 0;
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
    if (op->verb == GIVE) {     /* first: a callback within the release gives the others */
        call->n = run.held[id_of(t)][op->sem];
        run.held[id_of(t)][op->sem] = 0;
    }
    t->op_deadline = has_deadline(op) ? run.now + OP_TIME_NS : 0;
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
    call->phase = RETURNED;
    call->result = result;
    run.returned |= UINT64_C(1) << call_number(self);
    user_has_returned(call, call_number(self), __builtin_frame_address(0));
    run.held[id][call->sem] += op->verb == GIVE && result != 0 ? call->n : units_got(op, call);
    self->op_deadline = 0;
    if (op->verb == TAKE)
        callbacks_of_take(id * OPS_MAX + self->op);
    oracle_op_ends();
    coverage_ends(op, result);
    trace("T%d < %s = %lld\n", id, op_words(op, words, sizeof words), (long long)result);
}

/* Does not return if the thread is canceled. */
void perform(int k)
{
    const struct op *op = &script[id_of(self)][k];

    self->op = k;
    if (op->if_held && run.held[id_of(self)][op->sem] == 0)
        return;
    coverage_begins(op);
    begin(op);
    finish(op, act(op, call_of(self)));
}

/* A signal handler, which interrupts its thread. */
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
    for (int k = 0; k < ops_count[id_of(self)]; k++) {
        if (k > 0)
            step("goes on", NULL, NULL);
        perform(k);
    }
    thread_ends();
}

static void make_things(void)
{
    const unsigned bypass = scenario->bypass_ns != 0 ? FAIRSEM_BOUNDED_BYPASS : 0;
    const fairsem_attr_t attr = { .capacity = scenario->capacity, .flags = scenario->flags | bypass,
                                  .bypass_ns = scenario->bypass_ns,
                                  .aging_ns = scenario->aging_ns,
                                  .max_waiters = scenario->max_waiters };

    for (int i = 0; i < sems_count; i++) {
        memset(&sems[i], 0, sizeof sems[i]);
        if (fairsem_init(&sems[i], scenario->units, &attr) != 0)
            fail("explorer", "fairsem_init");
        if (scenario->paused)
            fairsem_set_capacity(&sems[i], 0);
        if (scenario->debt != 0)
            fairsem_consume(&sems[i], scenario->debt);
        if (scenario->closed != 0)
            fairsem_close(&sems[i], scenario->closed);
    }
    memset(&the_token, 0, sizeof the_token);
    fairsem_token_init(&the_token);
    if (scenario->canceled != 0)
        fairsem_token_cancel(&the_token, scenario->canceled);
    fs_thread_id();     /* all fibres share what it remembers */
    memset(tickets, 0, sizeof tickets);
}

/* As after an earlier wait. */
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
