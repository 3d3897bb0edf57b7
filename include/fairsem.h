/* SPDX-License-Identifier: MIT */
/*
 * fairsem.h - a fair, blocking, counting semaphore for multithreaded C programs.
 *
 * THE PROMISE.  A unit that becomes free goes to the waiter that has waited
 * longest, and nobody who comes later can take it first.
 *
 * A semaphore holds units.  An acquire takes some, all at once, and waits in
 * line when they are not there; a release gives some back and hands them to the
 * oldest waiter directly, inside the call: between the release and the moment
 * the waiter runs, the units already belong to the waiter.  A request at the
 * head of the line that asks for more than is free holds the line: smaller ones
 * behind it wait.  Every way to take units respects this, the non-blocking and
 * the timed ones too.
 *
 *     #include <fairsem.h>                     cc prog.c $(pkg-config --cflags --libs fairsem)
 *
 *     static fairsem_t slots = FAIRSEM_INITIALIZER(4);
 *
 *     fairsem_acquire(&slots, 1);
 *     ...  at most four threads are here  ...
 *     fairsem_release(&slots, 1);
 *
 * Sections of this header, from simple to special:
 *     1  version, limits
 *     2  the object: initialise, destroy
 *     3  acquire and release
 *     4  deadlines
 *     5  looking
 *
 * WHAT HOLDS FOR EVERY FUNCTION, unless its comment says otherwise
 *
 * Results.   0, or one of the errno values its comment lists and no other.  errno
 *            itself is never touched.  An error changes nothing.
 * Units.     int64_t, never negative where you pass them, at most FAIRSEM_MAX_UNITS.
 * Time.      Relative times are nanoseconds.  Deadlines are absolute.
 * Pointers.  A semaphore you pass must be initialised and not destroyed.  This is not
 *            checked, as in the pthread functions.
 * Memory.    A release synchronises with the acquire its units satisfy: what the
 *            releasing thread wrote before is visible to the acquiring thread after.
 *            A successful acquire of 0 units is ordered in the same way.
 * malloc.    A thread's first wait allocates what the thread needs to sleep; it keeps
 *            that for all semaphores and later waits.  Nothing else allocates.  If that
 *            one allocation fails, the wait works all the same, in order (it polls
 *            every millisecond): no function has ENOMEM.
 * Threads.   All functions but fairsem_init and fairsem_destroy may be called by any
 *            number of threads at any time:
 *
 *                              init   destroy   acquire...   release   looking
 *                 init          no      no         no          no        no
 *                 destroy       no      no         (1)         (2)       no
 *                 acquire...    no      (1)        yes         yes       yes
 *                 release       no      (2)        yes         yes       yes
 *                 looking       no      no         yes         yes       yes
 *
 *            (1) While somebody waits, destroy returns EBUSY.  This is a diagnosis and
 *                no synchronisation: a thread that is just entering or, its deadline
 *                past, just leaving an acquire cannot be seen.
 *            (2) A thread whose acquire has returned may destroy the semaphore and free
 *                its memory at once, even if the release that served it is still
 *                running in another thread.
 * Cancel.    A wait is a cancellation point for deferred pthread_cancel; no other call
 *            is, nor an acquire that need not wait.  A cancelled waiter leaves the
 *            line; units that were handed to it in the same instant go to the next one.
 *            Asynchronous cancellation is not supported.
 * Signals.   No function is async-signal-safe.  A signal does not end a wait, nor does
 *            the waiter lose its place while a handler runs.
 * fork.      The child finds the count as it was and an empty line.  Units held by
 *            threads of the parent stay taken.  The parent is not affected.
 * Since.     All functions are there since 0.1, unless they say otherwise.
 */
#ifndef FAIRSEM_H
#define FAIRSEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h> /* clockid_t, also where <time.h> keeps to ISO C */
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======================================================================== *
 *  1  Version, limits
 * ======================================================================== */

#define FAIRSEM_VERSION_MAJOR  0
#define FAIRSEM_VERSION_MINOR  1
#define FAIRSEM_VERSION_PATCH  0
#define FAIRSEM_VERSION_STRING "0.1.0"

/* The most units a semaphore can ever have free, and the largest request: 2^60. */
#define FAIRSEM_MAX_UNITS (INT64_C(1) << 60)

