/* SPDX-License-Identifier: MIT */
/*
 * views.h - weak memory: the knowledge of each thread, and the old values that it may still see.
 *
 * The model is RC11 without load buffering, as an abstract machine (the views of Kang, Hur, Lahav,
 * Vafeiadis and Dreyer, 2017, without promises).  An atomic location has its stores in modification order; the
 * newest is the one in memory.  A view is a state of knowledge: for each location the newest known store, for
 * each thread its newest known access.  Each thread has a view.  Each store has a view, too, which an acquire
 * load of it adds to its thread's.
 *
 *   load     sees any store that is not older than the one in the thread's view (coherence)
 *   store    becomes the newest, or precedes stores that the thread has not seen
 *   read-modify-write, and successful compare-and-swap: reads the newest store, and becomes the newest
 *   failing compare-and-swap: a load with its order for a failure.  It fails only if the store that it
 *            reads has another value
 *   release sequences are those of C++20 and C23: a read-modify-write continues the sequence of the
 *            store that it has read; a relaxed store ends it, even one of the same thread
 *   seq_cst  a load sees nothing older than the last seq_cst store.  This is exact if all accesses of
 *            the location are seq_cst, and otherwise stronger than the standard
 *   mutexes, pthread_once, the end of a joined thread, and a futex wake, which is ordered by the
 *            kernel's own locks, carry views.  The kernel compares a futex word with the newest
 *            value.  pthread_cond_signal carries no view, but its mutex does
 *
 * A load of an old store, and a store that precedes another one, are decisions of the search, which tries the
 * ordinary case first; a run has at most `stale` of them.
 *
 * Not covered: fences, which src/core/ does not have; load buffering, where a load reads a store that comes
 * later in each order of the run; read-modify-writes that precede a store that their thread has not seen.
 */
#ifndef XP_VIEWS_H
#define XP_VIEWS_H

#include "explorer.h"

enum { LOCATIONS_MAX = 64, STORES_MAX = 100, SYNCS_MAX = 24 };

struct view {
    uint8_t  store[LOCATIONS_MAX];  /* of each location, the newest known one */
    uint16_t clock[THREADS];    /* of each thread, its newest known access, counted as in races.c */
    uint64_t began, returned;       /* calls of the scenario: sets */
};

struct store {
    int64_t     value;
    struct view view;
    bool        rmw;        /* it has read the store before it, and no store may come between them */
};

struct location {
    const void  *at;
    size_t       size;
    int          count;     /* of stores; 0 before its first use as an atomic, and after a plain write */
    int          last_sc;   /* the newest seq_cst store */
    struct store store[STORES_MAX];
};

/* An object other than an atomic that carries views: a mutex, a once. */
struct sync {
    const void *at;
    bool        used;
    struct view view;
};

extern struct location location[LOCATIONS_MAX];
extern struct sync sync_object[SYNCS_MAX];
extern int locations, syncs;
extern struct view view_of[THREADS];

/* Does this access count?  Not before the first thread starts, and not while no thread stops. */
static inline bool views_on(void)
{
    return limits.own && self != NULL && !quiet;
}

/* Do all loads see the newest store from now on? */
static inline bool views_spent(void)
{
    return run.stale >= limits.own_bound;
}

static inline struct view *view_mine(void)
{
    return &view_of[id_of(self)];
}

void view_join(struct view *to, const struct view *from);
const struct view *view_publish(void);  /* the running thread's, for other threads */
bool order_acquires(int order);
bool order_releases(int order);

void views_forget(void);    /* forget all addresses, before another scenario */
void views_reset(void);     /* before another run */
void stores_forget(void);   /* called by views_forget(), as the next one by views_reset() */
void stores_reset(void);
uint16_t views_epoch(void); /* of the running thread's next access */

/* views_state.c: forget the stores that no thread can read any longer. */
void views_prune(void);
uint64_t views_hash(void);

/*
 * stores.c: accesses of the running thread.  A load returns the value that it sees.  A compare-and-swap first
 * calls a function that says whether it fails, and the value that it sees.  A store returns whether it is the
 * newest: only then may memory change.
 */
int64_t views_load(const void *at, size_t size, int order);
bool views_swap_fails(const void *at, size_t size, int64_t expected, int order, int64_t *sees);
bool views_store(const void *at, size_t size, int64_t value, int order);
void views_change(const void *at, size_t size, int64_t value, int order);
void views_plainly_written(const void *at, size_t size);
void views_kernel_looks(const void *at, size_t size);

/*
 * views.c: at the beginning of a call of the scenario, the calls that its thread knows to have returned; at its
 * return, the calls that it knows to have begun.
 */
uint64_t views_begin_call(int number);
uint64_t views_end_call(int number);

void views_release(const void *object);
void views_acquire(const void *object);
void views_join_thread(const struct thread *from, struct thread *to);

/* ---- races.c: plain accesses ---- */

enum access { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE };

extern bool races_only_noted;   /* for the litmus tests: count races instead of failing */
extern int races_noted;

void races_reset(void);
void races_access(const void *at, size_t size, enum access kind, const void *pc);
void races_leave_frames(const char *below);     /* of the running thread */
uint64_t races_hash(void);

/*
 * For views_state.c: forget the accesses that all threads know of.  After that, the rank of an epoch is the
 * number of the thread's remaining epochs that are not newer.
 */
void races_prune(const uint16_t known_to_all[THREADS]);
uint16_t races_rank(int t, uint16_t clock);

#endif
