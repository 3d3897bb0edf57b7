/* SPDX-License-Identifier: MIT */
/* shared_wait.c - see shared_wait.h. */
#include "tools/cleanup.h"            /* before <pthread.h> */
#include "shared/shared_wait.h"

#include "shared/attach.h"
#include "shared/change.h"
#include "shared/shared_queue.h"
#include "system/fork.h"
#include "tools/compiler.h"
#include "tools/invariant.h"
#include "tools/probes.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

static void probe_end(const struct fs_shared_wait *wait, bool expired)
{
    if (FS_HAS_PROBES) {
        const fairsem_shared_t *h = wait->handle;
        int64_t waited_ns = fs_since(fs_now_ns(), wait->enqueued_ns);

        if (expired)
            fs_probe_shared_timeout(h, h->file.inode, wait->units, wait->seq, waited_ns);
        else
            fs_probe_shared_cancel(h, h->file.inode, wait->units, wait->seq, waited_ns);
    }
}

#define NS_PER_MS INT64_C(1000000)

/* ---- Cancellation by a token ---- */

/* Does the slot still belong to this wait, in this state?  The lock is held. */
static bool state_is(const struct fs_shared_wait *wait, enum fs_slot_state state)
{
    const fairsem_shared_t *h = wait->handle;
    const struct fs_slot *slot = &h->slots[wait->slot];

    return FS_GET(&slot->state) == (int)state && FS_GET(&slot->seq) == wait->seq
           && FS_GET(&slot->process) == FS_GET(&h->self);
}

/*
 * Commit the state before the dequeue: the slot's thread may have abandoned the slot, without the lock.  Then
 * the commit fails, and the cleanup dequeues the slot.
 */
static void cancel_inside(struct fs_shared_section *in, int slot)
{
    int state = FS_SLOT_WAITING;

    if (!fs_commit_state(in, slot, &state, FS_SLOT_CANCELED))
        return;
    fs_shared_dequeue(in, slot);
    FS_COUNT_UP(&in->handle->segment->count.cancels, 1);
    fs_shared_will_wake(in, slot);
}

/*
 * A canceler may have many waits to cancel.  For this time after a failure to get the lock, no canceler
 * waits for the lock.
 */
#define LOCKED_OUT_NS 20000000

static int enter(struct fs_shared_section *in, fairsem_shared_t *h)
{
    int64_t before = FS_GET(&h->locked_out_ns);
    bool at_once = before != 0 && fs_now_ns() - before < LOCKED_OUT_NS;
    int error = fs_shared_enter(in, h, at_once ? FS_LOCK_TRY : FS_LOCK_TRY_FOR_GRACE, NULL);

    if (error == ETIMEDOUT)
        FS_PUT(&h->locked_out_ns, fs_now_ns());
    return error;
}

/*
 * If the lock is not free in time, wake the waiting thread: it finds `reason`, and abandons its slot
 * itself.  `wait` exists until this function returns: the waiting thread must first take its wait off the
 * token's list, and for that needs the token's mutex, which the canceler holds.
 */
static bool shared_cancel(struct fs_cancelable *by_token, int reason, struct fs_section *theirs)
{
    void *outer = (char *)by_token - offsetof(struct fs_shared_wait, by_token);
    struct fs_shared_wait *wait = outer;
    fairsem_shared_t *h = wait->handle;
    struct fs_shared_section in;
    int index, error = enter(&in, h);

    (void)theirs;
    atomic_store_explicit(&wait->reason, reason, memory_order_relaxed);
    index = FS_GET(&wait->slot);
    if (error == ETIMEDOUT && index != FS_NOBODY)
        fs_shared_wake(&h->slots[index].state, INT_MAX);
    if (error != 0)
        return false;       /* the waiting thread will find the error itself */
    if (index != FS_NOBODY && state_is(wait, FS_SLOT_WAITING)) {
        probe_end(wait, false);
        cancel_inside(&in, index);
    }
    fs_shared_section_end(&in);
    return false;
}

/* If a signal handler has forked during the wait, the child's `acquires` does not count this call. */
static void end_call(struct fs_shared_wait *wait)
{
    if (wait->generation == fs_fork_generation())
        atomic_fetch_sub_explicit(&wait->handle->acquires, 1, memory_order_release);
}

