/* SPDX-License-Identifier: MIT */
/* token.h - what can be canceled by a token, and how it is listed there; see token.c. */
#ifndef FS_TOKEN_H
#define FS_TOKEN_H

#include "fairsem.h"
#include "list.h"

#include <stdbool.h>
#include <stdint.h>

struct fs_deferred;
struct fs_cancelable;

/*
 * The token's mutex held, no semaphore's.  Abort the wait for this reason.  True: it is aborted,
 * and from now on the token does not touch it.  False: it was over already, and detaches itself.
 */
typedef bool fs_cancel_fn(struct fs_cancelable *wait, int reason, struct fs_deferred *deferred);

/* A part of each wait that can carry a token. */
struct fs_cancelable {
    struct fs_list   in_token;      /* under the token's mutex; first */
    fs_cancel_fn    *cancel;        /* r/o */
    struct fs_token *token;         /* r/o; NULL: none, then neither attach nor detach it */
    unsigned         generation;    /* in which it was attached; see fork.h */
};

static inline struct fs_token *fs_token_inside(const fairsem_token_t *token)
{
    return (struct fs_token *)(uintptr_t)token;
}

/* 0, or the reason: then the wait must not begin, nor be detached.  No semaphore's mutex held. */
int fs_token_attach(struct fs_cancelable *wait);

/*
 * The wait is over, and not because the token has canceled it.  After this the token does not
 * know it.  No semaphore's mutex held.
 */
void fs_token_detach(struct fs_cancelable *wait);

#endif
