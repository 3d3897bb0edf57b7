/* SPDX-License-Identifier: MIT */
/* shared_lives.c - see shared_lives.h; also the cost of a shell command. */
#define _GNU_SOURCE

#include "shared_lives.h"

#include "clock.h"
#include "die.h"
#include "progress.h"
#include "report.h"
#include "shared_peers.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES = 64, LIVES = 1000 };

struct scene {
    struct shared_sem sem;
    atomic_int        place, ready;
    int               order[PROCESSES];     /* order[i]: which process was the i-th */
    _Atomic int64_t   acquired_ns;
    int               next;                 /* the number of the process that is started */
};

static struct scene *scene;

void shared_longest(struct report_table *t, const char *setting, const char *peer, double most)
{
    static struct report_table longest;
    const struct report_row *row = report_find(t, peer);

    report_table_begin(&longest, "shared", setting, "shared: the same, the longest of all",
                       t->unit);
    longest.pinning = t->pinning;
    report_add(&longest, peer, stats_quantile(row->samples, row->n, 1));
    report_goal(&longest, peer, NULL, most);
    report_table(&longest);
}

/* ---- 64 processes on one unit ---- */

static void run_in_order(void *arg)
{
    struct shared_sem *s = &scene->sem;
    int number = scene->next;

    (void)arg;
    if (s->ops->acquire(s, 1) != 0)
        die("acquire", 0);
    scene->order[atomic_fetch_add(&scene->place, 1)] = number;
    s->ops->release(s, 1);
}

/* How often a process was granted before one that had joined the queue earlier. */
static int passes(void)
{
    int n = 0;

    for (int i = 0; i < PROCESSES; i++) {
        for (int j = i + 1; j < PROCESSES; j++)
            n += scene->order[i] > scene->order[j];
    }
    return n;
}

static int play_order(const struct sem_ops *ops)
{
    struct shared_sem *s = &scene->sem;
    pid_t pids[PROCESSES];

    shared_make(s, ops, 1);
    atomic_store(&scene->place, 0);
    if (ops->acquire(s, 1) != 0)
        die("acquire", 0);
    for (scene->next = 0; scene->next < PROCESSES; scene->next++) {
        pids[scene->next] = shared_start(run_in_order, NULL);
        while (shared_waiters(s) != scene->next + 1)
            sleep_ns(20 * NS_PER_US);
    }
    ops->release(s, 1);
    for (int i = 0; i < PROCESSES; i++)
        shared_join(pids[i]);
    shared_destroy(s);
    return passes();
}

static void order(bool quick)
{
    static struct report_table t;
    const char *title = "shared: 64 processes queue for one unit; passes";
    const int rounds = quick ? 1 : 10;
    int ours = 0, theirs = 0;

    report_table_begin(&t, "shared", "order", title, "passes in all rounds");
    report_goal(&t, ops_undo.name, NULL, 0);
    for (int i = 0; i < rounds; i++) {
        progress_show(title, (double)i / rounds);
        ours += play_order(&ops_undo);
        theirs += play_order(&ops_semop_undo);
    }
    report_add(&t, ops_undo.name, ours);
    report_add(&t, ops_semop_undo.name, theirs);
    report_table(&t);
}

/* ---- A holder is killed ---- */

static void run_holder(void *arg)
{
    struct shared_sem *s = &scene->sem;

    (void)arg;
    shared_enter(s);
    s->ops->acquire(s, 1);
    atomic_store(&scene->ready, 1);
    for (;;)
        pause();
}

static void run_heir(void *arg)
{
    struct shared_sem *s = &scene->sem;

    (void)arg;
    shared_enter(s);
    atomic_store(&scene->ready, 2);
    if (s->ops->acquire(s, 1) != 0)
        die("acquire", 0);
    atomic_store(&scene->acquired_ns, now_ns());
}

static void await_ready(int value)
{
    while (atomic_load(&scene->ready) != value)
        sleep_ns(20 * NS_PER_US);
}

/* Returns ms from the death of the holder until the next one has the unit. */
static double play_death(const struct sem_ops *ops, int64_t after_ns)
{
    int64_t killed_ns;
    pid_t holder, heir;

    shared_make(&scene->sem, ops, 1);
    holder = shared_start(run_holder, NULL);
    await_ready(1);
    heir = shared_start(run_heir, NULL);
    await_ready(2);
    sleep_ns(after_ns);
    killed_ns = now_ns();
    shared_kill(holder);
    shared_join(heir);
    shared_destroy(&scene->sem);
    return (double)(atomic_load(&scene->acquired_ns) - killed_ns) / (double)NS_PER_MS;
}

