/* SPDX-License-Identifier: MIT */
/*
 * killed-jobs.c - jobs under fairsem-limit, some of which are killed: their units come back.
 *
 *     killed-jobs FAIRSEM-LIMIT DIRECTORY
 *
 * Eight processes each compress a part of a tree, three at a time.  Three times, a process chosen at random
 * is killed with SIGKILL, which no program can handle.  The process may be running or waiting.  A new
 * process starts at the end of the queue and does the part again.  A table shows the history of each
 * process.  In the end, the sum over all parts must be the sum of the tree.
 *
 * With --exec, fairsem-limit becomes the job, so the process that is killed is the job itself.
 *
 * Even on a fast machine there is time for three kills: each job stops halfway until this program
 * continues it, and at three of the first eight stops the program kills a process.
 */
#define _POSIX_C_SOURCE 200809L

#include "killed_job.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARTS = 8, LIMIT = 3, KILLS = 3, MOST = PARTS + KILLS };

/* One process.  A time is 0 until its event has happened. */
struct process {
    pid_t   pid;
    int     part, order;        /* order: 1 began first, 2 second, ...; 0 has not begun */
    int64_t came, began, ended; /* ended by itself or killed */
    int64_t back;               /* when the next process began with its unit */
    bool    halfway;            /* has stopped, or is about to, until go_on() */
    bool    killed;
};

static struct process processes[MOST];
static int count, begun, stops, done, kills, most_at_once;
static struct sum total;
static const char *limit, *directory;
static char name[40];
static int events[2];       /* a pipe */

static void check(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "killed-jobs: FAILED: %s\n", what);
    for (int i = 0; i < count; i++) {
        if (processes[i].ended == 0)
            kill(processes[i].pid, SIGKILL);
    }
    exit(EXIT_FAILURE);
}

/* ---- Processes ---- */

static void start(int part)
{
    struct process *p = &processes[count];
    char itself[] = "/proc/self/exe", part_text[20], fd_text[20], path[4096];
    ssize_t length = readlink(itself, path, sizeof path - 1);

    check(length > 0, "readlink");
    path[length] = '\0';
    *p = (struct process){ .part = part, .came = now_ns() };
    snprintf(part_text, sizeof part_text, "%d", part);
    snprintf(fd_text, sizeof fd_text, "%d", events[1]);
    p->pid = fork();
    if (p->pid == 0) {
        execl(limit, limit, "--exec", name, "3", "--", path, "--job", part_text, fd_text,
              directory, (char *)NULL);
        _exit(127);
    }
    check(p->pid > 0, "fork");
    count++;
}

static struct process *find(pid_t pid)
{
    for (int i = 0; i < count; i++) {
        if (processes[i].pid == pid)
            return &processes[i];
    }
    check(false, "an unknown process");
    return NULL;
}

static int running(void)
{
    int n = 0;

    for (int i = 0; i < count; i++)
        n += processes[i].began != 0 && processes[i].ended == 0;
    return n;
}

/* A process begins.  It has the unit of the first process that ended and has no successor yet. */
static void hand_over(int64_t now)
{
    struct process *first = NULL;

    for (int i = 0; i < count; i++) {
        struct process *p = &processes[i];

        if (p->began != 0 && p->ended != 0 && p->back == 0
            && (first == NULL || p->ended < first->ended))
            first = p;
    }
    if (first != NULL && begun > LIMIT)
        first->back = now;
}

static void take(const struct event *event)
{
    struct process *p = find(event->pid);

    if (event->sum.files == HALFWAY) {
        p->halfway = true;
        return;
    }
    if (event->sum.files == BEGUN) {
        p->began = event->ns;
        p->order = ++begun;
        hand_over(event->ns);
        most_at_once = running() > most_at_once ? running() : most_at_once;
        return;
    }
    p->ended = event->ns;
    add_sum(&total, &event->sum);
    done++;
}

/* Wait for reports of the jobs, at most `ms`, and read them. */
static void listen_to_jobs(int ms)
{
    struct pollfd ready = { .fd = events[0], .events = POLLIN };
    struct event event;
    int status;

    /*
     * Reap before reading.  A process that was reaped has written its last report, so take() marks the process
     * as ended, and choose() does not choose it.
     */
    while (waitpid(-1, &status, WNOHANG) > 0)
        check(status == 0, "a job");
    while (poll(&ready, 1, ms) > 0) {
        check(read(events[0], &event, sizeof event) == sizeof event, "read");
        take(&event);
        ms = 0;
    }
}

/* The number of jobs that run or wait (see fairsem-limit --status) or are done.  The name may not exist yet. */
static int arrived(void)
{
    char command[4200], line[200];
    int run = 0, wait = 0;
    FILE *status;

    snprintf(command, sizeof command, "'%s' --status %s 2> /dev/null", limit, name);
    status = popen(command, "r");
    check(status != NULL, "popen");
    while (fgets(line, sizeof line, status) != NULL) {
        const char *numbers = strstr(line, ", running ");

        if (numbers != NULL && sscanf(numbers, ", running %d, waiting %d", &run, &wait) != 2)
            check(false, "the status of fairsem-limit");
    }
    pclose(status);
    return run + wait + done;
}

