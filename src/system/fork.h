/* SPDX-License-Identifier: MIT */
/*
 * fork.h - resetting objects in a forked child.
 *
 * A forked child inherits semaphores with queues and mutexes of threads that the child does not have.  So
 * each semaphore, share, token and ticket records the generation: a number of the process that last used the
 * object.  A child has a new generation, and resets an object of an old generation before it locks the
 * object.
 */
#ifndef FS_FORK_H
#define FS_FORK_H

#include <limits.h>
#include <stdatomic.h>

/*
 * Returns the generation of this process, which differs from those of its parent and children.  Every
 * critical section calls this function, so with GCC and clang it is a plain load.
 */
#if defined(__GNUC__)
extern unsigned fs_generation;      /* written in the child handler, before there are threads */
static inline unsigned fs_fork_generation(void)
{
    return fs_generation;
}
#else
unsigned fs_fork_generation(void);
#endif

/* The fork handler of the child.  After _Fork(), which runs no handlers, the child itself calls fs_forked(). */
void fs_forked(void);

/*
 * Generations that no process has.  FS_UNUSED: the object is zeroed or has a static initializer, and was
 * never used.  FS_DESTROYED: the object was destroyed.
 */
#define FS_UNUSED    0u
#define FS_DESTROYED UINT_MAX

/* Make an object of the parent usable in this process.  The lock of fork.c is held; take no other lock. */
typedef void fs_fork_reset_fn(void *object);

void fs_fork_reset(_Atomic unsigned *generation, fs_fork_reset_fn *reset, void *object);

/*
 * Call `work` with the lock of fork.c held: meanwhile no other thread is in this function or in a reset.
 * Async-signal-safe.  A child that was forked during a call may call this function again, but may find that
 * `work` has made only some of its changes.
 */
void fs_fork_exclude(void (*work)(void *), void *object);

/*
 * If another process used the object last, reset the object.  Acquire order: a thread that finds the new
 * generation must see the reset by another thread.
 */
static inline void fs_fork_check(_Atomic unsigned *generation, fs_fork_reset_fn *reset,
                                 void *object)
{
    if (atomic_load_explicit(generation, memory_order_acquire) != fs_fork_generation())
        fs_fork_reset(generation, reset, object);
}

/*
 * A hook resets data of the whole process, in the child, before fork() returns.  With GCC and clang, the hook
 * is registered when the library is loaded; with other compilers, before the hook's data exists.  (A
 * pthread_once() would be worse: another thread may fork during the call.  In the child, the next
 * pthread_once() registers the hook once more with glibc, and waits for ever with musl.)
 */
struct fs_fork_hook {
    void               (*in_child)(void);
    struct fs_fork_hook *next;      /* r/o once registered */
};

void fs_fork_register(struct fs_fork_hook *hook);

#endif
