/* SPDX-License-Identifier: MIT */
/*
 * waiters.c - checks invariants when a waiter is enqueued or resolved, and at each access.
 *
 *   I3  while CONTENDED is set, only the holder of the mutex changes the word, except for releases that add
 *       their units to a section
 *   I4  a waiter is resolved once, under the mutex, after it has left the queue
 *   I5  the units of a grant are taken out of the word before the grant is visible
 *   I6  no waiter is granted while a waiter that precedes it is in the queue
 *   I8  a granter does not access a waiter that it has resolved; no thread accesses a destroyed semaphore, or a
 *       stack frame that its thread has left
 *
 * A plain write to a semaphore is made with its mutex held; a plain write to a share, with the mutex of the
 * semaphore where the share has requests.
 */
#include "oracles.h"

#include "ticket.h"

#include <string.h>

/* The waiters in a queue, and the threads that wait for a ticket in a queue. */
static struct known {
    struct fs_waiter *waiter;
    struct thread    *owner;        /* NULL for a ticket */
    int               sem;
    bool              in_queue;
} known[WAITERS_MAX];
static int known_count;

/* Per thread: the waiters that it has resolved in its current operation, and must not access (I8). */
static const struct fs_waiter *completed[THREADS][WAITERS_MAX];
static int completed_count[THREADS];

/* Per share: the semaphore in whose queue it has requests, or NULL, as last stored by the library. */
static const void *used_by[SHARES];

static int64_t granted[THREADS][SEMS_MAX];  /* units granted to an operation that has not returned */

void waiters_reset(void)
{
    known_count = 0;
    memset(completed_count, 0, sizeof completed_count);
    memset(granted, 0, sizeof granted);
    memset(used_by, 0, sizeof used_by);
}

void oracle_op_begins(void)
{
    completed_count[id_of(self)] = 0;
}

void oracle_op_ends(void)
{
    memset(granted[id_of(self)], 0, sizeof granted[0]);
}

/* ---- A waiter is enqueued, and is resolved ---- */

static struct known *find_known(const void *state)
{
    for (int k = 0; k < known_count; k++) {
        if ((const void *)&known[k].waiter->state == state)
            return &known[k];
    }
    return NULL;
}

static int my_sem(void)
{
    for (int i = 0; i < sems_count; i++) {
        if (i_own(i))
            return i;
    }
    fail("I4 states", "a waiter joins or leaves without the mutex");
}

static bool is_in_queue(int i, const struct fs_waiter *w)
{
    const struct fs_waitq_node *node[WAITERS_MAX];
    int n = walk_queue(i, node);

    for (int k = 0; k < n; k++) {
        if (node[k] == &w->in_queue)
            return true;
    }
    return false;
}

/* Do the two waiters overlap in memory?  A thread's next waiter may lie a little further down the stack. */
static bool overlaps(const struct fs_waiter *a, const struct fs_waiter *b)
{
    return (uintptr_t)a < (uintptr_t)(b + 1) && (uintptr_t)b < (uintptr_t)(a + 1);
}

static void joined(struct fs_waiter *w)
{
    int owner = stack_owner(w);

    if (known_count == WAITERS_MAX)
        fail("explorer", "too many waiters");
    for (int t = 0; t < THREADS; t++) {
        for (int k = 0; k < completed_count[t]; k++) {
            if (completed[t][k] != NULL && overlaps(completed[t][k], w))
                completed[t][k] = NULL;
        }
    }
    known[known_count++] = (struct known){
        .waiter = w, .owner = owner >= 0 ? &thread[owner] : NULL,
        .sem = my_sem(), .in_queue = is_in_queue(my_sem(), w),
    };
}

/* Does the thread wait in a queue, or for a ticket in a queue?  It may be awake. */
bool oracle_is_queued(const struct thread *t)
{
    for (int k = 0; k < known_count; k++) {
        if (known[k].owner == t)
            return true;
    }
    return false;
}

/* Does the thread sleep as a waiter in a queue, or for a ticket in a queue? */
bool oracle_waits(const struct thread *t)
{
    for (int k = 0; k < known_count; k++) {
        if (known[k].owner == t
            && (!known[k].in_queue || is_in_queue(known[k].sem, known[k].waiter)))
            return t->at == SLEEPS_ON_COND || t->at == SLEEPS_ON_WORD || t->at == POLLS;
    }
    return false;
}

/* No thread must find the granted units free in the word (I5). */
static void check_reserved(const struct known *who)
{
    int64_t out = 0;
    struct bounds b;

    if (run.capacity_changes > 0)
        return;
    b = bounds_of(who->sem);
    for (int t = 0; t < threads_count; t++)
        out += thread[t].canceled ? 0 : granted[t][who->sem];
    if (available(who->sem) + out > b.high)
        fail("I5 debit", "a grant is visible, and %lld units are still in the word",
             (long long)available(who->sem));
}

