/* SPDX-License-Identifier: MIT */
/* shared_crowd.c - many processes at one semaphore: pollers, long queues, processes that stop. */
#define _GNU_SOURCE

#include "clock.h"
#include "die.h"
#include "report.h"
#include "shared_peers.h"
#include "stats.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { MOST = 1000, PAIRS = 400 };

struct crowd {
    struct shared_sem sem;
    atomic_int        ready;
    atomic_bool       over;
};

static struct crowd *crowd;
static pid_t         pids[MOST];

static void make(const struct sem_ops *ops, int64_t units, int processes)
{
    const fairsem_shared_attr_t attr = { .units = units, .max_processes = processes + 4,
                                         .max_waiters = processes + 4 };

    atomic_store(&crowd->ready, 0);
    atomic_store(&crowd->over, false);
    if (ops != &ops_undo) {
        shared_make(&crowd->sem, ops, (int)units);
        return;
    }
    crowd->sem = (struct shared_sem){ .ops = ops, .id = -1 };
    if (fairsem_shared_open(&crowd->sem.fair, NULL, 0, 0, &attr) != 0)
        die("fairsem_shared_open failed", 0);
}

static void await(int ready)
{
    while (atomic_load(&crowd->ready) != ready)
        sleep_ns(100 * NS_PER_US);
}

static void end_all(int count)
{
    for (int i = 0; i < count; i++)
        shared_kill(pids[i]);
    shared_destroy(&crowd->sem);
}

/* ---- A process polls ---- */

static void hold(void *arg)
{
    (void)arg;
    if (crowd->sem.ops->acquire(&crowd->sem) != 0)
        die("acquire failed", 0);
    atomic_fetch_add(&crowd->ready, 1);
    for (;;)
        pause();
}

/* Try again and again to take more units than exist. */
static void poll_for_two(void *arg)
{
    const struct shared_sem *s = &crowd->sem;

    (void)arg;
    atomic_fetch_add(&crowd->ready, 1);
    for (;;) {
        if (s->fair != NULL)
            (void)!fairsem_shared_tryacquire(s->fair, 2);
        else
            semop(s->id, &(struct sembuf){ .sem_op = -2, .sem_flg = SEM_UNDO | IPC_NOWAIT }, 1);
    }
}

/* The 99th percentile of the times of many pairs of acquire and release. */
static double play_poller(const struct sem_ops *ops, int holders, int pairs)
{
    static double ns[PAIRS];
    struct shared_sem *s = &crowd->sem;

    make(ops, holders + 1, holders + 1);
    for (int i = 0; i < holders; i++)
        pids[i] = shared_start(hold, NULL);
    await(holders);
    pids[holders] = shared_start(poll_for_two, NULL);
    await(holders + 1);
    for (int i = 0; i < pairs; i++) {
        int64_t begin = now_ns();

        if (ops->acquire(s) != 0 || ops->release(s) != 0)
            die("acquire or release failed", 0);
        ns[i] = (double)(now_ns() - begin);
        sleep_ns(20 * NS_PER_US);
    }
    end_all(holders + 1);
    stats_sort(ns, (size_t)pairs);
    return stats_quantile(ns, (size_t)pairs, 0.99);
}

static void poller(bool quick)
{
    static const struct sem_ops *const ops[] = { &ops_undo, &ops_semop_undo };
    static const int numbers[] = { 4, 60, 300 };
    const int pairs = quick ? 50 : PAIRS;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char setting[60];

        snprintf(setting, sizeof setting, "beside a poller, %d hold a unit", numbers[i]);
        for (int round = 0; round < (quick ? 2 : 10); round++)
            REPORT("shared", setting, ops[round % 2]->name,
                   { "p99_pair_ns", play_poller(ops[round % 2], numbers[i], pairs) });
    }
}

/* ---- A long queue in which nothing happens ---- */

static void wait_in_queue(void *arg)
{
    (void)arg;
    (void)!crowd->sem.ops->acquire(&crowd->sem);
}

static double processor_seconds(int count)
{
    double seconds = 0;

    for (int i = 0; i < count; i++) {
        struct timespec used;
        clockid_t clock;

        if (clock_getcpuclockid(pids[i], &clock) == 0 && clock_gettime(clock, &used) == 0)
            seconds += (double)used.tv_sec + (double)used.tv_nsec / 1e9;
    }
    return seconds;
}

static void idle(bool quick)
{
    const int count = quick ? 50 : MOST, seconds = quick ? 1 : 5;
    double before;

    make(&ops_undo, 1, count);
    if (fairsem_shared_acquire(crowd->sem.fair, 1) != 0)
        die("acquire failed", 0);
    for (int i = 0; i < count; i++)
        pids[i] = shared_start(wait_in_queue, NULL);
    while (fairsem_shared_waiters(crowd->sem.fair) != count)
        sleep_ns(10 * NS_PER_MS);
    for (int i = 0; i < (quick ? 1 : 3); i++) {
        before = processor_seconds(count);
        sleep_ns(seconds * NS_PER_S);
        REPORT("shared", "1,000 processes wait", ops_undo.name,
               { "percent_of_a_core", (processor_seconds(count) - before) * 100 / seconds });
    }
    end_all(count);
}

/* ---- A busy process is stopped, perhaps while it has the lock of the semaphore ---- */

