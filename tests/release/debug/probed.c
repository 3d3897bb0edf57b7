/* SPDX-License-Identifier: MIT */
/*
 * probed.c - reaches each probe, and writes the output that a tracer must print; see probes.sh.
 *
 *   probed FILE    reaches each probe once or more, and writes them to FILE in this order
 *   probed         two threads wait for one unit again and again, until the program is killed
 *
 * A line of the file is the name of a probe and its arguments, with "a while" for the time of a
 * wait, and "inode" for the number of an inode.
 */
#include <fairsem.h>
#include <fairsem/shared.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(holds)                                             \
    do {                                                        \
        if (!(holds)) {                                         \
            fprintf(stderr, "line %d: " #holds "\n", __LINE__); \
            exit(99);                                           \
        }                                                       \
    } while (0)

/* Long enough for two calls, one after the other. */
#define AGING_NS 500000000

static FILE *file;
static fairsem_t events;
static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;

#define PTR(pointer) ((uintptr_t)(pointer))

static void of_core(const char *probe, int64_t units, uint64_t seq)
{
    fprintf(file, "%s %" PRIxPTR " events %" PRId64 " %" PRIu64, probe, PTR(&events), units, seq);
}

static void wait_begins(int64_t units, uint64_t seq, int priority)
{
    of_core("wait_begin", units, seq);
    fprintf(file, " %d\n", priority);
}

static void times_out(void)
{
    wait_begins(2, 0, 0);
    of_core("timeout", 2, 0);
    fputs(" a while\n", file);
    MUST(fairsem_acquire_for(&events, 2, 10000000) == ETIMEDOUT);
}

static void is_returned(void)
{
    fairsem_ticket_t ticket = { 0 };

    wait_begins(2, 1, -5);
    of_core("cancel", 2, 1);
    fputs(" a while returned\n", file);
    MUST(fairsem_ticket_take(&ticket, &events, 2, -5, NULL, NULL) == EINPROGRESS);
    MUST(fairsem_ticket_return(&ticket) == 0);
}

static void is_granted(void)
{
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };

    wait_begins(2, 2, 0);
    of_core("grant", 2, 2);
    fputs(" a while\n", file);
    MUST(fairsem_ticket_take(&ticket, &events, 2, 0, NULL, NULL) == EINPROGRESS);
    MUST(fairsem_release(&events, 1) == 0);
    MUST(fairsem_ticket_claim(&ticket, &units) == 0);
    MUST(fairsem_units_release(&units) == 0);
}

static void is_released_too_often(void)
{
    fprintf(file, "over_release %" PRIxPTR " events 3 1\n", PTR(&events));
    MUST(fairsem_acquire(&events, 1) == 0);
    MUST(fairsem_release(&events, 3) == EOVERFLOW);
}

/* Start a thread; its function returns NULL if all went well. */
static pthread_t begin(void *(*run)(void *))
{
    pthread_t thread;

    MUST(pthread_create(&thread, NULL, run, &token) == 0);
    return thread;
}

static void end(pthread_t thread)
{
    void *failed;

    MUST(pthread_join(thread, &failed) == 0 && failed == NULL);
}

static void *acquire_with_token(void *arg)
{
    const fairsem_wait_t how = { .token = &token };

    return fairsem_acquire_with(&events, 2, &how) == ECANCELED ? NULL : arg;
}


static void is_canceled(void)
{
    pthread_t thread;

    wait_begins(2, 3, 0);
    of_core("cancel", 2, 3);
    fputs(" a while token\n", file);
    thread = begin(acquire_with_token);
    while (fairsem_waiters(&events) == 0)
        continue;
    MUST(fairsem_token_cancel(&token, 0) == 0);
    end(thread);
}

/* The request of the better priority is in front until the other request has aged. */
static void is_passed_by_an_old_one(void)
{
    const struct timespec until_old = { .tv_nsec = AGING_NS };
    fairsem_ticket_t worse = { 0 }, better = { 0 };

    wait_begins(2, 4, 1);
    wait_begins(2, 5, 0);
    of_core("aged", 2, 4);
    fputs(" a while\n", file);
    of_core("cancel", 2, 4);
    fputs(" a while returned\n", file);
    of_core("cancel", 2, 5);
    fputs(" a while returned\n", file);
    MUST(fairsem_ticket_take(&worse, &events, 2, 1, NULL, NULL) == EINPROGRESS);
    MUST(fairsem_ticket_take(&better, &events, 2, 0, NULL, NULL) == EINPROGRESS);
    MUST(nanosleep(&until_old, NULL) == 0);
    MUST(fairsem_release(&events, 0) == 0);     /* any call that looks for the front request notices the age */
    MUST(fairsem_ticket_return(&worse) == 0);
    MUST(fairsem_ticket_return(&better) == 0);
}

static void is_closed(void)
{
    fairsem_ticket_t ticket = { 0 };

    wait_begins(2, 6, 0);
    fprintf(file, "close %" PRIxPTR " events %d\n", PTR(&events), EPIPE);
    of_core("cancel", 2, 6);
    fputs(" a while close\n", file);
    MUST(fairsem_ticket_take(&ticket, &events, 2, 0, NULL, NULL) == EINPROGRESS);
    MUST(fairsem_close(&events, EPIPE) == 0);
    MUST(fairsem_ticket_return(&ticket) == 0);
}

