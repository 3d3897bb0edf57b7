/* SPDX-License-Identifier: MIT */
/*
 * request.h - one request, from its lease to its end.
 *
 *     GRANTING --granted--> JOINING --joined--> WAITING --begun--> RUNNING --lost--> LOST
 *         |                    |                   |                  |               |
 *         |                    '-- fails, leaves --+----- leaves -----+--- leaves ----'
 *         |                                        v
 *         |                                     ENDING --over--> ENDED
 *         '------------- fails, leaves: no key yet -----------------^
 *
 * Each transition is a function of request.c: "request_" and the word on the arrow.  The engine or the clock
 * causes `fails`; the caller causes `leaves`.  ENDING is over when the engine has confirmed FS_END, when the
 * lease is over by our own clock, or, during fairsem_cluster_close, when an FS_END has failed.
 *
 * A request has at most two calls in flight, `step` and the renewal of its lease:
 *
 *              GRANTING   JOINING   WAITING              RUNNING   LOST   ENDING
 *     step     GRANT      JOIN      BEGIN, WATCH, VIEW   -         -      END, again and again
 *     renewal  -          RENEW and CONFIRM, each third of the lease       -      -
 *
 *     JOIN, VIEW ---> is there room? --yes--> BEGIN --done--> RUNNING
 *            ^          |         ^             |
 *            |          no        '-------------'  refused: see FS_BEGIN
 *            |          v
 *            '------- WATCH ---.
 *                       ^      |
 *                       '------'  the first broken connection
 *
 * The caller and the event loop have a reference each.  The event loop drops its reference in ENDED.
 */
#ifndef CLUSTER_REQUEST_H
#define CLUSTER_REQUEST_H

#include "loop.h"
#include "lease.h"

enum fs_request_state {
    FS_GRANTING, FS_JOINING, FS_WAITING, FS_RUNNING, FS_LOST, FS_ENDING, FS_REQUEST_ENDED
};

/* Members marked neither "mutex" nor "r/o" (read-only) belong to the event-loop thread. */
struct fs_request {
    struct fs_task task;
    fairsem_cluster_t *handle;          /* r/o */
    bool only_try;                      /* r/o: fail instead of waiting */
    bool leaves;                        /* mutex: the caller wants the request to end */
    int owners;                         /* mutex: references, of the caller and the event loop */

    enum fs_request_state state;
    struct fs_record record;
    struct fs_lease lease;              /* valid from JOINING on; any thread may use the atomics once RUNNING */
    struct fs_call step;
    int64_t step_at;                    /* time of the next step, or FS_NEVER if none is scheduled */
    bool watches_again;                 /* the next step repeats the watch */
    int64_t watch_began, watch_backoff;

    bool is_decided, is_over;           /* mutex: notify_decision(), notify_end() have reported to the caller */
    int result, end_result;             /* mutex: `result` is valid if is_decided, `end_result` if is_over */
    fairsem_t decided, over;            /* semaphores on which the caller waits */
    int64_t fence;                      /* r/o once decided */
};

/* Returns NULL if memory runs out, or if the system has no random numbers. */
struct fs_request *fs_request_new(fairsem_cluster_t *handle, int64_t units, int priority,
                                  bool only_try);

/* Drop a reference, under the mutex. */
void fs_request_drop(struct fs_request *request);

/* Returns true if the task is a request with this lease.  Under the mutex. */
bool fs_request_has_lease(const struct fs_task *task, int64_t lease);

#endif
