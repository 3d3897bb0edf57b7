/* SPDX-License-Identifier: MIT */
/*
 * schedule.c - the options at each step, the decisions, and the search through them.
 *
 * The scheduler has a stack of its own.  A thread that stops says what it is about to do
 * (struct thread) and switches here; here is where the oracles look, where a state is compared
 * with those seen before, and where the next step is decided.
 *
 * A schedule is written SCENARIO:BOUND:DECISIONS, the decisions that were not the first answer
 * as NUMBER=ANSWER, with commas between them.
 */
#include "explore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

enum { DECISIONS_MAX = 20000, STEPS_MAX = 20000, OPTIONS_MAX = 5 * THREADS_MAX };

struct thread thread[THREADS_MAX];
struct thread *self;
const struct scenario *scenario;
struct run run;

static struct fibre scheduler;
static struct limits limits;
static struct { short answer, answers; } decision[DECISIONS_MAX];
static int decisions, replayed;     /* in this run; and how many of them are given */
static int preemptions;
static bool failed;
static char failure[1000];
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

/* Before something that can be done at any time, but that others can notice. */
void step(const char *doing, const void *object, const void *pc)
{
    if (self != NULL)
        stop(READY, doing, object, pc);
}

/* Which of so many answers?  Each of them, in one run or another; the first one first. */
int choose(int answers)
{
    if (answers <= 1)
        return 0;
    if (decisions >= DECISIONS_MAX)
        fail("end", "more than %d decisions: does it ever end?", DECISIONS_MAX);
    if (decisions >= replayed) {
        decision[decisions].answer = 0;
        decision[decisions].answers = (short)answers;
    } else if (decision[decisions].answer >= answers) {
        fail("explorer", "the run cannot be repeated: decision %d has no answer %d", decisions,
             decision[decisions].answer);
    } else {
        decision[decisions].answers = (short)answers;
    }
    return decision[decisions++].answer;
}

_Noreturn void fail(const char *oracle, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(failure, sizeof failure, "%s: ", oracle);

    va_start(arguments, format);
    vsnprintf(failure + length, sizeof failure - (size_t)length, format, arguments);
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

/* Could it simply go on? */
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
    else if (t->at == NAPS && t->deadline != 0)
        option[n++] = (struct option){ t, TIME_OUT };
    if (sleeps(t) && !t->cancel_disabled && (t->cancel_pending || t->cancelable) && !t->canceled)
        option[n++] = (struct option){ t, PTHREAD_CANCEL };
    /* A nap is no cancellation point, but the next one comes when it is over. */
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

/* Who runs already comes first: the first run is the one without preemptions. */
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

/* Of those who cannot simply go on only a sleep that ends otherwise is an option. */
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

static void nobody_can_go_on(void)
{
    char text[600] = "";
    size_t length = 0;

    for (int i = 0; i < threads_count; i++) {
        const struct thread *t = &thread[i];

        if (t->at != ENDED)
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
        if (limits.merge && options > 1 && decisions >= replayed
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
    history_check();
    return TO_THE_END;
}

static void begin_run(void)
{
    decisions = 0;
    preemptions = 0;
    failed = false;
    memset(&run, 0, sizeof run);
    run.now = START_NS;
    memory_reset(scenario->cold);
    oracles_reset();
    threads_reset();
    script_start();
}

/* Returns true if it went on to a known state or to its end without a failure. */
static bool run_once(struct outcome *outcome)
{
    begin_run();
    if (setjmp(given_up) != 0) {
        self = NULL;
        outcome->failed = true;
        outcome->runs++;
        return false;
    }
    if (run_threads() == MERGED)
        outcome->merged++;
    else
        outcome->runs++;
    return true;
}

/* ---- The search ---- */

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The next run: as the last one, but for its last decision that has another answer. */
static bool next_run(void)
{
    while (decisions > 0 && decision[decisions - 1].answer + 1 >= decision[decisions - 1].answers)
        decisions--;
    if (decisions == 0)
        return false;
    decision[decisions - 1].answer++;
    replayed = decisions;
    return true;
}

static void print_schedule(void)
{
    const char *before = "";

    printf("%s:%d:", scenario->name, limits.bound);
    for (int i = 0; i < decisions; i++) {
        if (decision[i].answer != 0) {
            printf("%s%d=%d", before, i, decision[i].answer);
            before = ",";
        }
    }
    printf("\n");
}

static void report_failure(void)
{
    printf("\n%s: FAILED: %s\n", scenario->name, failure);
    printf("once more, in words: explore --replay ");
    print_schedule();
    fflush(stdout);
}

static bool prepare(const struct scenario *what, struct limits with)
{
    scenario = what;
    limits = with;
    replayed = 0;
    states_forget();
    history_forget();
    return script_read(what);
}

struct outcome explore(const struct scenario *what, struct limits with)
{
    struct outcome outcome = { 0 };
    double began = seconds_now();

    if (!prepare(what, with)) {
        outcome.failed = true;
        return outcome;
    }
    for (;;) {
        if (!run_once(&outcome)) {
            report_failure();
            break;
        }
        if (!next_run()) {
            outcome.complete = true;
            break;
        }
        if (with.seconds > 0 && (outcome.runs + outcome.merged) % 256 == 0
            && seconds_now() - began > with.seconds)
            break;
    }
    outcome.seconds = seconds_now() - began;
    return outcome;
}

/* Once, by the first answers: so that threads have waited before. */
bool run_first(const struct scenario *what)
{
    struct outcome outcome = { 0 };

    if (prepare(what, (struct limits){ .bound = 0 }) && run_once(&outcome))
        return true;
    report_failure();
    return false;
}

/* The decisions of a schedule; all that it does not mention are 0. */
static bool read_decisions(const char *text)
{
    memset(decision, 0, sizeof decision);
    while (*text != '\0') {
        char *end;
        long number = strtol(text, &end, 10), answer;

        if (*end != '=' || number < 0 || number >= DECISIONS_MAX)
            return false;
        answer = strtol(end + 1, &end, 10);
        decision[number].answer = (short)answer;
        replayed = (int)number + 1;
        text = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != '\0')
            return false;
    }
    return true;
}

bool replay(const struct scenario *what, int bound, const char *text)
{
    struct outcome outcome = { 0 };

    if (!prepare(what, (struct limits){ .bound = bound }) || !read_decisions(text)) {
        printf("this is no schedule: %s\n", text);
        return false;
    }
    tracing = true;
    if (run_once(&outcome))
        printf("\n%s: nothing was wrong\n", what->name);
    else
        report_failure();
    tracing = false;
    return !outcome.failed;
}
