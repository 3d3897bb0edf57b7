/* SPDX-License-Identifier: MIT */
/* uncontended.c - acquire and release while nobody waits: the cost that every user pays. */
#define _GNU_SOURCE /* sem_clockwait */

#include "clock.h"
#include "loops.h"
#include "peers.h"
#include "report.h"
#include "workloads.h"

enum how { ACQUIRE, TRY, FOR, HOWS };
enum { BATCH = 4096 }; /* pairs between two readings of the clock */

#define FAR_OFF (3600 * NS_PER_S) /* no wait lasts that long */

struct calls {
    enum how how;
    void *sem;
    struct timespec deadline; /* on CLOCK_MONOTONIC */
};

/* The loop.  `ops` and `how` are constants where the loop is instantiated, so no indirect call is left. */
ALWAYS_INLINE int pairs(const struct sem_ops *ops, enum how how, const struct calls *c)
{
    void *const sem = c->sem;
    int failed = 0;

    for (int i = 0; i < BATCH; i++) {
        if (how == ACQUIRE)
            failed |= ops->acquire(sem);
        else if (how == TRY)
            failed |= ops->try_acquire(sem);
        else
            failed |= ops->acquire_for(sem, FAR_OFF, &c->deadline);
        failed |= ops->release(sem);
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
        default: return pairs(&ops_##peer, FOR, c);                 \
        }                                                           \
    }
FOR_EACH_PEER(INSTANCE)

#define ENTRY(peer) { &ops_##peer, pairs_##peer },
static const struct {
    const struct sem_ops *ops;
    int (*pairs)(void *calls);
} peers[PEERS] = { FOR_EACH_PEER(ENTRY) };

void uncontended_run(bool quick)
{
    static const char *const settings[HOWS] = { "acquire", "try", "acquire_for" };
    struct calls calls[PEERS];

    for (enum how how = ACQUIRE; how < HOWS; how++) {
        struct loop_peer here[PEERS + 1] = { { NULL, NULL, NULL } };
        int count = 0;

        for (int p = 0; p < PEERS; p++) {
            const struct sem_ops *ops = peers[p].ops;

            calls[p] = (struct calls){ .how = how, .deadline = timespec_of(now_ns() + FAR_OFF) };
            calls[p].sem = how == FOR && !ops->acquire_for ? NULL : sem_new(ops, 10);
            if (calls[p].sem)
                here[count++] = (struct loop_peer){ ops->name, peers[p].pairs, &calls[p] };
        }
        loop_alone(&(struct loop_alone){ "uncontended", settings[how], here, BATCH, quick });
        for (int p = 0; p < PEERS; p++)
            sem_delete(peers[p].ops, calls[p].sem);
    }
}
