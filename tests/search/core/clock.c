/* SPDX-License-Identifier: MIT */
/*
 * clock.c - time, the futex, signals.
 *
 * The clock moves only by a decision of the scheduler: to the deadline of a sleep that times out, or, when the
 * current operation reads the clock, to the deadline of the operation, which may also pass before the sleep.
 * A wake-up takes a little time.  A pause ends when something has changed or time has passed, so that no thread
 * spins for ever.  Both clocks show the same time.
 */
#include "views.h"

#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#define PATIENCE_NS 16000000

/* A multiple of 16, see struct scenario. */
#define WAKE_UP_NS 1600

static int64_t ns_of(const struct timespec *at)
{
    return (int64_t)at->tv_sec * 1000000000 + at->tv_nsec;
}

int xp_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    if (self != NULL)
        self->impatient = false;
    if (self != NULL && self->op_deadline > run.now && self->op_deadline < NEVER_NS
        && choose(2) == 1) {
        trace("  ... and time has passed\n");
        run.now = self->op_deadline;
    }
    if (self != NULL)
        self->last_clock = run.now;
    now->tv_sec = (time_t)(run.now / 1000000000);
    now->tv_nsec = (long)(run.now % 1000000000);
    return 0;
}

void clock_after_sleep(enum reason reason)
{
    if (reason == BY_TURN)
        run.now += WAKE_UP_NS;
}

/* A nap ends when anything has changed, or when its time has passed and that can matter. */
int xp_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time;
    (void)left;
    if (self == NULL)
        return 0;
    self->restless = !self->behind;
    self->behind = false;
    self->yields = true;
    self->deadline = self->op_deadline > run.now ? self->op_deadline : 0;
    /* The operation's time begins at its first reading of the clock, which may come later. */
    if (self->op_deadline != 0 && self->deadline == 0)
        self->deadline = run.now + OP_TIME_NS;
    stop(POLLS, "naps", NULL, CALLER);
    return 0;
}

/*
 * A thread that spins on its own state, or yields, pauses until the state has changed, or until it has paused
 * long enough.  After that its loads see no change until it reads the clock, unless other threads run in
 * between, whose changes could have come before as well.
 *
 * A release pauses a few times before it loads the word again; here that takes no time.
 */
void xp_pause(void)
{
    if (self == NULL || self->impatient || self->spins_on == NULL)
        return;
    self->yields = true;
    self->deadline = run.now + PATIENCE_NS;
    stop(PAUSES, "pauses at", self->spins_on, CALLER);
    self->impatient = self->reason == TIME_OUT;
}

bool xp_answers_otherwise(void)
{
    bool otherwise = self != NULL && preemptions < limits.bound && choose(2) == 1;

    preemptions += otherwise;
    return otherwise;
}

int xp_yield(void)
{
    xp_pause();
    return 0;
}

/* Each thread has a core, so that spinning can pay. */
int xp_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    CPU_ZERO_S(size, set);
    for (size_t i = 0; i < THREADS; i++)
        CPU_SET_S(i, size, set);
    return 0;
}

int xp_getcpu(void)
{
    return self != NULL ? id_of(self) : 0;
}

long xp_sysconf(int name)
{
    return name == _SC_NPROCESSORS_ONLN ? THREADS : sysconf(name);
}

/* ---- The futex ---- */

static long futex_wait(const int *word, int value, int64_t deadline, const void *pc)
{
    enum reason reason;

    step("would sleep on", word, pc);
    oracle_touch(word, sizeof *word, false);
    if (views_on()) {
        races_access(word, sizeof *word, ATOMIC_READ, pc);
        views_kernel_looks(word, sizeof *word);
    }
    if (*word != value) {
        errno = EAGAIN;
        return -1;
    }
    self->deadline = deadline;
    stop(SLEEPS_ON_WORD, "sleeps on", word, pc);
    reason = self->reason;
    clock_after_sleep(reason);
    if (reason == PTHREAD_CANCEL)
        act_on_cancel();
    if (reason == SIGNAL) {
        run_handler();
        errno = EINTR;
        return -1;
    }
    if (reason == TIME_OUT) {
        errno = ETIMEDOUT;
        return -1;
    }
    return 0;
}

/* The word may be gone by now, so it is not accessed. */
static long futex_wake(const void *word, const void *pc)
{
    step("wakes", word, pc);
    wake_one(SLEEPS_ON_WORD, word);
    return 0;
}

enum { FUTEX_OP = 127, FUTEX_WAKE_OP = 1 };

/*
 * futex(2); gettid(2), which is only for people; sched_getscheduler(2) and capget(2), by which no thread has or
 * may get a real-time priority; clock_gettime(2), by which the library only detects a faked clock.
 */
long xp_syscall(long number, ...)
{
    const struct timespec *at = NULL;
    const void *word;
    int op, value;
    va_list rest;

    if (number == SYS_gettid)
        return 1;
    if (number == SYS_sched_getscheduler || number == SYS_capget || number == SYS_clock_gettime)
        return -1;
    va_start(rest, number);
    word = va_arg(rest, const void *);
    op = va_arg(rest, int);
    value = va_arg(rest, int);
    if ((op & FUTEX_OP) != FUTEX_WAKE_OP)
        at = va_arg(rest, const struct timespec *);
    va_end(rest);
    if ((op & FUTEX_OP) == FUTEX_WAKE_OP)
        return futex_wake(word, CALLER);
    return futex_wait(word, value, at != NULL ? ns_of(at) : 0, CALLER);
}
