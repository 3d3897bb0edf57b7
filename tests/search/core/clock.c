/* SPDX-License-Identifier: MIT */
/*
 * clock.c - time, the futex, signals.
 *
 * The clock moves by decisions of the search.  A sleep that times out moves the clock to the deadline of the
 * sleep.  When an operation with a deadline reads the clock, the clock may move to this deadline, so that a
 * deadline can also pass before the sleep.  A wake-up takes a little time.  A pause ends when memory has
 * changed or time has passed, so that no thread spins for ever.  All clocks show the same time.
 */
#include "views.h"

#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#define PATIENCE_NS 16000000    /* a pause ends after this time if nothing changes */
#define WAKE_UP_NS 1600         /* from a wake until the woken thread runs */

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
    /* The time of a `for` begins when the library first reads the clock, so its deadline may come later. */
    if (self->op_deadline != 0 && self->deadline == 0)
        self->deadline = run.now + OP_TIME_NS;
    stop(POLLS, "naps", NULL, CALLER);
    return 0;
}

/*
 * A thread that spins on its waiter's state, or yields, pauses until the state has changed or PATIENCE_NS have
 * passed.  After PATIENCE_NS it is `impatient`: until it reads the clock, it does not stop for more pauses, nor
 * before loads of this state.  No schedule is lost: if another thread changes the state later, it could have
 * done so during the pause.
 *
 * A release pauses a few times before it loads the word again.  In the explorer these pauses take no time.
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

/* The same answer in the whole run.  It describes the machine, so it does not count as a preemption. */
bool xp_in_convoy(void)
{
    if (run.policy == UNDECIDED && self != NULL)
        run.policy = choose(2) == 1 ? CONVOY : NEAR;
    return run.policy == CONVOY;
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

/* Does not access the word: its memory may be gone. */
static long futex_wake(const void *word, const void *pc)
{
    step("wakes", word, pc);
    wake_one(SLEEPS_ON_WORD, word);
    return 0;
}

enum { FUTEX_OP = 127, FUTEX_WAKE_OP = 1 };

/*
 * futex(2).  gettid(2), whose result is only shown to people.  sched_getscheduler(2) and capget(2) fail, so the
 * library assumes that no thread has or may get a real-time priority.  clock_gettime(2) fails; the library only
 * detects a faked clock with it.
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
