/* SPDX-License-Identifier: MIT */
/*
 * request.h - one request, from its lease to its end.
 *
 *     GRANTING --lease--> JOINING --joined--> WAITING --begun--> RUNNING --no renewal--> LOST
 *         |                  |                   |                  |                      |
 *         |                  '------ fail, leave-+------ leave -----+------- leave --------'
 *         |                                      v
 *         |                                   ENDING --answered, or the lease is over--> ENDED
 *         '----------- fail, leave: there is no key yet -----------------------------------^
 *
 * `fail` is what the engine or the clock does to it, and a function of request.c; to leave, the
 * caller sets `leaves`.  Within WAITING there is one step at a time: FS_VIEW, FS_BEGIN, or a watch.
 *
 * The memory belongs to the caller and to the keeper: whoever drops it last frees it.  The keeper
 * drops it in ENDED.
 */
#ifndef CLUSTER_REQUEST_H
#define CLUSTER_REQUEST_H

#include "keeper.h"

#include <stdatomic.h>

enum fs_request_state {
    FS_GRANTING, FS_JOINING, FS_WAITING, FS_RUNNING, FS_LOST, FS_ENDING, FS_ENDED
};

struct fs_request {
    struct fs_job job;
    struct fs_keeper *keeper;           /* r/o */
    struct fs_place place;              /* the keeper */
    enum fs_request_state state;        /* mutex */
    bool only_try;                      /* r/o: fail instead of waiting */
    bool leaves;                        /* mutex: its caller wants it to end */
    int owners;                         /* mutex: the caller, the keeper */

    struct fs_call step, renewal;       /* the keeper */
    int64_t renewed;                    /* the keeper: the last answered renewal was sent then */
    int64_t renew_at, step_at;          /* the keeper: FS_NEVER: not */
    int64_t lease_ns;                   /* the keeper */
    int64_t watch_pause, watch_began;   /* the keeper: when watches break at once */

    bool is_decided, is_over;           /* mutex: the two semaphores below have got their unit */
    int result, end_result;             /* mutex: valid with these */
    fairsem_t decided, over;            /* for the caller to wait on */

    int64_t fence;                      /* r/o when decided */
    _Atomic int64_t good_until;         /* the hold may be used until then */
    _Atomic int lost, last_error;
};

/* Make a request.  NULL: no memory. */
struct fs_request *fs_request_new(struct fs_keeper *keeper, const char *prefix, int64_t units,
                                  int priority, bool only_try);

/* Under the mutex: it is not the caller's any more. */
void fs_request_drop(struct fs_request *request);

/* Under the mutex: is the job a request with this lease? */
bool fs_request_has_lease(const struct fs_job *job, int64_t lease);

/* 0, or why the hold must not be used any more. */
int fs_request_lost(struct fs_request *request, int64_t now);

#endif
