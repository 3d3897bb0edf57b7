/* SPDX-License-Identifier: MIT */
/*
 * dropin.c - the cost of this program's sem_wait and sem_post, and of libc's own.  Run it with
 * fairsem-run.  Both are called through pointers: one is found by name, as for every call
 * of the program; the other is found in libc itself.
 */
#define _GNU_SOURCE

#include "die.h"
#include "loops.h"
#include "pin.h"
#include "progress.h"
#include "report.h"
#include "workloads.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <string.h>

enum { BATCH = 4096, KINDS = 2 };

struct calls {
    const char *name;
    int (*init)(sem_t *, int, unsigned);
    int (*wait)(sem_t *);
    int (*post)(sem_t *);
    sem_t sem;
};

struct job {
    struct report_table table;
    struct calls calls[KINDS];
    int repetitions;
    bool pinned;
};

static void find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);

    if (!found)
        die(name, 0);
    memcpy(function, &found, sizeof(found));
}

static void find_all(struct calls *c, void *handle, const char *name)
{
    c->name = name;
    find(handle, "sem_init", &c->init);
    find(handle, "sem_wait", &c->wait);
    find(handle, "sem_post", &c->post);
}

static int pairs(void *calls)
{
    struct calls *c = calls;
    int failed = 0;

    for (int i = 0; i < BATCH; i++)
        failed |= c->wait(&c->sem) | c->post(&c->sem);
    return failed;
}

static void *run(void *arg)
{
    struct job *job = arg;
    struct report_table *t = &job->table;

    job->pinned = pin_self(0);
    for (int k = 0; k < KINDS; k++)
        job->calls[k].init(&job->calls[k].sem, 0, 10);
    for (int i = 0; i < job->repetitions; i++) {
        progress_show(t->title, (double)i / job->repetitions);
        for (int k = 0; k < KINDS; k++)
            report_add(t, job->calls[k].name,
                       loop_batches(pairs, &job->calls[k], BATCH, t->repetition_ns));
    }
    return NULL;
}

void dropin_run(bool quick)
{
    static struct job job;
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    pthread_t thread;

    if (!libc)
        die("no libc.so.6", 0);
    memset(&job, 0, sizeof(job));
    job.repetitions = quick ? 3 : 41;
    report_table_begin(&job.table, "dropin", "uncontended",
                       "drop-in: sem_wait + sem_post, nobody waits", "ns per pair");
    job.table.repetition_ns = quick ? NS_PER_MS : 10 * NS_PER_MS;
    report_goal(&job.table, "the program's", "libc's own", 1.5);
    find_all(&job.calls[0], RTLD_DEFAULT, "the program's");
    find_all(&job.calls[1], libc, "libc's own");
    start_thread(&thread, run, &job);
    pthread_join(thread, NULL);
    if (job.calls[0].wait == job.calls[1].wait)
        report_note("both are libc's: run  fairsem-run fairsem-bench dropin");
    job.table.pinning = job.pinned ? "one thread on core 0, main asleep"
                                   : "one thread, not pinned, main asleep";
    report_table(&job.table);
}
