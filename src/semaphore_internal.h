/* SPDX-License-Identifier: MIT */
/*
 * semaphore_internal.h - what a semaphore is made of, and what is always true of it.
 *
 * INVARIANTS (cited by number in the code)
 *
 *  I1  Conservation: available + held = units created.  available is signed: a debt after
 *      fairsem_consume or a smaller capacity is repaid before anybody is granted.
 *  I2  No idle unit: when the mutex is free, the head of the line asks for more than is
 *      available, or has been alerted and is on its way (OPEN), or the semaphore is paused
 *      (capacity 0).
 *  I3  While SLOW is set only the holder of the mutex changes the word.  SLOW is set
 *      whenever the line is not empty, while paused, for ever after close, and from
 *      fs_lock_line() to fs_serve_and_unlock().  While OPEN is set, too, anybody may, see
 *      bypass.h; it never is between these two.  Where a tool watches the program, SLOW is
 *      always set and OPEN never: annotate.h.  Setting SLOW where it is set is no change.
 *  I4  A waiter is in the line if and only if its state is QUEUED, PARKED or ALERTED.  It
 *      leaves these exactly once, under the mutex.
 *  I5  Units are debited at grant time, by the granter, all of a request at once.
 *  I6  Nobody passes: no way to take units succeeds while somebody of the same or a better
 *      priority is in line, but within the bound of FAIRSEM_BOUNDED_BYPASS.
 *  I7  Whatever removes the head of the line, or adds units, runs the grant loop before
 *      it drops the mutex.
 *  I8  After a grant is visible the granter does not touch the waiter, and a waiter that
 *      sees it does not touch the semaphore.  (One whose time is out, that is canceled, or
 *      that comes to claim, may see it only when it holds the mutex.)  After its unlock the
 *      granter does not touch the semaphore.  (Why destroy-and-free right after an acquire
 *      is safe: see fairsem_destroy.)
 *  I9  No user code and no malloc under the mutex.  All grants of one call happen in one
 *      critical section; the granter never takes the mutex a second time.
 *  I10 Every check precedes every change: an error leaves no trace, but a statistic.
 *
 * LOCKS, in the order in which they may be taken while another is held:
 *
 *      token's mutex -> semaphore's mutex -> the callbacks' mutex (callbacks.c)
 *
 * and leaves, under which nothing is locked: a parker's and the pool's (park_cond.c), the
 * one for adoption (fork.c).  Nobody holds two of the same kind.  None is held across fork.
 * What must happen without any of them, waking and calling back, is collected in a struct
 * fs_aftermath and done at the end.
 *
 * THE WAITER
 *
 *            fs_join           fs_sleep           fs_awake_alert, fs_awake_call
 *      IDLE ---------> QUEUED ----------> PARKED ----------> ALERTED
 *       |                | ^                 |                  | |
 *       |                | +-----------------|---- fs_sleep ----+ |
 *       |                |                   |                    |
 *       |                +-----------+-------+--------------------+
 *       |                            |
 *       +-- fs_refuse --> REFUSED    +-- fs_serve_and_unlock ---> GRANTED   the units are mine
 *                                    +-- give_up, time is out --> EXPIRED   I took myself out
 *                                    +-- give_up, by a token ---> CANCELED  with its reason
 *                                    +-- give_up, by a signal --> INTERRUPTED  EINTR
 *                                    +-- give_up, canceled -----> ABANDONED pthread_cancel
 *                                    +-- fairsem_set_capacity --> REFUSED   E2BIG
 *                                    +-- fairsem_close ---------> CLOSED    with its reason
 *
 *      IDLE means that the thread is on its way to the mutex.  The critical section it enters
 *      there leaves it in the line or in a final state, never IDLE: it is REFUSED if it may
 *      not join, and GRANTED if it need not (FAIRSEM_BOUNDED_BYPASS; a watched ticket that is
 *      granted already).  So whoever finds it IDLE, with the mutex held, knows that it has
 *      still to come: its token can then make it CANCELED, and it does not join.
 *
 *      A ticket that is returned goes back to IDLE; threads that watch it are then REFUSED,
 *      with ECANCELED.  A thread that watches a ticket has the same states, but is on the
 *      ticket's list instead of in the line.
 *
 *   QUEUED: in the line, its thread awake and sure to look at the state before it sleeps.
 *           A ticket, which has no thread, is QUEUED as long as it is in the line.
 *   PARKED: in the line, its thread perhaps asleep: whoever changes the state must unpark.
 *   ALERTED: in the line, its thread woken, but perhaps not awake yet: whoever changes the
 *           state must unpark, and depends on nobody who was to do so before.
 *
 *   The waiter of a thread lives on its stack.  While it is QUEUED, PARKED or ALERTED anybody who
 *   holds the mutex may use it; from then on it is its thread's alone and can vanish at
 *   any moment (I8).  The parker outlives it, and so does a wake on its state that comes too
 *   late, see park.h.  A ticket is its user's, see ticket.c.
 */
