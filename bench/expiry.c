/* SPDX-License-Identifier: MIT */
/*
 * expiry.c - many waiters whose deadline passes in the same instant: the time until the last of
 * them has left the queue, divided by their number.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "crowd.h"
#include "peers.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <stdatomic.h>
#include <stdio.h>

enum { MANY = 10000, FEW = 10 };

struct wait {
    const struct sem_ops *ops;
    void *sem;
    int64_t deadline;    /* CLOCK_REALTIME */
    atomic_int too_late; /* threads that came when the deadline had passed */
};

static void time_out(struct crowd_member *self)
{
    struct wait *wait = self->crowd->arg;
    const struct timespec deadline = timespec_of(wait->deadline);

    if (clock_ns(CLOCK_REALTIME) >= wait->deadline)
        atomic_fetch_add(&wait->too_late, 1);
    wait->ops->acquire_until(wait->sem, 1, &deadline);
}

/*
 * Returns nanoseconds per waiter; 0 if not all of them were in the queue in time.  The deadline is
 * set before the gate opens, and leaves each thread the time to fall asleep.
 */
static double expire(struct wait *wait, int count, int64_t ns_each)
{
    static struct crowd crowd;
    const int64_t left_ns = 20 * NS_PER_MS + count * ns_each;
    int64_t deadline = now_ns() + left_ns, late_ns;

    atomic_store(&wait->too_late, 0);
    wait->deadline = clock_ns(CLOCK_REALTIME) + left_ns;
    crowd_start(&crowd, count, time_out, wait);
    late_ns = crowd_end(&crowd) - deadline;
    return atomic_load(&wait->too_late) ? 0 : (double)late_ns / count;
}

static double measure(const struct sem_ops *ops, int count)
{
    struct wait wait = { .ops = ops, .sem = sem_new(ops, 0) };
    double ns = 0;

    /* It takes 20 to 200 us to start a thread. */
    for (int64_t each = 100 * NS_PER_US; wait.sem && ns == 0 && each < 2 * NS_PER_MS; each *= 2)
        ns = expire(&wait, count, each);
    sem_delete(ops, wait.sem);
    return ns;
}

static void add(struct report_table *t, const char *name, double ns)
{
    report_row(t, name);
    if (ns > 0)
        report_add(t, name, ns);
}

void expiry_run(bool quick)
{
#define OPS(peer) &ops_##peer,
    static const struct sem_ops *const peers[PEERS] = { FOR_EACH_PEER(OPS) };
    static char many_names[PEERS][40], few_names[PEERS][40];
    static struct report_table t;
    const int many = quick ? MANY / 100 : MANY, repetitions = quick ? 1 : 3;

    report_table_begin(&t, "expiry", "all-at-once",
                       "expiry: waiters time out together, until the last has left",
                       "ns per waiter");
    t.repetition_ns = 30 * NS_PER_MS;
    for (int p = 0; p < PEERS; p++) {
        snprintf(many_names[p], sizeof(many_names[p]), "%s, %d", peers[p]->name, many);
        snprintf(few_names[p], sizeof(few_names[p]), "%s, %d", peers[p]->name, FEW);
    }
    report_goal(&t, many_names[0], few_names[0], 1.5);
    for (int i = 0; i < repetitions; i++) {
        progress_show(t.title, (double)i / repetitions);
        for (int p = 0; p < PEERS; p++) {
            if (!peers[p]->acquire_until)
                continue;
            add(&t, many_names[p], measure(peers[p], many));
            for (int few = 0; few < 7; few++)
                add(&t, few_names[p], measure(peers[p], FEW));
        }
    }
    report_table(&t);
}
