/* SPDX-License-Identifier: MIT */
/* posix.c - cancellation, signals, crashes and quotas, as far as all explorers share them. */
#include "explorer.h"
#include "system/quota.h"

#include <pthread.h>
#include <signal.h>

/* ---- Cancellation ---- */

void xp_cleanup_push(struct xp_cleanup *cleanup)
{
    cleanup->outer = self->cleanups;
    self->cleanups = cleanup;
}

void xp_cleanup_pop(int execute)
{
    struct xp_cleanup *cleanup = self->cleanups;

    self->cleanups = cleanup->outer;
    if (execute)
        cleanup->fn(cleanup->arg);
}

/* Run the clean-up handlers on the canceled thread's stack, innermost first. */
_Noreturn void act_on_cancel(void)
{
    self->cancel_disabled = true;
    self->cancel_async = false;
    while (self->cleanups != NULL)
        xp_cleanup_pop(true);
    thread_ends();
}

int xp_setcancelstate(int state, int *before)
{
    if (self == NULL)
        return 0;
    *before = self->cancel_disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    self->cancel_disabled = state == PTHREAD_CANCEL_DISABLE;
    return 0;
}

/*
 * An asynchronous cancellation can act at any moment.  The explorer lets it act where the thread makes
 * cancellation asynchronous, where the thread ends that, and in the sleep between.
 */
int xp_setcanceltype(int type, int *before)
{
    bool async = type == PTHREAD_CANCEL_ASYNCHRONOUS;

    *before = PTHREAD_CANCEL_DEFERRED;
    if (self == NULL)
        return 0;
    *before = self->cancel_async ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    if (async != self->cancel_async && cancel_strikes())
        act_on_cancel();
    self->cancel_async = async;
    return 0;
}

/* ---- Signal masks have no effect: signals come by decisions of the scheduler ---- */

int xp_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how;
    (void)set;
    if (before != NULL)
        sigemptyset(before);
    return 0;
}

/* ---- Replaces quota_linux.c: the cgroup in which the explorer runs has no effect ---- */

int fs_quota_cores(const char *root)
{
    (void)root;
    return FS_NO_QUOTA;
}

/* ---- Crashes, for example by an access to memory that does not exist ---- */

static void crashed(int number)
{
    fail("crash", "signal %d", number);
}

/* The handler runs on a stack of its own, and does not return: fail() switches to the scheduler. */
void catch_crashes(void)
{
    static char stack[65536];
    const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_NODEFER };

    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
}
