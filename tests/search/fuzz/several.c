/* SPDX-License-Identifier: MIT */
/*
 * several.c - steps of several semaphores at once.
 *
 * The library implements such a call by acquires and releases of one semaphore each.  The linker redirects these
 * inner calls to this file (--wrap).  The model knows which inner call must come next, and its result.  So the
 * model is right in each wait and each callback of a call that has only a part of its units.
 *
 * The library acquires in the order of the semaphores' addresses, which malloc() of the C library chooses.
 * Only this order may differ between programs that run the same sequence.
 */
#include "steps.h"

#include "bytes.h"

#include <errno.h>
#include <string.h>

enum { REQUESTS = 4 };

struct part {
    int     sem;
    int64_t n;
    int     share;
};

/* A call of fairsem_acquire_all or fairsem_release_all; thread_call()->all points to it. */
struct all {
    bool        acquires;
    struct step_how how;
    struct part part[REQUESTS];     /* for an acquire, each semaphore once, by address */
    int         parts;
    int         next;               /* the current part; an acquire holds the parts before it */
    bool        failed;             /* failed or canceled: the call must give back what it holds */
    int         result;
    bool        waits;              /* the call is in an inner acquire */
    struct model_wait wait;
};

int  __real_fairsem_acquire_with(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
    FAIRSEM_TIME64_(__real_fairsem_acquire_with);
int  __wrap_fairsem_acquire_with(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
    FAIRSEM_TIME64_(__wrap_fairsem_acquire_with);
int  __real_fairsem_release(fairsem_t *sem, int64_t n);
int  __wrap_fairsem_release(fairsem_t *sem, int64_t n);

/* ---- The calls in the call ---- */

static void same_part(const struct part *part, const fairsem_t *sem, int64_t n, const char *what)
{
    if (sem != world.sem[part->sem] || n != part->n)
        finding("%s of %lld units of %s semaphore, it is the turn of %lld of s%d", what,
                (long long)n, sem == world.sem[part->sem] ? "this" : "another",
                (long long)part->n, part->sem);
}

static int acquire_part(struct all *all, fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
{
    const struct part *part = &all->part[all->next];
    int line = SAY("  acquires %lld of s%lld", part->n, part->sem), result;

    if (!all->acquires || all->failed || all->next == all->parts)
        finding("an acquire too many");
    same_part(part, sem, n, "an acquire");
    all->wait = (struct model_wait){ .over = false };
    all->waits = true;
    call_may_wait(&all->wait, &all->how.how);
    model_acquire(&world.model_sem[part->sem], &all->wait, n, &all->how.how, part->share,
                  step_model_token(&all->how));
    result = __real_fairsem_acquire_with(sem, n, how);
    all->waits = false;
    model_wait_ends(&all->wait);
    call_may_wait(NULL, NULL);
    call_result(line, result, all->wait.over ? all->wait.result : -1);
    all->failed = result != 0;
    all->result = result;
    all->next += result == 0;
    return result;
}

static int release_part(struct all *all, fairsem_t *sem, int64_t n)
{
    const struct part *part;
    int line, result, expected;

    if (all->waits) {           /* the inner acquire was canceled */
        all->waits = false;
        all->failed = true;
        model_wait_ends(&all->wait);
        call_may_wait(NULL, NULL);
    }
    if (all->acquires ? !all->failed || all->next == 0 : all->next == all->parts)
        finding("a release too many");
    if (all->acquires)
        all->next--;
    part = &all->part[all->next];
    if (!all->acquires) {
        all->next++;
        world.busy.sem[part->sem]--;
    }
    line = SAY("  releases %lld of s%lld", part->n, part->sem);
    same_part(part, sem, n, "a release");
    expected = model_release(&world.model_sem[part->sem], n);
    if (!all->acquires && all->result == 0)
        all->result = expected;
    result = __real_fairsem_release(sem, n);
    call_result(line, result, expected);
    return result;
}

int __wrap_fairsem_acquire_with(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
{
    struct all *all = thread_call()->all;

    return all != NULL ? acquire_part(all, sem, n, how) : __real_fairsem_acquire_with(sem, n, how);
}

int __wrap_fairsem_release(fairsem_t *sem, int64_t n)
{
    struct all *all = thread_call()->all;

    return all != NULL ? release_part(all, sem, n) : __real_fairsem_release(sem, n);
}

/* ---- The steps ---- */

/* At the end of a call, even if the thread is canceled in it. */
static void all_ends(struct all **at)
{
    const struct all *all = *at;

    if (thread_call()->all == all)
        thread_call()->all = NULL;
    if (all->acquires ? all->next != 0 && (all->failed || all->next != all->parts)
                      : all->next != all->parts)
        finding("%s_all ends, and has %s %d of %d", all->acquires ? "acquire" : "release",
                all->acquires ? "acquired" : "released", all->next, all->parts);
    if (all->acquires && all->waits && all->next != 0)
        finding("a canceled acquire_all keeps what it has acquired");
}

static int any_requests(fairsem_request_t requests[REQUESTS], struct part part[REQUESTS])
{
    int count = below(REQUESTS + 1);

    for (int i = 0; i < count; i++) {
        uint8_t odd = byte();

        part[i] = (struct part){ odd % SEMS, units(), step_any_share(odd / SEMS) };
        requests[i] = (fairsem_request_t){ world.sem[part[i].sem], part[i].n,
                                           part[i].share != 0 ? world.share[part[i].share] : NULL };
    }
    return count;
}

static void say_requests(const struct part part[REQUESTS], int count)
{
    for (int i = 0; i < count; i++)
        SAY("  %lld of s%lld, share h%lld", part[i].n, part[i].sem, part[i].share);
}

/* List each semaphore once, by address.  Returns false if a number, a sum or a share is invalid. */
static bool put_in_order(struct all *all, const struct part part[REQUESTS], int count)
{
    for (int i = 0; i < count; i++) {
        int at = 0;

        if (part[i].n < 0 || part[i].n > FAIRSEM_MAX_UNITS)
            return false;
        while (at < all->parts
               && (uintptr_t)world.sem[all->part[at].sem] < (uintptr_t)world.sem[part[i].sem])
            at++;
        if (at == all->parts || all->part[at].sem != part[i].sem) {
            memmove(&all->part[at + 1], &all->part[at],
                    (size_t)(all->parts - at) * sizeof all->part[0]);
            all->part[at] = (struct part){ part[i].sem, 0, 0 };
            all->parts++;
        }
        all->part[at].n += part[i].n;
        if (all->part[at].n > FAIRSEM_MAX_UNITS
            || model_share_refused(&world.model_sem[part[i].sem], part[i].share))
            return false;
        if (part[i].share != 0 && all->part[at].share != 0 && part[i].share != all->part[at].share)
            return false;
        all->part[at].share = part[i].share != 0 ? part[i].share : all->part[at].share;
    }
    return true;
}

static void count_calls(const struct all *all, int change)
{
    for (int i = 0; i < all->parts; i++)
        world.busy.sem[all->part[i].sem] += change;
    for (int i = 0; i < all->parts; i++)
        world.busy.share[all->part[i].share] += change;
}

void step_acquire_all(void)
{
    fairsem_request_t requests[REQUESTS], before[REQUESTS];
    struct part part[REQUESTS];
    struct all data = { .acquires = true };
    __attribute__((cleanup(all_ends))) struct all *all = &data;
    int count = any_requests(requests, part), result;
    struct call call;

    memcpy(before, requests, sizeof before);
    step_any_how(&all->how);
    if (!thread_may_sleep())
        return;
    call_begin(&call, SAY("acquire_all %lld", count), NO_SEM, NO_TICKET);
    say_requests(part, count);
    step_say_how(&all->how);
    if (!put_in_order(all, part, count) || !model_valid_wait(&all->how.how)
        || all->how.how.share != NULL) {
        all->parts = 0;
        all->result = EINVAL;
    }
    count_calls(all, 1);
    thread_call()->all = all;
    result = fairsem_acquire_all(count != 0 ? requests : NULL, (size_t)count, all->how.arg);
    thread_call()->all = NULL;
    count_calls(all, -1);
    if (memcmp(before, requests, (size_t)count * sizeof before[0]) != 0)
        finding("line %d: the array has changed", call.line);
    call_end(&call, result, all->result);
    if (result == 0 && all->next != all->parts)
        finding("line %d: only %d of %d are acquired", call.line, all->next, all->parts);
}

void step_release_all(void)
{
    fairsem_request_t requests[REQUESTS];
    struct all data = { .acquires = false };
    __attribute__((cleanup(all_ends))) struct all *all = &data;
    int result;
    struct call call;

    all->parts = any_requests(requests, all->part);
    call_begin(&call, SAY("release_all %lld", all->parts), NO_SEM, NO_TICKET);
    say_requests(all->part, all->parts);
    count_calls(all, 1);
    thread_call()->all = all;
    result = fairsem_release_all(all->parts != 0 ? requests : NULL, (size_t)all->parts);
    thread_call()->all = NULL;
    call_end(&call, result, all->result);
}
