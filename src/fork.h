/* SPDX-License-Identifier: MIT */
/*
 * fork.h - which process is this?
 *
 * A forked child inherits semaphores whose lines belong to threads it does not have, and
 * whose mutex one of those threads may hold for ever.  Each semaphore (and token, and
 * ticket) remembers the generation it was last used in; where that is not the current one,
 * it is adopted: made usable here before it is locked.
 */
#ifndef FS_FORK_H
#define FS_FORK_H

#include <limits.h>

/*
 * Differs between a process and its children.  Every critical section asks, so it is a load where
 * the compiler can have the handler for the child registered when the library is loaded.
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

/* The generation of an object that has been destroyed: no process has it. */
#define FS_DESTROYED UINT_MAX

/* Two threads of a child may find the same object; one of them adopts it.  A leaf. */
void fs_fork_lock(void);
void fs_fork_unlock(void);

#endif