/* Is the request aged, by the time that the granter (the running thread) has read last? */
static bool is_aged(const struct fs_waitq_node *node)
{
    const struct fs_waiter *w = fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node);

    return w->enqueued_ns != 0 && ages_at_ns(w) <= self->last_clock;
}

static void check_grant(const struct known *who)
{
    const struct fs_waitq_node *node[WAITERS_MAX];
    const struct fs_waitq_node *me = &who->waiter->in_queue;
    int n = walk_queue(who->sem, node);

    for (int k = 0; k < n; k++) {
        bool first = same_share(node[k], me) ? goes_first(node[k], me) : node[k]->priority < me->priority;

        if (first || (me->kind == FS_NOT_AGED && is_aged(node[k])))
            fail("I6 passed", "%s is granted, and %s came before", object_words(me),
                 object_words(node[k]));
    }
    if (who->owner != NULL) {
        granted[id_of(who->owner)][who->sem] += who->waiter->units;
        check_reserved(who);
    }
}

static void was_completed(struct known *who, int state)
{
    if (!i_own(who->sem))
        fail("I4 states", "%s is completed without the mutex", object_words(&who->waiter->state));
    if (is_in_queue(who->sem, who->waiter))
        fail("I4 states", "%s is completed while it is in the queue",
             object_words(&who->waiter->state));
    if (state == FS_GRANTED && who->in_queue)
        check_grant(who);
    if (who->owner != NULL && who->owner != self && completed_count[id_of(self)] < WAITERS_MAX)
        completed[id_of(self)][completed_count[id_of(self)]++] = who->waiter;
    *who = known[--known_count];
}

static const struct fs_waiter *front_of(int i)
{
    const struct fs_waitq_node *node[WAITERS_MAX];

    if (walk_queue(i, node) == 0)
        return NULL;
    return fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node[0]);
}

/* Has w waited too long to be overtaken, by the time that the running thread has read last? */
static bool over_bound(const struct fs_waiter *w)
{
    return w->enqueued_ns + scenario->bypass_ns <= self->last_clock;
}

/* A thread has been granted units without being enqueued: it must precede the front, or be allowed to barge. */
static void took(void)
{
    const struct op *op = &script[id_of(self)][self->op];

    for (int i = 0; i < sems_count; i++) {
        const struct fs_waiter *head = i_own(i) ? front_of(i) : NULL;

        if (head == NULL || (head->in_queue.kind != FS_AGED && op->priority < head->in_queue.priority))
            continue;
        if (scenario->bypass_ns == 0 || over_bound(head))
            fail("I6 bound", "the head is passed, which has no bound, or after it");
    }
}

/* A thread without the mutex has changed the word of a section that takes returns: it may only add units. */
static void added(int i, int64_t before, int64_t now)
{
    if (now < FS_RETURNS || now < before || (now - before) % 2 != 0
        || fs_word_available(now) > sem_inside(i)->limit)
        fail("I3 RETURNS", "the word is changed by something other than an addition");
}

/* CONTENDED has been cleared: with bounded bypass, threads may barge past the front from now on. */
static void unlocked(int i)
{
    const struct fs_waiter *head = scenario->bypass_ns != 0 && i_own(i) ? front_of(i) : NULL;

    if (head != NULL && !is_on_its_way(head))
        fail("I3 CONTENDED", "CONTENDED is cleared, and the front waiter has not been woken");
    if (head != NULL && over_bound(head))
        fail("I6 bound", "CONTENDED is cleared after the bound");
}

static void state_stored(const void *at, int64_t before, int64_t now)
{
    struct known *who = find_known(at);

    if (who != NULL && now == FS_PARKED) {
        if (who->owner != self || before != FS_QUEUED)
            fail("I4 states", "%s goes to PARKED from %d", object_words(at), (int)before);
    } else if (who != NULL && now == FS_WOKEN) {
        if ((before != FS_PARKED && before != FS_QUEUED) || !i_own(who->sem))
            fail("I4 states", "%s goes to WOKEN from %d", object_words(at), (int)before);
    } else if (who != NULL && now == FS_QUEUED) {
        if (who->owner != self || (before != FS_WOKEN && before != FS_PARKED))
            fail("I4 states", "%s goes back to QUEUED from %d", object_words(at), (int)before);
    } else if (who != NULL) {
        was_completed(who, (int)now);
    } else if (now == FS_QUEUED) {
        joined((struct fs_waiter *)((uintptr_t)at - offsetof(struct fs_waiter, state)));
    } else if (now == FS_GRANTED && stack_owner(at) == id_of(self) && before == FS_NOT_QUEUED
               && (verbs[script[id_of(self)][self->op].verb].of & A_SEM) != 0) {
        took();
    }
}

