/* SPDX-License-Identifier: MIT */
/*
 * oracles.c - what must be true after each step, and at each touch of shared memory.
 *
 *   after each step, if the mutex is free   I1 (bounds), I2, I3, I4, the order of the line
 *   when a waiter is told                   I4 (once, under the mutex), I5, I6
 *   at each access                          I3 (who writes the word), I8, plain writes only
 *                                           with the mutex, nothing that is gone
 *   at the end                              I1, everybody gone, nothing held by the library
 */
#include "explore.h"

#include "semaphore_internal.h"

#include <string.h>

enum { WAITERS_MAX = 12 };

/* Who is in a line, or watches somebody who is. */
static struct known {
    struct fs_waiter *waiter;
    struct thread    *owner;        /* NULL: a ticket */
    int               sem;
    bool              in_line;
} known[WAITERS_MAX];
static int known_count;

/* Whom this thread has told, in this operation: not to be touched again by it (I8). */
static const struct fs_waiter *told[THREADS_MAX][WAITERS_MAX];
static int told_count[THREADS_MAX];

static int64_t granted[THREADS_MAX][SEMS_MAX];  /* to an operation that has not returned */

static struct fs_sem *inside(int i)
{
    return (struct fs_sem *)(void *)&sems[i];
}

static int owner_of(int i)
{
    return *(int *)(void *)&inside(i)->mutex;
}

static bool i_own(int i)
{
    return self != NULL && owner_of(i) == id_of(self) + 1;
}

/* Which semaphore is this the memory of?  -1: none. */
static int sem_at(const void *at)
{
    size_t offset = (size_t)((const char *)at - (const char *)sems);

    return offset < sizeof sems ? (int)(offset / sizeof sems[0]) : -1;
}

bool oracle_own_mutex(const void *at)
{
    int i = sem_at(at);

    return i >= 0 && i_own(i);
}

void oracles_reset(void)
{
    known_count = 0;
    memset(told_count, 0, sizeof told_count);
    memset(granted, 0, sizeof granted);
}

void oracle_op_begins(void)
{
    told_count[id_of(self)] = 0;
}

void oracle_op_ends(void)
{
    memset(granted[id_of(self)], 0, sizeof granted[0]);
}

/* ---- I1: bounds for what is available, by the results so far ---- */

struct bounds { int64_t low, high; };

static void may_take(struct bounds *b, int64_t n)
{
    b->low -= n;
}

static void has_taken(struct bounds *b, int64_t n)
{
    b->low -= n;
    b->high -= n;
}

static void count_call(struct bounds *b, const struct op *op, const struct call *call)
{
    bool done = call->phase == RETURNED;

    if (call->phase == NOT_YET || (done && op->verb != UPTO && call->result != 0))
        return;
    switch (op->verb) {
    case ACQUIRE: case TIMED: case FOR: case TRY: case CONSUME:
        if (done)
            has_taken(b, op->n);
        else
            may_take(b, op->n);
        break;
    case UPTO:
        if (done)
            has_taken(b, call->result);
        else
            may_take(b, op->n);
        break;
    case RELEASE: case GIVE:
        b->high += call->n;
        if (done)
            b->low += call->n;
        break;
    case CLAIM:
        if (done)
            has_taken(b, call->n);
        else
            may_take(b, run.ticket_units[op->ticket]);
        break;
    case TAKE:
        if (!done)
            may_take(b, op->n);
        break;
    case RETURN:
        if (!done)
            may_take(b, run.ticket_units[op->ticket]);
        break;
    default:
        break;
    }
}

/* The library tells, but nothing stops. */
static enum fairsem_ticket_state ticket_state(int t)
{
    struct thread *me = self;
    enum fairsem_ticket_state state;

    self = NULL;
    state = fairsem_ticket_state(&tickets[t]);
    self = me;
    return state;
}

static struct bounds bounds_of(int i)
{
    struct bounds b = { scenario->units, scenario->units };

    for (int t = 0; t < threads_count; t++) {
        for (int k = 0; k < OPS_MAX; k++) {
            if (script[t][k].sem == i)
                count_call(&b, &script[t][k], &run.call[t * OPS_MAX + k]);
        }
        if (run.ticket_sem[t] == i && ticket_state(t) != FAIRSEM_TICKET_IDLE)
            may_take(&b, run.ticket_units[t]);
    }
    return b;
}

static int64_t available(int i)
{
    return fs_word_available(*(volatile int64_t *)&inside(i)->word);
}

static void check_bounds(int i)
{
    struct bounds b;

    if (run.capacity_changes > 0)
        return;     /* only at the end */
    b = bounds_of(i);
    if (available(i) < b.low || available(i) > b.high)
        fail("I1 conservation", "%lld units are available, it must be %lld to %lld",
             (long long)available(i), (long long)b.low, (long long)b.high);
}

