/* SPDX-License-Identifier: MIT */
/*
 * token.c - one token cancels many waits.
 *
 * A token has a list of its waits, each a generic node with a function that aborts the wait.  A thread that
 * cancels the token calls these functions with the token's mutex held, and each function locks the
 * semaphore of its wait: the token's mutex is always locked before a semaphore's.  So a granter, which holds
 * a semaphore's mutex, cannot take a wait off the list.  When a wait ends, its own thread detaches it.
 *
 * The list also keeps a wait and its semaphore alive while the token cancels the wait: a thread returns
 * from its wait only after it has detached the wait, with the token's mutex locked.  A wait that the token
 * has canceled is off the list already and is not touched again, so its thread need not detach it.  (So
 * 10,000 such threads do not queue for the mutex.)  A wait that ended in another way, for instance by a grant,
 * stays on the list until its thread detaches it, so the token must exist until then.
 *
 * Wakes and callbacks are deferred until the token's mutex is unlocked, except that a full wake queue
 * wakes some threads earlier: see deferred.h.
 */
#include "token.h"

#include "sem.h"
#include "system/fork.h"
#include "system/mutex.h"
#include "tools/compiler.h"
#include "tools/invariant.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

struct FS_MAY_ALIAS fs_token {
    pthread_mutex_t  mutex;
    struct fs_list   waits;         /* under mutex; next is NULL until the first lock */
    _Atomic int      reason;        /* written under mutex; 0 if not canceled */
    _Atomic unsigned generation;    /* written under the lock of fork.c; see fork.h */
};

/* 32 bytes are reserved for later versions, on every ABI: see doc/abi.md. */
static_assert(sizeof(struct fs_token) + 32 <= sizeof(fairsem_token_t),
              "fairsem_token_t is too small");
static_assert(_Alignof(struct fs_token) <= _Alignof(fairsem_token_t),
              "fairsem_token_t is not aligned enough");
static_assert(sizeof(fairsem_token_t) <= 128, "fairsem_token_t is larger than promised");
static_assert(offsetof(struct fs_token, mutex) == offsetof(fairsem_token_t, fairsem_mutex_),
              "FAIRSEM_TOKEN_INITIALIZER does not fit");

/* The listed waits belong to threads of the parent, one of which may have held the mutex. */
static void token_reset_in_child(void *token)
{
    struct fs_token *t = token;

    fs_mutex_init(&t->mutex);
    t->waits.next = NULL;
}

static void token_lock(struct fs_token *t)
{
    fs_fork_check(&t->generation, token_reset_in_child, t);
    FS_MUST(pthread_mutex_lock(&t->mutex));
    /* FAIRSEM_TOKEN_INITIALIZER cannot make an empty list: a ring that points to itself. */
    if (t->waits.next == NULL)
        fs_list_init(&t->waits);
}

static void token_unlock(struct fs_token *t)
{
    FS_MUST(pthread_mutex_unlock(&t->mutex));
}

int fairsem_token_init(fairsem_token_t *token)
{
    *token = (fairsem_token_t)FAIRSEM_TOKEN_INITIALIZER;
    fs_mutex_init(&fs_token_inside(token)->mutex);
    fs_token_inside(token)->generation = fs_fork_generation();
    return 0;
}

/*
 * A canceler in another thread may still hold the mutex, and must unlock the mutex before it is destroyed:
 * token_lock() waits for the canceler.
 */
int fairsem_token_destroy(fairsem_token_t *token)
{
    struct fs_token *t = fs_token_inside(token);
    bool in_use;

    token_lock(t);
    in_use = !fs_list_empty(&t->waits);
    token_unlock(t);
    return in_use ? EBUSY : pthread_mutex_destroy(&t->mutex);
}

/*
 * Cancel the newest wait first: if the front of a queue were canceled first, the wait behind it could be
 * granted just before this loop cancels that wait, too.  A wait that had ended before this call is put on the
 * list again, until its thread detaches it.  Mutex held.
 */
static void cancel_all(struct fs_token *t, int reason, struct fs_section *in)
{
    struct fs_list listed;

    fs_list_init(&listed);
    fs_list_move_all(&listed, &t->waits);
    while (!fs_list_empty(&listed)) {
        struct fs_cancelable *wait = (struct fs_cancelable *)(void *)listed.prev;

        fs_list_remove(&wait->in_token);
        if (!wait->cancel(wait, reason, in))
            fs_list_append(&t->waits, &wait->in_token);
    }
}

int fairsem_token_cancel(fairsem_token_t *token, int reason)
{
    struct fs_token *t = fs_token_inside(token);
    struct fs_section in;

    if (reason < 0)
        return EINVAL;
    if (reason == 0)
        reason = ECANCELED;

    fs_deferred_init(&in.after);
    token_lock(t);
    if (t->reason != 0) {
        token_unlock(t);
        return EALREADY;
    }
    atomic_store_explicit(&t->reason, reason, memory_order_release);
    cancel_all(t, reason, &in);
    token_unlock(t);
    fs_deferred_run(&in.after);
    return 0;
}

int fairsem_token_reason(const fairsem_token_t *token)
{
    return atomic_load_explicit(&fs_token_inside(token)->reason, memory_order_acquire);
}

int fs_token_attach(struct fs_cancelable *wait)
{
    struct fs_token *t = wait->token;
    int reason;

    wait->generation = fs_fork_generation();
    token_lock(t);
    reason = t->reason;
    if (reason == 0)
        fs_list_append(&t->waits, &wait->in_token);
    token_unlock(t);
    return reason;
}

/* A callback at the end of the wait may have forked.  In the child the token's list is empty. */
void fs_token_detach(struct fs_cancelable *wait)
{
    if (wait->generation != fs_fork_generation())
        return;
    token_lock(wait->token);
    fs_list_remove(&wait->in_token);
    token_unlock(wait->token);
}
