/* SPDX-License-Identifier: MIT */
/* sleep.c - sleep and wake as in futex(2), and the choice of a core for a woken thread. */
#include "simulator.h"

#include <stddef.h>

static struct thread *sleepers;     /* in order of arrival */

bool sleep_on(const void *object, int64_t until)
{
    struct core *core = &cores[self->core];
    struct thread **at = &sleepers;

    while (*at != NULL)
        at = &(*at)->next;
    *at = self;
    self->next = NULL;
    self->at = SLEEPS;
    self->asleep_on = object;
    self->timed_out = false;
    self->moves++;
    if (until != NEVER)
        event_add(TIME_IS_OUT, self, NULL, until);
    dispatch(core, core->now);
    leave();
    return !self->timed_out;
}

bool any_sleeps_on(const void *object)
{
    for (const struct thread *t = sleepers; t != NULL; t = t->next) {
        if (t->asleep_on == object)
            return true;
    }
    return false;
}

/*
 * A woken thread's core: its last core if idle, else another idle core, else the less loaded of the waker's and
 * its own.
 */
static struct core *core_for(const struct thread *thread, const struct core *wakers)
{
    struct core *last = &cores[thread->core];

    for (int i = 0; i < machine.cores; i++) {
        struct core *core = &cores[(thread->core + i) % machine.cores];

        if (is_idle(core))
            return core;
    }
    return wakers != NULL && wakers->queued < last->queued ? &cores[wakers - cores] : last;
}

static int64_t time_to_run(const struct core *core, int64_t at)
{
    bool deep = machine.to_run_deep != 0 && at - core->idle_since > machine.deep_after;
    int64_t ns = deep ? machine.to_run_deep : machine.to_run;

    if (machine.to_run_tail != 0 && random_number() % 16 == 0)
        ns += (int64_t)(random_number() % (uint64_t)machine.to_run_tail);
    return ns;
}

/* Returns the time that this costs the waker. */
static int64_t send(struct thread *thread, const struct core *wakers, int64_t at)
{
    struct core *core = core_for(thread, wakers);
    bool idle = is_idle(core);

    thread->at = ARRIVES;
    thread->core = (int)(core - cores);
    thread->moves++;
    event_add(THREAD_ARRIVES, thread, NULL, at + (idle ? time_to_run(core, at) : machine.wake));
    if (!idle)
        return machine.wake;
    core->expects = true;
    return machine.wake + machine.wake_idle;
}

int wake(const void *object, int count)
{
    int woken = 0;

    for (struct thread **at = &sleepers; *at != NULL && woken < count;) {
        struct thread *thread = *at;

        if (thread->asleep_on != object) {
            at = &thread->next;
            continue;
        }
        *at = thread->next;
        woken++;
        spend(send(thread, &cores[self->core], now()));
        at = &sleepers;         /* during spend() other threads may have run, and changed the list */
    }
    if (woken == 0)
        spend(machine.wake_nobody);
    return woken;
}

void time_is_out(struct thread *thread, int64_t at)
{
    struct thread **place = &sleepers;

    while (*place != thread)
        place = &(*place)->next;
    *place = thread->next;
    thread->timed_out = true;
    (void)send(thread, NULL, at);
}
