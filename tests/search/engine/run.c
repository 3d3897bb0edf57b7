/* SPDX-License-Identifier: MIT */
/*
 * run.c - one run: the loop over its steps, and its end.
 *
 * The scheduler has a stack of its own.  A thread that stops records its next operation in struct thread and
 * switches to the scheduler.  The scheduler looks the state up among the known states, and decides the next
 * step.
 */
#include "explorer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

enum { STEPS_MAX = 50000 };

struct thread *self;
const struct scenario *scenario;
int preemptions;
bool quiet, tracing;
char why_failed[1000];

static struct fibre scheduler;
static int steps;
static bool failed;
static jmp_buf given_up;

/*
 * `t` is in the engine's memory, which belongs to no simulated process: it is valid when the thread continues.
 */
void leave(void)
{
    struct thread *t = self;

    t->error = errno;
    fibre_switch(&t->fibre, &scheduler);
    errno = t->error;
}

void resume(struct thread *t)
{
    self = t;
    fibre_switch(&scheduler, &t->fibre);
    self = NULL;
    if (failed)
        longjmp(given_up, 1);
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

void count_step(void)
{
    if (++steps > STEPS_MAX)
        fail("end", "more than %d steps: does it ever end?", STEPS_MAX);
}

void trace(const char *format, ...)
{
    va_list arguments;

    if (!tracing)
        return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

/* Returns false if the run has reached a known state. */
static bool run_threads(void)
{
    struct thread *current = NULL;
    int options;

    while ((options = run_options(current)) > 0) {
        if (limits.merge && options > 1 && decisions_are_new()
            && states_seen(state_now(current), preemptions))
            return false;
        current = run_takes(current, choose(options));
    }
    return true;
}

bool run_once(bool *merged)
{
    *merged = false;
    if (setjmp(given_up) != 0) {
        self = NULL;
        return false;
    }
    decisions_begin();
    preemptions = steps = 0;
    failed = quiet = false;
    run_begins();
    *merged = !run_threads();
    if (!*merged)
        run_ends();
    return true;
}