#if defined(__GNUC__) && __GNUC__ >= 4
#define FAIRSEM_API __attribute__((visibility("default")))
#else
#define FAIRSEM_API
#endif

#ifdef __cplusplus
#define FAIRSEM_ALIGNED_ alignas(16)
#else
#define FAIRSEM_ALIGNED_ _Alignas(16)
#endif

/* ======================================================================== *
 *  2  The object: initialise, destroy
 * ======================================================================== */

/*
 * The semaphore.  Put it where you like: static, on a stack, in your own struct.
 * It must not be moved or copied.  The members are private; they are spelled out so
 * that a static initialiser can exist.  The first 16 bytes, which never straddle a
 * cache line, are all that an acquire or release touches while nobody waits.
 */
typedef struct fairsem {
    FAIRSEM_ALIGNED_ int64_t fairsem_word_;
    int64_t         fairsem_limit_;
    pthread_mutex_t fairsem_mutex_;
    unsigned char   fairsem_reserved_[256 - 16 - sizeof(pthread_mutex_t)];
} fairsem_t;

/*
 * A static semaphore with `units` free units (0 .. FAIRSEM_MAX_UNITS, not checked):
 * unbounded, without a name, no limit on waiters.  It needs no fairsem_init and no
 * fairsem_destroy.
 */
#define FAIRSEM_INITIALIZER(units) \
    { (int64_t)(units) * 2, FAIRSEM_MAX_UNITS, PTHREAD_MUTEX_INITIALIZER, { 0 } }

/* attr.flags: waits may be interrupted by signals.  Refused with ENOTSUP by this release. */
#define FAIRSEM_INTERRUPTIBLE 1u

/*
 * What fairsem_init can be told.  All zero means the defaults, so use a designated
 * initialiser:   fairsem_attr_t attr = { .capacity = 8 };
 */
typedef struct fairsem_attr {
    const char *name;        /* for people who debug; the caller keeps the string alive */
    int64_t     capacity;    /* 0: unbounded; else the most units there can ever be free */
    int64_t     max_waiters; /* 0: no limit; else a longer line is refused with ENOBUFS */
    unsigned    flags;       /* 0 or FAIRSEM_INTERRUPTIBLE */
    unsigned    reserved_[9]; /* must be zero */
} fairsem_attr_t;

/*
 * Make *sem a semaphore with `units` free units.  attr may be NULL.
 *
 * A bounded semaphore (attr->capacity > 0) knows how many units there are: it refuses
 * a release that would make more (EOVERFLOW) and a request that could never be served
 * (E2BIG).  `units` may be less than the capacity: the rest counts as in use.
 *
 * 0
 * EINVAL   units < 0, above FAIRSEM_MAX_UNITS or above the capacity; capacity or
 *          max_waiters < 0, capacity above FAIRSEM_MAX_UNITS; an unknown flag; a
 *          reserved field that is not zero
 * ENOTSUP  FAIRSEM_INTERRUPTIBLE
 */
FAIRSEM_API int fairsem_init(fairsem_t *sem, int64_t units, const fairsem_attr_t *attr);

/*
 * End the life of *sem.  Its memory may be reused at once.  Units that are still held
 * are no obstacle, waiters are.
 *
 * 0
 * EBUSY    somebody waits; nothing was changed
 */
FAIRSEM_API int fairsem_destroy(fairsem_t *sem);

/* ======================================================================== *
 *  3  Acquire and release
 * ======================================================================== */

/*
 * Take n units; wait in line until they are there.  All n are taken at once, never in
 * parts.  n = 0 takes nothing but waits its turn like any other request: it returns
 * when everybody who came before has been served.
 *
 * 0        the units are yours
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS
 * E2BIG    n is more than the capacity of a bounded semaphore: it could never be served
 * ENOBUFS  it would have to wait, and attr.max_waiters others already do
 *
 * Cancellation point if it waits.
 */
FAIRSEM_API int fairsem_acquire(fairsem_t *sem, int64_t n);

/*
 * Take n units if that is possible now.  Never passes a waiter, and never fails
 * without reason: EAGAIN means that somebody waits or that too few units are free.
 * n = 0 succeeds if nobody waits.
 *
 * 0        the units are yours
 * EAGAIN   it would have to wait
 * EINVAL, E2BIG   as fairsem_acquire
 */
