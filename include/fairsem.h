/* SPDX-License-Identifier: MIT */
/*
 * fairsem.h - a fair, blocking, counting semaphore for multithreaded C programs.
 *
 * THE PROMISE.  A unit that becomes free goes to the waiter that has waited
 * longest, and nobody who comes later can take it first.
 *
 * A semaphore holds units.  An acquire takes some of them, all at once; while they are not
 * free, it waits in a queue.  A release gives some back and grants them to the oldest waiter
 * directly, inside the call: from then on they belong to that waiter, even before it runs.
 * A request at the head of the queue that asks for more units than are free holds up the
 * smaller requests behind it.  Every way to take units respects the queue, the non-blocking
 * and the timed ones too.  Two exceptions have to be asked for by name: fairsem_consume, and
 * FAIRSEM_BOUNDED_BYPASS within its bound.
 *
 * Example:
 *
 *     #include <fairsem.h>
 *
 *     static fairsem_t slots = FAIRSEM_INITIALIZER(4);
 *
 *     int main(void)
 *     {
 *         if (fairsem_acquire(&slots, 1) != 0)
 *             return 1;
 *         // at most four threads are here
 *         fairsem_release(&slots, 1);
 *         return 0;
 *     }
 *
 * To build it:  cc prog.c $(pkg-config --cflags --libs fairsem)
 *
 * Sections of this header, from simple to special.  Each begins with a complete example.
 *     1  version, limits
 *     2  the object: initialize, destroy
 *     3  acquire and release
 *     4  deadlines, priorities, tokens
 *     5  capacity, debt, close
 *     6  inspect
 *     7  units: a guard that knows what it holds
 *     8  tickets: a place in the queue without a blocked thread
 *
 * WHAT HOLDS FOR EVERY FUNCTION, unless its comment says otherwise
 *
 * Results.   A function returns 0 or one of the errno values that its comment lists, and no
 *            other.  It never touches errno itself.  An error changes nothing.  Compilers warn
 *            if you ignore a result that says whether you have the units that you asked for.
 * Units.     A number of units is an int64_t.  What you pass is 0 to FAIRSEM_MAX_UNITS.
 * Time.      Relative times are in nanoseconds.  Deadlines are absolute.
 * Pointers.  A semaphore that you pass must be initialized and not destroyed.  All zero is not
 *            initialized.  The library finds such a mistake where that costs nothing: an
 *            acquire, a release, fairsem_stat or fairsem_destroy on a semaphore that is all
 *            zero or destroyed prints a message and aborts the program.  One case is not
 *            found: an acquire or release of 0 units on a semaphore that is all zero.
 * Memory.    A release synchronizes with the acquire that its units satisfy: the acquiring
 *            thread sees everything that the releasing thread wrote before the release.
 *            A successful acquire of 0 units is ordered in the same way.
 * malloc.    The first time that a thread waits, or is about to wait, it allocates the memory
 *            that it needs to sleep.  It keeps that memory for all semaphores and all later
 *            waits; when it ends, a later thread inherits it.  No other acquire or release
 *            allocates.  If this allocation fails, or the process has no thread-specific key
 *            left, waits still work, in order: they poll every millisecond.  Only fairsem_dump
 *            returns ENOMEM.
 * Threads.   Any number of threads may call any function at any time, except fairsem_init
 *            and fairsem_destroy:
 *
 *                              init   destroy   acquire...   release   inspect
 *                 init          no      no         no          no        no
 *                 destroy       no      no         (1)         (2)       no
 *                 acquire...    no      (1)        yes         yes       yes
 *                 release       no      (2)        yes         yes       yes
 *                 inspect       no      no         yes         yes       yes
 *
 *            (1) Destroy a semaphore when every acquire has returned.  fairsem_destroy returns
 *                EBUSY while somebody is in the queue.  It does not see a thread that is just
 *                entering an acquire, or that is just leaving one: with its units, timed out
 *                or canceled.
 *            (2) A thread whose acquire has returned may destroy the semaphore and free its
 *                memory at once, even while the release that granted its units is still
 *                running in another thread.  It must call fairsem_destroy first.
 * Cancel.    A wait is a cancellation point for deferred pthread_cancel.  No other call is,
 *            and neither is an acquire that need not wait.  A canceled waiter leaves the queue;
 *            units that were granted to it in the same instant go to the next waiter.
 *            Asynchronous cancellation is not supported.
 * Signals.   No function is async-signal-safe.  A signal does not end a wait, and the waiter
 *            keeps its place while a handler runs.  FAIRSEM_INTERRUPTIBLE changes both.
 * fork.      The child finds the count as it was and an empty queue, even if other threads
 *            were using the semaphore at that moment.  Units that threads of the parent hold
 *            stay taken.  The parent is not affected.  A semaphore belongs to one process:
 *            it does not work in shared memory (fairsem/shared.h has one that does).  Do not fork
 *            in a signal handler that interrupted one of these functions: that is not supported.
 * Since.     Every function has existed since 1.0, unless its comment names a later version.
 */
#ifndef FAIRSEM_H
#define FAIRSEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h> /* clockid_t, also where <time.h> keeps to ISO C */
#include <time.h>

#include <fairsem_private.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======================================================================== *
 *  1  Version, limits
 * ======================================================================== */

/*
 * Example:
 *
 *     #include <fairsem.h>
 *     #include <stdio.h>
 *
 *     #if FAIRSEM_VERSION_NUMBER < 10000
 *     #error "this program needs fairsem 1.0 or later"
 *     #endif
 *
 *     int main(void)
 *     {
 *         puts("compiled with fairsem " FAIRSEM_VERSION_STRING);
 *         puts(fairsem_strerror(fairsem_init(&(fairsem_t){ 0 }, -1, NULL)));
 *         return fairsem_version() >= FAIRSEM_VERSION_NUMBER ? 0 : 1;
 *     }
 */

