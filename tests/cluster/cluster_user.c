/* SPDX-License-Identifier: MIT */
/*
 * cluster_user.c - a user of a limit between machines, for the scripts of this directory.
 *
 *   cluster_user NAME=VALUE...
 *     endpoints, name, limit, units, priority, user, password, ca, cert, key   as in the header
 *     ttl=SECONDS, timeout=MS (-1 to try only), log=FILE
 *     hold=MS     use the units for MS milliseconds, or until SIGTERM
 *     times=N     acquire N times, one after the other
 *     threads=N   do that in each of N threads, at the same time
 *     keep=1      do not release at the end
 *     list=1      only print the holders and waiters
 *     set=N       only set the limit
 *     names=1     only print all names
 *
 * For each acquire the program prints "ok FENCE" or the name of an errno value, and the text of
 * fairsem_cluster_why on stderr.  The exit status is 0 if each acquire was ok, 1 if an acquire failed, 2 if a
 * hold was lost, 3 if a release failed.
 *
 * The log gets lines "begin NS FENCE UNITS", "use NS FENCE UNITS", and "end NS FENCE UNITS".  NS is a time of
 * CLOCK_MONOTONIC.  For "begin" and "use" the clock is read before the check that the units are not lost, so
 * the units were certainly held at that time.
 */
#include <fairsem/cluster.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fairsem_cluster_attr_t attr = { .limit = 1 };
static const char *name = "test";
static fairsem_cluster_t *handle;
static int64_t units = 1, hold_ms, times = 1, threads = 1, keep, list, names;
static int64_t new_limit = -1;
static fairsem_wait_t how;
static int log_file = -1;
static _Atomic int status;
static volatile sig_atomic_t is_told_to_end;

static const char *word(int error)
{
    static const struct { int error; const char *word; } words[] = {
        { ENETUNREACH, "ENETUNREACH" }, { EACCES, "EACCES" }, { EPROTO, "EPROTO" },
        { ETIMEDOUT, "ETIMEDOUT" }, { EINVAL, "EINVAL" }, { ESTALE, "ESTALE" },
        { ENOSPC, "ENOSPC" }, { E2BIG, "E2BIG" }, { ECANCELED, "ECANCELED" }, { ENOENT, "ENOENT" }
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].error == error)
            return words[i].word;
    return strerror(error);
}

static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Write a line in one call, because other processes append to the file, too. */
static void note(const char *what, int64_t at, int64_t fence)
{
    char line[120];
    int length = snprintf(line, sizeof line, "%s %" PRId64 " %" PRId64 " %" PRId64 "\n", what, at,
                          fence, units);

    if (log_file >= 0 && write(log_file, line, (size_t)length) != length)
        abort();
}

static void set(const char *argument)
{
    static const struct { const char *name; const char **text; int64_t *number; } options[] = {
        { "endpoints", &attr.endpoints, NULL }, { "name", &name, NULL },
        { "user", &attr.user, NULL }, { "password", &attr.password_file, NULL },
        { "ca", &attr.ca_file, NULL }, { "cert", &attr.cert_file, NULL },
        { "key", &attr.key_file, NULL }, { "limit", NULL, &attr.limit }, { "units", NULL, &units },
        { "ttl", NULL, &attr.ttl_ns }, { "timeout", NULL, &how.timeout_ns },
        { "hold", NULL, &hold_ms }, { "times", NULL, &times }, { "threads", NULL, &threads },
        { "keep", NULL, &keep }, { "list", NULL, &list },
        { "set", NULL, &new_limit }, { "names", NULL, &names }
    };
    size_t length = strcspn(argument, "=");
    const char *value = argument + length + (argument[length] != '\0');

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strlen(options[i].name) != length || strncmp(options[i].name, argument, length) != 0)
            continue;
        if (options[i].text != NULL)
            *options[i].text = value;
        else
            *options[i].number = strtoll(value, NULL, 10);
        return;
    }
    if (strncmp(argument, "priority=", 9) == 0) {
        how.priority = (int)strtol(value, NULL, 10);
    } else if (strncmp(argument, "log=", 4) == 0) {
        log_file = open(value, O_WRONLY | O_APPEND | O_CREAT, 0600);
    } else {
        fprintf(stderr, "cluster_user: %s?\n", argument);
        exit(99);
    }
}