FAIRSEM_API int fairsem_tryacquire(fairsem_t *sem, int64_t n);

/*
 * Take as many units as are free, at most max, without waiting.  Never passes a waiter.
 * Returns the number of units taken, 0 .. max; 0 if none is free, if anybody waits, or
 * if max <= 0.
 */
FAIRSEM_API int64_t fairsem_tryacquire_upto(fairsem_t *sem, int64_t max);

/*
 * Give n units back, or add new ones to an unbounded semaphore, and serve from the head
 * of the line everybody whose request now fits, before the call returns.  Any thread
 * may release.  Does not wait for anybody but for other short critical sections.
 *
 * 0
 * EINVAL     n < 0 or n > FAIRSEM_MAX_UNITS
 * EOVERFLOW  there would be more free units than the capacity (unbounded:
 *            FAIRSEM_MAX_UNITS); somebody releases what he does not hold
 */
FAIRSEM_API int fairsem_release(fairsem_t *sem, int64_t n);

/* ======================================================================== *
 *  4  Deadlines
 * ======================================================================== */

/*
 * fairsem_acquire that gives up when timeout_ns nanoseconds have passed, measured by
 * CLOCK_MONOTONIC.  timeout_ns <= 0: one look, no wait.  Units that are free are taken
 * without reading a clock.  A waiter that gives up leaves the line as if it had never
 * been there; units that reach it first are its own, and the call returns 0.
 *
 * As fairsem_acquire, and
 * ETIMEDOUT  the time has passed
 */
FAIRSEM_API int fairsem_acquire_for(fairsem_t *sem, int64_t n, int64_t timeout_ns);

/*
 * The same with an absolute deadline on a clock, CLOCK_MONOTONIC or CLOCK_REALTIME;
 * NULL waits for ever.  A deadline does not move when the call is repeated after some
 * other failure, which a relative time does.  A deadline on CLOCK_REALTIME follows the
 * steps of that clock.  A deadline in the past still takes units that are free while
 * nobody waits, as sem_timedwait does.
 *
 * As fairsem_acquire, and
 * ETIMEDOUT  the deadline has passed
 * EINVAL     another clock; deadline->tv_nsec outside 0 .. 999999999.  Both are checked
 *            even if units are free
 */
FAIRSEM_API int fairsem_acquire_until(fairsem_t *sem, int64_t n, clockid_t clock,
                                      const struct timespec *deadline);

/*
 * How to wait, for fairsem_acquire_with.  All zero: for ever.
 */
typedef struct fairsem_token fairsem_token_t;

typedef struct fairsem_wait {
    clockid_t              clock;    /* of the deadline: CLOCK_MONOTONIC or CLOCK_REALTIME */
    const struct timespec *deadline; /* absolute; NULL: none */
    int                    priority; /* must be 0 in this release */
    fairsem_token_t       *token;    /* must be NULL in this release */
    uintptr_t              reserved_[4]; /* must be zero */
} fairsem_wait_t;

/*
 * The acquire that all others are special cases of.  `how` may be NULL.
 *
 * As fairsem_acquire_until, and
 * EINVAL     priority, token or a reserved field is not zero
 */
FAIRSEM_API int fairsem_acquire_with(fairsem_t *sem, int64_t n, const fairsem_wait_t *how);

/* ======================================================================== *
 *  5  Looking: true when they looked, perhaps no more when they return
 * ======================================================================== */

/* The capacity in units; -1: unbounded. */
FAIRSEM_API int64_t fairsem_capacity(const fairsem_t *sem);

/* The number of free units.  Free is not the same as yours to take: see would_block. */
FAIRSEM_API int64_t fairsem_available(const fairsem_t *sem);

/* The number of requests in line.  A waiter that is counted here has its place. */
FAIRSEM_API int64_t fairsem_waiters(const fairsem_t *sem);

/*
 * True if a fairsem_acquire(sem, n) now would wait: somebody waits already, or fewer
 * than n units are free.  False where it would return at once, be it with an error.
 */
FAIRSEM_API bool fairsem_would_block(const fairsem_t *sem, int64_t n);

#ifdef __cplusplus
}
#endif
#endif /* FAIRSEM_H */
