/* SPDX-License-Identifier: MIT */
/* schedule.c - one run: the options at each step; see explorer.h. */
#include "explorer.h"

#include <string.h>

enum { OPTIONS_MAX = 3 * THREADS + PROCESSES };

struct thread thread[THREADS];
struct run run;

/* ---- Called by the threads ---- */

void stop(enum at at, unsigned what_for, const char *doing, const void *object)
{
    struct thread *t = self;

    count_step();
    if (quiet && at == READY && what_for != 0)
        return;
    t->at = at;
    t->what_for = what_for;
    t->doing = doing;
    t->object = object;
    t->woken = t->timed_out = false;
    leave();
    t->hinted = t->hinted && at == READY && strcmp(doing, "load") == 0;
    t->at = READY;
    t->object = NULL;
    t->time_passed = at == SLEEPS && !t->woken;
    t->deadline = 0;
    t->woken = t->timed_out = false;
}

/* ---- The options of a step ---- */

enum what_happens { GOES_ON, TIME_IS_OUT, IS_CANCELED, DIES };

static struct option {
    enum what_happens what;
    struct thread    *thread;
    int               process;
} option[OPTIONS_MAX];
static bool jumps;                  /* all threads sleep, so time jumps to the next deadline */

bool can_go_on(const struct thread *t)
{
    switch (t->at) {
    case READY:
        return true;
    case WANTS_MUTEX:
        process_enter(t->process);
        return *(const int *)t->object == 0;
    case SLEEPS:
        return t->woken || t->timed_out || run.now >= t->deadline
               || (t->canceled && t->cancelable && !t->cancel_disabled);
    case UNBORN:
    case ENDED:
        break;
    }
    return false;
}

static bool may_die(int process)
{
    return run.process[process].lives && process != AUDITOR && run.deaths < scenario->deaths
           && (!limits.own || run.deaths < limits.own_bound)
           && (scenario->mortal == 0 || (scenario->mortal >> process & 1) != 0);
}

static int deaths(const struct thread *current, struct option *to)
{
    int n = 0;

    if (current == NULL)
        return 0;
    if ((current->what_for & CAN_DIE) != 0 && may_die(current->process))
        to[n++] = (struct option){ DIES, NULL, current->process };
    for (int i = 0; i < PROCESSES && (current->what_for & ASKS_WHO_LIVES) != 0; i++) {
        if (i != current->process && may_die(i))
            to[n++] = (struct option){ DIES, NULL, i };
    }
    return n;
}

/* The options of a thread that is not running. */
static int others(struct thread *t, struct option *to)
{
    int n = 0;

    if (can_go_on(t)) {
        to[n++] = (struct option){ GOES_ON, t, t->process };
    } else if (t->at == SLEEPS) {
        if (run.early < scenario->early)
            to[n++] = (struct option){ TIME_IS_OUT, t, t->process };
        if (t->cancelable && !t->cancel_disabled && !t->canceled)
            to[n++] = (struct option){ IS_CANCELED, t, t->process };
    }
    return n;
}

/* `current`, the last thread to run, comes first.  So the first run has no deaths and no preemptions. */
static int all_options(struct thread *current)
{
    bool runs = current != NULL && can_go_on(current);
    int n = 0;

    if (runs)
        option[n++] = (struct option){ GOES_ON, current, current->process };
    if (!runs || ((current->what_for & CAN_SWITCH) != 0 && preemptions < limits.bound)) {
        for (int i = 0; i < THREADS; i++) {
            if (thread[i].exists && (&thread[i] != current || !runs))
                n += others(&thread[i], option + n);
        }
    }
    return runs ? n + deaths(current, option + n) : n;
}

/* Is the end of a sleep the only way for a thread to continue?  Then time jumps. */
static bool all_sleep(int n)
{
    for (int i = 0; i < n; i++) {
        if (option[i].what == GOES_ON)
            return false;
    }
    return true;
}

/* All threads sleep: list the threads with the earliest deadline. */
static int next_in_time(void)
{
    int64_t next = INT64_MAX;
    int n = 0;

    for (int i = 0; i < THREADS; i++) {
        if (thread[i].exists && thread[i].at == SLEEPS && thread[i].deadline < next)
            next = thread[i].deadline;
    }
    for (int i = 0; i < THREADS; i++) {
        if (thread[i].exists && thread[i].at == SLEEPS && thread[i].deadline == next)
            option[n++] = (struct option){ TIME_IS_OUT, &thread[i], thread[i].process };
    }
    return n;
}

