/* SPDX-License-Identifier: MIT */
/*
 * fork.c - the generation counter and the lock for adoption, see fork.h.
 *
 * There is a handler for the child and none before the fork: no lock of ours is held
 * across it.  Prepare handlers run in reverse order of registration, so that the lowest
 * layer, which registers last, would lock first and wait for ever for an application that
 * does the opposite.  Instead the child takes every lock for lost and makes it anew; what
 * they protect is kept such that a copy taken at any moment can be used, or is thrown away.
 *
 * Registered when the library is loaded, where the compiler can do that: before there are
 * threads, and before the application's own handlers, which may then use semaphores in the
 * child.  Elsewhere it is registered when the generation is first asked for.
 */
#include "fork.h"

#include "invariant.h"
#include "park.h"
#include "semaphore_internal.h"

#include <signal.h>

unsigned fs_generation;

static pthread_mutex_t adoption = PTHREAD_MUTEX_INITIALIZER;
static sigset_t        adopters_signals;    /* under adoption: what its thread had blocked */

static void in_child(void)
{
    adoption = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    fs_generation++;
    fs_parkers_in_child();
    fs_callbacks_in_child();
}

#if defined(__GNUC__)
__attribute__((constructor))
#endif
static void initialize(void)
{
    /* If this fails, for want of memory, semaphores that are in use during a fork cannot be
     * used in the child. */
    (void)pthread_atfork(NULL, NULL, in_child);
}

#if !defined(__GNUC__)
unsigned fs_fork_generation(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    FS_MUST(pthread_once(&once, initialize));
    return fs_generation;
}
#endif

/* With signals blocked: a handler may use a semaphore that has to be adopted, too. */
void fs_fork_lock(void)
{
    sigset_t all, before;

    sigfillset(&all);
    FS_MUST(pthread_sigmask(SIG_BLOCK, &all, &before));
    FS_MUST(pthread_mutex_lock(&adoption));
    adopters_signals = before;
}

void fs_fork_unlock(void)
{
    sigset_t before = adopters_signals;

    FS_MUST(pthread_mutex_unlock(&adoption));
    FS_MUST(pthread_sigmask(SIG_SETMASK, &before, NULL));
}
