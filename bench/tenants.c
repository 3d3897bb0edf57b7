/* SPDX-License-Identifier: MIT */
/*
 * tenants.c - two clients of one semaphore: a flood of 64 threads, and a lone client of one thread.  Each
 * request is for one unit, which a thread holds for a fixed time, asleep.
 *
 * With one request at a time the lone client can hold one unit.  In the settings with tickets, the thread of
 * the lone client is an event loop.  It has one ticket more than there are units, so one of its requests is
 * always in the queue.  (sem_t has no tickets.)
 *
 * A WAIT is a time in which the lone client has a request in the queue and none is granted.  On a busy machine
 * any sleep may last longer, so a wait is also measured in holds of the flood that begin meanwhile.  With
 * shares, one request of the flood may go first.  Holds of threads that were granted earlier, but run late,
 * count too: there are at most as many as units.  So the bound is units + 1 holds.
 *
 * THE COST OF A GRANT: 10 to 10,000 shares have a ticket each in the queue.  A release grants a unit to the
 * first ticket, which claims it and joins the queue again.  One thread does all of this, so the time is the
 * cost of the queue alone.  Neighbors in the queue are neighbors in memory.  In random order 10,000 tickets
 * would cost twice as much as 10, even without shares, because the memory of the clients would not be in the
 * caches.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "die.h"
#include "report.h"
#include "workloads.h"

#include <errno.h>
#include <fairsem.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_NS NS_PER_MS

enum { FLOOD_THREADS = 64, MOST_UNITS = 8 };
enum phase { WARM_UP, COUNTING, OVER };
enum order { SHARES, STRICT, POSIX };

static const char *const order_names[] = { "shares", "strict order", "sem_t" };

struct tenants {
    enum order order;
    int units;
    int64_t warm_up_ns, duration_ns;
    fairsem_t sem;
    sem_t posix;
    fairsem_share_t flood, lone;
    pthread_mutex_t gate;       /* locked until all threads have started */
    atomic_int phase;
    atomic_long flood_holds;
};

struct member {
    struct tenants *tenants;
    fairsem_share_t *share;     /* of the member's client, or NULL */
    pthread_t thread;
    /* Written by the thread, read by main after the join. */
    long served, longest_holds;
    int64_t longest_ns;
};

/* ---- The members of both clients ---- */

static int phase_of(struct member *m)
{
    return atomic_load_explicit(&m->tenants->phase, memory_order_relaxed);
}

/* The begin of a wait, or its end. */
struct moment {
    int64_t ns;
    long flood_holds;
};

static struct moment moment_of(const struct member *m)
{
    return (struct moment){ now_ns(), atomic_load_explicit(&m->tenants->flood_holds, memory_order_relaxed) };
}

/* A wait of the lone client that is interrupted by the end counts with its length so far. */
static void note_grant(struct member *m, struct moment begin, struct moment end)
{
    int phase = phase_of(m);

    m->served += phase == COUNTING;
    if (phase != WARM_UP && end.ns - begin.ns > m->longest_ns)
        m->longest_ns = end.ns - begin.ns;
    if (phase != WARM_UP && end.flood_holds - begin.flood_holds > m->longest_holds)
        m->longest_holds = end.flood_holds - begin.flood_holds;
}

static void await_gate(struct tenants *t)
{
    pthread_mutex_lock(&t->gate);
    pthread_mutex_unlock(&t->gate);
}

static void acquire(struct member *m)
{
    const fairsem_wait_t how = { .share = m->share };
    int err = 0;

    if (m->tenants->order != POSIX)
        err = fairsem_acquire_with(&m->tenants->sem, 1, &how);
    else
        while (sem_wait(&m->tenants->posix) != 0)
            continue;
    if (err != 0)
        die("fairsem_acquire_with", err);
}

static void release(struct member *m)
{
    if (m->tenants->order != POSIX)
        fairsem_release(&m->tenants->sem, 1);
    else
        sem_post(&m->tenants->posix);
}

static void *flood_loop(void *arg)
{
    struct member *m = arg;

    await_gate(m->tenants);
    while (phase_of(m) != OVER) {
        acquire(m);
        atomic_fetch_add_explicit(&m->tenants->flood_holds, 1, memory_order_relaxed);
        m->served += phase_of(m) == COUNTING;
        sleep_ns(HOLD_NS);
        release(m);
    }
    return NULL;
}

