/* SPDX-License-Identifier: MIT */
/* others.c - steps that are not a call of the language: fairsem_with, dump, new objects, time. */
#include "steps.h"

#include "bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- fairsem_with ---- */

struct with {
    struct model_wait wait;
    struct call       call;
    int               sem, steps;
    int64_t           n;
    int               line;
    int               released;     /* the correct result of the release at the end */
    struct model_wait *waits;       /* model_waits before the function */
};

/* Called before the library releases the units, even if the thread is canceled in the function. */
static void function_ends(struct with **at)
{
    struct with *with = *at;

    words_result(with->line, 0);
    model_waits = with->waits;
    with->released = with->n != 0 ? model_release(&world.model_sem[with->sem], with->n) : 0;
}

static void function(void *arg)
{
    __attribute__((cleanup(function_ends))) struct with *with = arg;

    if (call_waited(&with->call, &with->wait, 0) != 0)
        finding("line %d: function called, and should not", with->call.line);
    call_may_wait(NULL, NULL);
    with->waits = model_waits;
    with->line = SAY("  its function", 0);
    while (with->steps-- > 0 && !bytes_end())
        step_any();
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
    call_begin(&with.call, SAY("with s%lld %lld", with.sem, with.n), with.sem,
               NO_TICKET);
    call_may_wait(&with.wait, &for_ever);
    model_acquire(&world.model_sem[with.sem], &with.wait, with.n, &for_ever, 0, NULL);
    result = fairsem_with(world.sem[with.sem], with.n, function, &with);
    if (with.line < 0) {
        with.released = call_waited(&with.call, &with.wait, result);
        if (result == 0)
            finding("line %d: the function was not called", with.call.line);
    }
    call_end(&with.call, result, with.released);
}

/* ---- Tokens ---- */

void step_renew_token(void)
{
    int k = below(TOKENS), expected = model_token_destroy(&world.model_token[k]), result;
    struct call call;

    call_begin(&call, SAY("destroy k%lld", k), NO_SEM, NO_TICKET);
    result = fairsem_token_destroy(world.token[k]);
    if (result == 0 && expected == 0) {
        world.token[k] = world_renew(world.token[k], sizeof(fairsem_token_t));
        if (fairsem_token_init(world.token[k]) != 0)
            finding("fairsem_token_init is not 0");
        world.model_token[k] = 0;
    }
    call_end(&call, result, expected);
}

/* ---- Shares ---- */

/* Destroy a share, and in most cases make another share in its place. */
void step_renew_share(void)
{
    int h = 1 + below(SHARES), again = below(4), expected, result;
    struct call call;

    if (world.busy.share[h] != 0)
        return;
    expected = model_share_destroy(h);
    call_begin(&call, SAY("destroy h%lld", h), NO_SEM, NO_TICKET);
    result = fairsem_share_destroy(world.share[h]);
    if (result == 0 && expected == 0) {
        world.share[h] = world_renew(world.share[h], sizeof(fairsem_share_t));
        if (again != 0)
            world_make_share(h);
    }
    call_end(&call, result, expected);
}

/* ---- Time, and threads ---- */

void step_time_passes(void)
{
    int64_t ns = 64 * byte();

    SAY("%lld ns pass", ns);
    model_now_ns += ns;
    world_compare();
}

/* Setting the clock wakes no thread: a thread that sleeps by CLOCK_REALTIME notices the new time when it wakes up. */
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

/* ---- A dump shows the whole queue, which must be right ---- */

static void compare_queues(int s, char *text)
{
    const struct spec *queue = &world.model_sem[s].now;
    const struct spec_request *expected = spec_first(queue), *last = NULL;
    uint64_t last_seq = 0, seq;
    int priority;
    int64_t n;

    for (char *at = text; (at = strstr(at, ", units ")) != NULL; at++) {
        char *line = at;

        while (*line != '\n')
            line--;
        if (sscanf(line, "\n  %" SCNu64 ": %*[^,], units %" SCNd64 ", priority %d", &seq, &n,
                   &priority) != 3)
            finding("fairsem_dump(s%d): cannot read%s", s, line);
        if (expected == NULL || n != expected->units || priority != expected->priority)
            finding("fairsem_dump(s%d): a wrong queue:\n%s", s, text);
        if (last != NULL && priority == last->priority && expected->share == last->share && seq <= last_seq)
            finding("fairsem_dump(s%d): not in order of arrival:\n%s", s, text);
        last_seq = seq;
        last = expected;
        expected = spec_behind(queue, expected);
    }
    if (expected != NULL)
        finding("fairsem_dump(s%d): some of the queue is missing:\n%s", s, text);
}

void step_dump(void)
{
    int s = below(SEMS);
    char text[8192];
    FILE *file = fmemopen(text, sizeof text, "w");
    struct call call;
    int result;

    if (file == NULL)
        finding("fmemopen");
    call_begin(&call, SAY("dump s%lld", s), s, NO_TICKET);
    result = fairsem_dump(world.sem[s], file);
    call_end(&call, result, 0);
    fclose(file);
    compare_queues(s, text);
}

/* ---- Destroy, and make another semaphore in its place ---- */

/* May a call in progress still use the semaphore, or a ticket that is not idle? */
static bool in_use(int s)
{
    for (int t = 0; t < TICKETS; t++) {
        if (world_sem_of(t) == s)
            return true;
    }
    for (int g = 0; g < GUARDS; g++) {
        if (world.busy.guard[g])
            return true;
    }
    return world.busy.sem[s] != 0;
}

/* Returns the result of the call; fairsem_free has none. */
static int destroy(int s, int expected)
{
    if (!world.sem_is_new[s] || expected != 0)
        return fairsem_destroy(world.sem[s]);
    fairsem_free(world.sem[s]);
    world.sem[s] = NULL;
    return 0;
}

void step_renew_sem(void)
{
    int s = below(SEMS), expected = spec_destroy(&world.model_sem[s].now), result;
    struct call call;

    if (expected == 0 && in_use(s))
        return;
    call_begin(&call, SAY("destroy s%lld", s), NO_SEM, NO_TICKET);
    result = destroy(s, expected);
    if (result == 0 && expected == 0) {
        for (int g = 0; g < GUARDS; g++) {
            if (world.model_guard[g].n == 0 || world.model_guard[g].sem != s)
                continue;
            (void)fairsem_units_forget(&world.guard[g]);
            world.model_guard[g].n = 0;
        }
        world_make_sem(s);
    }
    call_end(&call, result, expected);
}
