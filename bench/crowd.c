/* SPDX-License-Identifier: MIT */
/*
 * crowd.c - thousands of threads.
 *
 * wake: one call wakes all sleeping threads, or one call for each thread.  Measured are the time of the calls,
 * and the time until the last thread runs.
 *
 * expiry: the deadline of all waiters passes at the same instant.  Measured is the time until the last waiter
 * has left the queue, divided by the number of waiters.
 */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "die.h"
#include "report.h"
#include "workloads.h"

#include <errno.h>
#include <fairsem.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

enum { MOST = 10000, STACK = 65536 };

struct crowd;

struct crowd_member {
    struct crowd *crowd;
    pthread_t thread;
    int place;
    int64_t left_ns; /* the time when the thread's wait returned */
};

struct crowd {
    void (*wait)(struct crowd_member *self); /* run by each thread */
    void *arg;
    int size;
    pthread_mutex_t gate; /* the threads begin when it is unlocked */
    _Atomic int inside;   /* number of waits that have not returned */
    sem_t left;           /* posted when all waits have returned */
    struct crowd_member members[MOST];
};

static void *member(void *arg)
{
    struct crowd_member *self = arg;

    pthread_mutex_lock(&self->crowd->gate);
    pthread_mutex_unlock(&self->crowd->gate);
    self->crowd->wait(self);
    self->left_ns = now_ns();
    if (atomic_fetch_sub(&self->crowd->inside, 1) == 1)
        sem_post(&self->crowd->left);
    return NULL;
}

/* Start the threads, with small stacks.  They begin to wait when all of them have started. */
static void crowd_start(struct crowd *crowd, int size, void (*wait)(struct crowd_member *), void *arg)
{
    pthread_attr_t attr;

    crowd->wait = wait;
    crowd->arg = arg;
    crowd->size = size;
    pthread_mutex_init(&crowd->gate, NULL);
    pthread_mutex_lock(&crowd->gate);
    crowd->inside = size;
    sem_init(&crowd->left, 0, 0);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    for (int i = 0; i < size; i++) {
        struct crowd_member *m = &crowd->members[i];
        int err;

        *m = (struct crowd_member){ .crowd = crowd, .place = i };
        err = pthread_create(&m->thread, &attr, member, m);
        if (err)
            die("this system does not allow so many threads", err);
    }
    pthread_attr_destroy(&attr);
    pthread_mutex_unlock(&crowd->gate);
}

/*
 * Wait until no other thread in this process runs.  There is no portable way to ask whether a thread
 * sleeps.  But while any thread runs, the process uses processor time.  If the process has used none in
 * two periods of ten milliseconds, all threads are asleep.  (With 10,000 threads a call of cpu_ns() can
 * itself take a millisecond, which is subtracted.)
 */
static void crowd_settle(void)
{
    const int64_t moment = 10 * NS_PER_MS;
    int idle = 0;

    while (idle < 2) {
        int64_t asked = cpu_ns(), before = cpu_ns();

        sleep_ns(moment);
        idle = cpu_ns() - before < moment / 20 + 2 * (before - asked) ? idle + 1 : 0;
    }
}

/*
 * Join the threads.  Returns the time when the last of their waits returned.  Until that time the caller
 * sleeps in one sem_wait(): joining the threads one by one would wake the caller for each.
 */
static int64_t crowd_end(struct crowd *crowd)
{
    int64_t last = 0;

    while (sem_wait(&crowd->left) != 0)
        continue;
    for (int i = 0; i < crowd->size; i++) {
        pthread_join(crowd->members[i].thread, NULL);
        if (crowd->members[i].left_ns > last)
            last = crowd->members[i].left_ns;
    }
    sem_destroy(&crowd->left);
    pthread_mutex_destroy(&crowd->gate);
    return last;
}

/* ---- wake ---- */

struct bed {
    fairsem_t sem;
    sem_t posix;
};

static void sleep_fair(struct crowd_member *self)
{
    struct bed *bed = self->crowd->arg;

    if (fairsem_acquire(&bed->sem, 1) != 0)
        die("fairsem_acquire failed", 0);
}

static void sleep_posix(struct crowd_member *self)
{
    struct bed *bed = self->crowd->arg;

    while (sem_wait(&bed->posix) != 0)
        continue;
}

static void one_release(struct bed *bed, int count)
{
    fairsem_release(&bed->sem, count);
}

