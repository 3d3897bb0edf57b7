/* SPDX-License-Identifier: MIT */
/*
 * schedule.c - one run: the options at each step.
 *
 * The scheduler has a stack of its own.  A thread that stops records what it is about to do (struct
 * thread) and switches to the scheduler.  That runs the oracles, compares the state with those seen
 * before, and decides the next step.
 */
#include "search.h"

#include "views.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

enum { STEPS_MAX = 20000, OPTIONS_MAX = 5 * THREADS_MAX };

struct thread thread[THREADS_MAX];
struct thread *self;
const struct scenario *scenario;
struct run run;

static struct fibre scheduler;
static int preemptions;
static bool failed;
char why_failed[1000];
static jmp_buf given_up;

/* ---- What the threads call ---- */

void stop(enum at at, const char *doing, const void *object, const void *pc)
{
    struct thread *t = self;

    if (threads_quiet)
        return;
    t->at = at;
    t->doing = doing;
    t->object = object;
    t->pc = pc;
    t->error = errno;
    t->woken = false;
    fibre_switch(&t->fibre, &scheduler);
    errno = t->error;
    t->deadline = 0;
    t->at = READY;
}

/* Stop before an operation that is possible at any time, but that others can notice. */
void step(const char *doing, const void *object, const void *pc)
{
    if (self != NULL)
        stop(READY, doing, object, pc);
}

_Noreturn void fail(const char *oracle, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(why_failed, sizeof why_failed, "%s: ", oracle);

    va_start(arguments, format);
    vsnprintf(why_failed + length, sizeof why_failed - (size_t)length, format, arguments);
    va_end(arguments);
    failed = true;
    if (self != NULL)
        fibre_switch(&self->fibre, &scheduler);
    longjmp(given_up, 1);
}

/* ---- The options of a step ---- */

struct option {
    struct thread *thread;
    enum reason    reason;
};

static bool mutex_free(const void *mutex)
{
    return *(const int *)mutex == 0;
}

/* Can it go on without any event? */
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
    case NAPS:
        return !t->restless;
    case PAUSES:
        return *t->spins_on != t->saw;
    case WAITS_ITS_TURN:
        return script_turn(t);
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
    else if (sleeps(t) && t->deadline != 0)
        option[n++] = (struct option){ t, TIME_OUT };
    else if ((t->at == NAPS || t->at == PAUSES) && t->deadline != 0)
        option[n++] = (struct option){ t, TIME_OUT };
    if (sleeps(t) && !t->cancel_disabled && (t->cancel_pending || t->cancelable) && !t->canceled)
        option[n++] = (struct option){ t, PTHREAD_CANCEL };
    /* A nap is no cancellation point, but one follows it. */
    if (t->at == NAPS && t->restless && (t->cancel_pending || t->cancelable) && !t->canceled)
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

/* The running thread comes first, so the first run is the one without preemptions. */
static int all_options(struct thread *current, struct option *option)
{
    int n = 0, kept = 0;

    if (current != NULL)
        n = options_of(current, option);
    for (int i = 0; i < threads_count; i++) {
        if (&thread[i] != current)
            n += options_of(&thread[i], option + n);
    }
    for (int i = 0; i < n; i++) {
        if (preemptions < limits.bound || !preempts(current, &option[i]))
            option[kept++] = option[i];
    }
    return kept;
}

/* A thread that cannot go on has an option only if its sleep can end in another way. */
static void take(const struct thread *current, const struct option *option)
{
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
    self = t;
    fibre_switch(&scheduler, &t->fibre);
    self = NULL;
}

/* ---- One run ---- */

/*
 * Is it in its queue, as it must be to wait for ever?  Then that is the call's result, and must be
 * one in the model, too (history.c).
 */
static bool may_wait_for_ever(const struct thread *t)
{
    struct call *call = &run.call[id_of(t) * OPS_MAX + t->op];
    enum verb verb = script[id_of(t)][t->op].verb;

    if (!scenario->may_block)
        return false;
    if (t->at != WAITS_ITS_TURN
        && ((verb != ACQUIRE && verb != WATCH && verb != DRAIN) || !oracle_waits(t)))
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

enum run_end { TO_THE_END, MERGED };

static enum run_end run_threads(void)
{
    int steps = 0;
    struct thread *current = NULL;
    struct option option[OPTIONS_MAX];

    for (;;) {
        int options, answer;

        oracles_after_step();
        options = all_options(current, option);
        if (options == 0)
            break;
        if (limits.merge && options > 1 && decisions_are_new()
            && states_seen(state_now(current), preemptions))
            return MERGED;
        answer = choose(options);
        take(current, &option[answer]);
        current = option[answer].thread;
        if (failed)
            longjmp(given_up, 1);
        if (++steps > STEPS_MAX)
            fail("end", "more than %d steps: does it ever end?", STEPS_MAX);
    }
    nobody_can_go_on();
    oracles_at_end();
    origins_check();
    history_check();
    return TO_THE_END;
}

static void begin_run(void)
{
    decisions_begin();
    preemptions = 0;
    failed = false;
    memset(&run, 0, sizeof run);
    run.now = START_NS + !scenario->measures;
    memory_reset(scenario->cold);
    views_reset();
    races_reset();
    keys_reset(scenario->cold);
    waiters_reset();
    threads_reset();
    actors_start();
}

/* One run, to its end or to a known state. */
bool run_once(struct outcome *outcome)
{
    if (setjmp(given_up) != 0) {
        self = NULL;
        outcome->failed = true;
        outcome->runs++;
        return false;
    }
    begin_run();
    if (run_threads() == MERGED)
        outcome->merged++;
    else
        outcome->runs++;
    return true;
}