static void be_busy(void *arg)
{
    (void)arg;
    atomic_fetch_add(&crowd->ready, 1);
    while (fairsem_shared_acquire(crowd->sem.fair, 1) == 0)
        fairsem_shared_release(crowd->sem.fair, 1);
}

static void stopped(bool quick)
{
    enum { BUSY = 4 };
    const int rounds = quick ? 4 : 60;
    uint64_t random = (uint64_t)now_ns() | 1;

    make(&ops_undo, 2, BUSY);
    for (int i = 0; i < BUSY; i++)
        pids[i] = shared_start(be_busy, NULL);
    await(BUSY);
    for (int i = 0; i < rounds; i++) {
        pid_t pid = pids[i % BUSY];
        int64_t begin;
        int error;

        random = random * 6364136223846793005u + 1442695040888963407u;
        sleep_ns((int64_t)(random >> 33) % NS_PER_MS);
        kill(pid, SIGSTOP);
        begin = now_ns();
        error = fairsem_shared_acquire_for(crowd->sem.fair, 1, NS_PER_MS);
        REPORT("shared", "acquire of 1 ms, one of four is stopped", ops_undo.name,
               { "acquire_ns", (double)(now_ns() - begin) });
        kill(pid, SIGCONT);
        if (error == 0)
            fairsem_shared_release(crowd->sem.fair, 1);
    }
    end_all(BUSY);
}

/* ---- Commands in the shell ---- */

static char name[40];
static const char *limit_command;

/* Start a command under the limit.  The shell execs it, so the process ID is that of fairsem-limit. */
static pid_t start_command(const char *command)
{
    char text[200];
    pid_t pid;

    snprintf(text, sizeof text, "exec %s %s 1 -- %s", limit_command, name, command);
    pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", text, (char *)NULL);
        _exit(127);
    }
    if (pid < 0)
        die("fork failed", 0);
    return pid;
}

/* Returns the number of waiters, or -1 if the name does not exist yet.
 * *longest is the longest query so far, in ns.
 */
static int ask_status(double *longest)
{
    char text[200], line[200], *waiting = NULL;
    int64_t begin = now_ns();
    double ns;
    FILE *pipe;

    snprintf(text, sizeof text, "exec %s --status %s 2> /dev/null", limit_command, name);
    pipe = popen(text, "r");
    if (pipe == NULL)
        die("popen failed", 0);
    if (fgets(line, sizeof line, pipe) != NULL)
        waiting = strstr(line, ", waiting ");
    ns = (double)(now_ns() - begin);
    pclose(pipe);
    if (ns > *longest)
        *longest = ns;
    return waiting != NULL ? atoi(waiting + strlen(", waiting ")) : -1;
}

static void remove_name(void)
{
    char text[200];

    snprintf(text, sizeof text, "%s --remove --force %s > /dev/null 2>&1", limit_command, name);
    (void)!system(text);
}

static void commands_in_line(bool quick)
{
    const int count = quick ? 20 : MOST;
    double longest = 0, line, turn;
    pid_t holder = start_command("sleep 1000");
    int64_t begin;

    while (ask_status(&longest) != 0)
        sleep_ns(10 * NS_PER_MS);
    longest = 0;
    begin = now_ns();
    for (int i = 0; i < count; i++)
        pids[i] = start_command("true");
    while (ask_status(&longest) != count)
        sleep_ns(50 * NS_PER_MS);
    line = (double)(now_ns() - begin);
    begin = now_ns();
    kill(holder, SIGTERM);
    waitpid(holder, NULL, 0);
    for (int i = 0; i < count; i++) {
        if (i % 100 == 0)
            ask_status(&longest);
        waitpid(pids[i], NULL, 0);
    }
    turn = (double)(now_ns() - begin);
    REPORT("shared", "1,000 commands", "fairsem-limit", { "until_all_stand_in_line_ns", line },
           { "until_all_have_run_ns", turn }, { "longest_status_ns", longest });
    remove_name();
}

static void callers(const char *peer, const char *command)
{
    char text[400];
    int64_t begin = now_ns();

    snprintf(text, sizeof text, "i=0; while [ $i -lt 8 ]; do (j=$i; while [ $j -lt 100 ]; do "
             "%s true; j=$((j + 8)); done) & i=$((i + 1)); done; wait", command);
    if (system(text) != 0)
        die(command, 0);
    REPORT("shared", "100 commands, eight callers", peer, { "all_ns", (double)(now_ns() - begin) });
}

static void commands_by_callers(bool quick)
{
    char ours[200];

    snprintf(ours, sizeof ours, "%s %s 1 --", limit_command, name);
    for (int i = 0; i < (quick ? 1 : 7); i++) {
        callers("fairsem-limit", ours);
        if (system("command -v flock > /dev/null 2>&1") == 0)
            callers("flock(1)", "flock /tmp");
    }
    remove_name();
}

static void commands(bool quick)
{
    char text[200];

    limit_command = getenv("FAIRSEM_LIMIT");
    if (limit_command == NULL || *limit_command == '\0')
        limit_command = "fairsem-limit";
    snprintf(name, sizeof name, "fairsem-bench-crowd-%ld", (long)getpid());
    snprintf(text, sizeof text, "command -v %s > /dev/null 2>&1", limit_command);
    if (system(text) != 0)
        return;
    commands_in_line(quick);
    commands_by_callers(quick);
}

void shared_crowd_run(bool quick)
{
    crowd = shared_memory(sizeof *crowd);
    poller(quick);
    idle(quick);
    stopped(quick);
    commands(quick);
}
