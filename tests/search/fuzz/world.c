/* SPDX-License-Identifier: MIT */
/* world.c - see world.h. */
#include "world.h"

#include "bytes.h"
#include "steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct world world;

void *world_renew(void *old, size_t size)
{
    void *new = aligned_alloc(16, size);

    if (new == NULL)
        finding("no memory");
    memset(new, 0, size);
    if (old != NULL)
        memset(old, 0xa5, size);
    free(old);
    return new;
}

int world_sem_of(int ticket)
{
    const struct model_request *t = &world.model_ticket[ticket];

    return t->state == FAIRSEM_TICKET_IDLE ? NO_SEM : (int)(t->sem - world.model_sem);
}

/* ---- Making semaphores ---- */

static int64_t limit_or_none(int64_t limit)
{
    return below(3) == 0 ? limit : 0;
}

static fairsem_attr_t any_attr(int i, int64_t free_units)
{
    static const char *const names[SEMS] = { "s0", "s1", NULL };
    fairsem_attr_t attr = { .name = names[i] };
    uint8_t odd;

    switch (below(4)) {
    case 0:
        attr.capacity = 0;
        break;
    case 1:
        attr.capacity = units();
        break;
    default:
        attr.capacity = free_units >= 0 && free_units < 10 ? free_units + below(4) : free_units;
        break;
    }
    attr.max_waiters = limit_or_none(units());
    odd = byte();
    attr.flags = odd % 4 == 0 ? FAIRSEM_INTERRUPTIBLE : 0;
    attr.flags |= odd % 32 / 4 == 0 ? FAIRSEM_NO_SPIN : 0;
    if (odd >= 248)
        attr.flags |= 1u << 30;
    else if (odd >= 244)
        attr.flags |= FAIRSEM_BOUNDED_BYPASS;   /* without a bound */
    else if (odd >= 240)
        attr.bypass_ns = odd % 4 - 1;           /* without the flag */
    else if (odd >= 230)
        attr.reserved_[odd % 5] = odd;
    else if (odd >= 210)
        attr.aging_ns = odd % 5 == 0 ? -1 : INT64_MAX;
    return attr;
}

/* The memory of each semaphore has room for counters. */
static fairsem_counted_t *counted(int i)
{
    return (fairsem_counted_t *)(void *)world.sem[i];
}

/* Make a semaphore by fairsem_init() or fairsem_counted_init(), in the present memory, or by fairsem_new(). */
static int init_or_new(int i, int64_t n, const fairsem_attr_t *attr)
{
    fairsem_t *made = world.sem[i];
    int error = world.sem_is_new[i]       ? fairsem_new(&made, n, attr)
                : world.sem_is_counted[i] ? fairsem_counted_init(counted(i), n, attr)
                                          : fairsem_init(made, n, attr);

    world.sem_is_counted[i] = world.sem_is_counted[i] && error == 0;
    world.sem_is_new[i] = made != world.sem[i];
    if (world.sem_is_new[i])
        free(world.sem[i]);
    world.sem[i] = made;
    return error;
}

/* Returns 0, or the errno value if the semaphore could not be made. */
static int init_sem(int i, int64_t n, bool with_attr)
{
    fairsem_attr_t attr = { .name = NULL };
    int line, error, expected;

    if (with_attr)
        attr = any_attr(i, n);
    line = SAY(world.sem_is_new[i] ? "new s%lld %lld, capacity %lld, max_waiters %lld, flags %#llx"
               : world.sem_is_counted[i]
                   ? "counted_init s%lld %lld, capacity %lld, max_waiters %lld, flags %#llx"
                   : "init s%lld %lld, capacity %lld, max_waiters %lld, flags %#llx",
               i, n, attr.capacity, attr.max_waiters, (long long)attr.flags);
    expected = model_init(&world.model_sem[i], n, &attr);
    error = init_or_new(i, n, with_attr ? &attr : NULL);
    call_result(line, error, expected);
    return error;
}

void world_make_sem(int i)
{
    static const fairsem_attr_t defaults;
    int64_t n = units();
    int kind = below(6);

    world.sem[i] = world_renew(world.sem[i], sizeof(fairsem_counted_t));
    world.sem_is_new[i] = kind == 2;
    world.sem_is_counted[i] = kind == 3;
    if (kind == 0 || init_sem(i, n, kind != 1) != 0) {
        n = n & 15;
        SAY("s%lld = FAIRSEM_INITIALIZER(%lld)", i, n);
        *world.sem[i] = (fairsem_t)FAIRSEM_INITIALIZER(n);
        (void)model_init(&world.model_sem[i], n, &defaults);
    }
}

void world_make_share(int i)
{
    model_weight[i] = weight_of_share(i);
    if (fairsem_share_init(world.share[i], (uint32_t)model_weight[i]) != 0)
        finding("fairsem_share_init is not 0");
}

