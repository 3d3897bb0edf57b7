/* SPDX-License-Identifier: MIT */
/* loops.c - see loops.h. */
#define _POSIX_C_SOURCE 200809L

#include "loops.h"

#include "clock.h"
#include "die.h"
#include "pin.h"
#include "progress.h"
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
    struct report_table *t = a->table;

    t->pinning = pin_self(0) ? "one thread on core 0, main asleep"
                             : "one thread, not pinned, main asleep";
    for (int i = 0; i < a->repetitions; i++) {
        progress_show(t->title, (double)i / a->repetitions);
        for (const struct loop_peer *p = a->peers; p->batch; p++)
            report_add(t, p->name, loop_batches(p->batch, p->arg, a->size, t->repetition_ns));
    }
    return NULL;
}

void loop_alone(struct loop_alone *a)
{
    pthread_t thread;

    start_thread(&thread, alone, a);
    pthread_join(thread, NULL);
    report_table(a->table);
}