int fs_shared_wait_begin(struct fs_shared_wait *wait, fairsem_shared_t *h,
                         const struct fs_deadline *deadline, const fairsem_token_t *token)
{
    int error = 0;

    fs_shared_check_fork(h);
    wait->generation = fs_fork_generation();
    atomic_fetch_add_explicit(&h->acquires, 1, memory_order_relaxed);
    /* Clearing the whole struct would take longer than the rest of an acquire without a wait. */
    wait->handle = h;
    wait->deadline = deadline;
    atomic_init(&wait->slot, FS_NOBODY);
    wait->checked = false;
    wait->check_ns = 0;
    atomic_init(&wait->reason, 0);
    wait->by_token.token = NULL;
    if (token == NULL)
        return 0;
    wait->by_token.token = fs_token_inside(token);
    wait->by_token.cancel = shared_cancel;
    error = fs_token_attach(&wait->by_token);
    if (error != 0)
        end_call(wait);
    return error;
}

FS_REALIGN_STACK static void end_wait(void *arg)
{
    struct fs_shared_wait *wait = arg;

    if (wait->by_token.token != NULL)
        fs_token_detach(&wait->by_token);
    end_call(wait);
}

/* ---- Waiting for the lock ---- */

/*
 * The owner of the lock may be stopped.  Neither pthread_cancel() nor the token can end a sleep for the lock.
 * So the thread sleeps one slice at a time, and checks for a cancel after each slice.  The slices of a wait
 * with a token are shorter, so that a cancel by the token ends the wait sooner.
 */
#define TOKEN_SLICE_NS  20000000
#define CANCEL_SLICE_NS 100000000

static void end_slice(struct fs_shared_wait *wait)
{
    if (FS_GET(&wait->slot) != FS_NOBODY) {     /* finish_canceled() is already pushed as a cleanup handler */
        pthread_testcancel();
        return;
    }
    pthread_cleanup_push(end_wait, wait);
    pthread_testcancel();
    pthread_cleanup_pop(0);
}

/* Returns ETIMEDOUT if the lock is not free within the mode's time (lock.h). */
typedef int attempt_fn(struct fs_shared_wait *wait, void *argument, enum fs_lock_mode mode,
                       const struct fs_deadline *until);

/*
 * Repeat an attempt until it gets the lock, or fails.  Returns ETIMEDOUT after the deadline of the wait, or if
 * the token is canceled; if the wait has a `refusal`, already after FS_LOCK_GRACE_NS.  The first attempt does
 * not wait, so it needs no deadline.
 */
static int in_slices(struct fs_shared_wait *wait, attempt_fn *attempt, void *argument)
{
    const int64_t ns = wait->by_token.token != NULL ? TOKEN_SLICE_NS : CANCEL_SLICE_NS;
    int error = attempt(wait, argument, FS_LOCK_TRY, NULL);
    bool last = false;

    if (error == ETIMEDOUT && wait->refusal != 0)
        return attempt(wait, argument, FS_LOCK_TRY_FOR_GRACE, NULL);
    while (error == ETIMEDOUT && !last) {
        const struct fs_deadline slice = fs_deadline_after(ns);

        last = wait->deadline != NULL && fs_deadline_rest(wait->deadline, ns) < ns;
        error = attempt(wait, argument, FS_LOCK_WAIT, last ? wait->deadline : &slice);
        if (error == ETIMEDOUT && FS_GET(&wait->reason) != 0)
            break;
        if (error == ETIMEDOUT && !last)
            end_slice(wait);
    }
    return error;
}

static int attempt_check(struct fs_shared_wait *wait, void *whom, enum fs_lock_mode mode,
                         const struct fs_deadline *until)
{
    return fs_detect_dead(wait->handle, *(const enum fs_whom *)whom, mode, until);
}

static int attempt_enter(struct fs_shared_wait *wait, void *in, enum fs_lock_mode mode,
                         const struct fs_deadline *until)
{
    return fs_shared_enter(in, wait->handle, mode, until);
}

int fs_shared_wait_check(struct fs_shared_wait *wait, enum fs_whom whom)
{
    return in_slices(wait, attempt_check, &whom);
}

int fs_shared_wait_enter(struct fs_shared_wait *wait, struct fs_shared_section *in)
{
    return in_slices(wait, attempt_enter, in);
}