/* ---- Killing ---- */

/* Choose a random process that has not ended.  There is one at least: the job that has just stopped. */
static struct process *choose(void)
{
    int alive = 0, chosen, i = 0;

    for (int j = 0; j < count; j++)
        alive += processes[j].ended == 0;
    for (chosen = rand() % alive; processes[i].ended != 0 || chosen-- > 0; i++)
        continue;
    return &processes[i];
}

/* Kill a process and start its part again.  Returns false if the process had done its part already. */
static bool kill_it(struct process *p)
{
    int64_t now;

    kill(p->pid, SIGKILL);
    now = now_ns();
    waitpid(p->pid, NULL, 0);
    listen_to_jobs(0);
    if (p->ended != 0)
        return false;
    p->ended = now;
    p->killed = true;
    kills++;
    start(p->part);
    return true;
}

/* Continue a job that has stopped halfway.  At KILLS of the first PARTS stops, kill a random process first. */
static void go_on(struct process *p)
{
    int status;

    p->halfway = false;
    check(waitpid(p->pid, &status, WUNTRACED) == p->pid && WIFSTOPPED(status), "a job");
    if (stops < PARTS && rand() % (PARTS - stops) < KILLS - kills) {
        while (!kill_it(choose()))
            continue;
    }
    stops++;
    if (!p->killed)
        kill(p->pid, SIGCONT);
}

/* ---- The table ---- */

static void print(const struct process *p)
{
    char order[20] = "-", ran[20] = "-", back[20] = "-";

    if (p->order != 0)
        snprintf(order, sizeof order, "%d", p->order);
    if (p->began != 0)
        snprintf(ran, sizeof ran, "%.3f s", (double)(p->ended - p->began) / 1e9);
    if (p->back != 0)
        snprintf(back, sizeof back, "%.3f s", (double)(p->back - p->ended) / 1e9);
    printf("  %6s %8ld %5d %9.3f s %10s   %-22s %10s\n", order, (long)p->pid, p->part + 1,
           (double)((p->began != 0 ? p->began : p->ended) - p->came) / 1e9, ran,
           !p->killed ? "done" : p->began != 0 ? "KILLED, held 1 unit" : "KILLED, waiting", back);
}

static int by_order(const void *a, const void *b)
{
    const struct process *x = a, *y = b;

    return (x->order != 0 ? x->order : MOST + 1) - (y->order != 0 ? y->order : MOST + 1);
}

static int report(void)
{
    struct sum tree = { 0, 0, 0 };
    bool right;

    for (int part = 0; part < PARTS; part++) {
        struct sum sum = sum_up(directory, part, PARTS, 0);

        add_sum(&tree, &sum);
    }
    qsort(processes, (size_t)count, sizeof *processes, by_order);
    printf("  %6s %8s %5s %11s %10s   %-22s %10s\n", "served", "process", "part", "waited", "ran",
           "end", "next after");
    for (int i = 0; i < count; i++)
        print(&processes[i]);
    right = tree.files == total.files && tree.bytes == total.bytes && tree.checks == total.checks;
    printf("\nparts done %d, processes killed %d, most at once %d\n"
           "files %lld, bytes %lld: the sum is %s\n", done, kills, most_at_once,
           (long long)total.files, (long long)total.bytes, right ? "right" : "WRONG");
    return right && done == PARTS && kills == KILLS && most_at_once <= LIMIT ? EXIT_SUCCESS
                                                                             : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    int result;
    char command[4200];

    if (argc == 5 && strcmp(argv[1], "--job") == 0)
        return run_job(argv[4], atoi(argv[2]), PARTS, atoi(argv[3]));
    if (argc != 3) {
        fputs("usage: killed-jobs FAIRSEM-LIMIT DIRECTORY\n", stderr);
        return 2;
    }
    limit = argv[1];
    directory = argv[2];
    snprintf(name, sizeof name, "killed-jobs-%ld", (long)getpid());
    check(pipe(events) == 0 && fcntl(events[0], F_SETFD, FD_CLOEXEC) == 0, "pipe");
    for (int part = 0; part < PARTS; part++) {
        start(part);
        do
            listen_to_jobs(5);
        while (arrived() < count);
    }
    srand((unsigned)now_ns());
    while (done < PARTS) {
        listen_to_jobs(5);
        for (int i = 0; i < count; i++) {
            if (processes[i].halfway && processes[i].ended == 0)
                go_on(&processes[i]);
        }
    }
    while (wait(NULL) > 0)
        continue;
    result = report();
    snprintf(command, sizeof command, "'%s' --remove %s", limit, name);
    return system(command) == 0 ? result : EXIT_FAILURE;
}
