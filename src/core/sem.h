/* SPDX-License-Identifier: MIT */
/*
 * sem.h - the struct of a semaphore, its invariants and locks, and the struct of a critical section.
 *
 * INVARIANTS (cited by number in the code)
 *
 *  I1  Conservation: available + held = units created.  available is signed: a debt after
 *      fairsem_consume or a smaller capacity is repaid before any waiter is granted.
 *  I2  No idle unit: when the mutex is free, the front of the queue does not fit (fs_fits()), or its
 *      thread has been woken and is on its way to compete (bypass.h).  (Exception: a request that
 *      ages between two sections becomes the front, and may fit.  Its thread then enters a section by
 *      itself: fs_sleep().  An aged ticket, which has no thread, waits for the next section.)
 *  I3  While CONTENDED is set, only the holder of the mutex changes the word.  (Setting CONTENDED again
 *      does not count as a change.)  CONTENDED is set
 *        - from fs_section_lock() to fs_section_unlock();
 *        - while the semaphore is paused or closed;
 *        - while the queue is not empty, except while its front is on its way to compete;
 *        - always, if a race detector watches the program: tools/annotate.h.
 *      A section may set RETURNS, and clears it at its end.  While RETURNS is set, any thread may add
 *      units to the word, for that section to grant.
 *  I4  A waiter is in the queue if and only if its state is QUEUED, PARKED or WOKEN.  It leaves
 *      these states exactly once, under the mutex.  (waiter.h draws the states.)
 *  I5  All units of a request are reserved at once: by the granter, when it grants the request; or
 *      by the request's own thread, which then does not enqueue the request.
 *  I6  Nobody passes: no call takes units while a waiter of the same or a better priority, or an
 *      aged one (attr.aging_ns), is in the queue.  The exceptions are fairsem_consume, and
 *      FAIRSEM_BOUNDED_BYPASS within its bound.
 *  I7  A section that removes the front of the queue, or adds units, ends with the grant loop.  A
 *      release that adds its units to another thread's section leaves the loop to that section.
 *  I8  Once a grant is visible, the granter does not touch the waiter, and a waiter that sees the
 *      grant does not touch the semaphore.  (A waiter that has timed out, is canceled, or competes
 *      must touch the semaphore, so it looks for a grant only while it holds the mutex.)  The granter
 *      does not touch the semaphore after its unlock, nor does a release after it has added its units
 *      to a section.  (So a thread may destroy and free the semaphore right after its acquire: see
 *      fairsem_destroy.)
 *  I9  No user code and no malloc under the mutex.  A release locks the mutex at most once: all its
 *      grants are in one section.
 *  I10 Every check precedes every change: a call that fails changes nothing but a statistic.
 *
 * In the test build, sem_check.c checks I1 to I4, I6 and I7 at the end of every section, as far as one
 * semaphore shows them.
 *
 * LOCKS, in the order of nesting:
 *
 *      token's mutex -> semaphore's mutex -> the callbacks' mutex (callbacks.c)
 *
 * Leaf locks, under which no other lock is taken: a parker's, the one of the pool of parkers (park_cond.c),
 * and the one of system/fork.c.  No thread holds two locks of the same kind.  No lock is taken before a
 * fork.  Work that must not be done under a lock is deferred (deferred.h), except that a full wake queue
 * wakes some threads at once.
 */
#ifndef FS_SEM_H
#define FS_SEM_H

#include "awake/awake.h"
#include "deferred.h"
#include "tools/compiler.h"
#include "tools/invariant.h"
#include "waiter.h"
#include "word.h"

#include <limits.h>
#include <pthread.h>

/* FS_BOUNDED must have the value that FAIRSEM_INITIALIZER_BOUNDED sets. */
enum fs_sem_options {
    FS_BOUNDED = 1,             /* `limit` is a capacity */
    FS_INTERRUPTIBLE = 2,       /* signal handlers may release units, and end waits with EINTR: signals.h */
    FS_NO_SPIN = 4,             /* no waiter stays awake */
    FS_BYPASS = 8,              /* bounded bypass: bypass.h */
    FS_AGING = 16,              /* requests age: age.h */
    FS_COUNTED = 32             /* the semaphore is in a fairsem_counted_t */
};

/*
 * Was the capacity ever changed?  FS_IN_RESIZE: a change is in progress.  If a fork copies the semaphore
 * during a change, the limit may not match the word: sem.c repairs the copy.
 */
enum fs_resized { FS_NEVER_RESIZED, FS_IN_RESIZE, FS_RESIZED };

/* Orders of the queue: values of fs_sem.epoch.  A queue with flows (share.h) has FS_FIRST_EPOCH or more. */
enum fs_order { FS_BY_PRIORITY, FS_BY_AGE, FS_FIRST_EPOCH };