static void death(bool quick)
{
    static const struct sem_ops *const kinds[] = {
        &ops_undo, &ops_semop_undo, &ops_flock, &ops_fcntl,
    };
    static struct report_table t;
    const char *title = "shared: a holder is killed; the time until the next waiter has its unit";
    const int repetitions = quick ? 2 : 40;

    report_table_begin(&t, "shared", "death", title, "ms");
    report_goal(&t, ops_undo.name, NULL, 110);
    for (int i = 0; i < repetitions; i++) {
        progress_show(title, (double)i / repetitions);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            /* At any time between two checks by the waiting process. */
            report_add(&t, kinds[k]->name,
                       play_death(kinds[k], (20 + i * 37 % 100) * NS_PER_MS));
        }
    }
    report_table(&t);
    shared_longest(&t, "death-longest", ops_undo.name, 150);
    report_note("sem_t takes no part: there, the next in the queue waits for ever");
}

/* ---- A thousand lives ---- */

static void run_life(void *arg)
{
    (void)arg;
    if (fairsem_shared_acquire(scene->sem.fair, 1) != 0)
        die("acquire", 0);
}

static void lives(bool quick)
{
    static struct report_table t, cost;
    const int count = quick ? 100 : LIVES;
    fairsem_shared_stat_t stat;
    int64_t begin;

    report_table_begin(&t, "shared", "lives",
                       "shared: processes that take a unit and end; what stays behind",
                       "entries in use, and units missing");
    report_table_begin(&cost, "shared", "lives-cost", "shared: such a process, from fork to wait",
                       "us");
    report_goal(&t, ops_undo.name, NULL, 0);
    shared_make(&scene->sem, &ops_undo, 2);
    begin = now_ns();
    for (int i = 0; i < count; i++)
        shared_join(shared_start(run_life, NULL));
    report_add(&cost, ops_undo.name, (double)(now_ns() - begin) / count / (double)NS_PER_US);
    if (fairsem_shared_stat(scene->sem.fair, &stat) != 0)
        die("stat", 0);
    report_add(&t, ops_undo.name,
        (double)(stat.processes - 1) + (double)(stat.capacity - stat.available));
    shared_destroy(&scene->sem);
    report_table(&t);
    report_table(&cost);
}

/* ---- In the shell ---- */

static bool is_there(const char *command)
{
    char text[300];

    snprintf(text, sizeof text, "command -v %s > /dev/null 2>&1", command);
    return system(text) == 0;
}

static void command(struct report_table *t, const char *peer, const char *text)
{
    int64_t begin = now_ns();

    if (system(text) == 0)
        report_add(t, peer, (double)(now_ns() - begin) / (double)NS_PER_MS);
}

/* Commands that run `true` under a limit of 1. */
static void commands(bool quick)
{
    static struct report_table t;
    const char *limit = getenv("FAIRSEM_LIMIT");
    const int repetitions = quick ? 2 : 15;
    char ours[300];

    if (limit == NULL || *limit == '\0')
        limit = "fairsem-limit";
    snprintf(ours, sizeof ours, "%s fairsem-bench-%ld 1 -- true", limit, (long)getpid());
    report_table_begin(&t, "shared", "command",
                       "shared: a shell that runs `true` when it is its turn", "ms");
    for (int i = 0; i < repetitions; i++) {
        if (is_there(limit))
            command(&t, "fairsem-limit", ours);
        if (is_there("flock"))
            command(&t, "flock(1)", "flock /tmp true");
        if (is_there("parallel") && is_there("sem"))
            command(&t, "sem (GNU parallel)", "sem --fg --id fairsem-bench true");
    }
    if (t.row_count > 0)
        report_table(&t);
    if (report_find(&t, "fairsem-limit") != NULL) {
        snprintf(ours, sizeof ours, "%s --remove fairsem-bench-%ld", limit, (long)getpid());
        if (system(ours) != 0)
            report_note("fairsem-limit --remove has failed");
    }
}

void shared_lives_run(bool quick)
{
    scene = shared_memory(sizeof *scene);
    order(quick);
    death(quick);
    lives(quick);
    commands(quick);
}
