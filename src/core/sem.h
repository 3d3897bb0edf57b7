/* SPDX-License-Identifier: MIT */
/*
 * sem.h - the struct of a semaphore, its invariants, and what a thread has in its critical section.
 *
 * INVARIANTS (cited by number in the code)
 *
 *  I1  Conservation: available + held = units created.  available is signed: a debt after
 *      fairsem_consume or a smaller capacity is repaid before any waiter is granted.
 *  I2  No idle unit: when the mutex is free, the front of the queue does not fit, or
 *      has been woken and is on its way to compete (bypass.h).  (A request that becomes the front between two
 *      sections, because it is old, comes itself: fs_sleep().  A ticket has no thread for that.)
 *      In a pause (capacity 0) nothing fits: fs_fits().
 *  I3  While CONTENDED is set only the holder of the mutex changes the word.  CONTENDED is set whenever the
 *      queue is not empty, unless its front waiter is on its way to compete; while paused, while closed,
 *      and from fs_section_lock() to fs_section_unlock().  While RETURNS is also set, any thread may add
 *      to the count, and the section has that count, too; only a section sets the mark, and clears it at
 *      its end.  Where a tool watches the program, CONTENDED is always set and RETURNS never: tools/annotate.h.
 *      Setting CONTENDED again does not count as a change.
 *  I4  A waiter is in the queue if and only if its state is QUEUED, PARKED or WOKEN.  It leaves
 *      these states exactly once, under the mutex.  (They are drawn in waiter.h.)
 *  I5  Units are reserved at grant time, by the granter, all of a request at once; or by the newcomer
 *      itself, which need not wait, and is not enqueued.
 *  I6  Nobody passes: no way to take units succeeds while a waiter of the same or a better
 *      priority is in the queue, or an old one (attr.aging_ns), except fairsem_consume, and within
 *      the bound of FAIRSEM_BOUNDED_BYPASS.
 *  I7  A thread that removes the front of the queue, or adds units, runs the grant loop before it
 *      drops the mutex; or it adds them to a section, which runs the loop after that.
 *  I8  After a grant is visible the granter does not touch the waiter, and a waiter that sees it
 *      does not touch the semaphore.  (A waiter that is timed out or canceled, or competes, learns of
 *      the grant when it holds the mutex.)  After its unlock the granter does not
 *      touch the semaphore, nor does a release that has added its units to a section.  (So
 *      destroy-and-free right after an acquire is safe, see fairsem_destroy.)
 *  I9  No user code and no malloc under the mutex.  A release takes the mutex at most once: all its
 *      grants are in one section.
 *  I10 Every check precedes every change: an error leaves no trace, except a statistic.
 *
 * In the test build sem_check.c checks I1 to I4, I6 and I7 at the end of every critical section, as
 * far as one semaphore can show them; fs_assert_held() checks that the mutex is held.
 *
 * LOCKS, in the order in which they may be taken while another is held:
 *
 *      token's mutex -> semaphore's mutex -> the callbacks' mutex (callbacks.c)
 *
 * and, as leaves, under which no other lock is taken: a parker's and the pool's (park_cond.c), and
 * the one of system/fork.c.  No thread holds two of the same kind.  The library locks none of them for a
 * fork.  Work that must be done without locks is deferred (deferred.h), except that a full wake
 * queue wakes some threads at once.
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

/* FS_BOUNDED is what FAIRSEM_INITIALIZER_BOUNDED sets. */
enum fs_sem_options {
    FS_BOUNDED = 1,             /* limit is a capacity */
    FS_INTERRUPTIBLE = 2,       /* waits end with EINTR, signals may release: signals.h */
    FS_NO_SPIN = 4,             /* no waiter stays awake */
    FS_BYPASS = 8,              /* bypass.h */
    FS_AGING = 16,              /* age.h */
    FS_COUNTED = 32             /* the `sem` of a fairsem_counted_t */
};

/* In the second state word and limit may disagree, which a fork may copy. */
enum fs_resized { FS_NEVER_RESIZED, FS_IN_RESIZE, FS_RESIZED };

/* The order of the queue, in fs_sem.epoch.  With flows that is a larger number, share.h. */
enum fs_order { FS_BY_PRIORITY, FS_BY_AGE, FS_FIRST_EPOCH };

/* The requests in the queue that are of one share: share.h. */
struct fs_flow {
    uint16_t             weight;
    uint16_t             rest;      /* of its last division by the weight */
    int32_t              priority;  /* of its first request, or the last that was first */
    uint64_t             tag;       /* the start tag of its first request; the finish tag if it has none */
    struct fs_tree_node *requests;  /* the rings, waitq.h; NULL if there are none */
};

/*
 * If the struct begins with a cache line, what a grant needs is in the first two; what it counts in the
 * third; and what is written rarely, so that all cores have it, in the last.
 *
 * The counters have the names of fairsem_stat_t, and count since fairsem_init.  `waits` is the
 * number of the next to be enqueued, fs_waits(); `cancels` is what the others leave over.
 */
struct FS_MAY_ALIAS fs_sem {
    _Atomic int64_t    word;        /* the count and its marks, word.h; I3 says who may change it */
    _Atomic int64_t    limit;       /* written under mutex: most units there can be available */
    pthread_mutex_t    mutex;
    uint8_t            options;     /* r/o; bits of enum fs_sem_options */
    _Atomic uint8_t    resized;     /* written under mutex; enum fs_resized */
    struct fs_awake    awake;       /* under mutex; what it has learned from its grants */
    _Atomic uint8_t    before_queue; /* a penalty: acquire.c */
    _Atomic bool       in_section;  /* written under mutex; a hint for releases */

