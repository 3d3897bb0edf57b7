/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - a handle: a name, a mutex, and one background thread, the keeper, which is an event loop.
 *
 * The thread exists while there are jobs.  Only this thread uses the engine.  Members that jobs share
 * with their callers are protected by the mutex, which the thread holds except when it sleeps.
 */
#ifndef CLUSTER_KEEPER_H
#define CLUSTER_KEEPER_H

#include "engine.h"

#include <pthread.h>
#include <sys/types.h>

/* A task of the event loop: a request, or a question of users.c. */
struct fs_job {
    /*
     * Do the pending work.  Returns the time of the next work, or FS_JOB_OVER: the keeper then no
     * longer uses the job.  Called under the mutex, after each event.
     */
    int64_t (*turn)(struct fs_job *job, int64_t now);
    struct fs_job *next;
};

#define FS_JOB_OVER INT64_C(-1)

struct fairsem_cluster {
    char prefix[FS_PREFIX_SIZE];    /* of the name; r/o after open, except for fairsem_cluster_next */
    pthread_mutex_t mutex;
    struct fs_options options;      /* r/o after open; the files: the thread only */
    struct fs_engine *engine;       /* the thread only, except for fs_engine_wake */
    pid_t process;                  /* r/o after open */
    int event, alarm;               /* r/o after open: descriptors */
    struct fs_job *jobs;            /* mutex */
    size_t claims;                  /* mutex: number of callers that wait or hold units */
    bool runs, joinable;            /* mutex: the thread */
    bool quits;                     /* mutex: jobs are to end */
    pthread_t thread;               /* mutex */
};

/* Returns 0, or an errno value after freeing the options.  All members but name and options must be zero. */
int fs_keeper_open(fairsem_cluster_t *handle);

/* End the remaining jobs, and the thread. */
void fs_keeper_close(fairsem_cluster_t *handle);

/* Returns true in a forked child, where the handle cannot be used. */
bool fs_keeper_is_foreign(const fairsem_cluster_t *handle);

/* Lock the mutex, and disable cancellation of the caller until the unlock, which wakes the keeper. */
void fs_keeper_lock(fairsem_cluster_t *handle, int *cancel_state);
void fs_keeper_unlock(fairsem_cluster_t *handle, int cancel_state);

/* Add a job, under the mutex.  Returns 0, or EAGAIN if no thread can be created: the job then is not added. */
int fs_keeper_add(fairsem_cluster_t *handle, struct fs_job *job);

/* Make fairsem_cluster_fd readable. */
void fs_keeper_tell(fairsem_cluster_t *handle);

#endif