/* The queued requests of one share: share.h. */
struct fs_flow {
    uint16_t             weight;
    uint16_t             rest;      /* remainder of the last division of units by the weight */
    int32_t              priority;  /* of the first request; an idle flow keeps the last value */
    uint64_t             tag;       /* start tag of the first request; of an idle flow: its finish tag */
    struct fs_tree_node *requests;  /* rings of waitq.h; NULL: the flow is idle */
};

/*
 * Layout, if aligned to cache lines: the first two lines have what a grant needs, the third has the
 * counters, and the last has what is rarely written, so that all cores can cache it.
 *
 * The counters are named as in fairsem_stat_t, and count since fairsem_init.  `waits` and `cancels` are not
 * stored: fs_waits() returns `waits`; `cancels` are the ended waits that are neither grants nor timeouts.
 */
struct FS_MAY_ALIAS fs_sem {
    _Atomic int64_t    word;        /* the count and its marks, word.h; I3 says who may change it */
    _Atomic int64_t    limit;       /* written under mutex; the maximum of available units */
    pthread_mutex_t    mutex;
    uint8_t            options;     /* r/o; bits of enum fs_sem_options */
    _Atomic uint8_t    resized;     /* written under mutex; enum fs_resized */
    struct fs_awake    awake;       /* under mutex; what the semaphore has learned: awake.h */
    _Atomic uint8_t    before_queue; /* a penalty, for take_before_queueing() in acquire.c */
    _Atomic bool       in_section;  /* written under mutex; is a section in progress?  A hint for releases */

    struct fs_waitq    queue;       /* under mutex */
    _Atomic uint32_t   waiters;     /* length of the queue; written under mutex; otherwise a hint */
    uint32_t           epoch;       /* under mutex; enum fs_order, or the epoch of the flows */
    struct fs_waiter  *far;         /* under mutex; the first waiter that is not near: ahead.h */
    int64_t            front_since_ns; /* under mutex; when the front became first; 0: learn nothing from it */
    _Atomic int        closed;      /* written under mutex; the reason of the close; 0: open */
    unsigned           tickets;     /* under mutex; number of tickets in the queue */
    uint64_t           waiting_low; /* under mutex; the units asked for in the queue, lower 64 bits: count.h */

    int64_t            wait_ns_total; /* the counters, from here on: under mutex */
    int64_t            grants;
    int64_t            wait_ns_max;
    int64_t            wait_ns_max_interval; /* since the last fairsem_stat_interval */
    int64_t            timeouts;
    uint32_t           waiters_max_interval; /* since the last fairsem_stat_interval */
    uint32_t           waiters_max;
    uint32_t           over_releases; /* a counter that stops at its maximum */
    uint32_t           waiting_high; /* under mutex; the units asked for in the queue, upper 32 bits */

    _Atomic unsigned   generation;  /* written under the lock of fork.c; see fork.h */
    uint32_t           max_waiters; /* r/o; 0 if there is no limit */
    union {                         /* a semaphore with bypass or aging has no shares */
        struct {
            int64_t    bypass_ns;   /* r/o; bound of the bypass; 0: no bypass */
            int64_t    aging_ns;    /* r/o; age from which a request precedes all others; 0: no aging */
            int64_t    aged;        /* under mutex; a counter */
        };
        struct fs_flow common;      /* under mutex; the flow of the requests without a share */
    };
    uint64_t           virtual_time; /* under mutex; of the flows: share.h */
    const char        *name;        /* r/o; may be NULL */
    int64_t            refused;     /* under mutex; a counter */
    /*
     * The last member, so that the others have the same offsets with and without FS_CHECKED: a test that
     * includes a source of the library is compiled without FS_CHECKED.
     */
#if FS_CHECKED
    uint8_t            holder;      /* under mutex; a hash of the thread that holds the mutex; 0: none */
#endif
};

/*
 * Returns the address of the initial number of units.  The number is the last member of fairsem_t, not of
 * struct fs_sem: there, its offset would depend on the system.  A resize of a bounded semaphore overwrites
 * the number with the units in use (limit - available), for a child that is forked during the resize.
 */
static inline int64_t *fs_initial_units(struct fs_sem *s)
{
    return &((fairsem_t *)(void *)s)->fairsem_units_;
}

/*
 * Returns the capacity if it is below INT_MAX, otherwise the initial number of units.  (Every sem_t has the
 * capacity INT_MAX, which says nothing.)
 */
static inline int64_t fs_units_in_all(struct fs_sem *s)
{
    return (s->options & FS_BOUNDED) != 0 && s->limit < INT_MAX ? s->limit : *fs_initial_units(s);
}

static inline int64_t *fs_in_use(struct fs_sem *s)
{
    return fs_initial_units(s);
}

