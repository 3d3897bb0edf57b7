/* SPDX-License-Identifier: MIT */
/*
 * cluster_supervise.c - end the command before etcd grants its units to another command; see cluster_name.h.
 *
 * A hold is valid for three quarters of the lease, as fairsem-limit(1) says.  The command gets SIGKILL at the
 * end of the hold, and SIGTERM an eighth of the lease before the end.
 *
 * From the SIGTERM until the command has been killed, the main thread does not query etcd, and depends only on
 * memory and descriptors that were reserved before the command started.
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
#define GIVE_UP_NS INT64_C(10000000000)    /* from the first SIGKILL until the survivors count as unkillable */

struct cluster_supervisor {
    struct supervisor          supervisor;  /* first, because check_hold() casts &supervisor */
    const struct cluster_name *name;
    fairsem_cluster_hold_t    *hold;
    int64_t                    grace;       /* from SIGTERM to the end of the hold */
    bool                       reported, ending, killing;
    struct timespec            since;       /* time of the first SIGTERM; if `killing`, of the first SIGKILL */
    long                       found[4096]; /* the descendants, as of the last search */
    size_t                     found_count;
    const char                *words[2];
};

static void signal_one(pid_t pid, int signal)
{
    kill(pid, signal);
    if (signal == SIGTERM)
        kill(pid, SIGCONT);         /* a stopped process would not handle the SIGTERM */
}

/*
 * Signal the command (`child`, or 0 if it has ended) and all other descendants, which are found only with
 * /proc.  Orphans become children of this process (a subreaper), so the descendants include the children of a
 * killed shell.
 */
static void signal_all(struct cluster_supervisor *s, pid_t child, int signal)
{
    if (child != 0)
        signal_one(child, signal);
    s->found_count = process_descendants(s->found, sizeof s->found / sizeof s->found[0]);
    for (size_t i = 0; i < s->found_count; i++) {
        if (s->found[i] != child)
            signal_one((pid_t)s->found[i], signal);
    }
}

/* ---- Words ---- */

static fairsem_t words_free = FAIRSEM_INITIALIZER(1);

/*
 * Runs in a separate thread, because a terminal or a pipe may block write() for ever, and fairsem_cluster_why()
 * may wait for the handle's lock.  Does not use stdio, because another thread may hold the lock of stderr.
 */
static void *write_words(void *arg)
{
    struct cluster_supervisor *s = arg;
    char why[200] = "", text[1000];
    ssize_t written;

    if (!s->killing)
        fairsem_cluster_why(s->name->handle, why, sizeof why);
    snprintf(text, sizeof text, "%s: %s: %s%s%s%s\n", program_invocation_short_name, s->name->name, s->words[0],
             s->words[1], why[0] != '\0' ? ": " : "", why);
    do
        written = write(STDERR_FILENO, text, strlen(text));
    while (written < 0 && errno == EINTR);
    fairsem_release(&words_free, 1);
    return NULL;
}

/* Wait at most a second for the end of the last message, and take words_free.  Returns false on a timeout. */
static bool finish_words(void)
{
    return fairsem_acquire_for(&words_free, 1, INT64_C(1000) * NS_PER_MS) == 0;
}

/* Print a message.  The message is lost if the previous one is not written within a second. */
static void say(struct cluster_supervisor *s, const char *what, const char *more)
{
    if (!finish_words())
        return;
    s->words[0] = what;
    s->words[1] = more;
    if (!cluster_start_thread(write_words, s))
        fairsem_release(&words_free, 1);
}

/* ---- Supervise ---- */

/* Print the processes that cannot be killed, and exit: etcd takes back the units in any case. */
static void give_up(struct cluster_supervisor *s, pid_t child)
{
    static char list[500] = " unknown ones, without /proc";

    if (s->found_count == 0 && child != 0)
        s->found[s->found_count++] = child;
    for (size_t i = 0, used = 0; i < s->found_count && used < sizeof list - 30; i++)
        used += (size_t)sprintf(list + used, " %ld", s->found[i]);
    say(s, "these processes could not be killed, and still run:", list);
    finish_words();
    _exit(OWN_FAILURE);
}

static int check_hold(struct supervisor *supervisor, pid_t child)
{
    struct cluster_supervisor *s = (struct cluster_supervisor *)supervisor;
    int lost = fairsem_cluster_lost(s->hold);
    int64_t left = fairsem_cluster_left(s->hold);
    const char *why = lost != 0 ? cluster_error(lost) : "the lease was not renewed in time";
    uint64_t events;

    if (read(supervisor->fd, &events, sizeof events) < 0 && errno != EAGAIN && errno != EINTR)
        supervisor->fd = -1;
    if (s->name->request->cluster.keep_running) {
        if (left == 0 && !s->reported)
            say(s, why, "; another command may have the place now");
        s->reported = left == 0;
        return left == 0 ? -1 : (int)(left / NS_PER_MS) + 1;
    }
    if (!s->ending && left > s->grace)
        return (int)((left - s->grace) / NS_PER_MS) + 1;
    if (!s->ending) {
        s->ending = true;
        clock_gettime(CLOCK_MONOTONIC, &s->since);
        signal_all(s, child, SIGTERM);
        say(s, why, "; the command is ended");
    }
    /*
     * A late renewal of the lease gives the command more time.  Processes that the command has left behind have
     * only the time `grace` after the first SIGTERM.
     */
    if (!s->killing && left >= NS_PER_MS && (child != 0 || duration_since(&s->since) < s->grace))
        return (int)(left / NS_PER_MS);
    if (!s->killing)
        clock_gettime(CLOCK_MONOTONIC, &s->since);
    s->killing = true;
    signal_all(s, child, SIGKILL);
    if (duration_since(&s->since) > GIVE_UP_NS)
        give_up(s, child);
    return LOOK_AGAIN_MS;
}

/* Wait until the processes that the command has left behind end.  check_hold() signals and kills them. */
static void end_rest(struct cluster_supervisor *s)
{
    pid_t ended;

    do {
        check_hold(&s->supervisor, 0);
        do
            ended = waitpid(-1, NULL, WNOHANG);
        while (ended > 0);
    } while (ended == 0 && poll(NULL, 0, LOOK_AGAIN_MS) >= 0);
}

static bool cluster_command_ended(struct supervisor *supervisor, int status)
{
    struct cluster_supervisor *s = (struct cluster_supervisor *)supervisor;

    (void)status;
    if (s->ending)
        end_rest(s);
    cluster_release(s->hold, false);
    finish_words();
    return !s->ending;      /* a command that got our SIGTERM has failed, even if its status is 0 */
}

int cluster_run_supervised(const struct cluster_name *name, fairsem_cluster_hold_t *hold,
                        struct command *command)
{
    int64_t lease = name->request->cluster.ttl_ns;
    static struct cluster_supervisor s;   /* static: when main() returns, a thread may still write a message */

    s = (struct cluster_supervisor){
        .supervisor = { .fd = fairsem_cluster_fd(name->handle), .check = check_hold, .ended = cluster_command_ended },
        .name = name, .hold = hold,
        .grace = (lease != 0 ? lease : FAIRSEM_CLUSTER_TTL) / 8,
    };
    if (!name->request->cluster.keep_running) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        process_prepare();
    }
    return run_as_child(command, &s.supervisor);
}
