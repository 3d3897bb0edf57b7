/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - what a handle is: a name, the lock, and one background thread, the keeper.
 *
 * The thread exists while there are jobs.  It alone uses the engine.  What jobs share with their
 * callers is under the mutex, which the thread holds except when it sleeps.
 */
#ifndef CLUSTER_KEEPER_H
#define CLUSTER_KEEPER_H

#include "engine.h"

#include <pthread.h>
#include <sys/types.h>

/* Something that is held, waited for, or asked. */
struct fs_job {
    /*
     * Do what is to be done at a time; return when there is more, or FS_JOB_OVER: then the keeper
     * has forgotten the job.  Called under the mutex, after each event.
     */
    int64_t (*turn)(struct fs_job *job, int64_t now);
    struct fs_job *next;
};

#define FS_JOB_OVER INT64_C(-1)

struct fairsem_cluster {
    char prefix[FS_PREFIX_SIZE];    /* of the name; r/o after open, except for fairsem_cluster_next */
    pthread_mutex_t mutex;
    struct fs_options options;      /* r/o after open; the files: by its thread */
    struct fs_engine *engine;       /* the thread only, except for fs_engine_wake */
    pid_t process;                  /* r/o after open */
    int event, alarm;               /* r/o after open: descriptors */
    struct fs_job *jobs;            /* mutex */
    size_t claims;                  /* mutex: callers that wait, or hold something */
    bool runs, joinable;            /* mutex: the thread */
    bool quits;                     /* mutex: jobs are to end */
    pthread_t thread;               /* mutex */
};

/* 0 or an errno value.  The handle is zero but for its name and its options, which an error frees. */
int fs_keeper_open(fairsem_cluster_t *handle);

/* End the jobs that are left, and the thread. */
void fs_keeper_close(fairsem_cluster_t *handle);

/* True in a forked child, where nothing of the handle can be used. */
bool fs_keeper_is_foreign(const fairsem_cluster_t *handle);

/* Lock the mutex; the thread cannot be canceled until the unlock, which wakes the keeper. */
void fs_keeper_lock(fairsem_cluster_t *handle, int *cancel_state);
void fs_keeper_unlock(fairsem_cluster_t *handle, int cancel_state);

/* Under the mutex.  0; EAGAIN: there is no thread, and the job is not added. */
int fs_keeper_add(fairsem_cluster_t *handle, struct fs_job *job);

/* Make fairsem_cluster_fd readable. */
void fs_keeper_tell(fairsem_cluster_t *handle);

#endif
