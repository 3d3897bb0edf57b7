/* SPDX-License-Identifier: MIT */
/*
 * lease.h - the lease of a request: renewals, and the clock.
 *
 *     sent            sent + 1/3         sent + 3/4                      sent + all of it
 *     a renewal       the next one       the hold must no longer         the engine may grant its
 *                                        be used                         units to others
 *
 * "sent" is the time at which the last confirmed renewal was sent; fractions are of the lease's length.  The
 * engine counts the lease from the arrival of the renewal, which is later.  The last quarter allows for clocks
 * that differ, and for the time that the program takes to stop its work.
 *
 * A former leader may still answer a renewal, but renews nothing.  So each renewal takes two steps: FS_RENEW,
 * and then FS_CONFIRM, which needs a majority.  If both answers have the same term, the leader that answered
 * FS_RENEW was still the leader.
 *
 * If the connection of a watch dies unnoticed, the watch reports nothing.  So FS_CONFIRM also reads the watched
 * keys.
 */
#ifndef CLUSTER_LEASE_H
#define CLUSTER_LEASE_H

#include "engine.h"

#include <stdatomic.h>

struct fs_lease {
    struct fs_engine *engine;
    const struct fs_record *record;
    struct fs_call renewal;
    int64_t length, sent, renew_at;     /* renew_at is FS_NEVER while a renewal is in flight */
    int64_t renewed_sent, renewed_term; /* send time and term of a renewal that is not yet confirmed */
    struct fs_record asked;             /* copy of *record for FS_CONFIRM, during which *record may change */
    bool gone;                          /* the engine has ended the lease */
    bool key_changed;                   /* a confirmation found that a watched key is missing or has changed */

    /* Accessed by any thread: */
    _Atomic int64_t good_until;
    _Atomic int last_error;             /* error of the last renewal, or 0; ESTALE also for a lost key */
    _Atomic int lost;
};

/* Start the renewals of a new lease of ttl_s seconds, whose FS_GRANT was sent at the time `sent`. */
void fs_lease_begin(struct fs_lease *lease, struct fs_engine *engine, const struct fs_record *record,
                    int64_t sent, int64_t ttl_s);

void fs_lease_stop(struct fs_lease *lease);

/* Returns the time at which the lease is over by our own clock. */
int64_t fs_lease_end(const struct fs_lease *lease);

/*
 * Renew the lease if a renewal is due.  Returns 0, and sets *next to the time at which to call this function
 * again; or returns the error that ended the lease.
 */
int fs_lease_iterate(struct fs_lease *lease, int64_t now, int64_t *next);

/* Returns 0, or an error if the hold must no longer be used; an error is final.  Any thread may call this. */
int fs_lease_lost(struct fs_lease *lease, int64_t now);

/* Returns the time for which the hold may be used without another renewal.  Any thread may call this. */
int64_t fs_lease_left(struct fs_lease *lease, int64_t now);

#endif
