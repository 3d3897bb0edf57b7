/* SPDX-License-Identifier: MIT */
/*
 * fork.c - the generation, the hooks and the lock for resetting an object, see fork.h.
 *
 * The library registers a fork handler for the child, but no prepare handler, so the library holds no lock
 * across a fork.  A prepare handler could deadlock.  The prepare handler that is registered last runs first.
 * If that were the library's handler, it would lock the library, and then an application's handler could wait
 * for a lock whose holder waits for the library.  Instead, the child initializes every lock again.  The data
 * under the locks is usable in a copy taken at any moment, or the child discards the copy.
 *
 * With GCC and clang the handler is registered when the library is loaded: before there are threads, and before
 * the application registers handlers.  The application's handlers run later in the child, and may use
 * semaphores.  With other compilers the library's handler is registered when the generation is first read.
 */
#include "system/fork.h"

#include "tools/compiler.h"
#include "tools/invariant.h"

#include <signal.h>

unsigned fs_generation = 1;

static struct fs_fork_hook *_Atomic hooks;  /* grows at the head only */

static pthread_mutex_t fork_mutex = PTHREAD_MUTEX_INITIALIZER;
static sigset_t        blocked_before;      /* under fork_mutex: the holder's signal mask before fork_lock() */

void fs_forked(void)
{
    fork_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    fs_generation++;
    for (struct fs_fork_hook *hook = hooks; hook != NULL; hook = hook->next)
        hook->in_child();
}

FS_WHEN_LOADED static void fork_initialize(void)
{
    /* If there is no memory for the handler, a child cannot use semaphores that were in use during the fork. */
    (void)pthread_atfork(NULL, NULL, fs_forked);
}

#if !defined(__GNUC__)
unsigned fs_fork_generation(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    FS_MUST(pthread_once(&once, fork_initialize));
    return fs_generation;
}
#endif

/* Block signals: a handler that resets another object would wait for a lock that its own thread holds. */
static void fork_lock(void)
{
    sigset_t all, before;

    sigfillset(&all);
    FS_MUST(pthread_sigmask(SIG_BLOCK, &all, &before));
    FS_MUST(pthread_mutex_lock(&fork_mutex));
    blocked_before = before;
}

static void fork_unlock(void)
{
    sigset_t before = blocked_before;

    FS_MUST(pthread_mutex_unlock(&fork_mutex));
    FS_MUST(pthread_sigmask(SIG_SETMASK, &before, NULL));
}

/*
 * An unused object gets the generation without a reset, and so without the lock.  Acquire order: see
 * fs_fork_check().
 */
void fs_fork_reset(_Atomic unsigned *generation, fs_fork_reset_fn *reset, void *object)
{
    unsigned current = fs_fork_generation(), before = FS_UNUSED;

    if (atomic_compare_exchange_strong_explicit(generation, &before, current, memory_order_acquire,
                                                memory_order_acquire)
        || before == current)
        return;
    fork_lock();
    if (atomic_load_explicit(generation, memory_order_relaxed) != current) {
        reset(object);
        atomic_store_explicit(generation, current, memory_order_release);
    }
    fork_unlock();
}

/*
 * The callers of this function do not defer cancellation, so the function does.  The callers of
 * fs_fork_reset() have deferred cancellation already (signals.h).
 */
void fs_fork_exclude(void (*work)(void *), void *object)
{
    int cancel_type, deferred;

    (void)fs_fork_generation();     /* with other compilers than GCC and clang, registers the handler */
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &cancel_type);
    fork_lock();
    work(object);
    fork_unlock();
    pthread_setcanceltype(cancel_type, &deferred);
}

/*
 * A fork may copy the list at any moment, so the hook is complete before one store publishes it.  A child
 * that was forked during the registration may register the hook once more.
 */
void fs_fork_register(struct fs_fork_hook *hook)
{
    for (const struct fs_fork_hook *at = hooks; at != NULL; at = at->next) {
        if (at == hook)
            return;
    }
    hook->next = atomic_load_explicit(&hooks, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&hooks, &hook->next, hook,
                                                  memory_order_release, memory_order_relaxed))
        continue;
}