#ifndef FS_SEMAPHORE_INTERNAL_H
#define FS_SEMAPHORE_INTERNAL_H

#include "annotate.h"
#include "awake.h"
#include "callbacks.h"
#include "fairsem.h"
#include "park.h"
#include "signals.h"
#include "waitq.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

/* A ticket that is zero is idle: so must a zero state be. */
enum fs_state {
    FS_IDLE, FS_QUEUED, FS_PARKED, FS_ALERTED,
    FS_GRANTED, FS_EXPIRED, FS_CANCELED, FS_INTERRUPTED, FS_ABANDONED, FS_REFUSED, FS_CLOSED,
    FS_TAKING, FS_CLAIMING      /* of tickets only, see ticket.c */
};

struct fs_aftermath;
struct fs_waiter;

/*
 * Mutex held.  Tell a waiter that has left the line what became of it: make the state
 * visible, as the last touch, and note in *after what it takes to be noticed.
 */
typedef void fs_tell_fn(struct fs_waiter *w, enum fs_state state, struct fs_aftermath *after);

struct fs_waiter {
    union {
        struct fs_waitq_node in_line;   /* under mutex; first, so that a node is its waiter */
        struct fs_list       in_queue;  /* under the callbacks' mutex; of a ticket that is due */
    };
    fs_tell_fn          *tell;      /* r/o once in line */
    int64_t              units;     /* r/o once in line */
    int64_t              since_ns;  /* under mutex; when it joined, 0: it did not have to wait;
                                     * its own once it has left: when that was */
    union {
        struct fs_parker *parker;     /* a thread's: r/o once in line; NULL: nothing to wake */
        struct {                      /* a ticket's */
            _Atomic unsigned generation; /* written under fs_fork_lock; see fork.h */
            bool             due;        /* under the callbacks' mutex: the call is queued */
        };
    };
    _Atomic int          reason;    /* written before a final state: an errno value; atomic, as
                                     * a ticket may go on to its next one while it is read */
    _Atomic int          state;     /* I4; QUEUED -> PARKED by its thread without mutex */
};

/*
 * A fairsem_t, seen from inside.  The compiler must not conclude from the two names that
 * a static initializer written through one cannot be read through the other.
 */
#if defined(__GNUC__)
#define FS_MAY_ALIAS __attribute__((may_alias))
#else
#define FS_MAY_ALIAS
#endif

/* Since fairsem_init; in the words of fairsem_stat_t. */
struct fs_counters {
    int64_t waits, grants, timeouts, cancels;
    int64_t wait_ns_total, wait_ns_max;
    int64_t waiters_max;
    int64_t refused, over_releases;
};

struct FS_MAY_ALIAS fs_sem {
    _Atomic int64_t    word;        /* available * 2 + SLOW; I3 says who may change it */
    _Atomic int64_t    limit;       /* written under mutex: most units there can be available */
    pthread_mutex_t    mutex;
    struct fs_waitq    line;        /* under mutex */
    _Atomic int64_t    waiters;     /* written under mutex; length of the line */
    int64_t            max_waiters; /* r/o; 0: no limit */
    int64_t            bypass_ns;   /* r/o; how long running threads may pass; 0: never */
    int64_t            tickets;     /* under mutex; how many of those in line are tickets */
    const char        *name;        /* r/o; may be NULL */
    bool               bounded;     /* r/o; limit is a capacity */
    bool               interruptible; /* r/o; waits end with EINTR, signals may release */
    _Atomic unsigned   resizes;     /* written under mutex; odd: word and limit may not fit */
    int64_t            in_use;      /* under mutex, while resizing: what both must agree with */
    _Atomic unsigned   generation;  /* written under fs_fork_lock; see fork.h */
    _Atomic int        closed;      /* written under mutex; the reason, 0: open */
    bool               sleeps_at_once; /* r/o; nobody spins */
    struct fs_awake    awake;       /* under mutex */
    struct fs_counters count;       /* under mutex */
};

