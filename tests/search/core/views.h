/* SPDX-License-Identifier: MIT */
/*
 * views.h - weak memory: the knowledge of each thread, and the stale values that it may still see.
 *
 * The model is RC11 without load buffering, as an abstract machine (the views of Kang, Hur, Lahav,
 * Vafeiadis and Dreyer, 2017, without promises).  An atomic location has its stores in modification order; the
 * newest store is in memory.  A view is a state of knowledge: for each location the newest known store, and for
 * each thread its newest known access.  Each thread has a view.  Each store has a view, too, which an acquire
 * load of the store adds to the view of the loading thread.
 *
 *   load     sees any store that is not older than the store in the thread's view (coherence)
 *   store    becomes the newest store, or precedes stores that the thread has not seen
 *   read-modify-write, and successful compare-and-swap: reads the newest store, and becomes the newest
 *   failing compare-and-swap: a load with the memory order for a failure.  It fails only if the store
 *            that it reads does not have the expected value
 *   release sequences are those of C++20 and C23: a read-modify-write continues the sequence of the
 *            store that it has read; a relaxed store ends the sequence, even a store of the same thread
 *   seq_cst  a load sees nothing older than the last seq_cst store.  This is exact if all accesses of
 *            the location are seq_cst, and otherwise stronger than the standard
 *   mutexes, pthread_once, the end of a joined thread, and futex wakes carry views: the kernel's own
 *            locks order a futex wake.  The kernel compares a futex word with the newest value.
 *            pthread_cond_signal carries no view, but its mutex does
 *
 * A load of a store that is not the newest, and a store that precedes another store, are decisions of the
 * search, which tries the ordinary case first.  Each of these decisions counts as a stale load; --stale bounds
 * their number in a run.
 *
 * Not covered: fences, which src/core/ does not have; load buffering, where a load reads a store that comes
 * later in each order of the run; read-modify-writes that precede a store that their thread has not seen.
 */
#ifndef XP_VIEWS_H
#define XP_VIEWS_H

#include "explorer.h"

enum { LOCATIONS_MAX = 64, STORES_MAX = 100, SYNCS_MAX = 24 };

struct view {
    uint8_t  store[LOCATIONS_MAX];  /* of each location, the index of the newest known store */
    uint16_t clock[THREADS];    /* of each thread, the epoch of its newest known access (races.c) */
    uint64_t began, returned;       /* the calls known to have begun, and to have returned: sets */
};

struct store {
    int64_t     value;
    struct view view;
    bool        rmw;        /* a read-modify-write: no store may come between it and the store before it */
};

struct location {
    const void  *at;
    size_t       size;
    int          count;     /* of stores; 0 before the first atomic access, and after a plain write */
    int          last_sc;   /* index of the newest seq_cst store */
    struct store store[STORES_MAX];
};

/* An object other than an atomic that carries views: a mutex, a pthread_once_t. */
struct sync {
    const void *at;
    bool        used;
    struct view view;
};

extern struct location location[LOCATIONS_MAX];
extern struct sync sync_object[SYNCS_MAX];
extern int locations, syncs;
extern struct view view_of[THREADS];

/* Do the rules of weak memory apply?  Only with --stale, to accesses by a fibre, and not while `quiet`. */
static inline bool views_on(void)
{
    return limits.own && self != NULL && !quiet;
}

/* Has the run used up its stale loads?  Then all loads see the newest store. */
static inline bool views_spent(void)
{
    return run.stale >= limits.own_bound;
}

static inline struct view *view_mine(void)
{
    return &view_of[id_of(self)];
}

void view_join(struct view *to, const struct view *from);   /* add the knowledge of a view to another */
/* Return the running thread's view, for other threads.  Its next access gets a new epoch. */
const struct view *view_publish(void);
bool order_acquires(int order);
bool order_releases(int order);

void views_forget(void);    /* forget all addresses, before another scenario */
void views_reset(void);     /* before another run */
void stores_forget(void);   /* called by views_forget() */
void stores_reset(void);    /* called by views_reset() */
uint16_t views_epoch(void); /* the epoch of the running thread's next access */

/* views_state.c: forget the stores that no thread can read any longer. */
void views_prune(void);
uint64_t views_hash(void);

/*
 * stores.c: accesses of the running thread.  views_load() returns the value that the load sees.
 * views_swap_fails() says whether a compare-and-swap fails, and then stores the value that it sees.  If the
 * compare-and-swap does not fail, views_change() follows.  views_store() returns true if its store is the
 * newest: then memory must change.
 */
int64_t views_load(const void *at, size_t size, int order);
bool views_swap_fails(const void *at, size_t size, int64_t expected, int order, int64_t *sees);
bool views_store(const void *at, size_t size, int64_t value, int order);
void views_change(const void *at, size_t size, int64_t value, int order);
void views_plainly_written(const void *at, size_t size);
void views_kernel_looks(const void *at, size_t size);

/*
 * views.c: a call of the scenario begins, or ends.  views_begin_call() returns the calls that the thread knows
 * to have returned; views_end_call() returns the calls that the thread knows to have begun.
 */
uint64_t views_begin_call(int number);
uint64_t views_end_call(int number);

void views_release(const void *object);
void views_acquire(const void *object);
void views_join_thread(const struct thread *from, struct thread *to);

/* ---- races.c: plain accesses ---- */

enum access { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE };

extern bool races_only_noted;   /* in the litmus tests: a race is counted, and is not a failure */
extern int races_noted;

void races_reset(void);
void races_access(const void *at, size_t size, enum access kind, const void *pc);
void races_leave_frames(const char *below);     /* of the running thread's stack */
uint64_t races_hash(void);

/*
 * For views_state.c: forget the accesses that all threads know of.  After that, races_rank() returns how many
 * of the thread's remaining epochs are not newer than this epoch.
 */
void races_prune(const uint16_t known_to_all[THREADS]);
uint16_t races_rank(int t, uint16_t clock);

#endif