/* The lone client with one request at a time. */
static void *lone_loop(void *arg)
{
    struct member *m = arg;

    await_gate(m->tenants);
    while (phase_of(m) != OVER) {
        struct moment asked = moment_of(m);

        acquire(m);
        note_grant(m, asked, moment_of(m));
        sleep_ns(HOLD_NS);
        release(m);
    }
    return NULL;
}

struct request {
    fairsem_ticket_t ticket;
    fairsem_units_t unit;
    int64_t end_ns;     /* when the hold of the unit ends */
};

static void take(struct member *m, struct request *r)
{
    const fairsem_request_t one = { &m->tenants->sem, 1, m->share };
    int err = fairsem_ticket_take_with(&r->ticket, &one, 0, NULL, NULL);

    if (err != 0 && err != EINPROGRESS)
        die("fairsem_ticket_take_with", err);
}

/*
 * Requests of one client are granted in order of arrival, and all holds are equally long.  So the requests form
 * a ring: first the requests that hold a unit, from number `ended` on; then those that wait, from number
 * `granted` on.
 */
static void *lone_loop_of_tickets(void *arg)
{
    struct member *m = arg;
    struct request requests[MOST_UNITS + 1] = { 0 };
    const int count = m->tenants->units + 1;
    struct moment last;

    await_gate(m->tenants);
    last = moment_of(m);
    for (int i = 0; i < count; i++)
        take(m, &requests[i]);
    for (long granted = 0, ended = 0; phase_of(m) != OVER; ) {
        struct request *next = &requests[granted % count], *oldest = &requests[ended % count];
        const struct timespec end = timespec_of(oldest->end_ns);
        const fairsem_wait_t until_end = { .clock = CLOCK_MONOTONIC, .deadline = granted > ended ? &end : NULL };
        int err = fairsem_ticket_wait(&next->ticket, &until_end);
        struct moment now = moment_of(m);

        if (err == 0 && fairsem_ticket_claim(&next->ticket, &next->unit) == 0) {
            note_grant(m, last, now);
            last = now;
            next->end_ns = now.ns + HOLD_NS;
            granted++;
        } else if (err == ETIMEDOUT) {
            fairsem_units_release(&oldest->unit);
            take(m, oldest);
            ended++;
        } else {
            die("fairsem_ticket_wait", err);
        }
    }
    for (int i = 0; i < count; i++) {
        fairsem_ticket_return(&requests[i].ticket);
        fairsem_units_release(&requests[i].unit);
    }
    return NULL;
}

/* ---- A run ---- */

/* Returns false if the system does not have this kind of semaphore. */
static bool begin(struct tenants *t)
{
    if (sem_init(&t->posix, 0, (unsigned)t->units) != 0 && t->order == POSIX)
        return false;
    if (fairsem_init(&t->sem, t->units, NULL) != 0 || fairsem_share_init(&t->flood, 1) != 0
        || fairsem_share_init(&t->lone, 1) != 0)
        die("a semaphore with two shares cannot be made", 0);
    return true;
}

static void end(struct tenants *t)
{
    int units = 0;

    if (t->order == POSIX)
        sem_getvalue(&t->posix, &units);
    else
        units = (int)fairsem_available(&t->sem);
    if (units != t->units)
        die("units were lost or made", 0);
    sem_destroy(&t->posix);
    if (fairsem_share_destroy(&t->flood) != 0 || fairsem_share_destroy(&t->lone) != 0
        || fairsem_destroy(&t->sem) != 0)
        die("a semaphore without waiters cannot be destroyed", 0);
}

/* The lone client is members[0]. */
static void run_members(struct tenants *t, struct member *members, void *(*lone)(void *))
{
    pthread_mutex_init(&t->gate, NULL);
    pthread_mutex_lock(&t->gate);
    for (int i = 0; i <= FLOOD_THREADS; i++) {
        members[i].tenants = t;
        if (t->order == SHARES)
            members[i].share = i == 0 ? &t->lone : &t->flood;
        start_thread(&members[i].thread, i == 0 ? lone : flood_loop, &members[i]);
    }
    pthread_mutex_unlock(&t->gate);
    sleep_ns(t->warm_up_ns);
    atomic_store(&t->phase, COUNTING);
    sleep_ns(t->duration_ns);
    atomic_store(&t->phase, OVER);
    for (int i = 0; i <= FLOOD_THREADS; i++)
        pthread_join(members[i].thread, NULL);
    pthread_mutex_destroy(&t->gate);
}

