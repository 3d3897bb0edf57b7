/* SPDX-License-Identifier: MIT */
/* cluster_acquire.c - wait for the units of a name; see cluster_name.h. */
#include "cluster_name.h"

#include "output.h"
#include "process.h"
#include "reentrant.h"
#include "wait_line.h"

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum {
    LEAVE_TIMEOUT_MS = 1000,    /* after a signal: time limit to dequeue the request, or to release the units */
    RELEASE_S = 6,              /* time limit of a release, which the library retries for five seconds */
    SECONDS_BETWEEN = 2,        /* from one query for the progress line to the next */
    MORE_FOR_USERS = 50,        /* each 50 commands add a second between queries: a query reads all commands */
};

/* Used by the main thread before the wait, then only by query_thread(). */
static fairsem_cluster_user_t users[CLUSTER_USERS];

/* ---- A command inside a command ---- */

/* Returns the name as in FAIRSEM_LIMIT_HELD: in hexadecimal, because a space in it would end the entry. */
static const char *reentrant_name(const char *name)
{
    static char text[sizeof "etcd:" + 2 * FAIRSEM_CLUSTER_NAME_MAX];
    char *at = text + sprintf(text, "etcd:");

    for (; *name != '\0'; name++)
        at += sprintf(at, "%02x", (unsigned char)*name);
    return text;
}

/* Hashes a URL without regard to a leading "http://", capitals in the host, and trailing slashes. */
static unsigned long long number_of_endpoint(const char *url, size_t length)
{
    unsigned long long number = 14695981039346656037ull;
    size_t host;

    if (strncasecmp(url, "http://", 7) == 0) {
        url += 7;
        length -= 7;
    }
    while (length > 0 && url[length - 1] == '/')
        length--;
    host = strncasecmp(url, "https://", 8) == 0 ? 8 : 0;
    host += strcspn(url + host, "/");
    for (size_t i = 0; i < length; i++) {
        int c = (unsigned char)url[i];

        number = (number ^ (unsigned)(i < host ? tolower(c) : c)) * 1099511628211ull;
    }
    return number;
}

/*
 * Returns the smallest hash of the endpoints.  Two lists with the same smallest hash have an endpoint in
 * common, and thus lead to the same etcd.
 */
static unsigned long long number_of_endpoints(const char *list)
{
    static const char between[] = ", \t\n";
    unsigned long long least = ULLONG_MAX;

    for (list += strspn(list, between); *list != '\0'; list += strspn(list, between)) {
        size_t length = strcspn(list, between);
        unsigned long long number = number_of_endpoint(list, length);

        least = number < least ? number : least;
        list += length;
    }
    return least;
}

bool cluster_announce(const struct cluster_name *name, int64_t fence)
{
    char more[100], text[30];

    snprintf(text, sizeof text, "%" PRId64, fence);
    snprintf(more, sizeof more, ":%" PRId64 ":%llu:%" PRId64 ":%llu", name->request->limit,
             process_stat(getpid()).started, fence, number_of_endpoints(name->request->cluster.endpoints));
    return setenv("FAIRSEM_LIMIT_FENCE", text, 1) == 0
           && reentrant_announce(reentrant_name(name->request->name), name->request->units, more);
}

/* Argument and results of units_of_outer(). */
struct outer {
    const struct cluster_name *name;
    int64_t limit;      /* in the entry of the outer command */
    int     error;      /* of the query for the units of the outer command, or 0 */
};

/*
 * Returns the units in the entry of a process, or 0 if the entry is not valid (reentrant.h).  The start time in
 * the entry must be the start time of the process; process_stat() returns 0 for a retired process.  If the
 * endpoints in the entry are not ours, a query decides: the entry belongs to our etcd if our etcd lists the
 * process with the fence in the entry.
 */
static int64_t units_of_outer(void *arg, long pid, const char *rest)
{
    struct outer *outer = arg;
    const struct cluster_name *name = outer->name;
    unsigned long long started, where;
    int64_t units, fence;
    size_t count;

    if (sscanf(rest, ":%" SCNd64 ":%" SCNd64 ":%llu:%" SCNd64 ":%llu", &units, &outer->limit, &started,
               &fence, &where) != 5 || started == 0 || started != process_stat(pid).started)
        return 0;
    if (where == number_of_endpoints(name->request->cluster.endpoints))
        return units;
    outer->error = fairsem_cluster_users(name->handle, users, CLUSTER_USERS, &count);
    if (outer->error != 0)
        return 0;
    for (size_t i = 0; i < count && i < CLUSTER_USERS; i++) {
        if (users[i].place == 0 && users[i].pid == pid && users[i].fence == fence)
            return users[i].units;
    }
    return 0;
}

/* ---- Units are given back ---- */

bool cluster_start_thread(void *(*work)(void *arg), void *arg)
{
    sigset_t all, before;
    pthread_t thread;
    bool done;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    done = pthread_create(&thread, NULL, work, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (done)
        pthread_detach(thread);
    return done;
}

static pthread_t releasing;
static _Atomic bool is_released;

/* Runs in a separate thread, because a release may exceed the time limit of cluster_release(). */
static void *release(void *hold)
{
    fairsem_cluster_release(hold);
    atomic_store(&is_released, true);
    pthread_kill(releasing, SIGURG);    /* nothing else sends this signal */
    return NULL;
}

void cluster_release(fairsem_cluster_hold_t *hold, bool signal_came)
{
    static const int wake[] = { SIGURG, SIGHUP, SIGINT, SIGQUIT, SIGTERM };
    struct timespec most = { .tv_sec = signal_came ? LEAVE_TIMEOUT_MS / 1000 : RELEASE_S };
    sigset_t signals;

    process_retire();
    sigfillset(&signals);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    releasing = pthread_self();
    if (!cluster_start_thread(release, hold)) {
        fairsem_cluster_release(hold);
        return;
    }
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof wake / sizeof wake[0]; i++)
        sigaddset(&signals, wake[i]);
    while (!atomic_load(&is_released)) {
        int signal = sigtimedwait(&signals, NULL, &most);

        if (signal < 0 && errno == EAGAIN)
            return;                     /* the units become free when the lease ends */
        if (signal > 0 && signal != SIGURG)
            most.tv_sec = LEAVE_TIMEOUT_MS / 1000;
    }
}

