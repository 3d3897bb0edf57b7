/* SPDX-License-Identifier: MIT */
/* steps_wait.c - steps that may wait, and steps that end waits without units: time and tokens. */
#include "steps.h"

#include "bytes.h"
#include "sequence.h"

#include <errno.h>
#include <string.h>

/* ---- How to wait ---- */

static struct timespec at(clockid_t clock, int64_t ns)
{
    int64_t now = model_now_ns + (clock == CLOCK_REALTIME ? model_ahead_ns : 0);
    int64_t rest = now % 1000000000 + ns % 1000000000, seconds = now / 1000000000 + ns / 1000000000;

    if (rest >= 1000000000) {
        rest -= 1000000000;
        seconds++;
    } else if (rest < 0) {
        rest += 1000000000;
        seconds--;
    }
    if (sizeof(time_t) == sizeof(int32_t) && seconds > INT32_MAX)
        seconds = INT32_MAX;
    return (struct timespec){ (time_t)seconds, (long)rest };
}

static void any_deadline(struct step_how *step, uint8_t odd)
{
    static const clockid_t clocks[] = {
        CLOCK_MONOTONIC, CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_PROCESS_CPUTIME_ID,
    };

    step->how.clock = clocks[below(16) % 5 % 4];
    if (odd % 4 == 0)
        return;
    step->deadline = at(step->how.clock, nanoseconds());
    if (odd >= 248)
        step->deadline.tv_nsec = odd % 2 == 0 ? -1 : 1000000000;
    step->how.deadline = &step->deadline;
}

/* A relative time instead of the deadline; or, which is an error, besides it. */
static void any_timeout(struct step_how *step)
{
    int64_t timeout = nanoseconds();

    step->given.timeout_ns = timeout;
    if (step->how.deadline != NULL && timeout % 4 == 3) {
        step->how.timeout_ns = timeout;
        return;
    }
    step->given.deadline = NULL;
    step->how.deadline = NULL;
    if (timeout == 0)
        return;
    step->deadline = at(CLOCK_MONOTONIC, timeout);
    step->how.clock = step->given.clock = CLOCK_MONOTONIC;
    step->how.deadline = &step->deadline;
}

void step_how(struct step_how *step)
{
    uint8_t odd = byte();

    *step = (struct step_how){ .token = NO_TOKEN };
    if (odd >= 220 && odd < 230)
        return;
    step->arg = &step->given;
    any_deadline(step, odd);
    step->how.priority = priority();
    if (odd / 4 % 4 == 0) {
        step->token = below(TOKENS);
        step->how.token = world.token[step->token];
    }
    if (odd >= 240 && odd < 248)
        step->how.reserved_[odd % (int)(sizeof step->how.reserved_ / sizeof step->how.reserved_[0])] = odd;
    step->given = step->how;
    if (odd >= 232 && odd < 236)
        any_timeout(step);
}

struct model_token *step_model_token(const struct step_how *step)
{
    return step->token == NO_TOKEN ? NULL : &world.model_token[step->token];
}

void step_say_how(const struct step_how *step)
{
    const fairsem_wait_t *how = &step->how;
    static const fairsem_wait_t usual;
    struct timespec now = at(how->clock, 0);

    if (how->deadline != NULL)
        SAY("  until %lld.%09lld, it is %lld.%09lld (clock %lld)", how->deadline->tv_sec,
            how->deadline->tv_nsec, now.tv_sec, now.tv_nsec, how->clock);
    if (how->priority != 0 || step->token != NO_TOKEN
        || memcmp(how->reserved_, usual.reserved_, sizeof usual.reserved_) != 0)
        SAY("  with priority %lld, token k%lld, reserved %lld %lld", how->priority,
            step->token, (long long)how->reserved_[0], (long long)how->reserved_[1]);
    if (step->given.timeout_ns != 0)
        SAY("  for %lld ns", step->given.timeout_ns);
}

/* ---- Acquire ---- */

void step_acquire(void)
{
    static const fairsem_wait_t for_ever;
    int s = below(SEMS);
    int64_t n = units();
    struct model_wait wait = { .over = false };
    struct call call;

    if (!thread_may_sleep())
        return;
    call_begin(&call, SAY("fairsem_acquire(s%lld, %lld)", s, n), s, NO_TICKET);
    call_may_wait(&wait, &for_ever);
    model_acquire(&world.model_sem[s], &wait, n, &for_ever, NULL);
    call_wait_ends(&call, &wait, fairsem_acquire(world.sem[s], n));
}

void step_acquire_for(void)
{
    int s = below(SEMS);
    int64_t n = units(), timeout = nanoseconds();
    const struct timespec deadline = at(CLOCK_MONOTONIC, timeout);
    const fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = &deadline };
    struct model_wait wait = { .over = false };
    struct call call;

    if (!thread_may_sleep())
        return;
    call_begin(&call, SAY("fairsem_acquire_for(s%lld, %lld, %lld)", s, n, timeout), s, NO_TICKET);
    call_may_wait(&wait, &how);
    model_acquire(&world.model_sem[s], &wait, n, &how, NULL);
    call_wait_ends(&call, &wait, fairsem_acquire_for(world.sem[s], n, timeout));
}

