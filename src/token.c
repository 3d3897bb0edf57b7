/* SPDX-License-Identifier: MIT */
/*
 * token.c - one token cancels many waits.
 *
 * A token has a list of the waits that carry it.  Canceling walks the list with the
 * token's mutex held and takes each wait out of its semaphore's line: so token's mutex
 * before semaphore's, never the other way round.  A granter therefore cannot tell the
 * token anything; each wait detaches itself when it is over.
 *
 * That also keeps the wait, and its semaphore, alive under the canceller's hands: no wait
 * returns before it has detached, which takes the token's mutex.  The one exception: a wait
 * that finds its state CANCELED knows that the canceller has taken it off the list and
 * will not touch it again.  (10,000 of them need not queue for the token's mutex.)  One that
 * was served before stays on the list: it still has to come by, and the token must be there.
 *
 * Waking and calling back wait until the mutex has been dropped; but of very many that sleep
 * on words some are woken before, see fs_wake_word_later().
 */
#include "token.h"

#include "fork.h"
#include "invariant.h"

#include <errno.h>

struct FS_MAY_ALIAS fs_token {
    pthread_mutex_t  mutex;
    struct fs_wait  *first;         /* under mutex */
    _Atomic int      reason;        /* written under mutex; 0: not canceled */
    _Atomic unsigned generation;    /* written under fs_fork_lock; see fork.h */
};

static_assert(sizeof(struct fs_token) <= sizeof(fairsem_token_t), "fairsem_token_t is too small");
static_assert(_Alignof(struct fs_token) <= _Alignof(fairsem_token_t),
              "fairsem_token_t is not aligned enough");
static_assert(sizeof(fairsem_token_t) <= 128, "fairsem_token_t is larger than promised");
static_assert(offsetof(struct fs_token, mutex) == offsetof(fairsem_token_t, fairsem_mutex_),
              "FAIRSEM_TOKEN_INITIALIZER does not fit");

static void lock(struct fs_token *t)
{
    unsigned generation = fs_fork_generation();

    if (atomic_load_explicit(&t->generation, memory_order_acquire) != generation) {
        /* The waits belong to threads of our parent, one of which may hold the mutex. */
        fs_fork_lock();
        if (atomic_load_explicit(&t->generation, memory_order_relaxed) != generation) {
            t->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
            t->first = NULL;
            atomic_store_explicit(&t->generation, generation, memory_order_release);
        }
        fs_fork_unlock();
    }
    FS_MUST(pthread_mutex_lock(&t->mutex));
}

static void unlock(struct fs_token *t)
{
    FS_MUST(pthread_mutex_unlock(&t->mutex));
}

static void link_locked(struct fs_token *t, struct fs_wait *wait)
{
    wait->prev = NULL;
    wait->next = t->first;
    if (t->first != NULL)
        t->first->prev = wait;
    t->first = wait;
}

static void unlink_locked(struct fs_token *t, struct fs_wait *wait)
{
    if (wait->prev != NULL)
        wait->prev->next = wait->next;
    else
        t->first = wait->next;
    if (wait->next != NULL)
        wait->next->prev = wait->prev;
}

int fairsem_token_init(fairsem_token_t *token)
{
    *token = (fairsem_token_t)FAIRSEM_TOKEN_INITIALIZER;
    fs_token_inside(token)->generation = fs_fork_generation();
    return 0;
}

/* Takes the mutex once, so that a canceller in another thread is out of it. */
int fairsem_token_destroy(fairsem_token_t *token)
{
    struct fs_token *t = fs_token_inside(token);
    bool in_use;

    lock(t);
    in_use = t->first != NULL;
    unlock(t);
    return in_use ? EBUSY : pthread_mutex_destroy(&t->mutex);
}

int fairsem_token_cancel(fairsem_token_t *token, int reason)
{
    struct fs_token *t = fs_token_inside(token);
    struct fs_aftermath after;

    if (reason < 0)
        return EINVAL;
    if (reason == 0)
        reason = ECANCELED;

    fs_aftermath_init(&after);
    lock(t);
    if (t->reason != 0) {
        unlock(t);
        return EALREADY;
    }
    atomic_store_explicit(&t->reason, reason, memory_order_release);
    for (struct fs_wait *wait = t->first, *next; wait != NULL; wait = next) {
        next = wait->next;
        unlink_locked(t, wait);
        if (wait->give_up(wait, FS_CANCELED, reason, &after) != FS_CANCELED)
            link_locked(t, wait);
    }
    unlock(t);
    fs_aftermath_run(&after);
    return 0;
}

int fairsem_token_reason(const fairsem_token_t *token)
{
    return atomic_load_explicit(&fs_token_inside(token)->reason, memory_order_acquire);
}

int fs_token_attach(struct fs_wait *wait)
{
    struct fs_token *t = wait->token;
    int reason;

    if (t == NULL)
        return 0;
    wait->generation = fs_fork_generation();
    lock(t);
    reason = t->reason;
    if (reason == 0)
        link_locked(t, wait);
    unlock(t);
    return reason;
}

void fs_token_detach(struct fs_wait *wait)
{
    struct fs_token *t = wait->token;

    /*
     * A callback that ran at the end of the wait may have forked: the list is not ours then.
     * Relaxed: a wait that is over has acquired its state already, see fs_wait(), or has found
     * it with the semaphore's mutex held.
     */
    if (t == NULL || wait->generation != fs_fork_generation()
        || atomic_load_explicit(&wait->waiter.state, memory_order_relaxed) == FS_CANCELED)
        return;
    lock(t);
    unlink_locked(t, wait);
    unlock(t);
}