/* ---- The wait ---- */

struct etcd_wait {
    const struct cluster_name *name;
    fairsem_cluster_hold_t    *hold;

    fairsem_t       over;           /* released to stop query_thread() */
    pthread_mutex_t mutex;
    bool            queries;        /* under `mutex`: query_thread() was started */
    struct queue_position position; /* under `mutex`: result of the last query */
};

static int acquire_from_etcd(void *arg, const fairsem_wait_t *how)
{
    struct etcd_wait *w = arg;

    return fairsem_cluster_acquire_with(w->name->handle, w->name->request->units, how,
                                        w->hold);
}

/* Returns the number of seconds to the next query. */
static int query_position(struct etcd_wait *w, struct queue_position *position)
{
    size_t count = 0;
    int error = fairsem_cluster_users(w->name->handle, users, CLUSTER_USERS, &count);

    if (error != 0) {
        position->trouble = error == ENETUNREACH
                            ? "etcd does not answer; the place is kept until the lease ends"
                            : cluster_error(error);
        return SECONDS_BETWEEN;
    }
    *position = (struct queue_position){ 0 };
    for (size_t i = 0; i < count && i < CLUSTER_USERS; i++) {
        position->running += users[i].place == 0;
        if (users[i].place != 0 && users[i].mine != 0)
            position->number = users[i].place;
    }
    return SECONDS_BETWEEN + (int)(count / MORE_FOR_USERS);
}

/* Give back units that were granted just before the signal. */
static void give_back_by_signal(void *arg)
{
    struct etcd_wait *w = arg;

    if (fairsem_cluster_fence(w->hold) != 0)
        cluster_release(w->hold, true);
}

/* Runs in a separate thread, because a query blocks while etcd does not answer. */
static void *query_thread(void *arg)
{
    struct etcd_wait *w = arg;
    struct queue_position position = { 0 };
    int seconds;

    do {
        seconds = query_position(w, &position);
        pthread_mutex_lock(&w->mutex);
        w->position = position;
        pthread_mutex_unlock(&w->mutex);
    } while (fairsem_acquire_for(&w->over, 1, seconds * INT64_C(1000000000)) == ETIMEDOUT);
    return NULL;
}

/* Copy the result of the last query.  The first call starts the queries. */
static bool copy_position(void *arg, struct queue_position *position)
{
    struct etcd_wait *w = arg;

    pthread_mutex_lock(&w->mutex);
    if (!w->queries)
        w->queries = cluster_start_thread(query_thread, w);
    *position = w->position;
    pthread_mutex_unlock(&w->mutex);
    return position->number != 0 || position->trouble != NULL;
}

static int wait_for_etcd(const struct cluster_name *name, fairsem_cluster_hold_t *hold, sigset_t *mask)
{
    const struct request *request = name->request;
    static struct etcd_wait etcd_wait = { .over = FAIRSEM_INITIALIZER(0), .mutex = PTHREAD_MUTEX_INITIALIZER };
    const fairsem_wait_t how = {
        .priority = (int)request->priority,
        .timeout_ns = request->wait_ns == 0 ? -1 : request->wait_ns < 0 ? 0 : request->wait_ns,
    };
    const struct wait wait = {
        .name = request->name, .leave_timeout_ms = LEAVE_TIMEOUT_MS,
        .acquire = acquire_from_etcd, .position = copy_position, .leave = give_back_by_signal, .arg = &etcd_wait,
        .mask = mask,
    };
    int error;

    etcd_wait.name = name;
    etcd_wait.hold = hold;
    error = wait_line(&wait, &how);
    fairsem_release(&etcd_wait.over, 1);
    return error;
}

/* If the limit is the reason for the error, print a message and return true. */
static bool explain_limit(const struct cluster_name *name, int error)
{
    int64_t limit;

    if ((error != EINVAL && error != E2BIG) || fairsem_cluster_limit(name->handle, &limit) != 0)
        return false;
    if (error == EINVAL)
        return !limit_is_as_asked(name->request, limit);
    warnx(MORE_UNITS_THAN_LIMIT ": --set-limit has changed it", name->request->units,
          name->request->name, limit);
    return true;
}

bool cluster_acquire(const struct cluster_name *name, fairsem_cluster_hold_t *hold, sigset_t *mask,
                       int *exit_status)
{
    struct outer outer = { .name = name };
    int64_t units;
    int error;

    *exit_status = OWN_FAILURE;
    if (reentrant_holder(reentrant_name(name->request->name), units_of_outer, &outer, &units) != 0)
        return limit_is_as_asked(name->request, outer.limit) && reentrant_is_enough(name->request, units);
    if (outer.error != 0) {     /* do not wait: the outer command may hold the units */
        cluster_result(name, outer.error);
        return false;
    }
    error = wait_for_etcd(name, hold, mask);
    if (error == ETIMEDOUT)
        *exit_status = TIMED_OUT;
    if (error != 0 && error != ETIMEDOUT && !explain_limit(name, error))
        cluster_result(name, error);
    return error == 0;
}
