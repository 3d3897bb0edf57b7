/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - for tests with several processes: segments, children, shared memory.
 *
 * Only the test's own process asserts.  A child reports by its exit status, 0 or the line that
 * failed (CHILD_CHECK), or writes into memory that it shares with the test.
 */
#ifndef CROWD_H
#define CROWD_H

#include "children.h"
#include "seed.h"
#include "suite.h"

#include <fairsem/shared.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

/* Returns zeroed memory that the test and its children share. */
static inline void *share(size_t size)
{
    FILE *file = tmpfile();
    void *memory;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(ftruncate(fileno(file), (off_t)size), 0);
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    ck_assert(memory != MAP_FAILED);
    fclose(file);
    return memory;
}

/* Returns a segment without a name. */
static inline fairsem_shared_t *make_small_segment(int64_t units, unsigned flags,
                                                   int max_waiters, int max_processes)
{
    const fairsem_shared_attr_t attr = { .units = units, .flags = flags,
                                         .max_waiters = max_waiters,
                                         .max_processes = max_processes };
    fairsem_shared_t *h;

    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), 0);
    return h;
}

static inline fairsem_shared_t *make_segment(int64_t units, unsigned flags)
{
    return make_small_segment(units, flags, 0, 0);
}

/*
 * Returns a name that no other test uses.  The time in it tells the test from a killed run with the same
 * process ID.
 */
static inline const char *own_name(void)
{
    static char name[64];

    if (name[0] == '\0') {      /* not in a child, which keeps its parent's name */
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(name, sizeof name, "/fairsem-test-%ld-%lld.%09ld", (long)getpid(),
                 (long long)now.tv_sec, now.tv_nsec);
    }
    return name;
}

static inline fairsem_shared_t *make_own_named(int64_t units, unsigned flags)
{
    const fairsem_shared_attr_t attr = { .units = units, .flags = flags };
    fairsem_shared_t *h;

    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT | O_EXCL, 0600, &attr), 0);
    return h;
}

/* Sleep for this many milliseconds, or until a signal comes. */
static inline void nap(long ms)
{
    const struct timespec length = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&length, NULL);
}

static inline void do_nothing(int sig)
{
    (void)sig;
}

/* Send this process a signal each millisecond, as profilers and language runtimes do. */
static inline void signal_each_ms(void)
{
    const struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };
    const struct itimerval each_ms = { { 0, 1000 }, { 0, 1000 } };

    if (sigaction(SIGALRM, &action, NULL) != 0
        || setitimer(ITIMER_REAL, &each_ms, NULL) != 0)
        abort();
}

/* Wait until *flag is at least `value`. */
static inline void await_flag(_Atomic int *flag, int value)
{
    while (atomic_load(flag) < value)
        nap(1);
}

static inline void await_queue(fairsem_shared_t *h, int64_t n)
{
    while (fairsem_shared_waiters(h) != n)
        nap(1);
}

/* Has this child ended?  Its exit status stays available for status_of(). */
static inline bool has_ended(pid_t child)
{
    siginfo_t info = { .si_pid = 0 };

    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    return info.si_pid == child;
}

/* Has the main thread of this child been asleep for some milliseconds? */
static inline bool sleeps(pid_t child)
{
    char path[64], text[512];

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)child);
    for (int looks = 0; looks < 5; looks++) {
        FILE *file = fopen(path, "r");
        const char *state;

        ck_assert_ptr_nonnull(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        state = strrchr(text, ')');     /* the last one: the program's name may contain any character */
        if (state == NULL || strncmp(state, ") S", 3) != 0)
            return false;
        nap(1);
    }
    return true;
}

/*
 * Acquire n units that no process will release.  If the time-out passes before the request is in the queue, as
 * on a busy machine, try again with a longer one.
 */
static inline int wait_and_time_out(fairsem_shared_t *h, int64_t n)
{
    fairsem_shared_stat_t before, after;
    int error;

    ck_assert_int_eq(fairsem_shared_stat(h, &before), 0);
    for (int64_t ns = 1000000;; ns *= 2) {
        error = fairsem_shared_acquire_for(h, n, ns);
        ck_assert_int_eq(fairsem_shared_stat(h, &after), 0);
        if (error != ETIMEDOUT || after.waits > before.waits)
            return error;
    }
}

/* Returns a child that holds n units until it is killed. */
static inline pid_t fork_holder(fairsem_shared_t *h, int64_t n)
{
    _Atomic int *holds = share(sizeof *holds);
    pid_t child = fork();

    if (child == 0) {
        CHILD_CHECK(fairsem_shared_acquire(h, n) == 0);
        atomic_store(holds, 1);
        for (;;)
            pause();
    }
    ck_assert_int_gt(child, 0);
    await_flag(holds, 1);
    munmap(holds, sizeof *holds);
    return child;
}

static bool users_get_signals;      /* set it before the users are forked */

/*
 * Returns a child that acquires n units, stores its place in the order of grants, and releases the units.  A
 * priority below 0 adds a deadline in the far future.
 */
static inline pid_t fork_user(fairsem_shared_t *h, int64_t n, int priority, _Atomic int *place,
                              _Atomic int *count)
{
    const fairsem_wait_t how = { .priority = priority, .timeout_ns = priority < 0 ? INT64_MAX : 0 };
    pid_t child = fork();

    if (child == 0) {
        if (users_get_signals)
            signal_each_ms();
        CHILD_CHECK(fairsem_shared_acquire_with(h, n, &how) == 0);
        if (place != NULL)
            atomic_store(place, atomic_fetch_add(count, 1) + 1);
        CHILD_CHECK(fairsem_shared_release(h, n) == 0);
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    return child;
}

/* As fork_user(), but returns when the child's request is in the queue. */
static inline pid_t queue_placed(fairsem_shared_t *h, int64_t n, int priority, _Atomic int *place,
                                 _Atomic int *count)
{
    int64_t before = fairsem_shared_waiters(h);
    pid_t child = fork_user(h, n, priority, place, count);

    await_queue(h, before + 1);
    return child;
}

static inline pid_t queue_user(fairsem_shared_t *h, int64_t n)
{
    return queue_placed(h, n, 0, NULL, NULL);
}

/* Returns the sum of held and free units. */
static inline int64_t check_sums(fairsem_shared_t *h)
{
    fairsem_shared_stat_t stat;

    ck_assert_int_eq(fairsem_shared_stat(h, &stat), 0);
    ck_assert_int_ge(stat.available, 0);
    ck_assert_int_ge(stat.held, stat.mine);
    return stat.available + stat.held;
}

#endif