/* ---- Steps ---- */

static void switch_to(struct thread *t)
{
    process_enter(t->process);
    resume(t);
}

/* The object in words, for the trace. */
static const char *object_words(const struct thread *t)
{
    static char text[60];
    size_t offset;
    int file = -1;

    text[0] = '\0';
    self = (struct thread *)(uintptr_t)t;
    if (t->object != NULL && t->at == READY)
        file = kernel_file_of(t->object, 1, &offset);
    self = NULL;
    if (file >= 0)
        oracle_field_words(file, offset, text, sizeof text);
    return text;
}

static void trace_step(const struct thread *t, enum what_happens what)
{
    static const char *const why[] = { "", ": its time has passed", ": is canceled", "" };

    if (tracing)
        printf("%6.1f ms  P%d T%d %s%s%s\n", (double)(run.now - START_NS) / 1e6, t->process,
               id_of(t), t->doing != NULL ? t->doing : "begins", object_words(t), why[what]);
}

struct thread *run_takes(struct thread *current, int number)
{
    const struct option *taken = &option[number];
    struct thread *t = taken->thread;

    run.early += taken->what == TIME_IS_OUT && !jumps;
    if (taken->what == DIES) {
        run.deaths++;
        trace("           P%d DIES\n", taken->process);
        process_dies(taken->process, true);
        return current->at == ENDED ? NULL : current;
    }
    if (current != NULL && t != current && can_go_on(current))
        preemptions++;
    if (taken->what == TIME_IS_OUT) {
        t->timed_out = true;
        /* An early end lets time pass while threads are stopped that could grant: that time does not count. */
        if (run.now < t->deadline && !jumps && run.fits_ns != 0)
            run.fits_ns += t->deadline - run.now;
        if (run.now < t->deadline)
            run.now = t->deadline;
    }
    t->canceled |= taken->what == IS_CANCELED;
    trace_step(t, taken->what);
    switch_to(t);
    return t;
}

static bool anybody_is_left(void)
{
    for (int i = 0; i < THREADS; i++) {
        if (thread[i].exists && thread[i].at != ENDED && thread[i].at != UNBORN)
            return true;
    }
    return false;
}

int run_options(struct thread *current)
{
    int n = all_options(current);

    jumps = all_sleep(n);
    if (!jumps || (n == 0 && !anybody_is_left()))
        return n;
    oracle_time_jumps();
    n = next_in_time();
    if (n == 0)
        fail("deadlock", "no thread can go on");
    return n;
}

/*
 * Run the threads from first to last, one after the other: each up to its `start` or its first sleep, but a
 * single thread, the auditor, to its end.
 */
static void run_quietly(int first, int last)
{
    bool traces = tracing;

    quiet = true;
    tracing = false;
    for (int i = first; i <= last; i++) {
        if (first != last && !script_has_start(i))
            continue;
        while (thread[i].exists && thread[i].at == READY
               && !(thread[i].what_for == 0 && thread[i].doing != NULL)) {
            switch_to(&thread[i]);
            run.now += thread[i].at == SLEEPS && last == first ? MS : 0;
            if (thread[i].at == SLEEPS && last == first)
                thread[i].at = READY;
        }
    }
    quiet = false;
    tracing = traces;
}

void run_begins(void)
{
    memset(&run, 0, sizeof run);
    run.units = run.perhaps = scenario->units;
    run.now = START_NS;
    process_reset();
    for (int i = 0; i < THREADS; i++) {
        thread[i] = (struct thread){ .exists = i < threads_count, .process = script_process[i] };
        thread[i].at = script[i][0].verb == BORN ? UNBORN : READY;
        if (thread[i].exists && thread[i].at == READY)
            run.process[thread[i].process].lives = true;
        fibre_prepare(&thread[i].fibre, stack_top(i), act);
    }
    actors_begin();
    run_quietly(0, THREADS - 1);
    run.now += 50 * MS;     /* long enough for the library to check the waiters' processes */
}

/* The auditor, another process, checks the segment.  Its thread takes the place of a thread that has ended. */
void run_ends(void)
{
    thread[0] = (struct thread){ .exists = true, .process = AUDITOR };
    fibre_prepare(&thread[0].fibre, stack_top(0), audit_act);
    run.process[AUDITOR].lives = true;
    run_quietly(0, 0);
}

void search_begins(void)
{
}