static_assert(sizeof(struct fs_sem) <= sizeof(fairsem_t), "fairsem_t is too small");
static_assert(_Alignof(struct fs_sem) <= _Alignof(fairsem_t), "fairsem_t is not aligned enough");
static_assert(sizeof(fairsem_t) <= 256, "fairsem_t is larger than promised");
static_assert(offsetof(struct fs_sem, word) == offsetof(fairsem_t, fairsem_word_)
                  && offsetof(struct fs_sem, limit) == offsetof(fairsem_t, fairsem_limit_)
                  && offsetof(struct fs_sem, mutex) == offsetof(fairsem_t, fairsem_mutex_),
              "FAIRSEM_INITIALIZER does not fit");
static_assert(offsetof(struct fs_sem, limit) + sizeof(int64_t) <= 16,
              "the uncontended path must stay in 16 aligned bytes: one cache line");
static_assert(sizeof(_Atomic int64_t) == sizeof(int64_t) && ATOMIC_LLONG_LOCK_FREE == 2,
              "the word must be a lock-free 64-bit atomic");

#define FS_SLOW INT64_C(1)
/* With SLOW, in a word that would not be negative without it: see bypass.h. */
#define FS_OPEN (INT64_C(1) << 62)
static_assert(FAIRSEM_MAX_UNITS * 2 + FS_SLOW < FS_OPEN, "the count must not reach the bit");

static inline struct fs_sem *fs_inside(const fairsem_t *sem)
{
    /* Not const: even a look may need the mutex. */
    return (struct fs_sem *)(uintptr_t)sem;
}

static inline int64_t fs_word_available(int64_t word)
{
    static_assert((-3 >> 1) == -2, "shifts of negative numbers must be arithmetic");
    return (word >= FS_OPEN ? word - FS_OPEN : word) >> 1;
}

/* One comparison for both ends: a negative count is huge as an unsigned one. */
static inline bool fs_count_valid(int64_t n)
{
    return (uint64_t)n <= (uint64_t)FAIRSEM_MAX_UNITS;
}

static inline struct fs_waiter *fs_waiter_of(struct fs_waitq_node *node)
{
    static_assert(offsetof(struct fs_waiter, in_line) == 0, "a node is its waiter");
    return (struct fs_waiter *)node;
}

/* I4: the states of a waiter that is in the line. */
static inline bool fs_state_in_line(int state)
{
    return state == FS_QUEUED || state == FS_PARKED || state == FS_ALERTED;
}

static inline bool fs_in_line(const struct fs_waiter *w)
{
    return fs_state_in_line(atomic_load_explicit(&w->state, memory_order_relaxed));
}

/* ---- The critical section (semaphore.c).  From lock to unlock the count exists only in
 *      the caller's hands, as the number that goes from one to the other. ---- */

/*
 * What a critical section leaves to do when no lock is held: to wake, to let signals in
 * again, to call back.
 */
struct fs_aftermath {
    int64_t           now_ns;       /* 0: no clock has been read yet */
    struct fs_held_signals signals; /* of an interruptible semaphore's section */
    struct fs_callbacks callbacks;
    struct fs_wakes   wakes;
};

void fs_aftermath_init(struct fs_aftermath *after);
void fs_aftermath_run(struct fs_aftermath *after);

int64_t fs_lock_line(struct fs_sem *s, struct fs_aftermath *after);
int64_t fs_serve(struct fs_sem *s, int64_t available, bool *called, struct fs_aftermath *after);
void    fs_serve_and_unlock(struct fs_sem *s, int64_t available, struct fs_aftermath *after);

