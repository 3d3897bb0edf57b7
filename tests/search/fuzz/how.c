/* SPDX-License-Identifier: MIT */
/* how.c - draws the parameters of a wait from the input. */
#include "steps.h"

#include "bytes.h"

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

/* Draw a relative time in place of the deadline.  Some get both, which is an error. */
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

enum { RESERVED = sizeof (fairsem_wait_t){ 0 }.reserved_ / sizeof (fairsem_wait_t){ 0 }.reserved_[0] };

/* Half of the values of b % 6 are a share; the others stand for none. */
int step_any_share(int b)
{
    return b % 6 <= SHARES ? b % 6 : 0;
}

void step_any_how(struct step_how *step)
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
    step->share = step_any_share(odd / 16);
    step->how.share = step->share != 0 ? world.share[step->share] : NULL;
    if (odd >= 240 && odd < 248)
        step->how.reserved_[odd % RESERVED] = odd;
    step->given = step->how;
    if (odd >= 232 && odd < 236)
        any_timeout(step);
}

void step_draw_how(struct step *step)
{
    struct step_how *wait = &step->wait;

    wait->arg = &wait->given;
    switch (step->verb) {
    case ACQUIRE:
        break;
    case FOR:
        wait->given.timeout_ns = nanoseconds();
        wait->deadline = at(CLOCK_MONOTONIC, wait->given.timeout_ns);
        wait->how = (fairsem_wait_t){ .clock = CLOCK_MONOTONIC, .deadline = &wait->deadline };
        break;
    case TIMED:
        any_deadline(wait, byte());
        wait->given = wait->how;
        break;
    default:
        step_any_how(wait);
    }
}

int *step_model_token(const struct step_how *step)
{
    return step->token == NO_TOKEN ? NULL : &world.model_token[step->token];
}

void step_say_how(const struct step_how *step)
{
    const fairsem_wait_t *how = &step->how;
    struct timespec now = at(how->clock, 0);

    if (how->deadline != NULL)
        SAY("  until %lld.%09lld, it is %lld.%09lld (clock %lld)", how->deadline->tv_sec,
            how->deadline->tv_nsec, now.tv_sec, now.tv_nsec, how->clock);
    SAY("  with priority %lld, token k%lld, share h%lld, for %lld ns, reserved %lld %lld", how->priority,
        step->token, step->share, step->given.timeout_ns, (long long)how->reserved_[0],
        (long long)how->reserved_[1]);
}