/* Two tickets of a share of weight 2, and one without a share, which is granted between them. */
static void is_granted_in_shares(void)
{
    static fairsem_t divided;
    static fairsem_share_t share = FAIRSEM_SHARE_INITIALIZER(2);
    const fairsem_attr_t attr = { .name = "events" };
    const struct { uint64_t seq; const fairsem_share_t *share; int weight; uint64_t start; } granted[] = {
        { 0, &share, 2, 0 }, { 2, NULL, 1, 0 }, { 1, &share, 2, 1 << 19 },
    };
    fairsem_ticket_t tickets[3] = { 0 };

    MUST(fairsem_init(&divided, 0, &attr) == 0);
    for (int i = 0; i < 3; i++)
        fprintf(file, "wait_begin %" PRIxPTR " events 1 %d 0\n", PTR(&divided), i);
    for (int i = 0; i < 3; i++)
        fprintf(file, "share %" PRIxPTR " events %" PRIu64 " %" PRIxPTR " %d %" PRIu64 "\n"
                "grant %" PRIxPTR " events 1 %" PRIu64 " a while\n",
                PTR(&divided), granted[i].seq, PTR(granted[i].share), granted[i].weight, granted[i].start,
                PTR(&divided), granted[i].seq);
    for (int i = 0; i < 3; i++) {
        const fairsem_request_t request = { &divided, 1, i < 2 ? &share : NULL };

        MUST(fairsem_ticket_take_with(&tickets[i], &request, 0, NULL, NULL) == EINPROGRESS);
    }
    MUST(fairsem_release(&divided, 3) == 0);
}

/* ---- Between processes ---- */

static fairsem_shared_t *between;

static void of_shared(const char *probe, int64_t units, int64_t seq)
{
    fprintf(file, "%s %" PRIxPTR " inode %" PRId64 " %" PRId64, probe, PTR(between), units, seq);
}

static void shared_times_out(void)
{
    of_shared("shared_wait_begin", 1, 0);
    fputs(" 0\n", file);
    of_shared("shared_timeout", 1, 0);
    fputs(" a while\n", file);
    MUST(fairsem_shared_acquire_for(between, 1, 10000000) == ETIMEDOUT);
}

static void *acquire_shared(void *arg)
{
    return fairsem_shared_acquire(between, 1) == 0 ? NULL : arg;
}

static void shared_is_granted(void)
{
    pthread_t thread;

    of_shared("shared_wait_begin", 1, 1);
    fputs(" 0\n", file);
    of_shared("shared_grant", 1, 1);
    fprintf(file, " a while %ld\n", (long)getpid());
    thread = begin(acquire_shared);
    while (fairsem_shared_waiters(between) == 0)
        continue;
    MUST(fairsem_shared_release(between, 1) == 0);
    end(thread);
}

static void *acquire_shared_with_token(void *arg)
{
    const fairsem_wait_t how = { .token = &token };

    return fairsem_shared_acquire_with(between, 1, &how) == ECANCELED ? NULL : arg;
}

static void shared_is_canceled(void)
{
    pthread_t thread;

    MUST(fairsem_token_init(&token) == 0);
    of_shared("shared_wait_begin", 1, 2);
    fputs(" 0\n", file);
    of_shared("shared_cancel", 1, 2);
    fputs(" a while\n", file);
    thread = begin(acquire_shared_with_token);
    while (fairsem_shared_waiters(between) == 0)
        continue;
    MUST(fairsem_token_cancel(&token, 0) == 0);
    end(thread);
}

static void holder_dies(void)
{
    pid_t child;

    MUST(fairsem_shared_release(between, 1) == 0);
    child = fork();
    if (child == 0)
        _exit(fairsem_shared_acquire(between, 1));
    MUST(child > 0 && waitpid(child, NULL, 0) == child);
    fprintf(file, "shared_returned %" PRIxPTR " inode 1 %ld\n", PTR(between), (long)child);
    /* A call looks for dead holders before it fails, unless a recent call has done so. */
    while (fairsem_shared_tryacquire(between, 1) == EAGAIN)
        continue;
}

static void shared_events(void)
{
    const fairsem_shared_attr_t attr = { .units = 1 };
    int error = fairsem_shared_open(&between, NULL, 0, 0, &attr);

    if (error == ENOSYS)
        return;
    MUST(error == 0 && fairsem_shared_acquire(between, 1) == 0);
    shared_times_out();
    shared_is_granted();
    shared_is_canceled();
    holder_dies();
    MUST(fairsem_shared_close(between) == 0);
}

static void *acquire_again(void *arg)
{
    (void)arg;
    for (;;)
        MUST(fairsem_acquire(&events, 1) == 0);
}

_Noreturn static void again(void)
{
    begin(acquire_again);
    begin(acquire_again);
    alarm(600);         /* in case nobody kills the program */
    for (;;) {
        /* Release while both threads wait, so that the unit is granted; the sleep only saves processor time. */
        while (fairsem_waiters(&events) < 2)
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        MUST(fairsem_release(&events, 1) == 0);
    }
}

static void each_once(void)
{
    times_out();
    is_returned();
    is_granted();
    is_released_too_often();
    is_canceled();
    is_passed_by_an_old_one();
    is_closed();
    is_granted_in_shares();
    shared_events();
}

int main(int argc, char **argv)
{
    const fairsem_attr_t attr = { .name = "events", .capacity = 2, .aging_ns = AGING_NS };

    MUST(fairsem_init(&events, 2, &attr) == 0 && fairsem_acquire(&events, 1) == 0);
    if (argc == 1)
        again();
    file = fopen(argv[1], "w");
    MUST(file != NULL && setvbuf(file, NULL, _IOLBF, BUFSIZ) == 0);
    each_once();
    MUST(fclose(file) == 0);
    return 0;
}
