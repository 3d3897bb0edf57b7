/* SPDX-License-Identifier: MIT */
/* token.h - what a wait must know of tokens; see token.c. */
#ifndef FS_TOKEN_H
#define FS_TOKEN_H

#include "semaphore_internal.h"

static inline struct fs_token *fs_token_inside(const fairsem_token_t *token)
{
    return (struct fs_token *)(uintptr_t)token;
}

/* 0, or the reason: then the wait must not begin.  No semaphore's mutex held. */
int fs_token_attach(struct fs_wait *wait);

/*
 * The wait is over, and its waiter's state final or IDLE.  No semaphore's mutex held.
 * After this the token does not know it.
 */
void fs_token_detach(struct fs_wait *wait);

#endif
