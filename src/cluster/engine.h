/* SPDX-License-Identifier: MIT */
/*
 * engine.h - all that this library asks of an engine; etcd.c is the only one.  The next would stand
 * behind these functions.
 *
 * A step is one question to the engine, and its answer.  Each of them may be asked again when an
 * answer is lost: it then says what is true already.  Everything here runs in the keeper's thread,
 * except fs_engine_open, close and wake.
 */
#ifndef CLUSTER_ENGINE_H
#define CLUSTER_ENGINE_H

#include "http.h"
#include "options.h"
#include "place.h"

enum fs_step {
    FS_GRANT,   /* make the lease */
    FS_JOIN,    /* join the queue, if the limit is the same, or can be set */
    FS_VIEW,    /* read what runs, and who is next before this request */
    FS_BEGIN,   /* begin to run, if nobody has begun or set the limit since the view, or waits before it */
    FS_RENEW,   /* renew the lease */
    FS_END,     /* end the lease, and with it the request's key */
    FS_WATCH,   /* wait until what the request waits for is gone; not asked again by the engine */
    FS_CONFIRM, /* ask a majority whether the leader that has renewed the lease still is one, and
                   whether all that the request waits for is still there, and the same */
    FS_LIMIT,   /* set the limit of a name, if nobody has since the view */
    FS_REMOVE,  /* forget the limit, if nobody runs or waits, or has set it since the view */
    FS_NEXT,    /* find the first key from place->ahead on, of any name */
    FS_LIST     /* read all requests of the name */
};

/* What an answer says.  All of it is of one moment, the revision. */
struct fs_answer {
    int     error;          /* 0; ENETUNREACH, EACCES, EPROTO, ENOSPC, ENOMEM;
                               ESTALE: no such lease; ECANCELED: the watch has ended */
    bool    final;          /* the engine itself has said so: to ask again is of no use */
    bool    done;           /* it has joined, it has begun, what it watched is gone, all that it
                               waits for is there, the limit is set, or forgotten */
    int64_t revision;
    int64_t sent;           /* when the question that was answered was sent */
    int64_t ttl_s;          /* FS_GRANT, FS_RENEW */
    int64_t term;           /* FS_RENEW, FS_CONFIRM: the number of the leader */
    char    cluster[24];    /* the number of the engine */
    int64_t joined;         /* the request's revision in the queue; 0: it is not there */
    int64_t began;          /* the revision at which it began to run; 0: it does not run */
    int64_t limit, first;   /* now, and when the name was made; 0 for `first`: there is none */
    int64_t held, runs;     /* units of all that run, and how many they are */
    char    ahead[FS_KEY_SIZE];     /* FS_NEXT: the key; "": there is none */
    fairsem_cluster_user_t *users;  /* FS_LIST: from malloc; reserved_[0] is the lease */
    size_t  user_count, user_total;
};

struct fs_engine;

/* How long an engine that does not answer is asked by one who does not wait in its queue, at most. */
#define FS_PATIENCE (INT64_C(5) * 1000000000)

/* A renewal, a view or an end that failed at each endpoint is tried again after this. */
#define FS_RETRY (INT64_C(300) * 1000000)

/* A step that is under way, in memory of the caller's.  Behind `owner` all is the engine's. */
struct fs_call {
    void (*done)(struct fs_call *call, struct fs_answer *answer);
    void *owner;

    struct fs_call *next, **link;
    struct fs_engine *engine;
    const struct fs_place *place;
    enum fs_step step;
    enum { FS_IDLE, FS_PAUSED, FS_NEEDS_TOKEN, FS_SENT } state;
    int64_t until, again;   /* fail at; send again at */
    int64_t sent, first;    /* this time, the first time */
    unsigned tries, tokens; /* failed ones, refused ones */
    unsigned token_number;  /* of the token that it was sent with */
    unsigned generation;    /* of the endpoint that it was sent to */
    struct fs_answer answer;
    struct fs_exchange exchange;
};

/* 0 or an errno value.  The options must stay. */
int fs_engine_open(struct fs_engine **engine, struct fs_options *options);
void fs_engine_close(struct fs_engine *engine);

/*
 * Begin a step.  call->done is called once, in fs_engine_turn, and the call is idle again then.  A
 * step that is not answered is asked again, at each endpoint in turn, until a time, at which it ends
 * whatever has been asked by then.
 */
void fs_engine_call(struct fs_engine *engine, struct fs_call *call, enum fs_step step,
                    const struct fs_place *place, int64_t until);

/* Forget a step that may be under way.  The engine may have taken it all the same. */
void fs_engine_stop(struct fs_call *call);

/* Sleep until something comes, until the descriptor is readable, or until fs_engine_wake. */
void fs_engine_wait(struct fs_engine *engine, int alarm);
void fs_engine_wake(struct fs_engine *engine);

/* What the last question got that had no good answer, for people; "" if there was none. */
const char *fs_engine_why(const struct fs_engine *engine);

/* Do what is to be done now.  It returns the time at which there is more. */
int64_t fs_engine_turn(struct fs_engine *engine, int64_t now);

#endif
