/* SPDX-License-Identifier: MIT */
/* loops.c - see loops.h. */
#define _POSIX_C_SOURCE 200809L

#include "loops.h"

#include "clock.h"
#include "die.h"
#include "pin.h"
#include "report.h"

#include <pthread.h>

double loop_batches(int (*batch)(void *arg), void *arg, int size, int64_t ns)
{
    int failed = batch(arg);
    int64_t start = now_ns(), now;
    long batches = 0;

    do {
        failed |= batch(arg);
        batches++;
        now = now_ns();
    } while (now - start < ns);
    if (failed)
        die("an acquire or release that cannot fail has failed", 0);
    return (double)(now - start) / (double)batches / size;
}

static void *alone(void *arg)
{
    const struct loop_alone *a = arg;

    pin_self(0);
    for (int i = 0; i < (a->quick ? 3 : 41); i++) {
        for (const struct loop_peer *p = a->peers; p->batch; p++)
            REPORT(a->workload, a->setting, p->name,
                   { "pair_ns", loop_batches(p->batch, p->arg, a->size,
                                             (a->quick ? 1 : 10) * NS_PER_MS) });
    }
    return NULL;
}

void loop_alone(struct loop_alone *a)
{
    pthread_t thread;

    start_thread(&thread, alone, a);
    pthread_join(thread, NULL);
}
