/* SPDX-License-Identifier: MIT */
/* token.h - the list of the waits that a token can cancel; see token.c. */
#ifndef FS_TOKEN_H
#define FS_TOKEN_H

#include "fairsem.h"
#include "list.h"

#include <stdbool.h>
#include <stdint.h>

struct fs_section;
struct fs_cancelable;

/*
 * Abort the wait for this reason.  Returns true if the wait is aborted: the token does not touch the wait
 * again.  Returns false if the wait had ended already: then its thread detaches the wait.  The token's mutex
 * is held, but no semaphore's.  The function uses *in for its section, and leaves the deferred work in *in.
 */
typedef bool fs_cancel_fn(struct fs_cancelable *wait, int reason, struct fs_section *in);

/* The part of a wait that a token lists. */
struct fs_cancelable {
    struct fs_list   in_token;      /* under the token's mutex; first */
    fs_cancel_fn    *cancel;        /* r/o */
    struct fs_token *token;         /* NULL: the wait has no token, or the token has canceled the wait */
    unsigned         generation;    /* of the process that attached the wait; see fork.h */
};

static inline struct fs_token *fs_token_inside(const fairsem_token_t *token)
{
    return (struct fs_token *)(uintptr_t)token;
}

/*
 * Put the wait on the list of its token.  Returns 0, or, if the token is canceled, its reason: then the
 * wait is not on the list, and must not begin.  No semaphore's mutex held.
 */
int fs_token_attach(struct fs_cancelable *wait);

/*
 * Take a wait that has ended off its token's list.  wait->token must not be NULL.  No semaphore's mutex held.
 */
void fs_token_detach(struct fs_cancelable *wait);

#endif
