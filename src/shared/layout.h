/* SPDX-License-Identifier: MIT */
/*
 * layout.h - the layout of a segment, and its invariants.
 *
 * A segment is a header, and tables of processes, of slots and of flows.  A slot is a place in the queue; a
 * flow is the requests of one client (shared_flow.h).  The segment has indices instead of pointers, because
 * each process maps the segment at another address.
 *
 * WHY NOT THE CORE'S CODE.  Three parts of the core cannot be used between processes.  Its queue has
 * pointers to the stacks of waiting threads.  Its section trusts the memory; if its thread dies, the mutex
 * is lost, and half a change may remain.  Its parkers belong to one process.  The order of grants,
 * (priority, number), and the results of calls are as in the core.
 *
 * INVARIANTS, which continue those of sem.h
 *
 *  R1  Commit points.  Some members are authoritative: `state` and `held` of each process, the state of each
 *      slot, with undo the total of units, and without undo the count in the word.  Each of them changes by
 *      one store, the commit point.  A change of two of them is first written to the redo log; its commit
 *      point is the store to redo.slot.  Derived data can be computed again: the links and the length of the
 *      queue, and with undo the count in the word.  The units of a granted slot belong to its process.
 *  R2  Repair.  A process that finds another process dead completes the change in the redo log, frees the
 *      slots and units of the dead process, and computes the derived data again.  A repair may be cut short
 *      at any point; the next owner of the lock repairs from the beginning.
 *  R3  Only the kernel says which processes are alive.  Each entry in the table of processes has a liveness
 *      lock: a record lock on a byte of the segment's file.  If an entry is in use and its liveness lock is
 *      free, its process is dead.  A pid does not decide, because processes of two containers may have the
 *      same pid.  Only the owner of the liveness lock writes the entry's incarnation.  Only this owner writes
 *      a free entry, and does not need the segment's lock for these writes.  (If a new process takes the
 *      liveness lock of a dead process, the dead process seems to be alive until the new process reaps it.)
 *  R4  Failure detection (detect.c) checks processes without the segment's lock, and takes the lock only to
 *      reap the dead.  A caller that must wait or is refused makes a check, unless the last check is too
 *      recent.  The period of these checks is ten times as long as a check takes, but at most 10 ms.  The
 *      last two waiters of the queue, the detectors, check every 25 ms.  (Not the first two: a new front
 *      would have to be woken to become a detector, but a new last waiter is awake.)  If the detectors are
 *      stopped or dead, any other waiter checks, after at most 0.2 s plus 5 ms for each waiter.  A check
 *      covers the processes that hold units, that have a granted, canceled or abandoned slot, or that have
 *      the front waiter.  A granter checks the process of the waiter that it grants, unless the waiter was
 *      enqueued a moment ago.
 *  R5  The segment is not trusted.  Each number that is used as an index, or in a calculation, is loaded
 *      once, and checked between the load and the use: see trust.h.  Each loop has a bound.
 *  R6  A waiter sleeps on the state of its slot.  Its granter wakes it after the unlock.  If the granter
 *      dies before the wake, a detector wakes the waiter, or the waiter's sleep times out, after at most
 *      0.2 s plus 5 ms for each waiter.
 *  R7  A process keeps in its own memory only data that no other process changes: the size of the tables,
 *      the flags, the index of its own entry, and without undo the capacity.
 *  R8  With undo each operation checks that the count in the word and `outstanding`, the units that are held
 *      or granted, add up to the total.  So one damaged number is found in constant time.  A release of more
 *      units than `held` is refused only after a count of all units, because `held` may be damaged.  A sum
 *      of units above `high_water` is damage.
 */
#ifndef FS_SHARED_LAYOUT_H
#define FS_SHARED_LAYOUT_H

#include "fairsem/shared.h"
#include "tools/invariant.h"           /* FS_CHECKED */
#include "awake/awake.h"

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define FS_SEGMENT_MAGIC   INT64_C(0x6d65737269616600)     /* the zero byte: no text file begins so */
#define FS_SEGMENT_VERSION 5

#define FS_NOBODY (-1)          /* instead of an index: no slot, or no process */

enum fs_process_state { FS_PROCESS_FREE, FS_PROCESS_USED };

struct fs_process {
    _Atomic int32_t  state;         /* under the lock */
    _Atomic uint32_t incarnation;   /* counts the owners of the liveness lock; written by the owner (R3) */
    _Atomic int64_t  held;          /* under the lock; number of units that the process holds */
    _Atomic int64_t  pid;           /* under the lock; for people, and to find the entry after an exec */
    int64_t          unused;
    _Atomic int64_t  since_ns;      /* under the lock; the time since which the process holds units */
    _Atomic int32_t  keeps;         /* under the lock; 1 if the process keeps its units over exec */
    int32_t          reserved[5];
};

