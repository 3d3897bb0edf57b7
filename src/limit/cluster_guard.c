/* SPDX-License-Identifier: MIT */
/*
 * cluster_guard.c - end the command before etcd gives its place away; see cluster_name.h.
 *
 * As fairsem-limit(1) says, a hold is valid for three quarters of the lease.  SIGKILL is sent at its end,
 * SIGTERM an eighth of the lease earlier.
 *
 * From the moment that a lease is in danger until the command has been killed, this thread does not block,
 * allocate memory, open a descriptor or query etcd: everything it needs was made before.  A separate
 * thread writes the message, because a terminal or a pipe may block it for ever.
 */
#define _GNU_SOURCE
#include "cluster_name.h"

#include "process.h"
#include "run/command.h"
#include "run/duration.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_AGAIN_MS = 20, NS_PER_MS = 1000000 };
#define GIVE_UP_NS INT64_C(10000000000)    /* after the first SIGKILL */

struct cluster_guard {
    struct guard               guard;       /* first */
    const struct cluster_name *name;
    fairsem_cluster_hold_t    *hold;
    int64_t                    grace;       /* before the end of the hold */
    bool                       told, ending, killing;
    struct timespec            since;       /* the first SIGTERM, then the first SIGKILL */
    long                       found[4096]; /* the descendants, as of the last search */
    size_t                     found_count;
    const char                *words[2];
};

static void signal_one(pid_t pid, int signal)
{
    kill(pid, signal);
    if (signal == SIGTERM)
        kill(pid, SIGCONT);         /* a stopped process would not handle the signal */
}

/*
 * Signal the command first (child is 0 if it has ended), because that needs no /proc; then all descendants.
 * This process is the parent of orphans among them, so it also finds what a killed shell leaves behind.
 */
static void signal_all(struct cluster_guard *g, pid_t child, int signal)
{
    if (child != 0)
        signal_one(child, signal);
    g->found_count = process_descendants(g->found, sizeof g->found / sizeof g->found[0]);
    for (size_t i = 0; i < g->found_count; i++) {
        if (g->found[i] != child)
            signal_one((pid_t)g->found[i], signal);
    }
}

/* ---- Words ---- */

static fairsem_t words_free = FAIRSEM_INITIALIZER(1);

/* Use write(), because another thread may hold the lock of stderr.  Texts of the library take the handle's lock. */
static void *write_words(void *arg)
{
    struct cluster_guard *g = arg;
    char why[200] = "", text[1000];
    ssize_t written;

    if (!g->killing)
        fairsem_cluster_why(g->name->handle, why, sizeof why);
    snprintf(text, sizeof text, "%s: %s: %s%s%s%s\n", program_invocation_short_name, g->name->name, g->words[0],
             g->words[1], why[0] != '\0' ? ": " : "", why);
    do
        written = write(STDERR_FILENO, text, strlen(text));
    while (written < 0 && errno == EINTR);
    fairsem_release(&words_free, 1);
    return NULL;
}

/* Wait up to a second until the last message is written.  Returns false if it is not. */
static bool finish_words(void)
{
    return fairsem_acquire_for(&words_free, 1, INT64_C(1000) * NS_PER_MS) == 0;
}

/* Print a message, if the previous one has been written. */
static void say(struct cluster_guard *g, const char *what, const char *more)
{
    if (!finish_words())
        return;
    g->words[0] = what;
    g->words[1] = more;
    if (!cluster_start_thread(write_words, g))
        fairsem_release(&words_free, 1);
}

/* ---- The guard ---- */

/* Name the processes that cannot be killed, and exit: the place is lost in any case. */
static void give_up(struct cluster_guard *g, pid_t child)
{
    static char list[500] = " unknown ones, without /proc";

    if (g->found_count == 0 && child != 0)
        g->found[g->found_count++] = child;
    for (size_t i = 0, used = 0; i < g->found_count && used < sizeof list - 30; i++)
        used += (size_t)sprintf(list + used, " %ld", g->found[i]);
    say(g, "these processes cannot be killed, and go on:", list);
    finish_words();
    _exit(OWN_FAILURE);
}

static int guard_looks(struct guard *guard, pid_t child)
{
    struct cluster_guard *g = (struct cluster_guard *)guard;
    int lost = fairsem_cluster_lost(g->hold);
    int64_t left = fairsem_cluster_left(g->hold);
    const char *why = lost != 0 ? cluster_error(lost) : "the place was not renewed";
    uint64_t events;

    if (read(guard->fd, &events, sizeof events) < 0 && errno != EAGAIN && errno != EINTR)
        guard->fd = -1;
    if (g->name->request->cluster.keep_running) {
        if (left == 0 && !g->told)
            say(g, why, "; another command may have the place now");
        g->told = left == 0;
        return left == 0 ? -1 : (int)(left / NS_PER_MS) + 1;
    }
    if (!g->ending && left > g->grace)
        return (int)((left - g->grace) / NS_PER_MS) + 1;
    if (!g->ending) {
        g->ending = true;
        clock_gettime(CLOCK_MONOTONIC, &g->since);
        signal_all(g, child, SIGTERM);
        say(g, why, "; the command is ended");
    }
    /* A renewal that succeeds after all gives more time to the command, not to processes that it has left behind. */
    if (!g->killing && left >= NS_PER_MS && (child != 0 || duration_since(&g->since) < g->grace))
        return (int)(left / NS_PER_MS);
    if (!g->killing)
        clock_gettime(CLOCK_MONOTONIC, &g->since);
    g->killing = true;
    signal_all(g, child, SIGKILL);
    if (duration_since(&g->since) > GIVE_UP_NS)
        give_up(g, child);
    return LOOK_AGAIN_MS;
}

/* Processes that the command has left behind must end in time, too. */
static void end_rest(struct cluster_guard *g)
{
    pid_t ended;

    do {
        guard_looks(&g->guard, 0);
        do
            ended = waitpid(-1, NULL, WNOHANG);
        while (ended > 0);
    } while (ended == 0 && poll(NULL, 0, LOOK_AGAIN_MS) >= 0);
}

static bool guard_ended(struct guard *guard, int status)
{
    struct cluster_guard *g = (struct cluster_guard *)guard;

    (void)status;
    if (g->ending)
        end_rest(g);
    cluster_turn_give_back(g->hold, false);
    finish_words();
    return !g->ending;      /* a command that was told to stop has failed, even if its status is 0 */
}

int cluster_run_guarded(const struct cluster_name *name, fairsem_cluster_hold_t *hold,
                        struct command *command)
{
    int64_t lease = name->request->cluster.ttl_ns;
    static struct cluster_guard g;      /* static: a thread may still write a message when the process ends */

    g = (struct cluster_guard){
        .guard = { .fd = fairsem_cluster_fd(name->handle), .look = guard_looks, .ended = guard_ended },
        .name = name, .hold = hold,
        .grace = (lease != 0 ? lease : FAIRSEM_CLUSTER_TTL) / 8,
    };
    if (!name->request->cluster.keep_running) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        process_prepare();
    }
    return run_as_child(command, &g.guard);
}