#define FAIRSEM_VERSION_MAJOR  1
#define FAIRSEM_VERSION_MINOR  0
#define FAIRSEM_VERSION_PATCH  0
#define FAIRSEM_VERSION_STRING "1.0.0"

/* The same as a number that grows with each version: 10203 is 1.2.3. */
#define FAIRSEM_VERSION_NUMBER \
    (FAIRSEM_VERSION_MAJOR * 10000 + FAIRSEM_VERSION_MINOR * 100 + FAIRSEM_VERSION_PATCH)

/* The most units that a semaphore can have free, and that a request can ask for: 2^60. */
#define FAIRSEM_MAX_UNITS (INT64_C(1) << 60)

/* FAIRSEM_VERSION_NUMBER of the library that this program runs with. */
FAIRSEM_API int fairsem_version(void);

/*
 * Describe a result of these functions in English, as a static string, never NULL.  Use it instead
 * of strerror(3), for which ESHUTDOWN is a closed transport endpoint; here it is a closed
 * semaphore.  For a number that the library never returns by itself, such as your own reason for a
 * close or a token, the string is "another error".
 */
FAIRSEM_API const char *fairsem_strerror(int error);

/* ======================================================================== *
 *  2  The object: initialize, destroy
 * ======================================================================== */

/*
 * Example:
 *
 *     #include <fairsem.h>
 *
 *     int main(void)
 *     {
 *         const fairsem_attr_t attr = { .name = "buffers", .capacity = 8 };
 *         fairsem_t buffers;
 *
 *         if (fairsem_init(&buffers, 8, &attr) != 0)      // 8 of 8 are free
 *             return 1;
 *         // threads use &buffers
 *         return fairsem_destroy(&buffers);               // EBUSY while somebody waits
 *     }
 */

/*
 * The semaphore.  Put it where you like: static, on a stack, in your own struct.
 * Do not move or copy it.  Its members are private; they are declared here so that a static
 * initializer can exist.  While nobody waits, a successful acquire or release touches only
 * the first 16 bytes, which never straddle a cache line.
 */
typedef struct FAIRSEM_TAG_ {
    FAIRSEM_ALIGNED_ int64_t fairsem_word_;
    int64_t         fairsem_limit_;
    pthread_mutex_t fairsem_mutex_;
    unsigned char   fairsem_reserved_[256 - 24 - sizeof(pthread_mutex_t)];
    int64_t         fairsem_units_;
} fairsem_t;

/*
 * Initialize a static semaphore with `units` free units (0 .. FAIRSEM_MAX_UNITS, not
 * checked).  It is unbounded, and has no name and no limit on waiters.  It needs no
 * fairsem_init.  It needs fairsem_destroy only if its memory ends before the program does.
 * For a semaphore that knows how many units exist, see attr.capacity.
 */
#define FAIRSEM_INITIALIZER(units) \
    { FAIRSEM_INT64_(units) * 2 + FAIRSEM_WATCHED_, FAIRSEM_MAX_UNITS, \
      FAIRSEM_MUTEX_, { 0 }, FAIRSEM_INT64_(units) }

/*
 * attr.flags: signals act on this semaphore as they do on sem_t.  Linux only.
 *
 * A wait leaves the queue and returns EINTR when a signal handler that was installed without
 * SA_RESTART has run in its thread.  If the wait has a deadline, any handler ends it.  If the
 * wait was granted its units before, it keeps them and returns 0.
 *
 * A signal handler may call fairsem_release, fairsem_tryacquire, fairsem_close and the functions
 * of section 6 except fairsem_dump, whatever it interrupted.  It may even interrupt the oldest
 * waiter and release the units that are granted to it.  This does not hold in programs whose
 * tickets have callbacks.
 *
 * The flag costs system calls that block signals: three in an acquire that waits, three in
 * the release that grants it.  Waits on such a semaphore never allocate.
 */
#define FAIRSEM_INTERRUPTIBLE 1u

/*
 * attr.flags: waiting threads go to sleep at once.  Without this flag the oldest waiter stays awake
 * first, for up to the time that two wake-ups take, if that has paid off recently.  It spins, so
 * that a grant from another core reaches it in a fraction of a microsecond instead of 2 to 20
 * microseconds; or it yields, if the releasing thread needs its core.  With more than two waiters,
 * those whose turn is near yield their cores for up to 0.4 milliseconds before they sleep.  After a
 * yield has cost a time slice no thread of the process yields for 5 milliseconds, and for up to
 * 0.64 seconds if that happens again and again.  A thread with a real-time policy never yields.
 * Each semaphore learns from every grant whether this pays off.  No thread spins or yields with
 * FAIRSEM_INTERRUPTIBLE, and none spins if the threads that can hold units need all cores of the
 * process.  You need this flag only if every microsecond of processor time counts.
 */
#define FAIRSEM_NO_SPIN 2u

