/* SPDX-License-Identifier: MIT */
/* uncontended.c - acquire and release while nobody waits: the cost that every user pays. */
#define _GNU_SOURCE /* sem_clockwait */

#include "clock.h"
#include "loops.h"
#include "peers.h"
#include "report.h"
#include "workloads.h"


enum how { ACQUIRE, TRY, UNTIL, FOR };
enum { BATCH = 4096 }; /* pairs between two readings of the clock */

#define FAR_OFF (3600 * NS_PER_S) /* no wait lasts that long */

struct calls {
    enum how how;
    void *sem;
    int64_t n;
    struct timespec realtime, monotonic; /* deadlines */
};

/* The loop.  ops and how are constants where it is instantiated, so no indirect call is left. */
ALWAYS_INLINE int pairs(const struct sem_ops *ops, enum how how, const struct calls *c)
{
    void *const sem = c->sem;
    const int64_t n = c->n;
    int failed = 0;

    for (int i = 0; i < BATCH; i++) {
        if (how == ACQUIRE)
            failed |= ops->acquire(sem, n);
        else if (how == TRY)
            failed |= ops->try_acquire(sem, n);
        else if (how == UNTIL)
            failed |= ops->acquire_until(sem, n, &c->realtime);
        else
            failed |= ops->acquire_for(sem, n, FAR_OFF, &c->monotonic);
        failed |= ops->release(sem, n);
    }
    return failed;
}

#define INSTANCE(peer)                                              \
    static int pairs_##peer(void *arg)                              \
    {                                                               \
        const struct calls *c = arg;                                \
                                                                    \
        switch (c->how) {                                           \
        case ACQUIRE: return pairs(&ops_##peer, ACQUIRE, c);        \
        case TRY: return pairs(&ops_##peer, TRY, c);                \
        case UNTIL: return pairs(&ops_##peer, UNTIL, c);            \
        default: return pairs(&ops_##peer, FOR, c);                 \
        }                                                           \
    }
FOR_EACH_PEER(INSTANCE)

#define ENTRY(peer) { &ops_##peer, pairs_##peer },
static const struct {
    const struct sem_ops *ops;
    int (*pairs)(void *calls);
} peers[PEERS] = { FOR_EACH_PEER(ENTRY) };

static const struct setting {
    const char *name, *title;
    enum how how;
    int64_t n;
    double goal; /* against sem_t; 0: none */
} settings[] = {
    { "acquire-1", "uncontended: acquire + release of 1 unit", ACQUIRE, 1, 1.03 },
    { "acquire-7", "uncontended: acquire + release of 7 units (sem_t, C++20: of 1)", ACQUIRE, 7,
      1.03 },
    { "try-1", "uncontended: try + release of 1 unit", TRY, 1, 1.0 },
    { "for-1", "uncontended: acquire_for + release of 1 unit", FOR, 1, 1.05 },
    { "until-1", "uncontended: acquire with a realtime deadline + release of 1 unit", UNTIL, 1,
      0 },
};
enum { SETTINGS = sizeof(settings) / sizeof(*settings) };

static bool has(const struct sem_ops *ops, enum how how)
{
    return !(how == UNTIL && !ops->acquire_until) && !(how == FOR && !ops->acquire_for);
}

static void measure(const struct setting *s, bool quick)
{
    static struct report_table t;
    struct calls calls[PEERS];
    struct loop_peer here[PEERS + 1] = { { NULL, NULL, NULL } };
    int count = 0;

    report_table_begin(&t, "uncontended", s->name, s->title, "ns per pair");
    t.repetition_ns = quick ? NS_PER_MS : 10 * NS_PER_MS;
    if (s->goal != 0)
        report_goal(&t, "fairsem", "sem_t", s->goal);
    for (int p = 0; p < PEERS; p++) {
        const struct sem_ops *ops = peers[p].ops;

        calls[p] = (struct calls){ .how = s->how, .n = ops->many ? s->n : 1 };
        calls[p].sem = has(ops, s->how) ? sem_new(ops, 10) : NULL;
        calls[p].realtime = timespec_of(clock_ns(CLOCK_REALTIME) + FAR_OFF);
        calls[p].monotonic = timespec_of(now_ns() + FAR_OFF);
        report_row(&t, ops->name);
        if (calls[p].sem)
            here[count++] = (struct loop_peer){ ops->name, peers[p].pairs, &calls[p] };
    }
    loop_alone(&(struct loop_alone){ &t, here, BATCH, quick ? 3 : 41 });
    for (int p = 0; p < PEERS; p++)
        sem_delete(peers[p].ops, calls[p].sem);
}

void uncontended_run(bool quick)
{
    for (int i = 0; i < SETTINGS; i++)
        measure(&settings[i], quick);
}