    struct fs_waitq    queue;       /* under mutex */
    _Atomic uint32_t   waiters;     /* length of the queue; written under mutex; a hint for a load without it */
    uint32_t           epoch;       /* under mutex; of flows, or enum fs_order */
    struct fs_waiter  *far;         /* under mutex; ahead.h */
    int64_t            front_since_ns; /* under mutex; 0 if nothing is left to learn from the front */
    _Atomic int        closed;      /* written under mutex; the reason, 0: open */
    unsigned           tickets;     /* under mutex; how many of those in the queue are tickets */
    uint64_t           waiting_low; /* under mutex; see count.h */

    int64_t            wait_ns_total; /* under mutex; counters, from here on */
    int64_t            grants;
    int64_t            wait_ns_max;
    int64_t            wait_ns_max_interval; /* since the last fairsem_stat_interval */
    int64_t            timeouts;
    uint32_t           waiters_max_interval; /* as wait_ns_max_interval */
    uint32_t           waiters_max;
    uint32_t           over_releases; /* of mistakes; it stops at most */
    uint32_t           waiting_high; /* under mutex; see count.h */

    _Atomic unsigned   generation;  /* written under the lock of fork.c; see fork.h */
    uint32_t           max_waiters; /* r/o; 0 if there is no limit */
    union {                         /* three orders, of which a semaphore has one */
        struct {
            int64_t    bypass_ns;   /* r/o; how long running threads may pass; 0: never */
            int64_t    aging_ns;    /* r/o; so old requests come before all others; 0: never */
            int64_t    aged;        /* under mutex; a counter */
        };
        struct fs_flow common;      /* under mutex; only with flows */
    };
    uint64_t           virtual_time; /* under mutex; the latest start tag that was granted */
    const char        *name;        /* r/o; may be NULL */
    int64_t            refused;     /* under mutex; a counter */
    /* Last: a test that contains a file of the library is not compiled with FS_CHECKED. */
#if FS_CHECKED
    uint8_t            holder;      /* under mutex; a hash of the thread that holds it, 0: none */
#endif
};

/*
 * The last member of fairsem_t; not in fs_sem, because its offset there would depend on the system.
 * It holds the initial number of units; and for a bounded semaphore, during a resize, under mutex, the
 * units in use: limit - available.
 */
static inline int64_t *fs_initial_units(struct fs_sem *s)
{
    return &((fairsem_t *)(void *)s)->fairsem_units_;
}

/* How many units there are in all, as far as is known.  The capacity of every sem_t is INT_MAX. */
static inline int64_t fs_units_in_all(struct fs_sem *s)
{
    return (s->options & FS_BOUNDED) != 0 && s->limit < INT_MAX ? s->limit : *fs_initial_units(s);
}

static inline int64_t *fs_in_use(struct fs_sem *s)
{
    return fs_initial_units(s);
}

/* A mutex has 40 bytes on x86-64, and 48 on aarch64, with a fairsem_t that is as large. */
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

/* With a limit of 0 a bounded semaphore is paused; any other was never initialized, which ends the process. */
static inline bool fs_paused(const struct fs_sem *s)
{
    if (s->limit != 0)
        return false;
    if ((s->options & FS_BOUNDED) == 0)
        fs_usage_error(s, "a semaphore is used without fairsem_init or FAIRSEM_INITIALIZER");
    return true;
}

/* More than the capacity: E2BIG.  In a pause nothing is: the next capacity may be large enough. */
static inline bool fs_is_too_large(const struct fs_sem *s, int64_t units)
{
    return units > s->limit && !fs_paused(s);
}

/*
 * Would a request for this number of units fit into what is available, if nobody were before it?  In a
 * pause (limit 0) none does, except that of fairsem_drain(), which alone waits on a closed semaphore.
 * `available` is minus the units in use then, so a drain ends when that is 0.
 */
static inline bool fs_fits(const struct fs_sem *s, int64_t available, int64_t units)
{
    if (units <= available && !fs_paused(s))
        return true;
    return available >= 0 && s->closed != 0 && fs_paused(s);
}

/* How many have been enqueued since fairsem_init. */
static inline int64_t fs_waits(const struct fs_sem *s)
{
    return (int64_t)s->queue.next_seq;
}

/* Returns the next waiter to be granted, or NULL if nobody waits. */
static inline struct fs_waiter *fs_front(const struct fs_sem *s)
{
    return fs_waiter_of(fs_waitq_first(&s->queue));
}

/* For fs_fork_check(): forget the queue, which is our parent's. */
void fs_sem_reset_in_child(void *sem);

/* ---- A thread in the critical section of a semaphore: section.c.  On its stack. ---- */

struct fs_section {
    struct fs_sem     *sem;
    int64_t            available;   /* the count; the word has it again at the end */
    bool               takes_returns; /* RETURNS is set, and the word has `available`, or more */
    int64_t            now_ns;      /* 0 if this section has not read the clock yet */
    struct fs_deferred after;       /* what is left for after the unlock */
};

/* The time in this section; the clock is read once. */
static inline int64_t fs_section_now(struct fs_section *in)
{
    if (in->now_ns == 0)
        in->now_ns = fs_now_ns();
    return in->now_ns;
}

/* At the top of each function that must be called with the mutex held.  For the test build. */
#if FS_CHECKED
/* A hash: if two threads have the same one, a mistake may be overlooked. */
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
