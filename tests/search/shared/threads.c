/* SPDX-License-Identifier: MIT */
/* threads.c - mutexes, cancellation, the clock: as far as the library uses them; see layer.h. */
#include "dies.h"

#include <errno.h>
#include <string.h>

/* ---- Mutexes: an int in private memory, 0 or 1 + the thread that has it ---- */

int dies_mutex_lock(pthread_mutex_t *mutex)
{
    int *owner = (int *)(void *)mutex;

    if (self == NULL)
        return 0;
    if (*owner == id_of(self) + 1)
        fail("deadlock", "T%d locks a mutex that it has", id_of(self));
    if (process_has_threads(self->process, 2) || *owner != 0)
        stop(WANTS_MUTEX, CAN_SWITCH, "wants a mutex", mutex);
    *owner = id_of(self) + 1;
    return 0;
}

int dies_mutex_unlock(pthread_mutex_t *mutex)
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

int dies_setcancelstate(int state, int *before)
{
    if (self == NULL)
        return 0;
    *before = self->cancel_disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    self->cancel_disabled = state == PTHREAD_CANCEL_DISABLE;
    return 0;
}

int dies_setcanceltype(int type, int *before)
{
    (void)type;
    *before = PTHREAD_CANCEL_DEFERRED;
    return 0;
}

void dies_cleanup_push(struct dies_cleanup *cleanup)
{
    cleanup->outer = self->cleanups;
    self->cleanups = cleanup;
}

void dies_cleanup_pop(int execute)
{
    struct dies_cleanup *cleanup = self->cleanups;

    self->cleanups = cleanup->outer;
    if (execute)
        cleanup->fn(cleanup->arg);
}

_Noreturn void act_on_cancel(void)
{
    self->cancel_disabled = true;
    while (self->cleanups != NULL) {
        struct dies_cleanup *cleanup = self->cleanups;

        self->cleanups = cleanup->outer;
        cleanup->fn(cleanup->arg);
    }
    thread_ends();
}

_Noreturn void thread_ends(void)
{
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
    self->cancelable = can_be_canceled && script[id_of(self)][self->op].verb == CANCELABLE;
    self->last_loaded = NULL;
    stop(SLEEPS, CAN_SWITCH, doing, object);
    self->cancelable = false;
    if (self->canceled && can_be_canceled && !self->cancel_disabled)
        act_on_cancel();
}

int dies_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){ .tv_sec = run.now / (1000 * MS), .tv_nsec = run.now % (1000 * MS) };
    return 0;
}

int dies_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    sleep_until_woken(NULL, time->tv_sec * 1000 * MS + time->tv_nsec, false, "naps");
    return 0;
}

/* ---- The rest ---- */

int dies_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how;
    (void)set;
    if (before != NULL)
        sigemptyset(before);
    return 0;
}

int dies_getcpu(void)
{
    return 0;
}

int dies_getaffinity(pid_t pid, size_t size, void *set)
{
    (void)pid;
    (void)size;
    (void)set;
    errno = ENOSYS;
    return -1;
}

/* One core, so that a waiter never spins; no other process could notice that it does. */
long dies_sysconf(int name)
{
    (void)name;
    return 1;
}

_Noreturn void dies_abort(void)
{
    fail("abort", "the library has found a broken invariant");
}

static void on_crash(int number)
{
    fail_after_crash(number == SIGBUS ? "SIGBUS" : number == SIGFPE ? "SIGFPE" : "SIGSEGV");
}

void threads_catch_crashes(void)
{
    static char stack[65536];
    const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER };

    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
}