static void end(int number)
{
    (void)number;
    is_told_to_end = 1;
}

static int use(const fairsem_cluster_hold_t *hold)
{
    int64_t fence = fairsem_cluster_fence(hold), last = now() + hold_ms * 1000000, at;
    struct pollfd event = { .fd = fairsem_cluster_fd(handle), .events = POLLIN };
    const char *what = "begin";
    uint64_t count;

    for (;;) {
        at = now();
        if (fairsem_cluster_lost(hold) != 0)
            return fairsem_cluster_lost(hold);
        note(what, at, fence);
        what = "use";
        if (at >= last || is_told_to_end)
            return 0;
        /* Read the event: as long as it is unread, each poll() returns at once. */
        if (poll(&event, threads == 1, 20) > 0)
            (void)!read(event.fd, &count, sizeof count);
    }
}

static void *run(void *arg)
{
    for (int64_t i = 0; i < times; i++) {
        fairsem_cluster_hold_t hold = { { 0 } };
        int error = fairsem_cluster_acquire_with(handle, units, &how, &hold);
        int64_t fence;

        if (error != 0) {
            char why[200] = "";

            (void)fairsem_cluster_why(handle, why, sizeof why);
            fprintf(stderr, "%s\n", why);
            printf("%s\n", word(error));
            status = 1;
            continue;
        }
        fence = fairsem_cluster_fence(&hold);
        error = use(&hold);
        if (error != 0) {
            printf("lost %s\n", word(error));
            status = 2;
        } else if (keep) {
            printf("ok %" PRId64 "\n", fence);
            fflush(stdout);
            _exit(0);
        }
        note("end", now(), fence);
        if (fairsem_cluster_release(&hold) != 0 && error == 0)
            status = 3;
        else if (error == 0)
            printf("ok %" PRId64 "\n", fence);
        fflush(stdout);
    }
    return arg;
}

static int print_users(void)
{
    fairsem_cluster_user_t users[4096];
    size_t count = 0;
    int error = fairsem_cluster_users(handle, users, 4096, &count);

    if (error != 0) {
        printf("%s\n", word(error));
        return 1;
    }
    printf("count %zu\n", count);
    for (size_t i = 0; i < count && i < 4096; i++)
        printf("units %" PRId64 " place %" PRId64 " priority %" PRId64 " pid %" PRId64 " %s\n",
               users[i].units, users[i].place, users[i].priority, users[i].pid, users[i].program);
    return 0;
}

static int print_names(void)
{
    char found[FAIRSEM_CLUSTER_NAME_MAX + 1] = "";
    int64_t limit;
    int error;

    while ((error = fairsem_cluster_next(handle, found)) == 0)
        if (fairsem_cluster_limit(handle, &limit) == 0)
            printf("%s %" PRId64 "\n", found, limit);
        else
            printf("%s has none\n", found);
    if (error != ENOENT)
        puts(word(error));
    return error != ENOENT;
}

static int set_limit(void)
{
    int error = fairsem_cluster_set_limit(handle, new_limit);

    puts(word(error));
    return error != 0;
}

int main(int argc, char **argv)
{
    pthread_t thread[1024];
    int error;

    for (int i = 1; i < argc; i++)
        set(argv[i]);
    sigaction(SIGTERM, &(struct sigaction){ .sa_handler = end }, NULL);
    attr.ttl_ns *= 1000000000;
    how.timeout_ns *= 1000000;
    error = fairsem_cluster_open(&handle, name, &attr);
    if (error != 0) {
        printf("open %s\n", word(error));
        return 1;
    }
    if (list)
        return print_users();
    if (names)
        return print_names();
    if (new_limit >= 0)
        return set_limit();
    for (int64_t i = 1; i < threads; i++)
        if (pthread_create(&thread[i], NULL, run, NULL) != 0)
            return 99;
    run(NULL);
    for (int64_t i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    if (fairsem_cluster_close(handle) != 0)
        return 99;
    return status;
}
