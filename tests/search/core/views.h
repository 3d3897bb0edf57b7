/* SPDX-License-Identifier: MIT */
/*
 * views.h - weak memory: what each thread knows, and which old values it may still see.
 *
 * The model is RC11 without load buffering, as an abstract machine (the views of Kang, Hur, Lahav,
 * Vafeiadis and Dreyer, 2017, without promises).  An atomic location keeps its stores, in
 * modification order; the newest is the one in memory.  A view says how much is known: for each
 * location the newest known store, for each thread its newest known access.  Each thread has a
 * view.  Each store has one, too, which an acquire load of it adds to its thread's.
 *
 *   load     sees any store that is not older than the one in the thread's view (coherence)
 *   store    becomes the newest; or it comes before stores that the thread has not seen
 *   read-modify-write, a compare-and-swap that succeeds: reads the newest, and is the next
 *   compare-and-swap that fails: a load with the order for that case.  It fails only if the store
 *            that it reads has another value
 *   release sequences are those of C++20 and C23: a read-modify-write continues that of the store
 *            it has read; a relaxed store ends it, whichever thread made the store before
 *   seq_cst  a load sees nothing older than the last such store.  This is exact if all accesses of a
 *            location are seq_cst, else stronger than the standard
 *   mutexes, pthread_once, the end of a thread that is joined, and a futex wake, which is ordered
 *            by the kernel's own locks, carry views.  The kernel compares a futex word with the
 *            newest value.  pthread_cond_signal carries no view, but its mutex does
 *
 * A load of an old store, and a store that comes before another, are decisions of the search, which
 * tries the ordinary case first; a run has at most `stale` of them.
 *
 * Not covered: fences, which src/core/ does not have; load buffering, where a load reads a store that
 * comes later in every order of the run; read-modify-writes that come before a store that their
 * thread has not seen.
 */
#ifndef XP_VIEWS_H
#define XP_VIEWS_H

#include "explorer.h"

enum { LOCATIONS_MAX = 64, STORES_MAX = 100, SYNCS_MAX = 24 };

struct view {
    uint8_t  store[LOCATIONS_MAX];  /* of each location, the newest that is known */
    uint16_t clock[THREADS];    /* of each thread, its newest access, as races.c counts them */
    uint64_t began, returned;       /* calls of the scenario: sets */
};

struct store {
    int64_t     value;
    struct view view;
    bool        rmw;        /* it has read the store before it: none may come between them */
};

struct location {
    const void  *at;
    size_t       size;
    int          count;     /* 0: not used as an atomic, or not since its last plain write */
    int          last_sc;   /* the newest that is seq_cst */
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

/* Does this access count?  Not before the first thread starts, nor while no thread stops. */
static inline bool views_on(void)
{
    return limits.own && self != NULL && !quiet;
}

/* Do all loads see the newest store from here on? */
static inline bool views_spent(void)
{
    return run.stale >= limits.own_bound;
}

static inline struct view *view_mine(void)
{
    return &view_of[id_of(self)];
}

void view_join(struct view *to, const struct view *from);
const struct view *view_publish(void);  /* that of the thread that runs, for others */
bool order_acquires(int order);
bool order_releases(int order);

void views_forget(void);    /* all addresses: another scenario */
void views_reset(void);     /* another run */
void stores_forget(void);   /* both are called by the two above */
void stores_reset(void);
uint16_t views_epoch(void); /* of the next access of the thread that runs */

/* views_state.c: forget the stores that no thread can read any more. */
void views_prune(void);
uint64_t views_hash(void);

/*
 * stores.c.  Accesses of the thread that runs.  A load returns the value that it sees; a
 * compare-and-swap first asks whether it fails, and which value it sees.  A store returns whether
 * it is the newest: only then may memory change.
 */
int64_t views_load(const void *at, size_t size, int order);
bool views_swap_fails(const void *at, size_t size, int64_t expected, int order, int64_t *sees);
bool views_store(const void *at, size_t size, int64_t value, int order);
void views_change(const void *at, size_t size, int64_t value, int order);
void views_plainly_written(const void *at, size_t size);
void views_kernel_looks(const void *at, size_t size);

/*
 * views.c.  When a call of the scenario begins: the calls that had returned, as far as its thread
 * knows.  When it returns: the calls that had begun.
 */
uint64_t views_begin_call(int number);
uint64_t views_end_call(int number);

void views_release(const void *object);
void views_acquire(const void *object);
void views_join_thread(const struct thread *from, struct thread *to);

/* ---- races.c: plain accesses ---- */

enum access { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE };

extern bool races_only_noted;   /* for the litmus tests: count races, do not fail */
extern int races_noted;

void races_reset(void);
void races_access(const void *at, size_t size, enum access kind, const void *pc);
void races_leave_frames(const char *below);     /* of the thread that runs */
uint64_t races_hash(void);

/*
 * For views_state.c: forget the accesses that all threads know of.  Then the rank of an epoch: how
 * many of the thread's remaining epochs are not newer.
 */
void races_prune(const uint16_t known_to_all[THREADS]);
uint16_t races_rank(int t, uint16_t clock);

#endif