/*
 * attr.flags, with attr.bypass_ns: throughput first, up to a bound.
 *
 * A strict hand-off leaves the unit unused while the waiter that owns it wakes up.  With this
 * flag a running thread may take free units ahead of sleeping waiters, by any acquire or try,
 * until the next waiter has waited for bypass_ns nanoseconds.  From then on every unit that
 * fits that waiter is granted to it as usual, and so on down the queue for each next waiter
 * that has also waited that long.  The waiters keep their order among each other.
 *
 * A request for no units (n = 0) passes nobody.  While a ticket is in the queue, nobody passes.
 *
 * If all requests have the same priority, each wait has a bound: bypass_ns, plus the longest time
 * for which a unit is held, plus the time that the scheduler needs to run a thread (the waiter, or
 * the thread that is about to wake it); plus the same again, without bypass_ns, for each waiter
 * that joined the queue earlier.
 *
 * A release may return before it has granted units that fit: it may only wake the waiter to
 * claim them.  With FAIRSEM_INTERRUPTIBLE, a signal handler that runs while the waiter is on its
 * way to claim need not end the wait; a sem_t does the same when another thread was faster.
 */
#define FAIRSEM_BOUNDED_BYPASS 4u

/*
 * Attributes for fairsem_init.  All zero means the defaults, so use a designated
 * initializer:   fairsem_attr_t attr = { .capacity = 8 };
 */
typedef struct fairsem_attr {
    const char *name;        /* for debugging; the caller keeps the string alive */
    int64_t     capacity;    /* in units; 0: unbounded; else the most that can be free */
    int64_t     max_waiters; /* 0: no limit; else the most requests in the queue (ENOBUFS) */
    unsigned    flags;       /* 0, or FAIRSEM_INTERRUPTIBLE and others, combined by | */
    unsigned    reserved_[7]; /* must be zero */
    int64_t     bypass_ns;   /* nanoseconds, > 0 with FAIRSEM_BOUNDED_BYPASS, 0 without */
} fairsem_attr_t;

/*
 * Initialize *sem with `units` free units.  attr may be NULL.
 *
 * A bounded semaphore (attr->capacity > 0) knows how many units exist: it refuses a release
 * that would make more of them (EOVERFLOW) and a request that could never be granted (E2BIG).
 * `units` may be less than the capacity: the difference counts as in use.
 *
 * 0        *sem is a semaphore
 * EINVAL   units < 0, above FAIRSEM_MAX_UNITS or above the capacity; capacity or
 *          max_waiters < 0, capacity above FAIRSEM_MAX_UNITS; FAIRSEM_BOUNDED_BYPASS
 *          without bypass_ns > 0, or bypass_ns without it; an unknown flag; a reserved
 *          field that is not zero
 * ENOTSUP  FAIRSEM_INTERRUPTIBLE, on a system without futexes
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_init(fairsem_t *sem, int64_t units, const fairsem_attr_t *attr)
    FAIRSEM_NONNULL_(1);

/*
 * Destroy *sem.  Its memory may be reused at once.  Units may still be held, but nobody may
 * wait.
 *
 * 0        *sem is no longer a semaphore
 * EBUSY    somebody waits, or is inside another function; nothing was changed
 */
FAIRSEM_API int fairsem_destroy(fairsem_t *sem) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  3  Acquire and release
 * ======================================================================== */

/*
 * Example:
 *
 *     #include <fairsem.h>
 *
 *     static fairsem_t slots = FAIRSEM_INITIALIZER(2);
 *
 *     static void *work(void *arg)
 *     {
 *         if (fairsem_acquire(&slots, 1) == 0) {      // in order of arrival
 *             // at most two threads are here
 *             fairsem_release(&slots, 1);             // grants the oldest waiter its unit
 *         }
 *         return arg;
 *     }
 *
 *     int main(void)
 *     {
 *         pthread_t thread[8];
 *
 *         for (int i = 0; i < 8; i++)
 *             if (pthread_create(&thread[i], NULL, work, NULL) != 0)
 *                 return 1;
 *         for (int i = 0; i < 8; i++)
 *             pthread_join(thread[i], NULL);
 *         return fairsem_tryacquire(&slots, 2);       // 0: both units are free again
 *     }
 */

/*
 * The close reason.  After fairsem_close an acquire, a try or a ticket's take fails with the
 * reason that was given to fairsem_close, even where E2BIG, ENOBUFS, EAGAIN or ETIMEDOUT would
 * apply otherwise.  The lists of results below call it "the close reason".
 */

/*
 * Take n units; wait in the queue until they are free.  All n are taken at once, never in
 * parts.  n = 0 takes nothing but waits its turn like any other request: it is
 * granted when it is at the head of the queue, there is no debt and the capacity is not 0.
 *
 * 0        the units are yours
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS
 * E2BIG    n is more than the capacity of a bounded semaphore: it could never be granted.
 *          (A capacity of 0 is a pause, see fairsem_set_capacity: everybody waits.)
 * ENOBUFS  it would have to wait, and attr.max_waiters requests already do
 * EINTR    a signal handler ran while it waited (FAIRSEM_INTERRUPTIBLE only)
 * the close reason, before or while it waits
 *
 * E2BIG can also end a wait: when the capacity is made smaller than n, but not 0.
 * This is a cancellation point if it waits.
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_acquire(fairsem_t *sem, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Take n units if that is possible now.  It never passes a waiter of any priority, and never
 * fails without a reason: EAGAIN means that somebody waits, that fewer than n units are free,
 * or that the capacity is 0.  n = 0 succeeds if nobody waits, there is no debt and the
 * capacity is not 0.
 *
 * 0        the units are yours
 * EAGAIN   it would have to wait
 * EINVAL, E2BIG, the close reason   as fairsem_acquire
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_tryacquire(fairsem_t *sem, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Take as many units as are free, at most max, without waiting.  It never passes a waiter.
 * It returns the number of units taken, 0 .. max; 0 means that none is free, that somebody
 * waits, that the semaphore is closed, or that max <= 0.
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int64_t fairsem_tryacquire_upto(fairsem_t *sem, int64_t max) FAIRSEM_NONNULL_(1);

/*
 * Give n units back, or add new ones to an unbounded semaphore.  Before the call returns, it
 * grants the requests at the head of the queue, one after the other, as long as the next one fits.
 * Any thread may release, at any time: a release after close is accepted.  The call waits for
 * nothing except other short critical sections.
 *
 * 0          the units are free or granted
 * EINVAL     n < 0 or n > FAIRSEM_MAX_UNITS
 * EOVERFLOW  before any grant, more units would be free than the capacity (unbounded: than
 *            FAIRSEM_MAX_UNITS), so some thread has released units that it did not hold
 *
 * In a correct program it cannot fail, and you may ignore its result.
 */
