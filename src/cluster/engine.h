/* SPDX-License-Identifier: MIT */
/*
 * engine.h - the interface to an engine, the store that keeps queues and leases: etcd.c.
 *
 * A step is one question to the engine, and the answer.  A step whose answer was lost may be repeated: the
 * second answer reports what the first attempt has changed.  A repeated FS_LIMIT is refused instead.
 *
 * Only the event-loop thread (loop.h) calls the functions below, except open, close, wake, and why.
 */
#ifndef CLUSTER_ENGINE_H
#define CLUSTER_ENGINE_H

#include "http.h"
#include "options.h"
#include "record.h"

enum fs_step {
    FS_GRANT,   /* create the lease */
    FS_JOIN,    /* join the queue, if the name has the expected limit, or the limit can be set */
    FS_VIEW,    /* read the limit, the running requests, and the predecessor of this request */
    FS_BEGIN,   /* begin to run; refused if another request waits before this one, or if a request has begun
                   or the limit was set since the view */
    FS_RENEW,   /* renew the lease */
    FS_END,     /* end the lease; the engine then deletes the request's key */
    FS_WATCH,   /* wait until a watched key is deleted or the limit is set; a failed watch is not retried */
    FS_CONFIRM, /* ask a majority whether the leader that renewed the lease is still the leader, and
                   whether all watched keys still exist, and at the front are unchanged */
    FS_LIMIT,   /* set the limit; refused if the limit was set since the view */
    FS_REMOVE,  /* delete the limit; refused like FS_LIMIT, and if any request runs or waits */
    FS_NEXT,    /* find the first key of any name, from record->predecessor on */
    FS_LIST     /* read the requests of the name */
};

/* The contents of an answer, all as of one revision of the engine. */
struct fs_answer {
    int     error;          /* 0; ENETUNREACH, EACCES, EPROTO, ENOSPC, ENOMEM;
                               ESTALE: no such lease; ECANCELED: the watch has ended */
    bool    final;          /* access denied by the engine's rules, no such lease, or damaged keys: a retry
                               would fail as well */
    bool    done;           /* this attempt has joined, begun, or set or deleted the limit; FS_CONFIRM: no
                               watched key is missing or, at the front, changed */
    int64_t revision;
    int64_t sent;           /* time at which the answered question was sent; FS_GRANT: the first attempt */
    int64_t ttl_s;          /* FS_GRANT, FS_RENEW */
    int64_t term;           /* FS_RENEW, FS_CONFIRM: the term of the leader */
    char    cluster[24];    /* the engine's cluster ID */
    int64_t joined;         /* revision at which the request joined, or 0 if it has no key in the queue */
    int64_t began;          /* revision at which the request began to run, or 0 if it does not run */
    int64_t limit, first;   /* current and first limit of the name; `first` is 0 if there is no limit */
    int64_t held, runs;     /* units and number of all running requests */
    char    predecessor[FS_KEY_SIZE];   /* key of the predecessor, or ""; FS_NEXT: the key found, or "" */
    fairsem_cluster_user_t *users;  /* FS_LIST: allocated with malloc(); reserved_[0] is the user's lease */
    size_t  user_count, user_total;
};

struct fs_engine;

/* Time limit of a step.  A watch has none; a renewal and a waiting request retry until the lease ends. */
#define FS_RETRY_BUDGET (INT64_C(5) * 1000000000)

/* Delay before the next attempt after a failed renewal, view, begin or end. */
#define FS_RETRY_DELAY (INT64_C(300) * 1000000)

/* A step in flight, in the caller's memory.  All members after `owner` belong to the engine. */
struct fs_call {
    void (*done)(struct fs_call *call, struct fs_answer *answer);
    void *owner;

    struct fs_call *next, **link;
    struct fs_engine *engine;
    const struct fs_record *record;
    enum fs_step step;
    enum { FS_IDLE, FS_BACKS_OFF, FS_NEEDS_TOKEN, FS_SENT } state;
    int64_t until, retry_at;    /* deadline of the call; time of the next attempt */
    int64_t sent, first;        /* times of the last and of the first attempt */
    unsigned tries, tokens; /* numbers of failed attempts and of refused tokens */
    unsigned token_number;  /* number of the user's token that was sent to etcd */
    unsigned generation;    /* engine->generation at the last attempt: identifies the attempt's endpoint */
    struct fs_answer answer;
    struct fs_exchange exchange;
};

/* The options must outlive the engine. */
int fs_engine_open(struct fs_engine **engine, struct fs_options *options);
void fs_engine_close(struct fs_engine *engine);

/*
 * Begin a step.  fs_engine_iterate calls call->done once, when the call is idle again.  A step without an
 * answer is retried at one endpoint after another, and fails at the time `until`.
 */
void fs_engine_call(struct fs_engine *engine, struct fs_call *call, enum fs_step step,
                    const struct fs_record *record, int64_t until);

/* Cancel the step of a call, if one is in flight.  The engine may still carry out a canceled step. */
void fs_engine_stop(struct fs_call *call);

/* Sleep until there is input, until the descriptor `alarm` is readable, or until fs_engine_wake. */
void fs_engine_wait(struct fs_engine *engine, int alarm);
void fs_engine_wake(struct fs_engine *engine);

/* Returns a text for people that describes the last failed question, or "".  Under the mutex of the handle. */
const char *fs_engine_why(const struct fs_engine *engine);

/* Do the pending work.  Returns the time at which to call this function again. */
int64_t fs_engine_iterate(struct fs_engine *engine, int64_t now);

#endif