/* A section with an aftermath of its own: init and lock; serve, unlock and run. */
int64_t fs_enter(struct fs_sem *s, struct fs_aftermath *after);
void    fs_exit(struct fs_sem *s, int64_t available, struct fs_aftermath *after);

/*
 * All with the mutex held.
 *   must_wait  would a request for n units of this priority, coming now, stand in line?
 *   admit      may it join?  0, or why not: a close reason, E2BIG, ENOBUFS, or `refusal` if
 *              that is not 0 and it has to wait, as must_wait has said
 *   join       let w join, which has been admitted
 *   refuse     w, which is IDLE, does not join, for this reason
 *   leave      take w out, which counts it under the state it goes to; then tell it
 *   give_back  add n to *available: 0, or EOVERFLOW, counted and nothing changed
 *   regain     the same for units whose grant found nobody to use them: what fits goes back
 */
bool fs_must_wait(const struct fs_sem *s, int64_t available, int64_t n, int priority);
int  fs_admit(struct fs_sem *s, int64_t n, bool waits, int refusal);
void fs_join(struct fs_sem *s, struct fs_waiter *w, int priority, bool waits);
void fs_refuse(struct fs_waiter *w, int reason);
void fs_leave(struct fs_sem *s, struct fs_waiter *w, enum fs_state state,
              struct fs_aftermath *after);
int  fs_give_back(struct fs_sem *s, int64_t *available, int64_t n);
void fs_regain(struct fs_sem *s, int64_t *available, int64_t n);

/* Behind everybody: what must not pass a waiter of any priority, such as a try, is this. */
#define FS_LAST_PRIORITY INT32_MAX

/* ---- A thread that waits (wait.c), on its stack. ---- */

struct fs_token;
struct fs_wait;

/*
 * Take the wait out of what it waits for, if it still waits, because of `why`: EXPIRED,
 * CANCELED, INTERRUPTED or ABANDONED.  Takes and drops the semaphore's mutex.  Returns the state.
 */
typedef int fs_give_up_fn(struct fs_wait *wait, enum fs_state why, int reason,
                          struct fs_aftermath *after);

struct fs_wait {
    struct fs_waiter          waiter;
    struct fs_sem            *sem;
    bool                      on_word;      /* sleeps on the state, not on a parker */
    bool                      interruptible, interrupted;
    enum fs_spin_kind         spin;         /* what it does first */
    bool                      claims;       /* when alerted, instead of spinning: see bypass.h */
    const struct fs_deadline *deadline;     /* NULL: none */
    fs_give_up_fn            *give_up;
    struct fs_token          *token;        /* NULL: none */
    struct fs_wait           *next, *prev;  /* under the token's mutex */
    unsigned                  generation;   /* in which it was attached to the token; fork.h */
};

static inline void fs_set_reason(struct fs_waiter *w, int reason)
{
    atomic_store_explicit(&w->reason, reason, memory_order_relaxed);
}

/* What a waiter's call returns that has come to this final state. */
static inline int fs_result(const struct fs_waiter *w, int state)
{
    return state == FS_GRANTED ? 0 : atomic_load_explicit(&w->reason, memory_order_relaxed);
}

/* Tell a waiter that is a thread which does not sleep, for instance because it only tries. */
fs_tell_fn fs_tell_awake;

/*
 * Choose what this thread will sleep on, for one wait, and so how it is told.  May allocate:
 * no mutex held (I9).
 */
void fs_prepare_to_sleep(struct fs_wait *wait);

/* Sleep until the waiter has left the line; returns its state.  Cancellation point. */
int fs_sleep(struct fs_wait *wait);

/*
 * The critical section has been left: sleep until the state is final, if it is not.  Returns
 * the result of the wait.  Acquire order, as in fs_sleep: others may have made it final.
 */
static inline int fs_wait(struct fs_wait *wait)
{
    int state = atomic_load_explicit(&wait->waiter.state, memory_order_acquire);

    if (fs_state_in_line(state))
        state = fs_sleep(wait);
    if (fs_watched)
        fs_tell_after(&wait->waiter);
    return fs_result(&wait->waiter, state);
}

/* The checks that every `how` must pass, except the token's reason: 0 or EINVAL. */
int fs_check_wait(const fairsem_wait_t *how);

#endif
