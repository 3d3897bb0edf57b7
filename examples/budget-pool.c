/* SPDX-License-Identifier: MIT */
/*
 * budget-pool.c - a pool with a budget in bytes, a time-out for each job, and a clean end on Ctrl-C.
 *
 * A unit is a byte.  Together, the jobs in progress never have more memory than BUDGET, and small jobs
 * that come later do not starve a large one.
 *
 * The main thread waits for Ctrl-C with sigwait(), so the signal needs no handler.  Then the main thread
 * drains the pool: waiting jobs get ESHUTDOWN, and jobs in progress finish.  When fairsem_drain() returns,
 * all bytes are back.
 *
 * `budget-pool JOBS` interrupts itself when that many jobs are done.
 */
#include <errno.h>
#include <fairsem.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 8, BUDGET = 64 << 20, PATIENCE_NS = 500000000 };

static fairsem_t   bytes = FAIRSEM_INITIALIZER_BOUNDED(BUDGET, BUDGET);
static long        interrupt_after;     /* number of jobs, or 0 for never */
static _Atomic int begun, done, late, turned_away;

/* Returns 0, ETIMEDOUT if the job could not begin in time, or ESHUTDOWN if the pool has been drained. */
static int job(int64_t size)
{
    int error = fairsem_acquire_for(&bytes, size, PATIENCE_NS);
    char *memory;

    if (error != 0)
        return error;
    atomic_fetch_add(&begun, 1);
    if ((memory = malloc((size_t)size)) != NULL)
        memset(memory, 1, 4096);        /* the work */
    free(memory);
    if (atomic_fetch_add(&done, 1) + 1 == interrupt_after)
        kill(getpid(), SIGINT);
    return fairsem_release(&bytes, size);
}

static void *work(void *arg)
{
    int error = 0;

    for (int64_t i = 1; error == 0 || error == ETIMEDOUT; i++) {
        error = job((i % 16 + 1) << 20);        /* 1 to 16 MB */
        late += error == ETIMEDOUT;
    }
    turned_away += error == ESHUTDOWN;
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    sigset_t interrupt;
    int signal;

    interrupt_after = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, NULL);       /* the threads inherit this mask */
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&thread[i], NULL, work, NULL) != 0)
            return EXIT_FAILURE;
    }
    sigwait(&interrupt, &signal);
    if (fairsem_drain(&bytes, BUDGET, NULL) != 0)
        return EXIT_FAILURE;
    printf("begun and finished %s, too late %d\n", begun == done ? "all" : "NOT all", late);
    printf("bytes free %lld of %d\n", (long long)fairsem_available(&bytes), BUDGET);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("threads that ended %d\n", turned_away);
    return begun == done && fairsem_destroy(&bytes) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
