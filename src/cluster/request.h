/* SPDX-License-Identifier: MIT */
/*
 * request.h - one request, from its lease to its end.
 *
 *     GRANTING --granted--> JOINING --joined--> WAITING --begun--> RUNNING --lost--> LOST
 *         |                    |                   |                  |               |
 *         |                    '-- fails, leaves --+----- leaves -----+--- leaves ----'
 *         |                                        v
 *         |                                     ENDING --over--> ENDED
 *         '------------- fails, leaves: it has no key yet ----------^
 *
 * Each arrow is a function of request.c, with "request_" before the word.  `fails` is what the engine
 * or the clock does to a request, `leaves` what its caller wants.  ENDING is over when the engine has
 * answered, or when the lease is over by our own clock.
 *
 * Two calls of a request can be in flight at a time, `step` and the renewal of its lease:
 *
 *              GRANTING   JOINING   WAITING              RUNNING   LOST   ENDING
 *     step     GRANT      JOIN      BEGIN, WATCH, VIEW   -         -      END, again and again
 *     renewal  -          RENEW and CONFIRM, after each third of it       -      -
 *
 *     JOIN, VIEW ---> is there room? --yes--> BEGIN --done--> RUNNING
 *            ^          |         ^             |
 *            |          no        '-------------'  somebody has begun, or joined before it, since
 *            |          v
 *            '------- WATCH ---.
 *                       ^      |
 *                       '------'  it broke, and was not begun twice already
 *
 * The memory belongs to the caller and to the keeper: who drops it last frees it.  The keeper drops
 * it in ENDED.
 */
#ifndef CLUSTER_REQUEST_H
#define CLUSTER_REQUEST_H

#include "keeper.h"
#include "lease.h"

enum fs_request_state {
    FS_GRANTING, FS_JOINING, FS_WAITING, FS_RUNNING, FS_LOST, FS_ENDING, FS_REQUEST_ENDED
};

/* What is not said to be under the mutex, or read-only, is the keeper's. */
struct fs_request {
    struct fs_job job;
    fairsem_cluster_t *handle;          /* r/o */
    bool only_try;                      /* r/o: fail instead of waiting */
    bool leaves;                        /* mutex: its caller wants it to end */
    int owners;                         /* mutex: the caller, the keeper */

    enum fs_request_state state;
    struct fs_place place;
    struct fs_lease lease;              /* from JOINING on; its atomics from RUNNING on */
    struct fs_call step;
    int64_t step_at;                    /* when to take the next; FS_NEVER: one is under way */
    bool watches_again;                 /* that is the next step */
    int64_t watch_began, watch_pause;

    bool is_decided, is_over;           /* mutex: the semaphores have got their unit */
    int result, end_result;             /* mutex: valid with these */
    fairsem_t decided, over;            /* for the caller to wait on */
    int64_t fence;                      /* r/o when decided */
};

/* Make a request.  NULL: no memory. */
struct fs_request *fs_request_new(fairsem_cluster_t *handle, int64_t units, int priority,
                                  bool only_try);

/* Under the mutex: it is not the caller's, or the keeper's, any more. */
void fs_request_drop(struct fs_request *request);

/* Under the mutex: is the job a request with this lease? */
bool fs_request_has_lease(const struct fs_job *job, int64_t lease);

#endif