FAIRSEM_API int fairsem_release(fairsem_t *sem, int64_t n) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  4  Deadlines, priorities, tokens
 * ======================================================================== */

/*
 * The clock rule.  A deadline is a time on one clock, so read that clock and name it.  Where
 * CLOCK_REALTIME is 0, as on Linux, a fairsem_wait_t with a deadline and no clock means
 * CLOCK_REALTIME; there, a time that was read from CLOCK_MONOTONIC is long past, and the wait
 * times out at once.
 *
 * Example:
 *
 *     #include <errno.h>
 *     #include <fairsem.h>
 *
 *     static fairsem_t slots = FAIRSEM_INITIALIZER(0);
 *
 *     static struct timespec from_now(clockid_t clock, long ms)
 *     {
 *         struct timespec at;
 *
 *         clock_gettime(clock, &at);
 *         at.tv_sec += ms / 1000;
 *         at.tv_nsec += ms % 1000 * 1000000;
 *         if (at.tv_nsec >= 1000000000) {
 *             at.tv_nsec -= 1000000000;
 *             at.tv_sec++;
 *         }
 *         return at;
 *     }
 *
 *     int main(void)
 *     {
 *         struct timespec at = from_now(CLOCK_MONOTONIC, 20);
 *         fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = &at };
 *
 *         return fairsem_acquire_with(&slots, 1, &how) == ETIMEDOUT ? 0 : 1;
 *     }
 */

/*
 * Like fairsem_acquire, but wait at most timeout_ns nanoseconds, measured by CLOCK_MONOTONIC.
 * timeout_ns <= 0 tries once and does not wait.  While nobody waits, the call takes free units
 * without reading a clock.  A waiter that times out leaves the queue as if it had never been
 * there; if its units are granted first, it keeps them and the call returns 0.
 *
 * As fairsem_acquire, and
 * ETIMEDOUT  the time has passed
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_acquire_for(fairsem_t *sem, int64_t n, int64_t timeout_ns)
    FAIRSEM_NONNULL_(1);

/*
 * The same with an absolute deadline on a clock, CLOCK_MONOTONIC or CLOCK_REALTIME.  A
 * deadline of NULL waits for ever.  Unlike a relative time, a deadline does not move when you
 * repeat the call after another failure.  A deadline on CLOCK_REALTIME follows the steps of
 * that clock as far as the C library's condition variables do.  (glibc's do; musl's read the
 * clock when they fall asleep.)  A deadline in the past still takes units that are free while
 * nobody waits, as sem_timedwait does.
 *
 * As fairsem_acquire, and
 * ETIMEDOUT  the deadline has passed
 * EINVAL     another clock (also if the deadline is NULL); deadline->tv_nsec outside
 *            0 .. 999999999.  Both are checked even if units are free
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_acquire_until(fairsem_t *sem, int64_t n, clockid_t clock,
                                      const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_acquire_until) FAIRSEM_NONNULL_(1);

/*
 * A token cancels waits: any number of them, on any semaphores, with one call.  Use it for a
 * request that is abandoned, a client that hangs up, a program that ends.  Like a semaphore it
 * must not be moved or copied.
 */
typedef struct fairsem_token {
    FAIRSEM_ALIGNED_ pthread_mutex_t fairsem_mutex_;
    unsigned char fairsem_reserved_[128 - sizeof(pthread_mutex_t)];
} fairsem_token_t;

/* Initialize a static token, which is not canceled.  It needs no fairsem_token_init. */
#define FAIRSEM_TOKEN_INITIALIZER { FAIRSEM_MUTEX_, { 0 } }

/* Initialize a token, which is not canceled.  It returns 0. */
FAIRSEM_API int fairsem_token_init(fairsem_token_t *token) FAIRSEM_NONNULL_(1);

/*
 * Destroy a token.
 *
 * 0        no wait uses the token
 * EBUSY    waits with this token have not returned yet; waits that it has canceled do not count
 */
FAIRSEM_API int fairsem_token_destroy(fairsem_token_t *token) FAIRSEM_NONNULL_(1);

/*
 * Cancel every wait with this token, and every later one before it begins.  They return
 * `reason`: an errno value or any other number > 0; 0 stands for ECANCELED.  When this call
 * returns, the waiters have left their queues.  A waiter that was granted its units before
 * keeps them.  During the call, a thread that begins or ends a wait with this token waits until all
 * are canceled (0.1 to 1 us for each wait).  Other threads hardly notice: the call locks a
 * semaphore for one wait at a time.
 *
 * 0        the token is canceled
 * EINVAL   reason < 0
 * EALREADY it was canceled before; the first reason stays
 */
FAIRSEM_API int fairsem_token_cancel(fairsem_token_t *token, int reason) FAIRSEM_NONNULL_(1);

/* The reason with which the token was canceled; 0: it is not canceled. */
FAIRSEM_API int fairsem_token_reason(const fairsem_token_t *token) FAIRSEM_NONNULL_(1);