/* ---- The end ---- */

/* Why a wait ends.  A thread that has the lock receives a grant in all cases but BY_PTHREAD_CANCEL. */
enum ending { RECEIVE, EXPIRE, BY_TOKEN, BY_PTHREAD_CANCEL };

/*
 * Abandon the slot, with or without the lock.  A caller with the lock then cleans up; a caller without the
 * lock increments `cleanup_pending`.  Returns the result of the wait.
 */
static int abandon_slot(struct fs_shared_wait *wait, enum ending ending)
{
    fairsem_shared_t *h = wait->handle;
    struct fs_slot *slot = &h->slots[wait->slot];
    const int abandoned[] = { [FS_SLOT_WAITING] = ending == EXPIRE ? FS_SLOT_TO_UNLINK : FS_SLOT_TO_CANCEL,
                              [FS_SLOT_GRANTED] = FS_SLOT_TO_RETURN,
                              [FS_SLOT_CANCELED] = FS_SLOT_TO_FREE };
    int state = FS_GET(&slot->state);
    bool ours;

    do {
        if (FS_GET(&slot->seq) != wait->seq || FS_GET(&slot->process) != FS_GET(&h->self)
            || state < FS_SLOT_WAITING || state > FS_SLOT_CANCELED)
            return EBADF;       /* other processes have reaped us: our liveness lock was free */
        FS_STEP("abandon");
        /* Without undo, the units belong to the thread from the grant on. */
        ours = state == FS_SLOT_GRANTED && !h->undo && ending != BY_PTHREAD_CANCEL;
    } while (!atomic_compare_exchange_strong_explicit(&slot->state, &state,
                                                      ours ? FS_SLOT_TO_FREE : abandoned[state],
                                                      memory_order_release, memory_order_relaxed));
    if (state == FS_SLOT_WAITING)
        probe_end(wait, ending == EXPIRE);
    if (ours)
        return 0;
    return state == FS_SLOT_CANCELED || ending == BY_TOKEN ? FS_GET(&wait->reason) : ETIMEDOUT;
}

static int finish_in_section(struct fs_shared_wait *wait, struct fs_shared_section *in,
                             enum ending ending)
{
    fairsem_shared_t *h = wait->handle;
    int result;

    if (ending != BY_PTHREAD_CANCEL && state_is(wait, FS_SLOT_GRANTED)) {
        fs_shared_awake_learn(&wait->awake, h, wait->slot, wait->enqueued_ns);
        fs_shared_receive(in, wait->slot, FS_GET(&h->slots[wait->slot].granted_ns));
        return 0;
    }
    if (ending == RECEIVE && state_is(wait, FS_SLOT_WAITING))
        return FS_NOT_OVER;
    result = abandon_slot(wait, ending);
    if (ending == EXPIRE && result == ETIMEDOUT)
        fs_shared_awake_learn_timed_out(&wait->awake, h, wait->enqueued_ns);
    fs_shared_clean_up_abandoned(in, wait->slot);
    return result;
}

/*
 * Take the lock, and end the wait; or, if the lock is not free in time, abandon the slot.  With RECEIVE,
 * returns FS_NOT_OVER if the slot is still waiting.
 */
static int finish(struct fs_shared_wait *wait, enum ending ending)
{
    fairsem_shared_t *h = wait->handle;
    bool at_once = ending == BY_TOKEN || ending == BY_PTHREAD_CANCEL;
    struct fs_shared_section in;
    int error = at_once ? fs_shared_enter(&in, h, FS_LOCK_TRY_FOR_GRACE, NULL)
                        : fs_shared_wait_enter(wait, &in);
    int result = FS_NOT_OVER;

    if (error == ETIMEDOUT) {
        /* A thread that pthread_cancel() ends must return a grant, even if its token is canceled, too. */
        if (ending != BY_PTHREAD_CANCEL && FS_GET(&wait->reason) != 0)
            ending = BY_TOKEN;
        result = abandon_slot(wait, ending);
        FS_STEP("cleanup pending");
        atomic_fetch_add_explicit(&h->segment->cleanup_pending, 1, memory_order_release);
        return result;
    }
    if (error != 0)
        return error;
    /* The request may have aged since the last grant, and now be at the front and fit. */
    if (ending == EXPIRE && h->aging_ns != 0)
        fs_shared_section_grant(&in);
    if (in.error == 0)
        result = finish_in_section(wait, &in, ending);
    result = fs_shared_section_result(&in, result);
    error = fs_shared_section_end(&in);
    /* Units that we have received are ours, even if a grant to another waiter has failed. */
    return result == FS_NOT_OVER && error != 0 ? error : result;
}