static void posts(struct bed *bed, int count)
{
    for (int i = 0; i < count; i++)
        sem_post(&bed->posix);
}

static const struct way {
    const char *name;
    void (*sleep)(struct crowd_member *self);
    void (*wake)(struct bed *bed, int count);
} ways[] = {
    { "one release", sleep_fair, one_release },
    { "sem_posts", sleep_posix, posts },
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

/* *call: nanoseconds per thread until the calls have returned; *last: until the last thread has run. */
static void wake_all(const struct way *way, int count, double *call, double *last)
{
    static struct crowd crowd;
    static struct bed bed;
    int64_t start, returned;

    if (fairsem_init(&bed.sem, 0, NULL) != 0 || sem_init(&bed.posix, 0, 0) != 0)
        die("a semaphore cannot be made", 0);
    crowd_start(&crowd, count, way->sleep, &bed);
    crowd_settle();
    start = now_ns();
    way->wake(&bed, count);
    returned = now_ns();
    *last = (double)(crowd_end(&crowd) - start) / count;
    *call = (double)(returned - start) / count;
    sem_destroy(&bed.posix);
    if (fairsem_destroy(&bed.sem) != 0)
        die("fairsem_destroy failed", 0);
}

static void measure(int count, int repetitions)
{
    char setting[40];

    snprintf(setting, sizeof(setting), "%d sleepers", count);
    for (int i = 0; i < repetitions; i++) {
        for (int w = 0; w < WAYS; w++) {
            double call, last;

            wake_all(&ways[w], count, &call, &last);
            REPORT("wake", setting, ways[w].name, { "each_until_the_last_runs_ns", last },
                   { "each_until_the_call_returns_ns", call });
        }
    }
}

void wake_run(bool quick)
{
    measure(1000, quick ? 1 : 15);
    if (!quick)
        measure(MOST, 3);
}

/* ---- expiry ---- */

struct wait {
    fairsem_t sem;
    struct timespec deadline; /* CLOCK_REALTIME */
    int64_t deadline_ns;
    atomic_int too_late;      /* number of threads that came after the deadline */
};

static void time_out(struct crowd_member *self)
{
    struct wait *wait = self->crowd->arg;

    if (clock_ns(CLOCK_REALTIME) >= wait->deadline_ns)
        atomic_fetch_add(&wait->too_late, 1);
    if (fairsem_acquire_until(&wait->sem, 1, CLOCK_REALTIME, &wait->deadline) != ETIMEDOUT)
        die("a wait has not timed out", 0);
}

/*
 * Returns nanoseconds per waiter, or 0 if a thread came after the deadline.  The deadline is set before the
 * threads start; ns_each is the time that it leaves for each thread to start and fall asleep.
 */
static double expire(struct wait *wait, int count, int64_t ns_each)
{
    static struct crowd crowd;
    const int64_t left_ns = 20 * NS_PER_MS + count * ns_each;
    int64_t deadline = now_ns() + left_ns, late_ns;

    atomic_store(&wait->too_late, 0);
    wait->deadline_ns = clock_ns(CLOCK_REALTIME) + left_ns;
    wait->deadline = timespec_of(wait->deadline_ns);
    crowd_start(&crowd, count, time_out, wait);
    late_ns = crowd_end(&crowd) - deadline;
    return atomic_load(&wait->too_late) ? 0 : (double)late_ns / count;
}

static void measure_expiry(int count)
{
    static struct wait wait;
    char setting[40];
    double ns = 0;

    if (fairsem_init(&wait.sem, 0, NULL) != 0)
        die("fairsem_init failed", 0);
    /* The start of a thread takes 20 to 200 us. */
    for (int64_t each = 100 * NS_PER_US; ns == 0 && each < 2 * NS_PER_MS; each *= 2)
        ns = expire(&wait, count, each);
    if (fairsem_destroy(&wait.sem) != 0)
        die("fairsem_destroy failed", 0);
    snprintf(setting, sizeof(setting), "%d waiters", count);
    if (ns > 0)
        REPORT("expiry", "all at once", setting, { "each_ns", ns });
}

void expiry_run(bool quick)
{
    for (int i = 0; i < (quick ? 1 : 3); i++) {
        measure_expiry(quick ? 100 : MOST);
        for (int few = 0; few < 7; few++)
            measure_expiry(10);
    }
}