void world_begin(void)
{
    model_sems = world.model_sem;
    model_sems_count = SEMS;
    for (int i = 1; i <= SHARES; i++) {
        world.share[i] = world_renew(world.share[i], sizeof(fairsem_share_t));
        world_make_share(i);
    }
    for (int i = 0; i < SEMS; i++)
        world_make_sem(i);
    for (int i = 0; i < TICKETS; i++) {
        world.ticket[i] = world_renew(world.ticket[i], sizeof(fairsem_ticket_t));
        world.model_ticket[i] = (struct model_request){ .state = FAIRSEM_TICKET_IDLE };
    }
    for (int i = 0; i < TOKENS; i++) {
        world.token[i] = world_renew(world.token[i], sizeof(fairsem_token_t));
        *world.token[i] = (fairsem_token_t)FAIRSEM_TOKEN_INITIALIZER;
        world.model_token[i] = 0;
    }
    memset(world.guard, 0, sizeof world.guard);
    memset(world.model_guard, 0, sizeof world.model_guard);
}

void world_end(void)
{
    for (int i = 0; i < TICKETS; i++) {
        struct call call;

        call_begin(&call, SAY("return t%lld, at last", i), NO_SEM, i);
        model_ticket_return(&world.model_ticket[i]);
        call_end(&call, fairsem_ticket_return(world.ticket[i]), 0);
    }
    for (int i = 0; i < SEMS; i++) {
        if (fairsem_destroy(world.sem[i]) != 0)
            finding("s%d cannot be destroyed at last", i);
    }
    for (int i = 1; i <= SHARES; i++) {
        if (fairsem_share_destroy(world.share[i]) != 0)
            finding("h%d cannot be destroyed at last", i);
    }
    for (int i = 0; i < TOKENS; i++) {
        if (fairsem_token_destroy(world.token[i]) != 0)
            finding("k%d cannot be destroyed at last", i);
    }
}

/* ---- Comparing ---- */

static void same(const char *what, int object, int64_t found, int64_t expected)
{
    if (found != expected)
        finding("%s%d is %" PRId64 ", the model says %" PRId64, what, object, found, expected);
}

static void compare_stat(int i, const fairsem_stat_t *expected)
{
    fairsem_stat_t found;

    if (fairsem_stat(world.sem[i], &found) != 0)
        finding("fairsem_stat(s%d) is not 0", i);
    if (memcmp(&found, expected, sizeof found) == 0)
        return;
#define SAME(member) same("fairsem_stat " #member " of s", i, found.member, expected->member)
    SAME(available);
    SAME(capacity);
    SAME(waiters);
    SAME(waiting_units);
    SAME(oldest_wait_ns);
    SAME(waits);
    SAME(grants);
    SAME(timeouts);
    SAME(cancels);
    SAME(wait_ns_total);
    SAME(wait_ns_max);
    SAME(waiters_max);
    SAME(refused);
    SAME(over_releases);
    SAME(shares);
#undef SAME
    finding("fairsem_stat of s%d: reserved members are not 0", i);
}

/* If a semaphore has no counters, the memory behind it stays zero. */
static void compare_histogram(int i)
{
    bool has = world.sem_is_new[i] || world.sem_is_counted[i];
    uint64_t found[FAIRSEM_WAIT_BUCKETS];
    int error = fairsem_stat_histogram(world.sem[i], found);

    same("fairsem_stat_histogram of s", i, error, has ? 0 : EINVAL);
    for (int at = 0; at < FAIRSEM_WAIT_BUCKETS; at++) {
        if (has)
            same("fairsem_stat_histogram of s", i, (int64_t)found[at],
                 (int64_t)world.model_sem[i].counts[at]);
        else
            same("the memory behind s", i, (int64_t)counted(i)->fairsem_counts_[at], 0);
    }
}

/* fairsem_stat() locks the mutex, and an unlock may grant requests: so it comes after all other inspections. */
void world_compare(void)
{
    fairsem_stat_t stat[SEMS];

    for (int i = 0; i < SEMS; i++) {
        if (world.model_sem[i].now.unfair)
            finding("s%d: a share is granted more than the bound of shares", i);
        model_stat(&world.model_sem[i], &stat[i]);
        same("fairsem_available s", i, fairsem_available(world.sem[i]), stat[i].available);
        same("fairsem_waiters s", i, fairsem_waiters(world.sem[i]), stat[i].waiters);
        same("fairsem_closed s", i, fairsem_closed(world.sem[i]), world.model_sem[i].now.closed);
        same("fairsem_capacity s", i, fairsem_capacity(world.sem[i]), stat[i].capacity);
    }
    for (int i = 0; i < TICKETS; i++)
        same("fairsem_ticket_state t", i, fairsem_ticket_state(world.ticket[i]),
             world.model_ticket[i].state);
    for (int i = 0; i < TOKENS; i++)
        same("fairsem_token_reason k", i, fairsem_token_reason(world.token[i]), world.model_token[i]);
    for (int i = 0; i < GUARDS; i++) {
        if (world.busy.guard[i])
            continue;
        same("units in guard g", i, world.guard[i].n, world.model_guard[i].n);
        if (world.guard[i].n != 0 && world.guard[i].sem != world.sem[world.model_guard[i].sem])
            finding("guard g%d is of another semaphore", i);
    }
    for (int i = 0; i < SEMS; i++) {
        compare_stat(i, &stat[i]);
        compare_histogram(i);
    }
}
