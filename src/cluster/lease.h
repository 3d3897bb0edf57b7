/* SPDX-License-Identifier: MIT */
/*
 * lease.h - how long a request lives: renewals, and the clock.
 *
 *     sent            sent + 1/3         sent + 3/4                      sent + all of it
 *     a renewal       the next one       a hold must not be used         the engine gives its
 *                                        any more                        units away
 *
 * "sent" is when the last renewal that counts was sent.  The engine's time begins later, when
 * it received that; so the last quarter is for clocks that differ, and for what has to be stopped.
 *
 * A leader that is none any more may answer a renewal all the same, which then is none.  So each
 * renewal is two steps: FS_RENEW, and FS_CONFIRM, which a majority answers.  If the leader has the
 * same number there, no other one came before the renewal.
 *
 * A connection can be dead without anybody knowing: then the watch of a waiting request hears
 * nothing for ever.  So FS_CONFIRM reads what it waits for, as well.
 */
#ifndef CLUSTER_LEASE_H
#define CLUSTER_LEASE_H

#include "engine.h"

#include <stdatomic.h>

struct fs_lease {
    struct fs_engine *engine;
    const struct fs_place *place;
    struct fs_call renewal;
    int64_t length, sent, renew_at;     /* FS_NEVER: a renewal is under way */
    int64_t renewed_sent, renewed_term; /* of FS_RENEW, until it is confirmed */
    struct fs_place asked;              /* of FS_CONFIRM: the request may go on before its answer */
    bool gone;                          /* the engine has ended it */
    bool news;                          /* not all is there that was waited for */

    /* Any thread: */
    _Atomic int64_t good_until;
    _Atomic int last_error;             /* of a renewal; 0: it was answered */
    _Atomic int lost;
};

/* The engine has granted it, in answer to what was sent at a time, for so many seconds. */
void fs_lease_begin(struct fs_lease *lease, struct fs_engine *engine, const struct fs_place *place,
                    int64_t sent, int64_t ttl_s);

/* Renew no more. */
void fs_lease_stop(struct fs_lease *lease);

/* When it is over by our own clock. */
int64_t fs_lease_end(const struct fs_lease *lease);

/* Renew it, if it is time.  0, and *next is when there is more to do; or why the lease is over. */
int fs_lease_turn(struct fs_lease *lease, int64_t now, int64_t *next);

/* 0; or, for good, why a hold must not be used any more.  From any thread. */
int fs_lease_lost(struct fs_lease *lease, int64_t now);

/* How long a hold may still be used, if no renewal is answered.  From any thread. */
int64_t fs_lease_left(struct fs_lease *lease, int64_t now);

#endif