/* A mutex has 40 bytes on x86-64 and 48 on aarch64, but fairsem_t has one size. */
#define FS_MUTEX_MORE (sizeof(pthread_mutex_t) < 48 ? 48 - sizeof(pthread_mutex_t) : 0)

static_assert(sizeof(struct fs_sem) + FS_MUTEX_MORE - (FS_CHECKED ? 8 : 0)
                  <= offsetof(fairsem_t, fairsem_units_),
              "fairsem_t is too small, here or on aarch64");
static_assert(_Alignof(struct fs_sem) <= _Alignof(fairsem_t), "fairsem_t is not aligned enough");
static_assert(sizeof(fairsem_t) <= FAIRSEM_BYTES_, "fairsem_t is larger than promised");
static_assert(offsetof(struct fs_sem, word) == offsetof(fairsem_t, fairsem_word_)
                  && offsetof(struct fs_sem, limit) == offsetof(fairsem_t, fairsem_limit_)
                  && offsetof(struct fs_sem, mutex) == offsetof(fairsem_t, fairsem_mutex_)
                  && offsetof(struct fs_sem, options) == offsetof(fairsem_t, fairsem_reserved_),
              "FAIRSEM_INITIALIZER or FAIRSEM_INITIALIZER_BOUNDED does not fit");
static_assert(offsetof(struct fs_sem, limit) + sizeof(int64_t) <= 16,
              "the uncontended path must stay in 16 aligned bytes: one cache line");

static inline struct fs_sem *fs_inside(const fairsem_t *sem)
{
    /* Not const: even an inspection may need the mutex. */
    return (struct fs_sem *)(uintptr_t)sem;
}

/*
 * Is the semaphore paused, that is, bounded with a limit of 0?  An unbounded semaphore with a limit of 0
 * was never initialized: end the process.
 */
static inline bool fs_paused(const struct fs_sem *s)
{
    if (s->limit != 0)
        return false;
    if ((s->options & FS_BOUNDED) == 0)
        fs_usage_error(s, "a semaphore is used without fairsem_init or FAIRSEM_INITIALIZER");
    return true;
}

/* Is the request larger than the capacity (E2BIG)?  Not in a pause: the next capacity may be large enough. */
static inline bool fs_is_too_large(const struct fs_sem *s, int64_t units)
{
    return units > s->limit && !fs_paused(s);
}

/*
 * Are `available` units enough for a request for `units`, if it is the front?
 *
 * In a pause (limit 0) only a drain can fit.  `closed` shows that the request is a drain: no other request
 * waits for a closed semaphore.  In a pause `available` is minus the units in use, so the drain fits when
 * `available` is 0.
 */
static inline bool fs_fits(const struct fs_sem *s, int64_t available, int64_t units)
{
    if (units <= available && !fs_paused(s))
        return true;
    return available >= 0 && s->closed != 0 && fs_paused(s);
}

/* Returns how many requests have been enqueued since fairsem_init. */
static inline int64_t fs_waits(const struct fs_sem *s)
{
    return (int64_t)s->queue.next_seq;
}

static inline struct fs_waiter *fs_front(const struct fs_sem *s)
{
    return fs_waiter_of(fs_waitq_first(&s->queue));
}

/* For fs_fork_check(): forget the queue, whose waiters are in the parent. */
void fs_sem_reset_in_child(void *sem);

/* ---- The critical section of a semaphore, on the stack of its thread: section.c ---- */

struct fs_section {
    struct fs_sem     *sem;
    int64_t            available;   /* the count; stored in the word at the end */
    bool               takes_returns; /* RETURNS is set: the word may have more units than `available` */
    int64_t            now_ns;      /* 0 if this section has not read the clock yet */
    struct fs_deferred after;       /* to do after the unlock */
};

/* Returns the time.  Only the first call in a section reads the clock. */
static inline int64_t fs_section_now(struct fs_section *in)
{
    if (in->now_ns == 0)
        in->now_ns = fs_now_ns();
    return in->now_ns;
}

/* In the test build: check that this thread holds the mutex. */
#if FS_CHECKED
/* A hash of this thread.  Two threads may have the same hash, and a mistake then goes unnoticed. */
static inline uint8_t fs_this_thread(void)
{
    uintptr_t self = (uintptr_t)pthread_self();

    return (uint8_t)(self >> 12 ^ self >> 20 ^ self >> 28) | 1;
}

#define fs_note_holder(s, held) ((void)((s)->holder = (held) ? fs_this_thread() : 0))
#define fs_assert_held(s)       FS_INVARIANT((s)->holder == fs_this_thread(), "the mutex is not held")
#else
#define fs_note_holder(s, held) ((void)0)
#define fs_assert_held(s)       ((void)(s))
#endif

#endif
