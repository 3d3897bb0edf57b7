/* SPDX-License-Identifier: MIT */
/*
 * loop.h - a handle: a name, a mutex, and one background thread with an event loop.
 *
 * The thread exists while there are tasks.  Only this thread uses the engine.  The mutex protects the members that
 * tasks share with their callers; the thread holds it except while it sleeps.
 */
#ifndef CLUSTER_LOOP_H
#define CLUSTER_LOOP_H

#include "engine.h"

#include <pthread.h>
#include <sys/types.h>

/* A task of the event loop: a request, or a question of users.c. */
struct fs_task {
    /*
     * Do the pending work.  Returns the time of the next work, or FS_TASK_OVER: the event loop
     * then no longer uses the task.  Called under the mutex, after each event.
     */
    int64_t (*iterate)(struct fs_task *task, int64_t now);
    struct fs_task *next;
};

#define FS_TASK_OVER INT64_C(-1)

struct fairsem_cluster {
    char prefix[FS_PREFIX_SIZE];    /* of its keys; r/o after open, except for fairsem_cluster_next */
    pthread_mutex_t mutex;
    struct fs_options options;      /* r/o after open, except the files, which belong to the thread */
    struct fs_engine *engine;       /* used only by the thread, except for fs_engine_wake */
    pid_t process;                  /* r/o after open */
    int event, alarm;               /* r/o after open: descriptors */
    struct fs_task *tasks;           /* mutex */
    size_t callers;                 /* mutex: number of callers that wait or hold units */
    bool runs, joinable;            /* mutex: states of the thread */
    bool quits;                     /* mutex: tasks are to end */
    pthread_t thread;               /* mutex */
};

/* Returns 0, or an errno value after freeing the options.  All members but name and options must be zero. */
int fs_loop_open(fairsem_cluster_t *handle);

/* End the remaining tasks, and the thread. */
void fs_loop_close(fairsem_cluster_t *handle);

/* Returns true in a forked child, where the handle cannot be used. */
bool fs_loop_is_inherited(const fairsem_cluster_t *handle);

/* Lock the mutex, and disable cancellation of the caller until the unlock, which wakes the event loop. */
void fs_loop_lock(fairsem_cluster_t *handle, int *cancel_state);
void fs_loop_unlock(fairsem_cluster_t *handle, int cancel_state);

/* Add a task, under the mutex.  Returns 0, or EAGAIN if no thread can be created: the task then is not added. */
int fs_loop_add(fairsem_cluster_t *handle, struct fs_task *task);

/* Make fairsem_cluster_fd readable. */
void fs_loop_notify(fairsem_cluster_t *handle);

#endif