/*
 *      FREE --> WAITING --> GRANTED --> FREE      received, or returned
 *                  |
 *                  +------> CANCELED              by a token: its thread returns the reason
 *                  +------> FREE                  its process is dead
 *
 * A thread whose wait must end may abandon its slot.  The owner of the lock cleans up: the thread itself,
 * or the next owner if the thread cannot take the lock in time.
 *
 *      WAITING --> TO_UNLINK --> FREE             dequeue it after a time-out
 *      WAITING --> TO_CANCEL --> FREE             dequeue it after a cancel, by a token or pthread_cancel()
 *      GRANTED --> TO_RETURN --> FREE             return its units to the semaphore
 *      GRANTED --> TO_FREE --> FREE               only free it: without undo, its thread keeps the units
 *      CANCELED --> TO_FREE --> FREE              only free it
 *
 * The thread of a slot can abandon it without the lock.  All other changes of the state need the lock.
 */
enum fs_slot_state {
    FS_SLOT_FREE, FS_SLOT_WAITING, FS_SLOT_GRANTED, FS_SLOT_CANCELED,
    FS_SLOT_TO_UNLINK, FS_SLOT_TO_RETURN, FS_SLOT_TO_FREE, FS_SLOT_TO_CANCEL, FS_SLOT_STATES
};

static inline bool fs_is_abandoned(int slot_state)
{
    return slot_state >= FS_SLOT_TO_UNLINK && slot_state < FS_SLOT_STATES;
}

static inline bool fs_is_abandoned_in_queue(int slot_state)
{
    return slot_state == FS_SLOT_TO_UNLINK || slot_state == FS_SLOT_TO_CANCEL;
}

#define FS_SLOT_SLEEPS 0x80     /* a value of `strategy`; its other values are in enum fs_strategy */

struct fs_slot {
    _Atomic int      state;         /* see above; the slot's thread sleeps on this word (R6) */
    _Atomic int32_t  process;       /* r/o while the slot is in use, like units, seq, priority, enqueued_ns */
    _Atomic int64_t  units;
    _Atomic int64_t  seq;           /* the request's number in order of arrival */
    _Atomic int32_t  priority;
    _Atomic int16_t  core;          /* under the lock; core of its thread; once granted, of its granter */
    _Atomic uint8_t  aged;          /* under the lock; 1 if aged: precedes requests that are not aged */
    _Atomic uint8_t  strategy;      /* see shared_awake.h */
    _Atomic int64_t  enqueued_ns;
    _Atomic int64_t  granted_ns;    /* under the lock */
    _Atomic int32_t  next, prev;    /* under the lock; derived: its neighbors in the queue */
    union {
        struct {                    /* under the lock; derived: its neighbors by arrival; only with aging_ns */
            _Atomic int32_t younger, older;
        };
        _Atomic uint64_t tag;       /* under the lock; only without aging_ns: see shared_flow.h */
    };
};

/*
 * An entry of the table of flows: the requests of one key and one priority.  Only `of_slot` does not belong to
 * this flow: `of_slot` of entry i belongs to slot i.  All members are under the lock.
 */
struct fs_flow_entry {
    _Atomic uint64_t key;
    _Atomic uint64_t start, finish; /* tags: start tag of its next grant, finish tag of its last request */
    _Atomic uint32_t epoch;         /* the entry is valid in this epoch only, see shared_flow.h */
    _Atomic int32_t  priority;
    _Atomic uint16_t weight;        /* 0: its requests have no share */
    _Atomic int16_t  requests;      /* number of its requests in the queue */
    _Atomic int16_t  of_slot;       /* in entry i: the index of the entry for the flow of slot i */
    int16_t          reserved;
};

/* The redo log: a change of two authoritative members (R1). */
struct fs_redo {
    _Atomic int32_t  slot;          /* 1 + the index of the slot, or 0 if the log is empty; written last */
    _Atomic int32_t  slot_state;    /* new state */
    _Atomic int32_t  process;       /* 1 + the index of the process whose `held` changes, or 0 */
    _Atomic int32_t  has_word;      /* 1 if the count in the word changes */
    _Atomic int64_t  held, word;    /* new values */
};

/* Not authoritative: if a process dies, its update may be lost. */
struct fs_shared_counters {
    _Atomic int64_t waits, grants, timeouts, cancels, lost, wait_ns_total, wait_ns_max, waiters_max,
                    refused, over_releases, deaths, returned, repairs, aged;
    _Atomic int64_t lengths[FAIRSEM_WAIT_BUCKETS];  /* histogram of granted waits: tools/buckets.h */
};

struct fs_segment {
    int64_t          magic;             /* r/o, like all members before `word` */
    int32_t          version;
    uint32_t         flags;
    int64_t          size;              /* bytes */
    int64_t          units, capacity;   /* the initial units, and the limit of free units */
    int32_t          max_waiters, max_processes;
    int64_t          aging_ns;

    alignas(64)
    _Atomic int64_t  word;              /* the count and CONTENDED, see word.h and I3; with undo, CONTENDED
                                         * is always set */
    _Atomic int64_t  total;             /* with undo; under the lock: the number of all units */
    _Atomic int64_t  high_water;        /* with undo; under the lock: the largest total ever */
    _Atomic int64_t  outstanding;       /* with undo; under the lock; derived: see R8 */

