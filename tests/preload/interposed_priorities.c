/* SPDX-License-Identifier: MIT */
/* interposed_priorities.c - a thread with a higher real-time priority comes first, however it got the priority. */
#include "interposed.h"

static sem_t sem;

static int be_real_time(int priority)
{
    const struct sched_param param = { .sched_priority = priority };

    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

static void needs_right(void)
{
    const struct sched_param lowest = { .sched_priority = 1 }, none = { .sched_priority = 0 };

    if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0)
        exit(program_not_here("no right to real-time priorities"));
    MUST(sched_setscheduler(0, SCHED_OTHER, &none) == 0);
}

static void wait_and_time_out(int times)
{
    for (int i = 0; i < times; i++)
        MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
}

/* ---- In the child of a fork ---- */

struct two {
    struct waiter *first, second;
};

static void *post_to_both(void *arg)
{
    struct two *w = arg;

    MUST(await_sleep(&w->second));
    MUST(sem_post(&sem) == 0);
    MUST(join(w->first) == 0);
    MUST(sem_post(&sem) == 0);
    return arg;
}

/* With SCHED_RESET_ON_FORK, the child has no real-time priority: its thread is granted in order of arrival. */
BEHAVIOR(forked_priority)
{
    const struct sched_param param = { .sched_priority = 1 };
    struct waiter first = { 0 };
    struct two w = { .first = &first };
    pthread_t poster;
    pid_t child;

    needs_right();
    MUST(sem_init(&sem, 0, 0) == 0);
    MUST(sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) == 0);
    wait_and_time_out(1);
    child = fork();
    if (child != 0) {
        MUST(child_status(child) == 0);
        return;
    }
    hang_alarm();
    MUST(sched_getscheduler(0) == SCHED_OTHER);
    queue(&first, &sem);
    w.second = (struct waiter){ .tid = gettid(), .result = STILL_WAITING };
    start(&poster, post_to_both, &w);
    MUST(sem_wait(&sem) == 0);
    MUST(atomic_load(&first.result) == 0);
    MUST(pthread_join(poster, NULL) == 0);
}

/* ---- A thread changes its priority, or another process changes the priority of the thread ---- */

struct ranked {
    struct waiter w;
    int         (*change)(const struct sched_param *param);    /* or NULL */
};

static int by_itself(const struct sched_param *param)
{
    return sched_setparam(0, param);
}

static void change_and_wait(struct ranked *r)
{
    const struct sched_param param = { .sched_priority = 3 };

    wait_and_time_out(1);
    if (r->change != NULL)
        MUST(r->change(&param) == 0);
    atomic_store(&r->w.tid, gettid());
    MUST(sem_wait(&sem) == 0);
    r->w.place = atomic_fetch_add(r->w.service, 1);
    atomic_store(&r->w.result, 0);
}

/* Wait with a priority that changes from 1 to 3, or is always 2. */
static void *wait_ranked(void *arg)
{
    struct ranked *r = arg;

    MUST(be_real_time(2 - (r->change != NULL)) == 0);
    change_and_wait(r);
    return arg;
}

/* A thread whose priority has changed comes before one that has waited for longer. */
static void meet(void *(*wait)(void *), int (*change)(const struct sched_param *))
{
    _Atomic int service = 0;
    struct ranked first = { .w = { .service = &service, .result = STILL_WAITING } };
    struct ranked changed = first;

    changed.change = change;
    start(&first.w.thread, wait, &first);
    MUST(await_sleep(&first.w));
    start(&changed.w.thread, wait, &changed);
    MUST(await_sleep(&changed.w));
    MUST(sem_post(&sem) == 0);
    while (atomic_load(&service) == 0)
        moment();
    MUST(sem_post(&sem) == 0);
    MUST(join(&first.w) == 0 && join(&changed.w) == 0);
    MUST(changed.w.place == 0);
}

BEHAVIOR(priorities)
{
    MUST(sem_init(&sem, 0, 0) == 0);
    needs_right();
    meet(wait_ranked, by_itself);
}

/* ---- Another process gives a priority to a thread that has no right to one, as rtkit does ---- */

enum { ASKS = 3, TOLD = 4 };        /* descriptors of the child */

static int by_the_other_process(const struct sched_param *param)
{
    int tid = gettid(), answer;

    (void)param;
    MUST(write(ASKS, &tid, sizeof tid) == sizeof tid);
    MUST(read(TOLD, &answer, sizeof answer) == sizeof answer && answer == 0);
    wait_and_time_out(1000);
    return 0;
}

static void *wait_unranked(void *arg)
{
    change_and_wait(arg);
    return arg;
}

BEHAVIOR(without_right)
{
    const struct sched_param param = { .sched_priority = 1 };

    MUST(sched_setscheduler(0, SCHED_FIFO, &param) != 0);
    MUST(sem_init(&sem, 0, 0) == 0);
    meet(wait_unranked, by_the_other_process);
}

BEHAVIOR(made_real_time)
{
    const struct sched_param param = { .sched_priority = 3 };
    int asks[2], told[2], tid, answer;
    pid_t child;

    needs_right();
    MUST(pipe(asks) == 0 && pipe(told) == 0);
    child = fork();
    if (child == 0) {
        int asks_at = fcntl(asks[1], F_DUPFD, 10), told_at = fcntl(told[0], F_DUPFD, 10);

        MUST(dup2(asks_at, ASKS) == ASKS && dup2(told_at, TOLD) == TOLD);
        run_without_right("without-right");
        _exit(1);
    }
    MUST(read(asks[0], &tid, sizeof tid) == sizeof tid);
    answer = sched_setscheduler(tid, SCHED_FIFO, &param);
    MUST(write(told[1], &answer, sizeof answer) == sizeof answer);
    MUST(child_status(child) == 0);
}