/* ---- The line ---- */

static void check_alive(const void *at, size_t size)
{
    int i = stack_owner(at);

    if (i >= 0 && &thread[i] != self
        && (thread[i].at == ENDED || (const char *)at < thread[i].fibre.sp))
        fail("I8 lifetime", "%zu bytes on the stack of T%d, which has returned from there", size,
             i);
}

static void check_node(const struct fs_waitq_node *node, const struct fs_waitq_node *before)
{
    int state = *(volatile int *)&fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node)->state;

    if (state != FS_QUEUED && state != FS_PARKED)
        fail("I4 states", "%s is in line, and in state %d", object_words(node), state);
    if (node->next->prev != node || node->prev->next != node)
        fail("line", "the ring is broken at %s", object_words(node));
    if (before != NULL
        && (before->priority > node->priority
            || (before->priority == node->priority && before->ticket >= node->ticket)))
        fail("order", "%s stands behind one who came later", object_words(node));
}

/* In order, as we read it: the library's way of walking it is what is checked. */
static int walk_line(int i, const struct fs_waitq_node *node[WAITERS_MAX])
{
    int n = 0;

    for (struct fs_waitq_node *leader = inside(i)->line.first; leader != NULL;
         leader = leader->worse) {
        struct fs_waitq_node *at = leader;

        do {
            if (n == WAITERS_MAX)
                fail("line", "it does not end");
            check_alive(at, sizeof *at);
            node[n++] = at;
            at = at->next;
        } while (at != leader);
    }
    return n;
}

static void check_line(int i)
{
    const struct fs_sem *s = inside(i);
    const struct fs_waitq_node *node[WAITERS_MAX];
    int64_t word = *(volatile const int64_t *)&s->word;
    int64_t limit = *(volatile const int64_t *)&s->limit;
    int closed = *(volatile const int *)&s->closed;
    int n = walk_line(i, node);
    bool slow = n > 0 || limit == 0 || closed != 0;

    for (int k = 0; k < n; k++)
        check_node(node[k], k > 0 ? node[k - 1] : NULL);
    if (n != (int)*(volatile const int64_t *)&s->waiters)
        fail("I4 states", "%d are in line, %d are counted", n,
             (int)*(volatile const int64_t *)&s->waiters);
    if (((word & FS_SLOW) != 0) != slow)
        fail("I3 SLOW", "SLOW is %s; %d in line, limit %lld, closed %d", slow ? "clear" : "set", n,
             (long long)limit, closed);
    if (n > 0 && limit != 0
        && fs_waiter_of((struct fs_waitq_node *)(uintptr_t)node[0])->units
               <= fs_word_available(word))
        fail("I2 idle unit", "%lld available, the mutex free, and the head of the line fits",
             (long long)fs_word_available(word));
    if (n > 0 && closed != 0)
        fail("close", "somebody waits at a closed semaphore");
    if (fs_word_available(word) > limit)
        fail("I1 conservation", "%lld units are available, the limit is %lld",
             (long long)fs_word_available(word), (long long)limit);
}

void oracles_after_step(void)
{
    for (int i = 0; i < sems_count; i++) {
        if (run.sem_dead[i] || owner_of(i) != 0)
            continue;
        check_line(i);
        check_bounds(i);
    }
}

/* ---- When a waiter joins and is told ---- */

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

static bool stands_in(int i, const struct fs_waiter *w)
{
    const struct fs_waitq_node *node[WAITERS_MAX];
    int n = walk_line(i, node);

    for (int k = 0; k < n; k++) {
        if (node[k] == &w->in_line)
            return true;
    }
    return false;
}

static void joined(struct fs_waiter *w)
{
    int owner = stack_owner(w);

    if (known_count == WAITERS_MAX)
        fail("explorer", "too many waiters");
    for (int k = 0; k < told_count[id_of(self)]; k++) {
        if (told[id_of(self)][k] == w)
            told[id_of(self)][k] = NULL;
    }
    known[known_count++] = (struct known){
        .waiter = w, .owner = owner >= 0 ? &thread[owner] : NULL,
        .sem = my_sem(), .in_line = stands_in(my_sem(), w),
    };
}

/* The debit must be in the word: nobody may find these units free (I5). */
static void check_debit(const struct known *who)
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

static void check_grant(const struct known *who)
{
    const struct fs_waitq_node *node[WAITERS_MAX];
    const struct fs_waitq_node *me = &who->waiter->in_line;
    int n = walk_line(who->sem, node);

    for (int k = 0; k < n; k++) {
        if (node[k]->priority < me->priority
            || (node[k]->priority == me->priority && node[k]->ticket < me->ticket))
            fail("I6 passed", "%s is granted, and %s came before", object_words(me),
                 object_words(node[k]));
    }
    if (who->owner != NULL) {
        granted[id_of(who->owner)][who->sem] += who->waiter->units;
        check_debit(who);
    }
}

