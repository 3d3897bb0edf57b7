/* SPDX-License-Identifier: MIT */
/* schedule.c - the options at each step of a run, and their effects.  ../engine/run.c calls this file. */
#include "views.h"

#include <string.h>

enum { OPTIONS_MAX = 5 * THREADS };

struct thread thread[THREADS];
struct run run;

/* ---- Called by the threads ---- */

void stop(enum at at, const char *doing, const void *object, const void *pc)
{
    struct thread *t = self;

    if (quiet)
        return;
    count_step();
    t->at = at;
    t->doing = doing;
    t->object = object;
    t->pc = pc;
    t->woken = false;
    leave();
    t->deadline = 0;
    t->at = READY;
}

/* Stop before an operation that other threads can notice, and that is possible at any time. */
void step(const char *doing, const void *object, const void *pc)
{
    if (self != NULL)
        stop(READY, doing, object, pc);
}

/* ---- The options of a step ---- */

static struct option {
    struct thread *thread;
    enum reason    reason;
} options[OPTIONS_MAX];

static bool mutex_free(const void *mutex)
{
    return *(const int *)mutex == 0;
}

/* Can the thread continue without a time-out, a signal or the like? */
static bool can_go_on(const struct thread *t)
{
    switch (t->at) {
    case READY:
        return true;
    case WANTS_MUTEX:
        return mutex_free(t->object);
    case SLEEPS_ON_COND:
    case SLEEPS_ON_WORD:
        return t->woken || (t->deadline != 0 && run.now >= t->deadline);
    case POLLS:
        return !t->restless;
    case PAUSES:
        return *t->spins_on != t->saw;
    case WAITS_ITS_TURN:
        return script_turn(t);
    case FOLLOWS:
        return t[-1].at == ENDED || oracle_is_queued(t - 1);
    case ENDED:
        break;
    }
    return false;
}

static bool sleeps(const struct thread *t)
{
    return (t->at == SLEEPS_ON_COND || t->at == SLEEPS_ON_WORD) && !t->woken;
}

static int options_of(struct thread *t, struct option *option)
{
    int n = 0;

    if (can_go_on(t))
        option[n++] = (struct option){ t, t->woken || !sleeps(t) ? BY_TURN : TIME_OUT };
    else if (sleeps(t) && t->deadline != 0 && t->deadline < NEVER_NS)
        option[n++] = (struct option){ t, TIME_OUT };
    else if ((t->at == POLLS || t->at == PAUSES) && t->deadline != 0 && t->deadline < NEVER_NS)
        option[n++] = (struct option){ t, TIME_OUT };
    if (sleeps(t) && !t->cancel_disabled && (t->cancel_pending || t->cancelable) && !t->canceled)
        option[n++] = (struct option){ t, PTHREAD_CANCEL };
    /* A nap is not a cancellation point, but a cancellation point follows each nap. */
    if (t->at == POLLS && t->restless && (t->cancel_pending || t->cancelable) && !t->canceled)
        option[n++] = (struct option){ t, PTHREAD_CANCEL };
    if (sleeps(t) && run.spurious < scenario->spurious)
        option[n++] = (struct option){ t, NO_REASON };
    if (sleeps(t) && t->at == SLEEPS_ON_WORD && run.signals < scenario->signals)
        option[n++] = (struct option){ t, SIGNAL };
    return n;
}

static bool preempts(const struct thread *current, const struct option *option)
{
    return current != NULL && option->thread != current && can_go_on(current)
           && !sleeps(current) && !current->yields;
}

/* `current`, the last thread to run, comes first.  So the first run has no preemptions. */
int run_options(struct thread *current)
{
    struct option option[OPTIONS_MAX];
    int n = 0, kept = 0;

    oracles_after_step();
    if (current != NULL)
        n = options_of(current, option);
    for (int i = 0; i < threads_count; i++) {
        if (&thread[i] != current)
            n += options_of(&thread[i], option + n);
    }
    for (int i = 0; i < n; i++) {
        if (preemptions < limits.bound || !preempts(current, &option[i]))
            options[kept++] = option[i];
    }
    return kept;
}

struct thread *run_takes(struct thread *current, int number)
{
    const struct option *option = &options[number];
    struct thread *t = option->thread;

    if (preempts(current, option))
        preemptions++;
    if (option->reason == TIME_OUT && run.now < t->deadline)
        run.now = t->deadline;
    run.spurious += option->reason == NO_REASON;
    run.signals += option->reason == SIGNAL;
    if (option->reason == PTHREAD_CANCEL) {
        t->canceled = sleeps(t);
        t->cancel_pending = true;
    }
    t->reason = option->reason;
    t->yields = false;
    if (tracing)
        trace_step(t, option->reason);
    resume(t);
    return t;
}

/* ---- The beginning and the end of a run ---- */

/*
 * May the thread wait for ever?  If so, its call has the result RESULT_NEVER; in the model the call must wait
 * for ever, too (history.c).
 */
static bool may_wait_for_ever(const struct thread *t)
{
    struct call *call = &run.call[id_of(t) * OPS_MAX + t->op];
    const struct op *op = &script[id_of(t)][t->op];

    if (!scenario->may_block)
        return false;
    if (t->at != WAITS_ITS_TURN && t->at != FOLLOWS
        && (!verbs[op->verb].waits || has_deadline(op) || !oracle_waits(t)))
        return false;
    call->result = RESULT_NEVER;
    return true;
}

static void nobody_can_go_on(void)
{
    char text[600] = "";
    size_t length = 0;

    for (int i = 0; i < threads_count; i++) {
        const struct thread *t = &thread[i];

        if (t->at != ENDED && !may_wait_for_ever(t))
            length += (size_t)snprintf(text + length, sizeof text - length, "%sT%d %s %s",
                                       length > 0 ? "; " : "", i, t->doing,
                                       object_words(t->object));
    }
    if (length > 0)
        fail("deadlock or lost wake-up", "%s", text);
}

void run_ends(void)
{
    nobody_can_go_on();
    oracles_at_end();
    origins_check();
    history_check();
}

void run_begins(void)
{
    memset(&run, 0, sizeof run);
    run.now = START_NS;
    memory_reset(scenario->cold);
    views_reset();
    races_reset();
    keys_reset(scenario->cold);
    waiters_reset();
    threads_reset();
    actors_start();
}

void search_begins(void)
{
    history_forget();
    views_forget();
}
