/* SPDX-License-Identifier: MIT */
/*
 * t_real_time.c - the holder of a mutex of the library inherits the priority of a thread that waits for the
 * mutex.  So no third thread can delay both.  The kernel shows a thread's current priority.
 *
 * Also: how often a wait on a sem_t looks up its thread's priority.
 */
#include "children.h"
#include "suite.h"
#include "workers.h"

#include "posix/sem_real_time.h"
#include "system/parking.h"
#include "system/system.h"

#include <fairsem/posix.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOW  1
#define HIGH 2

/* Take a real-time priority.  Returns false if this process may not have one. */
static bool become(int priority)
{
    const struct sched_param param = { .sched_priority = priority };

    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0;
}

/* Field 18 of /proc/self/task/ID/stat (proc(5)): -2 for SCHED_FIFO 1, -3 for 2. */
static int priority_now(int thread)
{
    char path[64], line[1024] = "";
    const char *at;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    file = fopen(path, "re");
    insist(true, file != NULL);
    insist(true, fgets(line, sizeof line, file) != NULL);
    fclose(file);
    at = strrchr(line, ')');
    for (int field = 2; field < 18; field++)
        at = strchr(at + 1, ' ');
    return -1 - atoi(at);
}

struct holder {
    pthread_mutex_t *mutex;
    _Atomic int      thread;
    _Atomic bool     holds, let_go, cannot;
};

static void *hold(void *arg)
{
    struct holder *h = arg;

    if (!become(LOW))
        atomic_store(&h->cannot, true);
    pthread_mutex_lock(h->mutex);
    atomic_store(&h->thread, fs_thread_id());
    atomic_store(&h->holds, true);
    while (!atomic_load(&h->let_go))
        moment();
    pthread_mutex_unlock(h->mutex);
    return NULL;
}

struct caller {
    void (*call)(void *object);
    void *object;
};

static void *call(void *arg)
{
    const struct caller *c = arg;

    insist(true, become(HIGH));
    c->call(c->object);
    return NULL;
}

/* A thread holds the mutex while a thread with a higher priority calls `what`, which locks the mutex.  Returns
 * false if the process may not have real-time priorities. */
static bool is_inherited(pthread_mutex_t *mutex, void (*what)(void *), void *object)
{
    struct holder h = { .mutex = mutex };
    struct caller c = { what, object };
    pthread_t low, high;

    start_thread(&low, hold, &h);
    while (!atomic_load(&h.holds))
        moment();
    if (!h.cannot) {
        insist(LOW, priority_now(h.thread));
        start_thread(&high, call, &c);
        while (priority_now(h.thread) != HIGH)      /* or until the test's time limit */
            moment();
    }
    atomic_store(&h.let_go, true);
    pthread_join(low, NULL);
    if (!h.cannot)
        pthread_join(high, NULL);
    return !h.cannot;
}

static void close_it(void *sem)
{
    insist(0, fairsem_close(sem, 0));
}

static void cancel(void *token)
{
    insist(0, fairsem_token_cancel(token, 0));
}

START_TEST(a_mutex_of_the_library_inherits_priority)
{
    fairsem_token_t token;
    fairsem_t sem;

    ck_assert_int_eq(fairsem_init(&sem, 1, NULL), 0);
    if (!is_inherited(&sem.fairsem_mutex_, close_it, &sem))
        NOT_HERE("no right to real-time priorities");
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
    ck_assert_int_eq(fairsem_token_init(&token), 0);
    ck_assert(is_inherited(&token.fairsem_mutex_, cancel, &token));
    ck_assert_int_eq(fairsem_token_destroy(&token), 0);
}
END_TEST

/* The child initializes the mutex again before its first lock. */
START_TEST(a_mutex_in_a_forked_child_inherits_priority)
{
    fairsem_t sem;
    pid_t child;

    ck_assert_int_eq(fairsem_init(&sem, 1, NULL), 0);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_consume(&sem, 0) == 0);
        (void)is_inherited(&sem.fairsem_mutex_, close_it, &sem);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* ---- How often a wait on a sem_t looks up the priority ---- */

static enum { REAL, NO, YES } right;    /* may the process have real-time threads?  (REAL asks the system) */
static int asked, priority;             /* number of look-ups, and their result */

bool __real_fs_may_be_real_time(void);
bool __wrap_fs_may_be_real_time(void);
int __wrap_fs_real_time_priority(void);

bool __wrap_fs_may_be_real_time(void)
{
    return right == REAL ? __real_fs_may_be_real_time() : right == YES;
}

int __wrap_fs_real_time_priority(void)
{
    asked++;
    return priority;
}

static int asked_in(int waits)
{
    const struct timespec past = { 0, 0 };
    sem_t sem;

    asked = 0;
    insist(0, sem_init(&sem, 0, 0));
    for (int i = 0; i < waits; i++)
        insist(-1, sem_timedwait(&sem, &past));
    return asked;
}

/* As if another process gave the thread a real-time priority, and removed it again. */
static void *wait_without_right(void *unused)
{
    right = NO;
    insist(2, asked_in(257));
    priority = -5;
    insist(0, asked_in(255));
    insist(10, asked_in(10));
    priority = 0;
    insist(1, asked_in(256));
    return unused;
}

static void *wait_with_right(void *unused)
{
    right = YES;
    insist(10, asked_in(10));
    return unused;
}

/* Run `body` in a new thread, which has never looked up its priority. */
static void run(void *(*body)(void *))
{
    pthread_t thread;

    if (!FS_HAS_FUTEX)
        NOT_HERE("no futexes, and so no sem_t");
    start_thread(&thread, body, NULL);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    right = REAL;
}

START_TEST(without_the_right_a_thread_reads_its_priority_in_one_of_256_waits_until_it_is_real_time)
{
    run(wait_without_right);
}
END_TEST

START_TEST(with_the_right_each_wait_reads_the_priority)
{
    run(wait_with_right);
}
END_TEST

int main(void)
{
    RUN_SUITE("real time", a_mutex_of_the_library_inherits_priority,
              a_mutex_in_a_forked_child_inherits_priority,
              without_the_right_a_thread_reads_its_priority_in_one_of_256_waits_until_it_is_real_time,
              with_the_right_each_wait_reads_the_priority);
}