void step_acquire_until(void)
{
    int s = below(SEMS);
    int64_t n = units();
    struct step_how step = { .token = NO_TOKEN };
    struct model_wait wait = { .over = false };
    struct call call;

    any_deadline(&step, byte());
    if (!thread_may_sleep())
        return;
    call_begin(&call, SAY("fairsem_acquire_until(s%lld, %lld, %lld)", s, n, step.how.clock), s,
               NO_TICKET);
    step_say_how(&step);
    call_may_wait(&wait, &step.how);
    model_acquire(&world.model_sem[s], &wait, n, &step.how, NULL);
    call_wait_ends(&call, &wait, fairsem_acquire_until(world.sem[s], n, step.how.clock,
                                                       step.how.deadline));
}

void step_acquire_with(void)
{
    int s = below(SEMS);
    int64_t n = units();
    struct model_wait wait = { .over = false };
    struct step_how step;
    struct call call;

    step_how(&step);
    if (!thread_may_sleep())
        return;
    call_begin(&call, SAY("fairsem_acquire_with(s%lld, %lld)", s, n), s, NO_TICKET);
    step_say_how(&step);
    call_may_wait(&wait, &step.how);
    model_acquire(&world.model_sem[s], &wait, n, &step.how, step_model_token(&step));
    call_wait_ends(&call, &wait, fairsem_acquire_with(world.sem[s], n, step.arg));
}

/* ---- fairsem_with ---- */

struct with {
    struct model_wait wait;
    struct call       call;
    int               sem, steps;
    int64_t           n;
    int               line;
    int               released;     /* what the release at the end must return */
    struct model_wait *waits;       /* model_waits before the function */
};

/* Before the library releases the units; also if the thread is canceled in the function. */
static void function_ends(struct with **at)
{
    struct with *with = *at;

    words_result(with->line, WORDS_NUMBER, 0);
    model_waits = with->waits;
    with->released = with->n != 0 ? model_release(&world.model_sem[with->sem], with->n) : 0;
}

static void function(void *arg)
{
    __attribute__((cleanup(function_ends))) struct with *with = arg;

    if (!with->wait.over || with->wait.result != 0)
        finding("line %d: function called, and should not", with->call.line);
    call_may_wait(NULL, NULL);
    model_wait_ends(&with->wait);
    with->waits = model_waits;
    with->line = SAY("  its function", 0);
    while (with->steps-- > 0 && !bytes_end())
        sequence_step();
    errno = CALL_ERRNO;
}

void step_with(void)
{
    static const fairsem_wait_t for_ever;
    struct with with = { .line = -1 };
    int result;

    with.sem = below(SEMS);
    with.n = units();
    with.steps = below(4);
    if (!thread_may_sleep())
        return;
    call_begin(&with.call, SAY("fairsem_with(s%lld, %lld)", with.sem, with.n), with.sem,
               NO_TICKET);
    call_may_wait(&with.wait, &for_ever);
    model_acquire(&world.model_sem[with.sem], &with.wait, with.n, &for_ever, NULL);
    result = fairsem_with(world.sem[with.sem], with.n, function, &with);
    if (with.line < 0) {
        call_wait_ends(&with.call, &with.wait, result);
        if (result == 0)
            finding("line %d: the function was not called", with.call.line);
        return;
    }
    call_end(&with.call, WORDS_ERROR, result, with.released);
}

/* ---- Tokens ---- */

void step_token_cancel(void)
{
    int k = below(TOKENS), why = reason(), expected;
    struct call call;

    call_begin(&call, SAY("fairsem_token_cancel(k%lld, %lld)", k, why), NO_SEM, NO_TICKET);
    expected = model_token_cancel(&world.model_token[k], why);
    call_end(&call, WORDS_ERROR, fairsem_token_cancel(world.token[k], why), expected);
}

void step_renew_token(void)
{
    int k = below(TOKENS), expected = model_token_destroy(&world.model_token[k]);
    struct call call;

    call_begin(&call, SAY("fairsem_token_destroy(k%lld)", k), NO_SEM, NO_TICKET);
    words_result(call.line, WORDS_ERROR, expected);
    if (fairsem_token_destroy(world.token[k]) != expected)
        finding("fairsem_token_destroy(k%d): the model says %s", k, words_error(expected));
    if (expected == 0) {
        world.token[k] = world_renew(world.token[k], sizeof(fairsem_token_t));
        if (fairsem_token_init(world.token[k]) != 0)
            finding("fairsem_token_init is not 0");
        world.model_token[k].reason = 0;
    }
    call_end(&call, WORDS_ERROR, expected, expected);
}

/* ---- Time, and threads ---- */

void step_time_passes(void)
{
    int64_t ns = 64 * byte();

    SAY("%lld ns pass", ns);
    model_now_ns += ns;
    world_compare();
}

/* No thread is woken: one that sleeps by that clock finds out when it wakes up. */
void step_clock_is_set(void)
{
    int64_t ns = (int64_t)(byte() - 128) * 1000;

    SAY("CLOCK_REALTIME is set %lld ns ahead", ns);
    model_ahead_ns += ns;
    world_compare();
}

void step_wish(void)
{
    static const enum wakeup wishes[] = {
        WOKEN, WOKEN, WOKEN, EXPIRED, EXPIRED, SPURIOUS, INTERRUPTED, CANCELED,
    };

    thread_wish = wishes[below(8)];
}
