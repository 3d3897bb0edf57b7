/* SPDX-License-Identifier: MIT */
/* threads.c - mutexes, cancellation and the clock, as far as the library uses them; see layer.h. */
#include "explorer.h"

#include <errno.h>
#include <string.h>

/* ---- Mutexes: an int in private memory, 0 or 1 + the number of the owner ---- */

int xp_mutex_lock(pthread_mutex_t *mutex)
{
    int *owner = (int *)(void *)mutex;

    if (self == NULL)
        return 0;
    if (*owner == id_of(self) + 1)
        fail("deadlock", "T%d locks a mutex that it has", id_of(self));
    if (*owner != 0 || (!quiet && process_has_threads(self->process, 2)))
        stop(WANTS_MUTEX, CAN_SWITCH, "wants a mutex", mutex);
    *owner = id_of(self) + 1;
    return 0;
}

int xp_mutex_unlock(pthread_mutex_t *mutex)
{
    int *owner = (int *)(void *)mutex;

    if (self == NULL)
        return 0;
    if (*owner != id_of(self) + 1)
        fail("locks", "T%d unlocks a mutex that it does not have", id_of(self));
    if (process_has_threads(self->process, 2))
        stop(READY, CAN_SWITCH, "unlocks a mutex", mutex);
    *owner = 0;
    return 0;
}

/* ---- Cancellation: only in a sleep that is a cancellation point ---- */

bool cancel_strikes(void)
{
    return false;
}

_Noreturn void thread_ends(void)
{
    if (self->canceled && self->calling && !may_result(&script[id_of(self)][self->op], RESULT_CANCELED))
        fail("result", "T%d is canceled in %s", id_of(self), verbs[script[id_of(self)][self->op].verb].word);
    self->cleanups = NULL;
    for (;;)
        stop(ENDED, CAN_SWITCH, "ends", NULL);
}

/* ---- Time ---- */

void sleep_until_woken(const void *object, int64_t ns, bool can_be_canceled, const char *doing)
{
    if (quiet && ns == 0)
        return;
    self->deadline = run.now + ns;
    self->cancelable = can_be_canceled && script_cancelable[id_of(self)];
    self->last_loaded = NULL;
    stop(SLEEPS, CAN_SWITCH, doing, object);
    self->cancelable = false;
    if (self->canceled && can_be_canceled && !self->cancel_disabled)
        act_on_cancel();
}

int xp_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){ .tv_sec = run.now / (1000 * MS), .tv_nsec = run.now % (1000 * MS) };
    return 0;
}

int xp_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    sleep_until_woken(NULL, time->tv_sec * 1000 * MS + time->tv_nsec, false, "naps");
    return 0;
}

/* ---- The rest ---- */

int xp_getcpu(void)
{
    return 0;
}

int xp_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    (void)size;
    (void)set;
    errno = ENOSYS;
    return -1;
}

/* One core, so that a waiter never spins.  No other process could notice the spinning. */
long xp_sysconf(int name)
{
    (void)name;
    return 1;
}

_Noreturn void xp_abort(void)
{
    fail("abort", "the library has found a broken invariant");
}