static void word_stored(int i, int64_t before, int64_t now)
{
    if ((before & FS_CONTENDED) != 0 && (now & FS_CONTENDED) == 0)
        unlocked(i);
    if (before >= FS_RETURNS && !i_own(i))
        added(i, before, now);
    else if ((before & FS_CONTENDED) != 0 && !i_own(i) && mutex_owner(i) != MUTEX_DEAD)
        fail("I3 CONTENDED", "the word is changed without the mutex while CONTENDED is set");
}

/* Is this int the state of a waiter?  The waiter's other atomic int, the reason, begins a word of 8 bytes. */
static bool is_state(const void *at, bool in_ticket)
{
    if (in_ticket)
        return (size_t)((const char *)at - (const char *)tickets) % sizeof tickets[0]
               == offsetof(struct fs_ticket, callback.waiter.state);
    return (uintptr_t)at % 8 == offsetof(struct fs_waiter, state) % 8;
}

void oracle_stored(const void *at, size_t size, int64_t before, int64_t now)
{
    int i = sem_at(at), share = share_at(at);
    bool in_ticket = (size_t)((const char *)at - (const char *)tickets) < sizeof tickets;

    if (i >= 0) {
        if (at == (const void *)&sem_inside(i)->word)
            word_stored(i, before, now);
        else if (!i_own(i) && mutex_owner(i) != MUTEX_DEAD)
            fail("locks", "%s is changed without the mutex", object_words(at));
    } else if (share >= 0 && (sem_at((const void *)(uintptr_t)now) >= 0
                              || (now == 0 && (const void *)(uintptr_t)before == used_by[share]))) {
        used_by[share] = (const void *)(uintptr_t)now;
    } else if (size == sizeof(int) && (in_ticket || stack_owner(at) >= 0)
               && is_state(at, in_ticket)) {
        state_stored(at, before, now);
    }
}

/* ---- Each access ---- */

static void touch_sem(int i, const void *at, bool write)
{
    if (run.sem_dead[i])
        fail("I8 lifetime", "%s is touched after destroy", object_words(at));
    if (write && !i_own(i))
        fail("locks", "%s is written without the mutex", object_words(at));
}

/*
 * Only operations that name a share may access it after its end.  A plain write needs the mutex of the
 * semaphore where the share has requests; fairsem_share_destroy() also writes to a share without requests.
 */
static void touch_share(int share, const void *at, bool write)
{
    const struct op *op = &script[id_of(self)][self->op];
    bool named = op->share == share + 1;

    if (run.share_dead[share] && !named)
        fail("I8 lifetime", "%s is touched after destroy", object_words(at));
    if (write && !(named && op->verb == UNSHARE) && (used_by[share] == NULL || !i_own(sem_at(used_by[share]))))
        fail("locks", "%s is written without the mutex of its semaphore", object_words(at));
}

/* Is this plain access not protected by a mutex, as far as this file can tell? */
bool oracle_unprotected(const void *at)
{
    int i = sem_at(at);

    if (i >= 0)
        return script_uses(DESTROY) && !i_own(i);
    return self->mutexes == 0 && (stack_owner(at) >= 0 || heap_offset(at) >= 0);
}

/* Is the thread in a wait with the token, perhaps interrupted by a callback or a handler? */
static bool has_token(int t)
{
    for (int k = 0; k < OPS_MAX; k++) {
        if (run.call[t * OPS_MAX + k].phase == CALLED && script[t][k].token)
            return true;
    }
    return false;
}

/*
 * The running thread accesses the stack of `owner`.  The holder of the token's mutex may access all waits on
 * the token's list, because they cannot return before they have locked this mutex.  Such a wait may lie in the
 * memory of a waiter that the running thread has resolved before.
 */
static void touch_stack(int owner, const void *at, size_t size)
{
    check_alive(at, size);
    if (*(const int *)(const void *)&the_token == my_number() && has_token(owner))
        return;
    for (int k = 0; k < completed_count[id_of(self)]; k++) {
        const struct fs_waiter *w = completed[id_of(self)][k];

        if (w != NULL && (uintptr_t)at - (uintptr_t)w < sizeof *w)
            fail("I8 granter", "T%d touches the waiter of T%d that it has completed", id_of(self),
                 owner);
    }
}

void oracle_touch(const void *at, size_t size, bool write)
{
    int i = sem_at(at), owner;

    if (self == NULL)
        return;
    if (share_at(at) >= 0) {
        touch_share(share_at(at), at, write);
        return;
    }
    if (i >= 0) {
        touch_sem(i, at, write);
        return;
    }
    owner = stack_owner(at);
    if (owner >= 0 && &thread[owner] != self)
        touch_stack(owner, at, size);
}
