/* SPDX-License-Identifier: MIT */
/*
 * fork.h - resetting objects in a forked child.
 *
 * A forked child inherits semaphores whose queues belong to threads that it does not have, and
 * whose mutex one of those threads may hold for ever.  Each semaphore, token and ticket records the
 * generation, a number of the process in which it was last used.  If that is not the current
 * generation, the object is reset before it is locked.
 */
#ifndef FS_FORK_H
#define FS_FORK_H

#include <limits.h>
#include <stdatomic.h>

/*
 * A number that differs between a process and its children.  Every critical section reads it, so reading it
 * is a plain load where the compiler can register the child handler when the library is loaded.
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

/* Called in a child of _Fork(), which runs no fork handlers: does the work of this library's handler. */
void fs_forked(void);

/*
 * Generations that no process has.  FS_UNUSED: the object is zeroed or has a static initializer, and was
 * never used.  FS_DESTROYED: the object was destroyed.
 */
#define FS_UNUSED    0u
#define FS_DESTROYED UINT_MAX

/* Make an object of the parent usable in this process.  Called with the lock of fork.c held, which is a leaf. */
typedef void fs_fork_reset_fn(void *object);

void fs_fork_reset(_Atomic unsigned *generation, fs_fork_reset_fn *reset, void *object);

/*
 * Call `work` with the lock of fork.c held: no other such call and no reset runs meanwhile.  A signal
 * handler may call this function, whatever it has interrupted.  A child that was forked during a call may
 * call it, too, but may find that `work` has made only some of its changes.
 */
void fs_fork_exclude(void (*work)(void *), void *object);

/*
 * Called before an object is used: reset it if it was last used in another process.  Acquire order: a
 * thread that finds the new generation must see the reset by another thread.
 */
static inline void fs_fork_check(_Atomic unsigned *generation, fs_fork_reset_fn *reset,
                                 void *object)
{
    if (atomic_load_explicit(generation, memory_order_acquire) != fs_fork_generation())
        fs_fork_reset(generation, reset, object);
}

/*
 * A hook resets data of the whole process, in the child, before fork() returns there.  It is
 * registered once: when the library is loaded, if the compiler supports that, otherwise before the
 * data exists that it resets.  (pthread_once is avoided where possible: in a child that was forked
 * during it, glibc runs its function once more, and musl waits for ever.)
 */
struct fs_fork_hook {
    void               (*in_child)(void);
    struct fs_fork_hook *next;      /* r/o once registered */
};

void fs_fork_register(struct fs_fork_hook *hook);

#endif
