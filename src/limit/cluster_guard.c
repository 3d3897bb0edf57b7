/* SPDX-License-Identifier: MIT */
/*
 * cluster_guard.c - end the command before etcd gives its place away; see cluster_name.h.
 *
 * If no renewal is answered, the command and all its descendants get SIGTERM when an eighth of the
 * lease is left of the time for which the hold is good, and SIGKILL when that is over; a quarter of
 * the lease later etcd gives the place to the next.
 *
 * From the moment that a lease is in danger until the command has been killed, nothing blocks this
 * thread, needs memory or a descriptor, or asks anybody: what is needed was made before, and a thread
 * of its own writes the message, which may wait for a terminal or a pipe for ever.
 */
#define _GNU_SOURCE
#include "cluster_name.h"

#include "process.h"
#include "run/command.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILL_AGAIN_MS = 20, WORDS_MS = 1000, NS_PER_MS = 1000000 };

struct cluster_guard {
    struct guard               guard;       /* first */
    const struct cluster_name *name;
    fairsem_cluster_hold_t    *hold;
    int64_t                    grace;       /* before the end of the hold */
    bool                       told, ending;
    char                       words[1000];
    int                        length;
    _Atomic bool               written;
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
static void signal_all(pid_t child, int signal)
{
    static long list[4096];
    size_t count;

    if (child != 0)
        signal_one(child, signal);
    count = process_descendants(list, sizeof list / sizeof list[0]);
    for (size_t i = 0; i < count; i++) {
        if (list[i] != child)
            signal_one((pid_t)list[i], signal);
    }
}

/* ---- Words ---- */

/* By a bare write: somebody else may need the lock of stderr. */
static void *write_words(void *arg)
{
    struct cluster_guard *g = arg;
    ssize_t written;

    do
        written = write(STDERR_FILENO, g->words, (size_t)g->length);
    while (written < 0 && errno == EINTR);
    atomic_store(&g->written, true);
    return NULL;
}

/* After the signals. */
static void tell_loss(struct cluster_guard *g, int lost)
{
    pthread_t writer;

    if (g->told)
        return;
    g->told = true;
    g->length = snprintf(g->words, sizeof g->words, "%s: %s: %s; %s\n", program_invocation_short_name,
                         g->name->request->name, cluster_error(lost != 0 ? lost : ENETUNREACH),
                         g->name->request->cluster.keep_running
                         ? "another command may have the place now" : "the command is ended");
    if (g->length >= (int)sizeof g->words)
        g->length = sizeof g->words - 1;
    if (pthread_create(&writer, NULL, write_words, g) == 0)
        pthread_detach(writer);
}

/* Before the process ends, give them a moment. */
static void finish_words(const struct cluster_guard *g)
{
    for (int i = 0; g->told && !atomic_load(&g->written) && i < WORDS_MS; i++)
        poll(NULL, 0, 1);
}

/* ---- The guard ---- */

static int guard_looks(struct guard *guard, pid_t child)
{
    struct cluster_guard *g = (struct cluster_guard *)guard;
    int lost = fairsem_cluster_lost(g->hold);
    int64_t left = fairsem_cluster_left(g->hold);
    uint64_t events;

    if (read(guard->fd, &events, sizeof events) < 0 && errno != EAGAIN && errno != EINTR)
        guard->fd = -1;
    if (g->name->request->cluster.keep_running) {
        if (left == 0)
            tell_loss(g, lost);
        return left == 0 ? -1 : (int)(left / NS_PER_MS) + 1;
    }
    if (!g->ending && left > g->grace)
        return (int)((left - g->grace) / NS_PER_MS) + 1;
    if (!g->ending) {
        g->ending = true;
        signal_all(child, SIGTERM);
        tell_loss(g, lost);
    }
    if (left >= NS_PER_MS)
        return (int)(left / NS_PER_MS);
    signal_all(child, SIGKILL);
    return KILL_AGAIN_MS;
}

/* Whatever the command has left behind must be gone, too. */
static void kill_all(void)
{
    do
        signal_all(0, SIGKILL);
    while (waitpid(-1, NULL, WNOHANG) >= 0 && poll(NULL, 0, KILL_AGAIN_MS) >= 0);
}

static bool guard_ended(struct guard *guard, int status)
{
    struct cluster_guard *g = (struct cluster_guard *)guard;

    (void)status;
    if (g->ending)
        kill_all();
    fairsem_cluster_release(g->hold);     /* if etcd does not answer, the lease ends by itself */
    finish_words(g);
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