    alignas(64)
    _Atomic uint32_t lock;              /* see lock.h */
    _Atomic int      handover;          /* counts hand-overs of the lock, see lock.h */
    _Atomic int32_t  damaged;           /* 0, or 1 for ever */
    _Atomic int32_t  unfinished;        /* under the lock; 1 if a repair is pending, or was cut short */
    _Atomic int32_t  head, tail;        /* under the lock; derived */
    _Atomic int64_t  waiters;           /* under the lock; derived: the length of the queue */
    _Atomic int64_t  next_seq;          /* under the lock; larger than the `seq` of any slot */
    _Atomic int64_t  checked_ns;        /* a hint: when processes were last checked (R4) */
    _Atomic int64_t  check_took_ns;     /* a hint: how long a check of processes last took */
    _Atomic int32_t  cleanup_pending;   /* not 0 if slots may have been abandoned, see fs_slot_state */
    _Atomic int32_t  free_hint;         /* under the lock; the search for a free slot starts here */
    struct fs_awake  awake;             /* under the lock; not authoritative, like the counters */
    _Atomic int32_t  keepers;           /* a hint: at least the number of processes that keep units over exec */
    _Atomic int32_t  oldest;            /* under the lock; derived, only with aging_ns */
    struct fs_redo   redo;              /* under the lock */
    _Atomic int64_t  granted_ns;        /* under the lock; not authoritative; the last grant to a waiter */
    _Atomic int32_t  youngest;          /* under the lock; derived, only with aging_ns */
    _Atomic int32_t  name_stays;        /* under the lock; 1 if the name stays even when no process uses it */

    alignas(64)
    struct fs_shared_counters count;    /* under the lock */

    _Atomic uint64_t virtual_time;      /* under the lock, like the next two; see shared_flow.h */
    _Atomic uint32_t epoch, last_epoch;
};

static_assert(sizeof(struct fs_process) == 64 && sizeof(struct fs_slot) == 64,
              "a cache line each");
static_assert(sizeof(struct fs_flow_entry) == 40, "the same with 32 and with 64 bits");
static_assert(sizeof(struct fs_segment) % 64 == 0, "the tables begin at a cache line");
static_assert(offsetof(struct fs_segment, redo) == 208 && offsetof(struct fs_segment, name_stays) == 252,
              "another layout needs another FS_SEGMENT_VERSION");
static_assert(sizeof(_Atomic int) == 4 && sizeof(_Atomic int64_t) == 8,
              "processes of 32 and of 64 bits share segments");

static inline int64_t fs_segment_size(int max_processes, int max_waiters)
{
    return (int64_t)sizeof(struct fs_segment) + max_processes * (int64_t)sizeof(struct fs_process)
           + max_waiters * (int64_t)(sizeof(struct fs_slot) + sizeof(struct fs_flow_entry));
}

static_assert(sizeof(struct fs_segment) + 64 * sizeof(struct fs_process)
                  + 256 * (sizeof(struct fs_slot) + sizeof(struct fs_flow_entry)) <= 32768,
              "larger than promised by default");

/* ---- Loads and stores ---- */

/*
 * A hook of the test build, in FS_PUT(), in FS_COMMIT() and at some other points.  A test can stop or kill the
 * process in the hook.
 */
extern void (*fs_shared_step)(const char *what);
#if FS_CHECKED
#define FS_STEP(what)                    \
    do {                                 \
        if (fs_shared_step != NULL)      \
            fs_shared_step(what);        \
    } while (0)
#else
#define FS_STEP(what) ((void)0)
#endif

/* A load that the compiler cannot repeat (R5).  Relaxed, because the lock orders loads and stores. */
#define FS_GET(field) atomic_load_explicit(field, memory_order_relaxed)

/*
 * Store a value; commit points under the lock use FS_COMMIT() instead.  Both macros have release order: if we
 * die, the next process sees our stores up to some point, and none after that point.
 */
#define FS_PUT(field, value)                                        \
    do {                                                            \
        FS_STEP("put " #field);                                     \
        atomic_store_explicit(field, value, memory_order_release);  \
    } while (0)

/* R4: a granter checks no process whose waiter was enqueued within this time, which saves a system call. */
#define FS_SEEN_NS 10000000

/* Unsigned, because a damaged counter may have any value, and signed arithmetic could overflow. */
#define FS_COUNT_UP(counter, n) \
    FS_PUT(counter, (int64_t)((uint64_t)FS_GET(counter) + (uint64_t)(n)))

static inline int64_t fs_since(int64_t now_ns, int64_t then_ns)
{
    return then_ns < 0 || then_ns > now_ns ? 0 : now_ns - then_ns;
}

/*
 * Was the time `then_ns` at least ns ago?  Also true if then_ns is in the future: the clock of another time
 * namespace may be ahead, and its processes must not stop the failure detection of all others.
 */
static inline bool fs_long_ago(int64_t now_ns, int64_t then_ns, int64_t ns)
{
    return then_ns < 0 || then_ns > now_ns || now_ns - then_ns >= ns;
}

#endif