/* ---- Wait ---- */

FS_REALIGN_STACK static void finish_canceled(void *arg)
{
    struct fs_shared_wait *wait = arg;

    (void)finish(wait, BY_PTHREAD_CANCEL);
    end_wait(wait);
}

/*
 * R6: the longest sleep of a waiter that is not a detector.  The time-out matters only if the detectors are
 * dead or stopped, or if a canceler that could not get the lock woke the waiter just before the sleep.
 * Both are rare, so the sleep may be longer in a long queue.
 */
static int64_t longest_sleep(const fairsem_shared_t *h)
{
    int64_t waiters = FS_GET(&h->segment->waiters);

    if (waiters < 0 || waiters > h->max_waiters)
        waiters = h->max_waiters;
    return (200 + 5 * waiters) * NS_PER_MS;
}

/*
 * Returns how long the thread may sleep until its next check of processes, or 0 if it must check now.
 * `check_ns` stays the same when a signal interrupts the sleep: profilers and language runtimes send a
 * signal each millisecond, which must not delay the check.
 */
static int64_t until_check(struct fs_shared_wait *wait, int64_t most)
{
    int64_t now = fs_now_ns();

    if (wait->check_ns == 0 || wait->check_ns > now + most)
        wait->check_ns = now + most;    /* first sleep, or the waiter has become a detector */
    return wait->check_ns > now ? wait->check_ns - now : 0;
}

/* Sleep in the queue, and check processes (R4). */
static int sleep_and_check(struct fs_shared_wait *wait)
{
    fairsem_shared_t *h = wait->handle;
    struct fs_slot *slot = &h->slots[wait->slot];
    bool is_detector = fs_queue_is_detector(h, wait->slot);
    int64_t most = until_check(wait, is_detector ? FS_DETECT_NS : longest_sleep(h));
    int64_t ns = wait->deadline != NULL ? fs_deadline_rest(wait->deadline, most) : most;
    int error;

    if (ns == 0 && most != 0)
        return finish(wait, EXPIRE);
    if (FS_GET(&wait->reason) != 0)
        return finish(wait, BY_TOKEN);
    FS_STEP("sleep");
    if (ns != 0 && fs_shared_sleep(&slot->state, FS_SLOT_WAITING, ns, true) != FS_SLEEP_TIME_OUT)
        return FS_NOT_OVER;
    wait->check_ns = 0;
    /*
     * Wake granted threads that still sleep because their granter is slow or dead.  Do this even if
     * fs_detect_begin() finds a recent check: a caller that is refused checks processes, but wakes no
     * granted threads.
     */
    fs_detect_wake_granted(h);
    if (fs_slot_state_of(slot) != FS_SLOT_WAITING
        || !fs_detect_begin(h, is_detector ? FS_DETECT_NS : FS_DETECT_LATE_NS))
        return FS_NOT_OVER;
    error = fs_detect_dead_try(h);
    return error != 0 ? error : FS_NOT_OVER;
}

static int wait_until_over(struct fs_shared_wait *wait)
{
    fairsem_shared_t *h = wait->handle;
    int result = FS_NOT_OVER;
    bool slept = false;

    while (result == FS_NOT_OVER) {
        if (fs_shared_stay_awake(h, wait->slot, wait->enqueued_ns, wait->deadline)) {
            slept = true;
            result = sleep_and_check(wait);
        } else {
            if (slept)
                fs_shared_awake_slept(h, wait->slot, wait->enqueued_ns);
            result = finish(wait, RECEIVE);
        }
    }
    return result;
}

int fs_shared_wait_for(struct fs_shared_wait *wait, int result)
{
    if (result == FS_NOT_OVER) {
        pthread_cleanup_push(finish_canceled, wait);
        result = wait_until_over(wait);
        pthread_cleanup_pop(0);
    }
    end_wait(wait);
    return result;
}
