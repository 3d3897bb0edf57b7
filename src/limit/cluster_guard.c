/* SPDX-License-Identifier: MIT */
/*
 * cluster_guard.c - end the command before etcd gives its place away; see cluster_name.h.
 *
 * fairsem-limit(1) says when: SIGKILL when the time is over for which the hold is good, three quarters of
 * the lease, and SIGTERM an eighth of the lease before.
 *
 * From the moment that a lease is in danger until the command has been killed, nothing blocks this
 * thread, needs memory or a descriptor, or asks anybody: what is needed was made before, and a thread
 * of its own writes the message, which may wait for a terminal or a pipe for ever.
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
    long                       found[4096]; /* the descendants, when they were last looked for */
    size_t                     found_count;
    const char                *words[2];
};

static void signal_one(pid_t pid, int signal)
{
    kill(pid, signal);
    if (signal == SIGTERM)
        kill(pid, SIGCONT);         /* one that is stopped would not notice */
}

/*
 * The command first, which needs no /proc; 0: it has ended.  This process has the descendants whose
 * parents have died, too; so a shell that is killed leaves nothing behind that would go on.
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

/* By a bare write: another thread may have the lock of stderr.  The library's words take the lock of its handle. */
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

/* Wait for the words a moment, before the next ones or the end.  Returns false if nobody reads them. */
static bool finish_words(void)
{
    return fairsem_acquire_for(&words_free, 1, INT64_C(1000) * NS_PER_MS) == 0;
}

/* A message, if stderr has taken the one before. */
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

/* The place is lost in any case. */
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
    /* If a renewal is answered after all, that is for the command, not for what it has left behind. */
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

/* Whatever the command has left behind must be gone, too, when its time is over. */
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
    return !g->ending;      /* else it has failed, even if it ends with status 0 when it is told to stop */
}

int cluster_run_guarded(const struct cluster_name *name, fairsem_cluster_hold_t *hold,
                        struct command *command)
{
    int64_t lease = name->request->cluster.ttl_ns;
    static struct cluster_guard g;      /* the words may be written when the process ends */

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
