/* SPDX-License-Identifier: MIT */
/*
 * layout.h - what lies in a segment, and what is always true of it.
 *
 * A segment is a header, a table of processes and a table of slots, a slot being a place in the
 * queue.  Indices, never pointers: each process has it at another address.
 *
 * WHY NOT THE CORE'S CODE.  Clocks, deadlines, staying awake, tokens, counts and the arithmetic of
 * the word are the core's.  Its queue is not: it consists of pointers, on the stacks of those who
 * wait.  Nor is its section: it trusts what it finds, its mutex is lost with its owner, and
 * a thread that dies between two of its stores leaves half a change.  Nor its parkers: they belong
 * to one process.  The order is the same, (priority, number), and so are the results.
 *
 * INVARIANTS, which continue those of sem.h
 *
 *  R1  Commit points.  What counts changes by one store.  The truth is: `held` of each process,
 *      the state of each slot, and without undo the count in the word.  A change of two of these is
 *      written to `redo` first, and is made when redo.slot is written.  All else (with undo the
 *      count in the word, the links and the length of the line) is a cache.  A granted slot's
 *      units are its process's, received or not.
 *  R2  Repair.  A process that finds the owner of the lock dead finishes what redo says, drops what
 *      belongs to dead processes, and makes the caches anew from the truth.  It does the same when
 *      it finds any other process dead.  Repair can be cut short anywhere, and be done again.
 *  R3  Life is the kernel's word.  Each process has a record lock on its own byte of the
 *      segment's file.  A process whose entry is in use and whose byte is free is dead.  (Never a
 *      pid.)  Only the process that has the byte writes the entry's incarnation.
 *  R4  Who looks for the dead.  A caller that is about to be refused; one that is about to wait, if
 *      nobody has looked lately; the head of the line, every 100 ms; a granter, at a process that
 *      has waited for longer than a moment; and all others in line, every 100 ms, at the head: a
 *      dead one that asks for more than is free would hold them up for ever.  If nobody has looked
 *      for 100 ms the head is stopped, or late: then the others do what it should do.
 *  R5  The segment is not trusted.  Each number that is an index, or is calculated with, is loaded
 *      once, and checked between the load and the use.  Each loop has a bound.
 *  R6  A waiter sleeps on the state of its slot, never for longer than 100 ms: its granter may
 *      have died before the wake.  It is woken after the unlock.  A slot is free again when its
 *      process has received what was granted, or is dead.
 *  R7  What a process remembers of a segment in its own memory is what cannot change: the size of
 *      the tables, the capacity, the flags; and which entry is its own.
 */
#ifndef FS_SHARED_LAYOUT_H
#define FS_SHARED_LAYOUT_H

#include "fairsem/shared.h"
#include "stay_awake.h"
#include "state.h"               /* FS_CHECKED */

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#define FS_SEGMENT_MAGIC   INT64_C(0x6d65737269616600)     /* not a text in either byte order */
#define FS_SEGMENT_VERSION 1

#define FS_NOBODY (-1)          /* in place of an index */

enum fs_process_state { FS_PROCESS_FREE, FS_PROCESS_USED };

struct fs_process {
    _Atomic int32_t  state;         /* under the lock */
    _Atomic uint32_t incarnation;   /* counts who has had the byte; written by its owner (R3) */
    _Atomic int64_t  held;          /* under the lock; units */
    _Atomic int64_t  pid;           /* under the lock; for people, and keep_on_exec */
    _Atomic int64_t  start;         /* under the lock; when the process began, if it keeps */
    _Atomic int64_t  since_ns;      /* under the lock; since when it holds any */
    _Atomic int32_t  keeps;         /* under the lock; 1: its units survive exec */
    int32_t          reserved[5];
};

/*
 *      FREE --> WAITING --> GRANTED --> FREE      received, or given back
 *                  |
 *                  +------> CANCELED --> FREE     by a token: its thread returns the reason
 *                  +------> FREE                  out of time; pthread_cancel; its process is dead
 */
enum fs_slot_state { FS_SLOT_FREE, FS_SLOT_WAITING, FS_SLOT_GRANTED, FS_SLOT_CANCELED };

struct fs_slot {
    _Atomic int      state;         /* under the lock; its thread sleeps on it (R6) */
    _Atomic int32_t  process;       /* all others: r/o while the slot is in use */
    _Atomic int64_t  units;
    _Atomic int64_t  seq;           /* its number in order of arrival */
    _Atomic int32_t  priority;
    _Atomic int32_t  core;          /* under the lock; of its granter */
    _Atomic int64_t  joined_ns;
    _Atomic int64_t  granted_ns;    /* under the lock */
    _Atomic int32_t  next, prev;    /* under the lock; caches: its neighbors in the line */
    int32_t          reserved[2];
};