/*
 * How to wait, for fairsem_acquire_with.  All zero: for ever, with priority 0.
 *
 * A deadline needs its clock: see the clock rule at the beginning of this section.  timeout_ns
 * needs none: it counts from the call, by CLOCK_MONOTONIC.  A negative one has passed already:
 * the call tries once, as with a deadline in the past.
 *
 * Of two waiters, the one with the lower number is granted first, as in nice(1); of two with
 * the same number, the one that came first.  A newcomer with a better priority than every
 * waiter goes to the head of the queue.  Even then the head holds up the queue: the others
 * wait, whatever they ask for, until the head has been granted or a better one has come.
 */
typedef struct fairsem_wait {
    clockid_t              clock;    /* of the deadline: CLOCK_MONOTONIC or CLOCK_REALTIME */
    const struct timespec *deadline; /* absolute, on that clock; NULL: none */
    int                    priority; /* any int; the lower is granted first */
    fairsem_token_t       *token;    /* may cancel the wait; NULL: none */
    int64_t                timeout_ns; /* instead of a deadline, nanoseconds; 0: none */
    uintptr_t              reserved_[4]; /* must be zero */
} fairsem_wait_t;

/*
 * The general acquire: all others are special cases of it.  `how` may be NULL.  If the token
 * is canceled already, the call fails even if units are free.
 *
 * As fairsem_acquire_until, and
 * EINVAL     a reserved field is not zero; both a deadline and timeout_ns
 * the token's reason, before or while it waits
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_acquire_with(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_acquire_with) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  5  Capacity, debt, close
 * ======================================================================== */

/*
 * Example:
 *
 *     #include <errno.h>
 *     #include <fairsem.h>
 *
 *     int main(void)
 *     {
 *         const fairsem_attr_t attr = { .capacity = 4 };
 *         fairsem_t workers;
 *
 *         if (fairsem_init(&workers, 4, &attr) != 0 || fairsem_acquire(&workers, 3) != 0)
 *             return 1;
 *         fairsem_set_capacity(&workers, 2);          // 3 of 2 are in use: -1 is free
 *         if (fairsem_available(&workers) != -1)
 *             return 2;
 *         fairsem_release(&workers, 3);               // 2 of 2 are free
 *         fairsem_close(&workers, 0);
 *         if (fairsem_acquire(&workers, 1) != ESHUTDOWN)
 *             return 3;
 *         if (fairsem_drain(&workers, 2, NULL) != 0)  // until nobody holds any unit
 *             return 4;
 *         return fairsem_destroy(&workers);
 *     }
 */

/* The capacity in units; -1: unbounded; 0: paused. */
FAIRSEM_API int64_t fairsem_capacity(const fairsem_t *sem) FAIRSEM_NONNULL_(1);

/*
 * Change the capacity of a bounded semaphore.  Units in use stay in use: if more units are in
 * use than the new capacity, fairsem_available is negative, and nobody is granted any until
 * enough have been released.  Waiters that ask for more than the new capacity fail with E2BIG
 * at once, wherever they are in the queue.  0 is a pause: every request waits and none is
 * granted until the capacity is set again.
 *
 * 0        the capacity has changed
 * EINVAL   the semaphore is unbounded; capacity < 0 or > FAIRSEM_MAX_UNITS
 */
FAIRSEM_API int fairsem_set_capacity(fairsem_t *sem, int64_t capacity) FAIRSEM_NONNULL_(1);

/*
 * Take n units now, whether they are free or not, ahead of all waiters.  This is for units that
 * have been used already and must be accounted for.  fairsem_available may become negative:
 * a debt, which releases repay before anybody is granted units.
 *
 * 0          the units are taken
 * EINVAL     n < 0 or n > FAIRSEM_MAX_UNITS
 * EOVERFLOW  the debt would exceed FAIRSEM_MAX_UNITS
 */
