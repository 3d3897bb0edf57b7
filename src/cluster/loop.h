/* SPDX-License-Identifier: MIT */
/*
 * loop.h - a handle: a name, a mutex, and one background thread with an event loop.
 *
 * The thread exists while there are tasks, and holds the mutex except while it sleeps.  The mutex protects the
 * members that tasks share with their callers.
 */
#ifndef CLUSTER_LOOP_H
#define CLUSTER_LOOP_H

#include "engine.h"

#include <pthread.h>
#include <sys/types.h>

/* A task of the event loop: a request, or a question of users.c. */
struct fs_task {
    /*
     * Do the pending work.  Called under the mutex, after each event.  Returns the time of the next
     * work; or FS_TASK_OVER, after which the event loop does not use the task.
     */
    int64_t (*iterate)(struct fs_task *task, int64_t now);
    struct fs_task *next;
};

#define FS_TASK_OVER INT64_C(-1)

struct fairsem_cluster {
    char prefix[FS_PREFIX_SIZE];    /* of the name's keys; r/o after open, except for fairsem_cluster_next */
    pthread_mutex_t mutex;
    struct fs_options options;      /* r/o after open, except the files, which belong to the thread */
    struct fs_engine *engine;       /* used only by the thread, except for wake and why */
    pid_t process;                  /* r/o after open */
    int event, alarm;               /* r/o after open: descriptors */
    struct fs_task *tasks;           /* mutex */
    size_t callers;                 /* mutex: number of callers that wait or hold units */
    bool runs, joinable;            /* mutex: states of the thread */
    bool quits;                     /* mutex: fairsem_cluster_close has begun, and tasks must end */
    pthread_t thread;               /* mutex */
};

/* Returns 0, or an errno value after freeing the options.  All members but prefix and options must be zero. */
int fs_loop_open(fairsem_cluster_t *handle);

void fs_loop_close(fairsem_cluster_t *handle);

/* Returns true in a forked child, where the handle cannot be used. */
bool fs_loop_is_inherited(const fairsem_cluster_t *handle);

/* Lock the mutex, and disable cancellation until the unlock.  The unlock also wakes the event loop. */
void fs_loop_lock(fairsem_cluster_t *handle, int *cancel_state);
void fs_loop_unlock(fairsem_cluster_t *handle, int cancel_state);

/* Add a task, under the mutex.  Returns 0; or EAGAIN, without adding, if the thread cannot be created. */
int fs_loop_add(fairsem_cluster_t *handle, struct fs_task *task);

/* Make fairsem_cluster_fd readable. */
void fs_loop_notify(fairsem_cluster_t *handle);

#endif