static void was_told(struct known *who, int state)
{
    if (!i_own(who->sem))
        fail("I4 states", "%s is told without the mutex", object_words(&who->waiter->state));
    if (stands_in(who->sem, who->waiter))
        fail("I4 states", "%s is told while it is in line", object_words(&who->waiter->state));
    if (state == FS_GRANTED && who->in_line)
        check_grant(who);
    if (who->owner != NULL && who->owner != self && told_count[id_of(self)] < WAITERS_MAX)
        told[id_of(self)][told_count[id_of(self)]++] = who->waiter;
    *who = known[--known_count];
}

static void state_stored(const void *at, int64_t before, int64_t now)
{
    struct known *who = find_known(at);

    if (who != NULL && now == FS_PARKED) {
        if (who->owner != self || before != FS_QUEUED)
            fail("I4 states", "%s goes to PARKED from %d", object_words(at), (int)before);
    } else if (who != NULL && now != FS_QUEUED) {
        was_told(who, (int)now);
    } else if (now == FS_QUEUED) {
        joined((struct fs_waiter *)((uintptr_t)at - offsetof(struct fs_waiter, state)));
    }
}

static void word_stored(int i, int64_t before)
{
    if ((before & FS_SLOW) != 0 && !i_own(i))
        fail("I3 SLOW", "the word is changed without the mutex while SLOW is set");
}

/* An atomic write has been made. */
void oracle_stored(const void *at, size_t size, int64_t before, int64_t now)
{
    int i = sem_at(at);
    bool in_ticket = (size_t)((const char *)at - (const char *)tickets) < sizeof tickets;

    if (i >= 0) {
        if (at == (const void *)&inside(i)->word)
            word_stored(i, before);
        else if (!i_own(i))
            fail("locks", "%s is changed without the mutex", object_words(at));
    } else if (size == sizeof(int) && (in_ticket || stack_owner(at) >= 0)) {
        state_stored(at, before, now);
    }
}

/* ---- Every access ---- */

static void touch_sem(int i, const void *at, bool write)
{
    if (run.sem_dead[i])
        fail("I8 lifetime", "%s is touched after destroy", object_words(at));
    if (write && !i_own(i))
        fail("locks", "%s is written without the mutex", object_words(at));
}

/* Is this plain access protected by nothing that can be seen here? */
bool oracle_unprotected(const void *at)
{
    int i = sem_at(at);

    if (i >= 0)
        return script_uses(DESTROY) && !i_own(i);
    return self->mutexes == 0 && (stack_owner(at) >= 0 || heap_offset(at) >= 0);
}

/* Who cancels a token holds its mutex: until then no wait with the token can go. */
static void touch_stack(int owner, const void *at, size_t size)
{
    check_alive(at, size);
    if (script[id_of(self)][self->op].verb == CANCEL
        && script[owner][thread[owner].op].token)
        return;
    for (int k = 0; k < told_count[id_of(self)]; k++) {
        const struct fs_waiter *w = told[id_of(self)][k];

        if (w != NULL && (uintptr_t)at - (uintptr_t)w < sizeof *w)
            fail("I8 granter", "T%d touches the waiter of T%d that it has told", id_of(self),
                 owner);
    }
}

void oracle_touch(const void *at, size_t size, bool write)
{
    int i = sem_at(at), owner;

    if (self == NULL)
        return;
    if (i >= 0) {
        touch_sem(i, at, write);
        return;
    }
    owner = stack_owner(at);
    if (owner >= 0 && &thread[owner] != self)
        touch_stack(owner, at, size);
}

/* ---- The end of a run ---- */

static void check_conservation(int i)
{
    struct bounds b = bounds_of(i);
    int64_t expected = b.high;

    for (int t = 0; t < threads_count; t++) {
        if (run.ticket_sem[t] == i && ticket_state(t) == FAIRSEM_TICKET_GRANTED)
            expected -= run.ticket_units[t];
    }
    if (scenario->capacity != 0)
        expected += inside(i)->limit - scenario->capacity;
    if (available(i) != expected)
        fail("I1 conservation", "at the end %lld units are available instead of %lld",
             (long long)available(i), (long long)expected);
}

void oracles_at_end(void)
{
    for (int i = 0; i < sems_count; i++) {
        if (run.sem_dead[i])
            continue;
        if (owner_of(i) != 0)
            fail("locks", "at the end the mutex is held");
        check_conservation(i);
        if (fairsem_stat(&sems[i], &(fairsem_stat_t){ 0 }) != 0)
            fail("stat", "it fails");
    }
}
