/* SPDX-License-Identifier: MIT */
/*
 * generate.c - random scenarios.  Each is computed from a number: a number makes the same scenario everywhere.
 *
 * Each of two to four threads draws one to three operations of the whole language.  Some operations bring
 * others with them, as a take brings a claim.  The semaphores and the token begin in any state.  Cases that are
 * rare in programs are frequent: a request above the capacity, a full queue, a canceled token.  In most
 * scenarios some thread ends the waits of the others.  In the rest threads may wait for ever: an error only if
 * the model grants their requests.
 */
#include "explorer.h"

#include <string.h>

#define LONG_NS (INT64_C(3600) * 1000000000)

enum { OPS_DRAWN = 7 };     /* limit of a thread's operations */

/* Splitmix64, Steele, Lea and Flood 2014. */
static uint64_t dice;

static uint64_t roll(void)
{
    uint64_t z = dice += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int below(int n)
{
    return (int)(roll() % (uint64_t)n);
}

static bool percent(int chance)
{
    return below(100) < chance;
}

static int weighted(const int *weight, int n)
{
    int sum = 0, at = 0, left;

    for (int i = 0; i < n; i++)
        sum += weight[i];
    for (left = below(sum); left >= weight[at]; at++)
        left -= weight[at];
    return at;
}

/* ---- The state at the start ---- */

static struct scenario what;        /* the settings of the scenario; its threads are in script[] */
static bool has_shares;

static void choose_capacity(void)
{
    what.units = below(3);
    if (percent(45)) {
        what.capacity = 1 + below(3);
        if (what.units > what.capacity)
            what.units = what.capacity;
        what.paused = percent(10);
    }
    if (percent(12))
        what.debt = 1 + below(2);
    if (percent(20))
        what.max_waiters = 1 + below(2);
    if (percent(5))
        what.closed = 150;
    if (percent(5))
        what.canceled = 160;
}

static void choose_mode(void)
{
    if (percent(12)) {
        what.flags |= FAIRSEM_INTERRUPTIBLE;
        what.signals = 1;
        if (percent(40))
            what.handler = percent(60) ? "release 1" : "try 1";
    } else if (percent(5)) {
        what.flags |= FAIRSEM_NO_SPIN;
    }
    if (percent(14))
        what.bypass_ns = percent(60) ? LONG_NS : MOMENT_NS;
    if (percent(10))
        what.aging_ns = percent(70) ? MOMENT_NS : 1;
    has_shares = percent(what.bypass_ns != 0 || what.aging_ns != 0 ? 5 : 35);
    if (percent(8))
        what.spurious = 1;
    if (percent(4)) {
        what.cold = true;
        what.no_memory = below(2);
    }
}

/* ---- What threads do ---- */

static int64_t some_units(void)
{
    static const int weight[] = { 8, 50, 25, 12, 3, 2 };
    static const int64_t units[] = { 0, 1, 2, 3, FAIRSEM_MAX_UNITS, -1 };

    return units[weighted(weight, 6)];
}

static enum verb some_verb(void)
{
    int weight[VERBS];

    for (int verb = 0; verb < VERBS; verb++)
        weight[verb] = has_shares || verbs[verb].of != A_SHARE ? verbs[verb].drawn : 0;
    return (enum verb)weighted(weight, VERBS);
}

static struct op some_op(int t, int semaphores)
{
    struct op op = { .verb = some_verb(), .ticket = t, .n = some_units() };
    const struct verb_row *verb = &verbs[op.verb];

    if (semaphores > 1 && percent(40))
        op.sem = 1;
    if ((verb->with & PRIORITY) != 0)
        op.priority = percent(12) ? below(2) * 2 - 1 : 0;
    if (has_shares && ((verb->with & SHARE) != 0 || (verb->of & A_SHARE) != 0))
        op.share = below((verb->with & SHARE) != 0 ? 4 : 3) + ((verb->of & A_SHARE) != 0);
    if ((verb->with & TOKEN) != 0)
        op.token = percent(35);
    if ((verb->with & TIME) != 0)
        op.timed = percent(30);
    if ((verb->of & A_TICKET) != 0)
        op.ticket = percent(verb->units == RESERVES ? 12 : 40) ? below(threads_count) : t;
    if ((verb->of & A_THREAD) != 0)
        op.ticket = (t + 1 + below(threads_count - 1)) % threads_count;
    if (verb->number == OPTIONAL)
        op.n = percent(80) ? 0 : percent(80) ? 140 + below(2) : -1;
    else if (verb->number == NO_NUMBER)
        op.n = 0;
    if (verb->units == CONSUMES && percent(15))
        op.n = FAIRSEM_MAX_UNITS;
    return op;
}

/* None of the callback's operations may wait for the thread that runs the callback. */
static void choose_callback(struct op *take, int semaphores)
{
    static const struct op claim = { .verb = CLAIM }, give = { .verb = GIVE },
        back = { .verb = RETURN }, again = { .verb = TAKE, .n = 1, .calls = true },
        release = { .verb = RELEASE, .n = 1 }, shut = { .verb = CLOSE },
        cancel = { .verb = CANCEL }, attempt = { .verb = TRY, .n = 1 },
        other = { .verb = RETURN, .ticket = 1 }, size = { .verb = CAPACITY, .n = 1 },
        drain = { .verb = DRAIN, .n = 1, .timed = true };
    const struct op *const program[][CALLBACK_OPS] = {
        { &claim, &give }, { &back }, { &claim, &give, &again }, { &back, &again }, { &release },
        { &shut }, { &cancel }, { &attempt, &give }, { &other }, { &size }, { &claim, &other },
        { &claim }, { &claim, &again, &give }, { &claim, &drain, &give }, { &back, &drain },
    };
    int c = callbacks_count, which = below(sizeof program / sizeof program[0]);

    take->calls = true;
    if (c == CALLBACKS_MAX || percent(30))
        return;
    callbacks_count++;
    take->callback = c;
    for (int k = 0; k < CALLBACK_OPS && program[which][k] != NULL; k++) {
        struct op *op = &callback_script[c][k];

        *op = *program[which][k];
        op->ticket = (take->ticket + op->ticket) % threads_count;
        op->sem = op->verb != CLAIM && op->verb != RETURN && op->verb != CANCEL ? take->sem : 0;
        if (op->verb == TAKE) {
            op->callback = c;
            op->share = take->share;
        }
        if (semaphores > 1 && op->verb == RELEASE && percent(50))
            op->sem = 1 - op->sem;
        callback_ops[c]++;
    }
}

static void add_op(int t, struct op op)
{
    if (ops_count[t] < OPS_DRAWN)
        script[t][ops_count[t]++] = op;
}

static void follow_take(int t, int ticket)
{
    struct op watch = { .verb = WATCH, .ticket = ticket, .token = percent(40),
                        .timed = percent(20) };

    if (percent(30))
        add_op(t, watch);
    if (percent(60))
        add_op(t, (struct op){ .verb = percent(50) ? CLAIM : RETURN, .ticket = ticket });
}

static void compose_thread(int t, int ops, int semaphores)
{
    for (int k = 0; k < ops; k++) {
        struct op op = some_op(t, semaphores);

        if (op.verb == TAKE && percent(45))
            choose_callback(&op, semaphores);
        add_op(t, op);
        if ((verbs[op.verb].units == TAKES || verbs[op.verb].units == TAKES_SOME) && percent(55))
            add_op(t, (struct op){ .verb = GIVE, .sem = op.sem, .ticket = t });
        if (op.verb == TAKE)
            follow_take(t, op.ticket);
    }
    script_cancelable[t] = percent(8);
}

/* Let most operations on tickets use a ticket that some thread takes. */
static void choose_tickets(void)
{
    int taken[THREADS * OPS_MAX], n = 0;

    for (int t = 0; t < threads_count; t++) {
        for (int k = 0; k < ops_count[t]; k++) {
            if (script[t][k].verb == TAKE)
                taken[n++] = script[t][k].ticket;
        }
    }
    for (int t = 0; t < threads_count && n > 0; t++) {
        for (int k = 0; k < ops_count[t]; k++) {
            struct op *op = &script[t][k];

            if (verbs[op->verb].of == A_TICKET && percent(80))
                op->ticket = taken[below(n)];
        }
    }
}

static bool has_tokens(void)
{
    for (int t = 0; t < threads_count; t++) {
        for (int k = 0; k < ops_count[t]; k++) {
            if (script[t][k].token)
                return true;
        }
    }
    return false;
}

/* Compose thread t, which only ends the waits of the other threads. */
static void compose_end(int t, int semaphores, bool drains)
{
    struct op end = { .verb = CLOSE, .ticket = t };

    if (drains)
        end = (struct op){ .verb = DRAIN, .ticket = t, .n = what.units, .token = has_tokens() };
    if (percent(30))
        add_op(t, (struct op){ .verb = RELEASE, .n = 1 + below(3), .ticket = t });
    if (percent(has_tokens() ? 75 : 5))
        add_op(t, (struct op){ .verb = CANCEL, .ticket = t });
    for (int s = 0; s < semaphores; s++) {
        end.sem = s;
        if (ops_count[t] == 0 || percent(70))
            add_op(t, end);
    }
}

/* Let thread t destroy the semaphore, after all other threads have ended. */
static void compose_destroy(int t)
{
    for (int u = 0; u < threads_count; u++) {
        if (u != t)
            add_op(t, (struct op){ .verb = AFTER, .ticket = u });
    }
    for (int u = 0; u < threads_count; u++) {
        bool taken = false;

        for (int v = 0; v < threads_count; v++) {
            for (int k = 0; k < ops_count[v]; k++)
                taken = taken || (script[v][k].verb == TAKE && script[v][k].ticket == u);
        }
        if (taken)
            add_op(t, (struct op){ .verb = RETURN, .ticket = u });
    }
    add_op(t, (struct op){ .verb = DESTROY, .ticket = t });
}

/*
 * A scenario that chance hardly ever makes: a token with two waits is canceled, while a request behind these
 * waits ages, and so precedes a request with a better priority.
 */
static void compose_ages(void)
{
    const struct op front = { .verb = ACQUIRE, .n = 2 + below(2), .token = true },
        older = { .verb = percent(80) ? ACQUIRE : TIMED, .ticket = 1, .n = 1, .priority = below(2) },
        other = { .verb = ACQUIRE, .ticket = 2, .n = 1 + below(3), .sem = percent(50), .token = true },
        better = { .verb = TAKE, .ticket = 3, .n = 1 + below(3), .priority = -below(2) };

    what.aging_ns = MOMENT_NS;
    what.units = below(4) != 0;
    threads_count = 4;
    add_op(0, front);
    add_op(1, older);
    add_op(2, other);
    if (percent(80))
        add_op(3, better);
    add_op(3, (struct op){ .verb = CANCEL, .ticket = 3 });
}

static void compose(bool drains)
{
    static const int ops[][3] = { { 20, 50, 30 }, { 45, 45, 10 }, { 75, 25, 0 } };
    int semaphores = percent(15) ? 2 : 1, last;
    bool ends;

    choose_capacity();
    choose_mode();
    threads_count = 2 + weighted((const int[]){ 30, 55, 15 }, 3);
    last = threads_count - 1;
    ends = percent(60);
    for (int t = 0; t < threads_count - ends; t++)
        compose_thread(t, 1 + weighted(ops[threads_count - 2], 3), semaphores);
    choose_tickets();
    if (ends)
        compose_end(last, semaphores, drains);
    if (percent(6) && !script_cancelable[last])
        compose_destroy(last);
}

const struct scenario *generate(unsigned long seed)
{
    const struct scenario *made = NULL;
    char name[40];

    dice = seed * UINT64_C(0xd1342543de82ef95);
    snprintf(name, sizeof name, "seed-%lu", seed);
    while (made == NULL) {
        what = (struct scenario){ .threads = "", .may_block = true };
        (void)script_read(&what);       /* empty */
        if (percent(3))
            compose_ages();
        else
            compose(seed % 6 == 5);
        made = scenario_of_script(&what, name);
    }
    return made;
}
