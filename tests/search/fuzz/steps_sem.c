/* SPDX-License-Identifier: MIT */
/* steps_sem.c - steps that call one semaphore and return at once. */
#include "steps.h"

#include "bytes.h"
#include "sequence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void step_tryacquire(void)
{
    int s = below(SEMS);
    int64_t n = units();
    struct call call;
    int expected;

    call_begin(&call, SAY("fairsem_tryacquire(s%lld, %lld)", s, n), s, NO_TICKET);
    expected = spec_try(&world.model_sem[s].now, n);
    call_end(&call, WORDS_ERROR, fairsem_tryacquire(world.sem[s], n), expected);
}

void step_upto(void)
{
    int s = below(SEMS);
    int64_t max = units(), expected;
    struct call call;

    call_begin(&call, SAY("fairsem_tryacquire_upto(s%lld, %lld)", s, max), s, NO_TICKET);
    expected = spec_upto(&world.model_sem[s].now, max);
    call_end(&call, WORDS_NUMBER, fairsem_tryacquire_upto(world.sem[s], max), expected);
}

/* The semaphore may be destroyed before this returns, by a thread that it has granted. */
void step_release(void)
{
    int s = below(SEMS);
    int64_t n = units();
    struct call call;
    int expected;

    call_begin(&call, SAY("fairsem_release(s%lld, %lld)", s, n), NO_SEM, NO_TICKET);
    expected = model_release(&world.model_sem[s], n);
    call_end(&call, WORDS_ERROR, fairsem_release(world.sem[s], n), expected);
}

void step_would_block(void)
{
    int s = below(SEMS);
    int64_t n = units();
    bool expected = spec_would_block(&world.model_sem[s].now, n);
    struct call call;

    call_begin(&call, SAY("fairsem_would_block(s%lld, %lld)", s, n), s, NO_TICKET);
    call_end(&call, WORDS_NUMBER, fairsem_would_block(world.sem[s], n), expected);
}

void step_consume(void)
{
    int s = below(SEMS);
    int64_t n = units();
    struct call call;
    int expected;

    call_begin(&call, SAY("fairsem_consume(s%lld, %lld)", s, n), s, NO_TICKET);
    expected = spec_consume(&world.model_sem[s].now, n);
    call_end(&call, WORDS_ERROR, fairsem_consume(world.sem[s], n), expected);
}

void step_set_capacity(void)
{
    int s = below(SEMS);
    int64_t n = units();
    struct call call;
    int expected;

    call_begin(&call, SAY("fairsem_set_capacity(s%lld, %lld)", s, n), s, NO_TICKET);
    expected = model_settle(&world.model_sem[s], spec_set_capacity(&world.model_sem[s].now, n));
    call_end(&call, WORDS_ERROR, fairsem_set_capacity(world.sem[s], n), expected);
}

static void close_with(int s, int why)
{
    struct call call;
    int expected;

    call_begin(&call, SAY("fairsem_close(s%lld, %lld)", s, why), s, NO_TICKET);
    expected = model_settle(&world.model_sem[s], spec_close(&world.model_sem[s].now, why));
    call_end(&call, WORDS_ERROR, fairsem_close(world.sem[s], why), expected);
}

void sequence_close(int sem)
{
    close_with(sem, 0);
}

void step_close(void)
{
    int s = below(SEMS);

    close_with(s, reason());
}

/* ---- A dump shows the whole queue, which must be right ---- */

static void compare_queues(int s, char *text)
{
    struct spec queue = world.model_sem[s].now;     /* the head leaves it, line by line */
    uint64_t last_seq = 0, seq;
    int last_priority = 0, priority;
    int64_t n;

    for (char *at = text; (at = strstr(at, ", units ")) != NULL; at++) {
        const struct spec_request *head = spec_first(&queue, false);
        char *line = at;

        while (*line != '\n')
            line--;
        if (sscanf(line, "\n  %" SCNu64 ": %*[^,], units %" SCNd64 ", priority %d", &seq, &n,
                   &priority) != 3)
            finding("fairsem_dump(s%d): cannot read%s", s, line);
        if (head == NULL || n != head->units || priority != head->priority)
            finding("fairsem_dump(s%d): a wrong queue:\n%s", s, text);
        if (priority == last_priority && seq <= last_seq && last_seq != 0)
            finding("fairsem_dump(s%d): not in order of arrival:\n%s", s, text);
        last_seq = seq;
        last_priority = priority;
        spec_leave(&queue, head);
    }
    if (queue.waiters > 0)
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
    call_begin(&call, SAY("fairsem_dump(s%lld)", s), s, NO_TICKET);
    result = fairsem_dump(world.sem[s], file);
    call_end(&call, WORDS_ERROR, result, 0);
    fclose(file);
    compare_queues(s, text);
}

/* ---- Destroy, and make another semaphore in its place ---- */

/* May a call in progress still use it, or a ticket that is neither idle nor in the queue? */
static bool in_use(int s)
{
    for (int t = 0; t < TICKETS; t++) {
        if (world_sem_of(t) == s)
            return true;
    }
    return world.sem_calls[s] != 0;
}

static bool guards_busy(void)
{
    for (int g = 0; g < GUARDS; g++) {
        if (world.guard_busy[g])
            return true;
    }
    return false;
}

void step_renew_sem(void)
{
    int s = below(SEMS), expected = spec_destroy(&world.model_sem[s].now);
    struct call call;

    if (expected == 0 && (in_use(s) || guards_busy()))
        return;
    if (world.sem_is_new[s] && expected == 0) {
        call_begin(&call, SAY("fairsem_free(s%lld)", s), NO_SEM, NO_TICKET);
        fairsem_free(world.sem[s]);
        world.sem[s] = NULL;
    } else {
        call_begin(&call, SAY("fairsem_destroy(s%lld)", s), NO_SEM, NO_TICKET);
    }
    words_result(call.line, WORDS_ERROR, expected);
    if (world.sem[s] != NULL && fairsem_destroy(world.sem[s]) != expected)
        finding("fairsem_destroy(s%d): the model says %s", s, words_error(expected));
    if (expected == 0) {
        for (int g = 0; g < GUARDS; g++) {
            if (world.model_guard[g].n == 0 || world.model_guard[g].sem != s)
                continue;
            (void)fairsem_units_forget(&world.guard[g]);
            world.model_guard[g].n = 0;
        }
        world_make_sem(s);
    }
    call_end(&call, WORDS_ERROR, expected, expected);
}