static void run_order(enum order order, int units, bool tickets, bool quick)
{
    struct tenants t = { .order = order, .units = units, .warm_up_ns = (quick ? 5 : 100) * NS_PER_MS,
                         .duration_ns = (quick ? 20 : 1000) * NS_PER_MS };
    struct member members[FLOOD_THREADS + 1] = { 0 };
    char setting[40];
    double all = 0;

    if (!begin(&t))
        return;
    run_members(&t, members, tickets && order != POSIX ? lone_loop_of_tickets : lone_loop);
    end(&t);
    for (int i = 0; i <= FLOOD_THREADS; i++)
        all += (double)members[i].served;
    snprintf(setting, sizeof(setting), "%d unit%s%s", units, units == 1 ? "" : "s", tickets ? ", tickets" : "");
    REPORT("tenants", setting, order_names[order],
           { "lone_share", all > 0 ? (double)members[0].served / all : 0 },
           { "longest_wait_ns", (double)members[0].longest_ns },
           { "longest_wait_holds", (double)members[0].longest_holds },
           { "bound_holds", order == SHARES ? units + 1 : NAN });
}

/* ---- The cost of a grant ---- */

enum { GRANTS = 2000 };

struct crowd {
    fairsem_t sem;
    struct tenant {
        fairsem_share_t share;
        fairsem_ticket_t ticket;
    } *tenants;
    int shares;
    int turns;  /* number of grants so far */
};

static void join(struct crowd *crowd, struct tenant *tenant)
{
    const fairsem_request_t one = { &crowd->sem, 1, &tenant->share };

    if (fairsem_ticket_take_with(&tenant->ticket, &one, 0, NULL, NULL) != EINPROGRESS)
        die("a ticket did not join the queue", 0);
}

/* Grant a unit to the first ticket, claim the unit, and let the ticket join again.
 * Returns nanoseconds per grant.
 */
static double grant_and_join(struct crowd *crowd, int count)
{
    fairsem_units_t unit = { 0 };
    int64_t start = now_ns();

    for (int i = 0; i < count; i++) {
        struct tenant *first = &crowd->tenants[crowd->turns++ % crowd->shares];

        fairsem_release(&crowd->sem, 1);
        if (fairsem_ticket_claim(&first->ticket, &unit) != 0)
            die("a share was not granted in turn", 0);
        fairsem_units_forget(&unit);
        join(crowd, first);
    }
    return (double)(now_ns() - start) / count;
}

static void measure_crowd(int shares, const char *name)
{
    struct crowd crowd = { .shares = shares };
    size_t size = (size_t)shares * sizeof(struct tenant);
    void *memory;

    if (posix_memalign(&memory, _Alignof(struct tenant), size) != 0)
        die("memory for shares", 0);
    crowd.tenants = memset(memory, 0, size);
    if (fairsem_init(&crowd.sem, 0, NULL) != 0)
        die("fairsem_init", 0);
    for (int i = 0; i < shares; i++) {
        if (fairsem_share_init(&crowd.tenants[i].share, 1) != 0)
            die("fairsem_share_init", 0);
        join(&crowd, &crowd.tenants[i]);
    }
    (void)grant_and_join(&crowd, shares);
    REPORT("tenants", "a grant, and the next request", name, { "turn_ns", grant_and_join(&crowd, GRANTS) });
    for (int i = 0; i < shares; i++) {
        fairsem_ticket_return(&crowd.tenants[i].ticket);
        if (fairsem_share_destroy(&crowd.tenants[i].share) != 0)
            die("fairsem_share_destroy", 0);
    }
    if (fairsem_destroy(&crowd.sem) != 0)
        die("fairsem_destroy", 0);
    free(memory);
}

static void measure_grants(int repetitions)
{
    static const struct { int shares; const char *name; } crowds[] = {
        { 10000, "10,000 shares" }, { 1000, "1,000 shares" }, { 100, "100 shares" }, { 10, "10 shares" },
    };

    for (int i = 0; i < repetitions; i++) {
        for (size_t c = 0; c < sizeof(crowds) / sizeof(*crowds); c++)
            measure_crowd(crowds[c].shares, crowds[c].name);
    }
}

/* ---- */

void tenants_run(bool quick)
{
    static const struct { int units; bool tickets; } settings[] = { { 1, false }, { 1, true }, { MOST_UNITS, true } };

    measure_grants(quick ? 1 : 41);
    for (int i = 0; i < (quick ? 1 : 10); i++) {
        for (size_t s = 0; s < sizeof(settings) / sizeof(*settings); s++) {
            for (enum order order = SHARES; order <= POSIX; order++)
                run_order(order, settings[s].units, settings[s].tickets, quick);
        }
    }
}