/* A change of two words that count (R1). */
struct fs_redo {
    _Atomic int32_t  slot;          /* 1 + its index; 0: nothing to do.  Written last */
    _Atomic int32_t  slot_state;    /* what the slot's state becomes */
    _Atomic int32_t  process;       /* 1 + the index of the process whose `held` changes; 0: none */
    _Atomic int32_t  has_word;      /* 1: the count changes */
    _Atomic int64_t  held, word;    /* to what */
};

/* Not truth: an update may be lost with a process. */
struct fs_shared_counters {
    _Atomic int64_t waits, grants, timeouts, cancels, lost, wait_ns_total, wait_ns_max, waiters_max,
                    refused, over_releases, deaths, returned, repairs;
};

struct fs_segment {
    int64_t          magic;             /* r/o, and all up to the word */
    int32_t          version;
    uint32_t         flags;
    int64_t          size;              /* bytes */
    int64_t          units, capacity;   /* capacity: what can be free at most */
    int32_t          max_waiters, max_processes;

    alignas(64)
    _Atomic int64_t  word;              /* the count and SLOW, see word.h; SLOW as in I3, and always
                                         * set with undo */
    alignas(64)
    _Atomic uint32_t lock;              /* see lock.h */
    _Atomic int32_t  damaged;           /* 1: for ever */
    _Atomic int32_t  unfinished;        /* under the lock; 1: a repair is due, or was cut short */
    _Atomic int32_t  head, tail;        /* under the lock; caches */
    _Atomic int64_t  waiters;           /* under the lock; a cache: the length of the line */
    _Atomic int64_t  next_seq;          /* under the lock; more than any in a slot */
    _Atomic int64_t  looked_ns;         /* under the lock; when somebody looked for the dead */
    _Atomic int32_t  free_hint;         /* under the lock; where to look for a free slot */
    struct fs_stay_awake doubts;        /* under the lock */
    struct fs_redo   redo;              /* under the lock */

    alignas(64)
    struct fs_shared_counters count;    /* under the lock */
};

static_assert(sizeof(struct fs_process) == 64 && sizeof(struct fs_slot) == 64,
              "a cache line each");
static_assert(sizeof(struct fs_segment) % 64 == 0, "the tables begin at a cache line");
static_assert(sizeof(_Atomic int) == 4 && sizeof(_Atomic int64_t) == 8,
              "processes of 32 and of 64 bits share segments");

static inline int64_t fs_segment_size(int max_processes, int max_waiters)
{
    return (int64_t)sizeof(struct fs_segment) + max_processes * (int64_t)sizeof(struct fs_process)
           + max_waiters * (int64_t)sizeof(struct fs_slot);
}

static_assert(sizeof(struct fs_segment) + 64 * sizeof(struct fs_process)
                  + 256 * sizeof(struct fs_slot) <= 32768, "larger than promised by default");

/* ---- How it is read and written ---- */

/*
 * Before each store to a segment, and at some other moments, a test can stop or end the process.
 * Only the test build asks.
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

/* One load, of which the compiler cannot make two (R5).  The lock orders it. */
#define FS_GET(field) atomic_load_explicit(field, memory_order_relaxed)

/*
 * A store that is no commit point: to a cache, or to what nobody reads yet.  Release order for all:
 * if we die, the next process finds our stores up to some point, and none of those behind it.
 */
#define FS_PUT(field, value)                                        \
    do {                                                            \
        FS_STEP("put " #field);                                     \
        atomic_store_explicit(field, value, memory_order_release);  \
    } while (0)

/* A commit point (R1). */
#define FS_COMMIT(field, value)                                     \
    do {                                                            \
        FS_STEP("commit " #field);                                  \
        atomic_store_explicit(field, value, memory_order_release);  \
    } while (0)

/*
 * A process that was seen alive less long ago is not looked at: that costs a system call.  If it
 * has died since, the head of the line finds out, as it does for all others.
 */
#define FS_SEEN_NS 10000000

/* What somebody has damaged may be of any size. */
#define FS_COUNT_UP(counter, n) \
    FS_PUT(counter, (int64_t)((uint64_t)FS_GET(counter) + (uint64_t)(n)))

static inline int64_t fs_since(int64_t now_ns, int64_t then_ns)
{
    return then_ns < 0 || then_ns > now_ns ? 0 : now_ns - then_ns;
}

#endif
