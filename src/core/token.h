/* SPDX-License-Identifier: MIT */
/* token.h - waits that a token can cancel, and how they are listed there; see token.c. */
#ifndef FS_TOKEN_H
#define FS_TOKEN_H

#include "fairsem.h"
#include "list.h"

#include <stdbool.h>
#include <stdint.h>

struct fs_section;
struct fs_cancelable;

/*
 * Abort the wait for this reason.  Returns true if it is aborted: from now on the token does not touch
 * it; or false if it had ended already, and detaches itself.  The token's mutex is held, but no
 * semaphore's; *in is for the section, and keeps its deferred work.
 */
typedef bool fs_cancel_fn(struct fs_cancelable *wait, int reason, struct fs_section *in);

/* The part of a wait that a token lists. */
struct fs_cancelable {
    struct fs_list   in_token;      /* under the token's mutex; first */
    fs_cancel_fn    *cancel;        /* r/o */
    struct fs_token *token;         /* NULL if there is none, or it has canceled the wait */
    unsigned         generation;    /* of the process that attached it; see fork.h */
};

static inline struct fs_token *fs_token_inside(const fairsem_token_t *token)
{
    return (struct fs_token *)(uintptr_t)token;
}

/* Returns 0; or the reason: do not begin the wait, nor detach it.  No semaphore's mutex held. */
int fs_token_attach(struct fs_cancelable *wait);

/*
 * Take the wait off the token's list.  For a wait that has ended, unless the token has canceled it.
 * No semaphore's mutex held.
 */
void fs_token_detach(struct fs_cancelable *wait);

#endif
