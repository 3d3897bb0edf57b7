/* SPDX-License-Identifier: MIT */
/* fork.c - the generation counter and the lock for adoption, see fork.h. */
#include "fork.h"

#include "invariant.h"

#include <pthread.h>

static pthread_once_t  once = PTHREAD_ONCE_INIT;
static pthread_mutex_t adoption = PTHREAD_MUTEX_INITIALIZER;
static unsigned        generation;  /* written in the child handler, before there are threads */

void fs_fork_lock(void)
{
    FS_MUST(pthread_mutex_lock(&adoption));
}

void fs_fork_unlock(void)
{
    FS_MUST(pthread_mutex_unlock(&adoption));
}

static void in_child(void)
{
    generation++;
    fs_fork_unlock();
}

static void initialise(void)
{
    /* If this fails, for want of memory, semaphores that are in use during a fork hang in the child. */
    (void)pthread_atfork(fs_fork_lock, fs_fork_unlock, in_child);
}

unsigned fs_fork_generation(void)
{
    FS_MUST(pthread_once(&once, initialise));
    return generation;
}
