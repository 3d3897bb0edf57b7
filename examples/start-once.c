/* SPDX-License-Identifier: MIT */
/*
 * start-once.c - jobs that start when their unit is granted, without a thread that waits for it.
 *
 * Clients submit jobs from several threads; at most LIMIT jobs are in progress.  A job asks for its unit
 * with a ticket.  The result of fairsem_ticket_take says which thread starts the job:
 *
 *   0            the unit was granted at once: the client's thread starts the job itself
 *   EINPROGRESS  the ticket is in the queue: the callback starts the job, in the thread that releases
 *                a unit, perhaps before take has returned
 *
 * So each job starts exactly once.  (The state of the ticket after take would not tell the two cases
 * apart: the state is GRANTED in the first case, and may already be GRANTED in the second.)
 */
#include <errno.h>
#include <fairsem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { CLIENTS = 4, JOBS = 1000, LIMIT = 3, WORKERS = 2 };

struct job {
    fairsem_ticket_t ticket;
    fairsem_units_t  unit;      /* held while the job is in progress */
    _Atomic int      started;
    struct job      *next;
};

static fairsem_t       limit;
static struct job      jobs[CLIENTS][JOBS];
static _Atomic int     at_once, by_callback, in_progress, most;

/* The list of the jobs in progress, for the workers.  `begun` has a unit for each job in the list. */
static fairsem_t       begun = FAIRSEM_INITIALIZER(0);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct job     *list;

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "start-once: FAILED: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

/* The job's unit was granted.  Any thread may run this function, so it only puts the job into the list. */
static void start(struct job *job)
{
    int now, before;

    check(fairsem_ticket_claim(&job->ticket, &job->unit) == 0, "claim");
    atomic_fetch_add(&job->started, 1);
    now = atomic_fetch_add(&in_progress, 1) + 1;
    before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
        continue;
    pthread_mutex_lock(&mutex);
    job->next = list;
    list = job;
    pthread_mutex_unlock(&mutex);
    fairsem_release(&begun, 1);
}

static void unit_has_come(fairsem_ticket_t *ticket, void *job)
{
    (void)ticket;
    atomic_fetch_add(&by_callback, 1);
    start(job);
}

static void *client(void *arg)
{
    struct job *mine = arg;

    for (int i = 0; i < JOBS; i++) {
        switch (fairsem_ticket_take(&mine[i].ticket, &limit, 1, 0, unit_has_come, &mine[i])) {
        case 0:
            atomic_fetch_add(&at_once, 1);
            start(&mine[i]);
            break;
        case EINPROGRESS:
            break;
        default:
            check(0, "take");
        }
    }
    return NULL;
}

/* Work on jobs until there are no more.  The release of a job's unit starts the next job in the queue. */
static void *worker(void *arg)
{
    for (int i = 0; i < CLIENTS * JOBS / WORKERS; i++) {
        struct job *job;

        check(fairsem_acquire(&begun, 1) == 0, "acquire");
        pthread_mutex_lock(&mutex);
        job = list;
        list = job->next;
        pthread_mutex_unlock(&mutex);
        atomic_fetch_sub(&in_progress, 1);
        fairsem_units_release(&job->unit);
    }
    return arg;
}

int main(void)
{
    const fairsem_attr_t attr = { .name = "jobs in progress", .capacity = LIMIT };
    pthread_t thread[CLIENTS + WORKERS];
    int once = 0;

    check(fairsem_init(&limit, LIMIT, &attr) == 0, "fairsem_init");
    for (int i = 0; i < CLIENTS; i++)
        check(pthread_create(&thread[i], NULL, client, jobs[i]) == 0, "pthread_create");
    for (int i = CLIENTS; i < CLIENTS + WORKERS; i++)
        check(pthread_create(&thread[i], NULL, worker, NULL) == 0, "pthread_create");
    for (int i = 0; i < CLIENTS + WORKERS; i++)
        pthread_join(thread[i], NULL);

    for (int i = 0; i < CLIENTS * JOBS; i++) {
        struct job *job = &jobs[i / JOBS][i % JOBS];

        once += job->started == 1;
        fairsem_ticket_return(&job->ticket);    /* from now on no callback runs, so the memory may be freed */
    }
    printf("jobs %d\nstarted once %d\nmost in progress %d\n", CLIENTS * JOBS, once, most);
    printf("at once and by callback together %d\n", at_once + by_callback);
    check(once == CLIENTS * JOBS && most <= LIMIT, "jobs");
    check(fairsem_available(&limit) == LIMIT && fairsem_destroy(&limit) == 0, "units");
    return 0;
}
