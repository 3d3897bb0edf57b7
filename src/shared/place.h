/* SPDX-License-Identifier: MIT */
/* place.h - a thread's place in the line of a segment: join, sleep, leave. */
#ifndef FS_SHARED_PLACE_H
#define FS_SHARED_PLACE_H

#include "deadline.h"
#include "shared/visit.h"
#include "token.h"

/* No result: these are not negative. */
#define FS_NOT_OVER (-1)

/* A place that its thread has left before any token has canceled it: from now on none can. */
#define FS_OVER (-1)

struct fs_place {
    struct fs_cancelable      by_token;
    fairsem_shared_t         *handle;
    const struct fs_deadline *deadline;     /* NULL: none */
    int                       slot;         /* under the lock; FS_NOBODY: not joined */
    int64_t                   seq;          /* its number, by which it knows its slot again */
    _Atomic int               reason;       /* of its token; 0: not canceled, or FS_OVER */
    int64_t                   joined_ns;
    int                       core;         /* where it joined */
    bool                      as_head;      /* it has joined as the head */
    bool                      spins;        /* and that pays */
    int                       result;       /* of its thread: of the wait, or FS_NOT_OVER */
};

/* Let the token (NULL: none) know of it.  0, or the token's reason.  No lock held. */
int fs_place_begin(struct fs_place *place, fairsem_shared_t *h, const struct fs_deadline *deadline,
                   const fairsem_token_t *token);

/* The lock is held.  Join, as the last of this priority.  0, ENOBUFS, ENOTRECOVERABLE. */
int fs_place_join(struct fs_place *place, struct fs_visit *visit, int64_t n, int priority);

/* No lock held.  If place->result is FS_NOT_OVER, wait until it is over.  Cancellation point. */
int fs_place_wait(struct fs_place *place);

#endif