FAIRSEM_API int fairsem_consume(fairsem_t *sem, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Close the semaphore for good: every waiter and every later acquire gets `reason`, an errno
 * value or any other number > 0; 0 stands for ESHUTDOWN.  Units that are held stay held and
 * can be released.
 *
 * 0        the semaphore is closed
 * EINVAL   reason < 0
 * EALREADY it was closed before; the first reason stays
 */
FAIRSEM_API int fairsem_close(fairsem_t *sem, int reason) FAIRSEM_NONNULL_(1);

/* The reason with which the semaphore was closed; 0: it is open. */
FAIRSEM_API int fairsem_closed(const fairsem_t *sem) FAIRSEM_NONNULL_(1);

/*
 * Close the semaphore with ESHUTDOWN, unless it is closed already, and wait until n units are
 * free.  If n is the total number of units, nobody holds any from then on, and you can free what
 * the semaphore protects.  During a pause (capacity 0) no unit is free, and the call ends, for any
 * n, when no unit is in use.  (Before you destroy the semaphore itself, see the table at the top: no
 * function sees a thread that is just entering an acquire, or leaving one.)  The call takes no
 * units, several threads may make it at once, and you can repeat it after a failure.  The threads
 * wait in the queue: one that waits for more units than are free holds up those behind it.  `how`
 * limits the wait, and may be NULL.  The caller sees everything that other threads wrote before
 * the releases that made the units free.
 *
 * 0        n units are free, or, during a pause, none is in use
 * EINVAL   as fairsem_acquire_with; nothing was changed
 * E2BIG    n is more than the capacity.  Nothing was changed, unless the capacity became too
 *          small during the wait: then the semaphore is closed
 * ETIMEDOUT, ENOBUFS, EINTR, the token's reason   as fairsem_acquire_with; the semaphore is closed
 *
 * This is a cancellation point if it waits.
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_drain(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_drain) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  6  Inspect
 * ======================================================================== */

/*
 * These functions say what was true at one moment during the call.  It may have changed by the
 * time they return.  What one thread finds, call after call, fits together: if nobody is in the
 * queue, then no ticket still waits there.
 *
 * Example:
 *
 *     #include <fairsem.h>
 *     #include <stdio.h>
 *
 *     static fairsem_t slots = FAIRSEM_INITIALIZER(4);
 *
 *     int main(void)
 *     {
 *         fairsem_stat_t stat;
 *
 *         if (fairsem_acquire(&slots, 1) != 0)
 *             return 1;
 *         fairsem_stat(&slots, &stat);
 *         printf("%d free, %d waiting\n", (int)stat.available, (int)stat.waiters);
 *         return fairsem_dump(&slots, stdout);        // the same for people, and more
 *     }
 */

/*
 * The number of free units; negative: a debt.  A free unit may not be yours to take: see
 * fairsem_would_block.
 */
FAIRSEM_API int64_t fairsem_available(const fairsem_t *sem) FAIRSEM_NONNULL_(1);

/* The number of requests in the queue.  A request that is counted here has its place. */
FAIRSEM_API int64_t fairsem_waiters(const fairsem_t *sem) FAIRSEM_NONNULL_(1);

/*
 * True if fairsem_tryacquire(sem, n) would return EAGAIN: somebody waits, fewer than n units
 * are free, or the capacity is 0.  False if it would return 0 or another error.
 */
FAIRSEM_API bool fairsem_would_block(const fairsem_t *sem, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * A semaphore at one moment, and what has happened since it was initialized.  The counters of
 * the past count only requests that had to wait in the queue: the fast path counts nothing.
 * At every moment  waits = waiters + grants + timeouts + cancels.
 */
typedef struct {
    int64_t available;      /* free units; negative: a debt */
    int64_t capacity;       /* units; -1: unbounded; 0: paused */
    int64_t waiters;        /* requests in the queue */
    int64_t waiting_units;  /* units that they ask for together, or INT64_MAX */
    int64_t oldest_wait_ns; /* how long the oldest of them has waited, nanoseconds */

    int64_t waits;          /* requests that joined the queue and were not granted at once */
    int64_t grants;         /* of these: granted */
    int64_t timeouts;       /* of these: left the queue at their deadline */
    int64_t cancels;        /* of these: left otherwise.  By token, pthread_cancel, EINTR, ticket
                             * return, close or E2BIG; in a forked child also the requests that
                             * waited in the parent */
    int64_t wait_ns_total;  /* how long those that left had waited, nanoseconds, or INT64_MAX */
    int64_t wait_ns_max;    /* the longest of these waits, nanoseconds */
    int64_t waiters_max;    /* the most requests that were in the queue */
    int64_t refused;        /* requests refused with ENOBUFS */
    int64_t over_releases;  /* releases refused with EOVERFLOW; and grants given back by a ticket
                             * or a canceled thread, if not all of their units fitted any more */
    int64_t reserved_[6];
} fairsem_stat_t;

/* Fill in *stat, all of it at one moment.  It returns 0. */
FAIRSEM_API int fairsem_stat(const fairsem_t *sem, fairsem_stat_t *stat) FAIRSEM_NONNULL_(1, 2);

/*
 * The same, for reports at regular intervals: wait_ns_max and waiters_max cover the time since the
 * last call of this function, or since the semaphore was initialized.  (What fairsem_stat and
 * fairsem_dump report still covers all the time.)  A wait counts in the interval in which it ends;
 * until then oldest_wait_ns shows it.  All callers share one interval for each semaphore.  It
 * returns 0.
 */
FAIRSEM_API int fairsem_stat_interval(fairsem_t *sem, fairsem_stat_t *stat) FAIRSEM_NONNULL_(1, 2);

/*
 * Write the same as text for people: a summary with the semaphore's name, then one line per waiter
 * from the head of the queue: its sequence number; "ticket", or the thread that waits, on Linux
 * with its number (as in ps -L) and its name, which is read last, when the thread may have ended;
 * units, priority, and for how long it has waited, in seconds.  It takes a snapshot first and writes afterwards, so a slow file holds nobody up.
 * Cancellation is disabled during the call.
 *
 * 0        everything was written
 * ENOMEM   no memory for the snapshot; the summary was written
 * EIO      `file` has an error
 */
FAIRSEM_API int fairsem_dump(const fairsem_t *sem, FILE *file) FAIRSEM_NONNULL_(1, 2);

/* ======================================================================== *
 *  7  Units: a guard that knows what it holds
 * ======================================================================== */

/*
 * Example:
 *
 *     #include <fairsem.h>
 *
 *     static fairsem_t slots = FAIRSEM_INITIALIZER(4);
 *
 *     static int work(void)
 *     {
 *         fairsem_units_t units = { 0 };
 *         int error = fairsem_units_acquire(&units, &slots, 2, NULL);
 *
 *         // units.n is 2, or 0 if the acquire has failed
 *         fairsem_units_release(&units);      // right in both cases
 *         return error;
 *     }
 *
 *     int main(void)
 *     {
 *         return work() == 0 && fairsem_available(&slots) == 4 ? 0 : 1;
 *     }
 */

/*
 * A guard holds units of one semaphore; the owner of the guard owns the units.  { 0 } is an
 * empty guard.  A guard is plain data, for one thread at a time.  You may copy it if you use
 * only one of the copies from then on.  Every function leaves it either empty or with exactly the
 * units that n says.
 */
typedef struct fairsem_units {
    fairsem_t *sem;
    int64_t    n;
} fairsem_units_t;

/*
 * Acquire into an empty guard, with fairsem_acquire_with (`how` may be NULL) or fairsem_tryacquire.
 *
 * As these functions, and
 * EBUSY    the guard is not empty
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_units_acquire(fairsem_units_t *units, fairsem_t *sem, int64_t n,
                                      const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_units_acquire) FAIRSEM_NONNULL_(1, 2);
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_units_tryacquire(fairsem_units_t *units, fairsem_t *sem, int64_t n)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Put n units of sem that you hold already into an empty guard.
 *
 * 0        the guard holds them
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS
 * EBUSY    the guard is not empty
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_units_adopt(fairsem_units_t *units, fairsem_t *sem, int64_t n)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Release all units in the guard.  An empty guard stays empty, so the call is safe in a
 * clean-up path that does not know whether the acquire succeeded.
 *
 * 0          the guard is empty
 * EOVERFLOW  as fairsem_release; the guard stays as it was
 */
FAIRSEM_API int fairsem_units_release(fairsem_units_t *units) FAIRSEM_NONNULL_(1);

/*
 * Release n of the units in the guard.
 *
 * 0          the guard holds n units less
 * EINVAL     n < 0 or more than the guard holds
 * EOVERFLOW  as fairsem_release; the guard stays as it was
 */
FAIRSEM_API int fairsem_units_return(fairsem_units_t *units, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Move n of the units in `from` into the empty guard `into`.
 *
 * 0        `into` holds them
 * EINVAL   n < 0 or more than `from` holds; both are the same guard
 * EBUSY    `into` is not empty
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_units_split(fairsem_units_t *from, int64_t n, fairsem_units_t *into)
    FAIRSEM_NONNULL_(1, 3);

/*
 * Move all units in `from` into `into`, which may hold units of the same semaphore.
 *
 * 0        `into` holds them, and `from` is empty
 * EINVAL   both hold units, of different semaphores; both are the same guard; together they
 *          hold more than FAIRSEM_MAX_UNITS
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_units_merge(fairsem_units_t *into, fairsem_units_t *from)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Empty the guard without a release.  It returns the number of units that the guard held; they
 * are yours to release.
 */
FAIRSEM_API int64_t fairsem_units_forget(fairsem_units_t *units) FAIRSEM_NONNULL_(1);

/*
 * A guard that is declared as
 *     FAIRSEM_SCOPED fairsem_units_t units = { 0 };
 * is released when its scope ends (GCC, Clang).
 */
#if defined(__GNUC__)
#define FAIRSEM_SCOPED __attribute__((cleanup(fairsem_scope_ends_)))
static inline void fairsem_scope_ends_(fairsem_units_t *units)
{
    (void)fairsem_units_release(units);
}
#endif

/*
 * Acquire n units, call fn(arg) and release the units.  They are released even if the thread
 * is canceled in fn, fn calls pthread_exit, or fn throws a C++ exception (GCC, Clang; not on riscv
 * and 32-bit arm).
 *
 * If fairsem_acquire fails, fn is not called and the call returns that error; otherwise it returns
 * the result of fairsem_release.
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_with(fairsem_t *sem, int64_t n, void (*fn)(void *), void *arg)
    FAIRSEM_NONNULL_(1, 3);

/* ======================================================================== *
 *  8  Tickets: a place in the queue without a blocked thread
 * ======================================================================== */

/*
 * The ticket pattern.  The result of fairsem_ticket_take says who starts the work, which therefore
 * starts exactly once: on 0 the caller, on EINPROGRESS the callback, on any other nobody.
 *
 * Example:
 *
 *     #include <errno.h>
 *     #include <fairsem.h>
 *     #include <stdio.h>
 *
 *     struct request {
 *         fairsem_ticket_t ticket;
 *         fairsem_units_t  units;
 *     };
 *
 *     static fairsem_t slots = FAIRSEM_INITIALIZER(1);
 *
 *     static void start(fairsem_ticket_t *ticket, void *arg)
 *     {
 *         struct request *r = arg;
 *
 *         if (fairsem_ticket_claim(ticket, &r->units) == 0)
 *             puts("the units are mine: begin");
 *         else
 *             puts("the semaphore was closed, or its capacity made too small");
 *     }
 *
 *     static int submit(struct request *r)
 *     {
 *         int error = fairsem_ticket_take(&r->ticket, &slots, 1, 0, start, r);
 *
 *         switch (error) {
 *         case 0:           start(&r->ticket, r); return 0;   // granted at once: no callback
 *         case EINPROGRESS: return 0;         // in the queue: start is the callback
 *         default:          return error;     // refused: nothing has happened
 *         }
 *     }
 *
 *     int main(void)
 *     {
 *         static struct request first, second;        // idle tickets, empty guards
 *
 *         if (submit(&first) != 0 || submit(&second) != 0)
 *             return 1;
 *         fairsem_units_release(&first.units);        // grants the second, and calls start
 *         fairsem_units_release(&second.units);
 *         fairsem_ticket_return(&first.ticket);       // idle already: no callback is running
 *         fairsem_ticket_return(&second.ticket);
 *         return fairsem_available(&slots) == 1 ? fairsem_destroy(&slots) : 1;
 *     }
 */

/*
 * A ticket is a request in the queue for which no thread waits.  Use it in an event loop, to
 * wait in several queues at once, or to ask now and wait later.  { 0 } is an idle ticket.  Do
 * not move it while it is not idle, and do not copy it once it has been used.
 *
 *     IDLE --take, at once--> GRANTED
 *     IDLE --take--> WAITING --units come--> GRANTED --claim--> IDLE
 *                    WAITING --capacity too small--> CANCELED --return--> IDLE
 *                    WAITING --close--> CLOSED --return--> IDLE
 *                    WAITING, GRANTED --return--> IDLE
 *
 * Claim or return a ticket before its semaphore is destroyed.  If it has a callback, also
 * return it before you free or reuse its memory, unless you do that in the callback.
 * (You may return an idle ticket.)
 *
 * In a forked child, a ticket that was waiting is idle.
 */
typedef struct fairsem_ticket {
    FAIRSEM_ALIGNED_ unsigned char fairsem_reserved_[128];
} fairsem_ticket_t;

enum fairsem_ticket_state {
    FAIRSEM_TICKET_IDLE,
    FAIRSEM_TICKET_WAITING,
    FAIRSEM_TICKET_GRANTED,
    FAIRSEM_TICKET_CANCELED,    /* it can no longer be granted: E2BIG */
    FAIRSEM_TICKET_CLOSED
};

/*
 * A ticket's callback.  It is called exactly once for each take that returned EINPROGRESS,
 * unless the ticket is claimed or returned before the callback begins: then it is not called.
 *
 * The callback is due when the ticket leaves WAITING.  That may be before the take has returned.
 * The thread that made the ticket leave WAITING runs the callback, after it has dropped every
 * lock.  This is a thread that releases, closes or sets the capacity, or a thread whose timeout or
 * cancellation takes it out of the queue ahead of the ticket.
 *
 * A thread runs its callbacks one after the other, in the order in which the tickets were
 * granted, and never one inside the other.  Callbacks that become due while the thread is in a
 * callback follow when that one has returned, and before the outermost call into this library
 * returns.
 *
 * A callback may call anything in this library, on the same ticket and semaphore too, and may
 * free its ticket.  Two things cannot work:
 *
 *   - It waits for something that its own thread has yet to do: for instance for the units of a
 *     ticket whose callback is due after it, or for units that only its caller can release.  While
 *     it waits, it holds up the callbacks that are due after it.
 *   - It does not return: pthread_exit, longjmp.  (Thread cancellation is disabled in a callback.)
 *
 * A C++ exception may leave a callback (GCC or Clang, with glibc, but not on riscv and 32-bit
 * arm).  It reaches the caller of the function that ran the callback, after the remaining
 * callbacks have run.  Of two exceptions, one is lost.  If a callback forks, the callbacks that
 * were to follow it run in the parent and not in the child.  The callback of a ticket that was in
 * the queue does not run in the child either.
 */
typedef void fairsem_notify_fn(fairsem_ticket_t *ticket, void *arg);

/*
 * Take n units with an idle ticket, or put it into the queue for them.  notify, the callback,
 * may be NULL.
 *
 * 0            granted at once; the callback is not called, neither now nor later
 * EINPROGRESS  in the queue (the name is from connect(2)); the callback has been called or will
 *              be, once, unless the ticket is claimed or returned first
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS; the ticket is not idle, or another thread is
 *          taking, claiming or returning it at this moment
 * ECANCELED  the ticket's own callback makes the call while the ticket is being returned: it stays
 *            idle
 * E2BIG, ENOBUFS, the close reason   as fairsem_acquire; the ticket stays idle
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_ticket_take(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n,
                                    int priority, fairsem_notify_fn *notify, void *arg)
    FAIRSEM_NONNULL_(1, 2);

/* The state of a ticket.  A ticket that was WAITING may have left it when the call returns. */
FAIRSEM_API enum fairsem_ticket_state fairsem_ticket_state(const fairsem_ticket_t *ticket)
    FAIRSEM_NONNULL_(1);

/*
 * Wait until the ticket leaves WAITING.  If the wait ends before that, the ticket keeps its place
 * in the queue.  how->priority must be 0, because the ticket has its priority already.  Several
 * threads may wait for one ticket.
 *
 * 0          it is granted
 * ETIMEDOUT  it is still in the queue
 * the token's reason: it is still in the queue
 * E2BIG, the close reason: why it left the queue
 * ECANCELED  somebody returned it
 * EINVAL     it is idle; bad clock, deadline, priority or reserved field
 * EINTR      as fairsem_acquire; it is still in the queue
 *
 * This is a cancellation point if it waits; the ticket keeps its place.
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_ticket_wait(fairsem_ticket_t *ticket, const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_ticket_wait) FAIRSEM_NONNULL_(1);

/*
 * Claim: move the units of a granted ticket into the empty guard `into`.
 *
 * 0        they are yours, and the ticket is idle; a callback that has not begun will not run
 * EAGAIN   it still waits
 * EINVAL   it is idle
 * EBUSY    the guard is not empty
 * E2BIG, the close reason: why it left the queue
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_ticket_claim(fairsem_ticket_t *ticket, fairsem_units_t *into)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Return the ticket, whatever its state.  It leaves the queue, or its units go to the next waiter
 * (as many as fit: see over_releases), and it is idle.  When the call returns, the callback is
 * not running and will not run.  If another thread is running it, the call waits until it has
 * ended; so do not hold a lock that the callback takes.  Meanwhile the callback cannot take its
 * ticket again (ECANCELED), so the ticket is still idle when the call returns, unless other code
 * has taken it.  There is one exception: the call does not wait for a callback that cannot end
 * before the call returns.  That is the callback that makes the call, or a callback that itself
 * waits in fairsem_ticket_return for the one that makes the call, directly or through others.
 *
 * 0        the ticket is idle
 */
FAIRSEM_API int fairsem_ticket_return(fairsem_ticket_t *ticket) FAIRSEM_NONNULL_(1);

#ifdef __cplusplus
}
#endif
#endif /* FAIRSEM_H */
