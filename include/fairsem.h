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
 *     2  the object: initialize, destroy
 *     3  acquire and release
 *     4  deadlines, priorities, tokens
 *     5  capacity, debt, close
 *     6  looking
 *     7  units: a guard that knows what it holds
 *     8  tickets: a place in line without a blocked thread
 *
 * WHAT HOLDS FOR EVERY FUNCTION, unless its comment says otherwise
 *
 * Results.   0, or one of the errno values its comment lists and no other.  errno
 *            itself is never touched.  An error changes nothing.
 * Units.     int64_t, never negative where you pass them, at most FAIRSEM_MAX_UNITS.
 * Time.      Relative times are nanoseconds.  Deadlines are absolute.
 * Pointers.  A semaphore you pass must be initialized and not destroyed.  All zero is not
 *            initialized.  Where it costs nothing a mistake is found: an acquire, a release, stat
 *            or destroy of a semaphore that is all zero or destroyed stops the program with a
 *            message (abort); but not an acquire or release of no units, if it is all zero.
 * Memory.    A release synchronizes with the acquire its units satisfy: what the
 *            releasing thread wrote before is visible to the acquiring thread after.
 *            A successful acquire of 0 units is ordered in the same way.
 * malloc.    A thread's first wait, or attempt at one, allocates what the thread needs to
 *            sleep; it keeps that for all semaphores and later waits, and later threads
 *            inherit it.  No other acquire or release allocates.  If that one allocation
 *            fails, or the process has no thread-specific key left, waits work all the
 *            same, in order: they poll every millisecond.  Only fairsem_dump has ENOMEM.
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
 *            (1) Destroy when every acquire has returned.  While somebody stands in line,
 *                destroy returns EBUSY; but a thread that is just entering an acquire, or
 *                just leaving one with its units, its time out or canceled, is not seen.
 *            (2) A thread whose acquire has returned may destroy the semaphore and free
 *                its memory at once, even if the release that served it is still
 *                running in another thread.  Without destroy it may not.
 * Cancel.    A wait is a cancellation point for deferred pthread_cancel; no other call
 *            is, nor an acquire that need not wait.  A canceled waiter leaves the
 *            line; units that were handed to it in the same instant go to the next one.
 *            Asynchronous cancellation is not supported.
 * Signals.   No function is async-signal-safe.  A signal does not end a wait, nor does
 *            the waiter lose its place while a handler runs.  FAIRSEM_INTERRUPTIBLE changes
 *            both.
 * fork.      The child finds the count as it was and an empty line, even if other threads
 *            were using the semaphore at that moment.  Units held by threads of the parent
 *            stay taken.  The parent is not affected.  A semaphore belongs to one process:
 *            it does not work in shared memory.  fork in a signal handler that interrupted
 *            one of these functions is not supported.
 * Since.     All functions are there since 0.1, unless they say otherwise.
 */
#ifndef FAIRSEM_H
#define FAIRSEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

/*
 * ThreadSanitizer has to see every acquire and release: none takes the fast path then.  (Not
 * needed, and defined as 0, where the library is compiled for it, too.)
 */
#if defined(FAIRSEM_WATCHED_)
#elif defined(__SANITIZE_THREAD__)
#define FAIRSEM_WATCHED_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAIRSEM_WATCHED_ 1
#endif
#endif
#ifndef FAIRSEM_WATCHED_
#define FAIRSEM_WATCHED_ 0
#endif

/*
 * glibc on 32-bit machines has two time_t, and a struct timespec for each; -D_TIME_BITS=64
 * chooses the wide one.  What takes a deadline has another name then in the library, so that a
 * program and a library that do not agree cannot be linked, where they would misread it.
 */
#if defined(__USE_TIME_BITS64) && defined(__TIMESIZE) && __TIMESIZE == 32 && defined(__GNUC__)
#define FAIRSEM_TIME64_(name) __asm__(#name "_time64")
#else
#define FAIRSEM_TIME64_(name)
#endif

#ifdef __cplusplus
#define FAIRSEM_ALIGNED_ alignas(16)
#else
#define FAIRSEM_ALIGNED_ _Alignas(16)
#endif

/* ======================================================================== *
 *  2  The object: initialize, destroy
 * ======================================================================== */

/*
 * The semaphore.  Put it where you like: static, on a stack, in your own struct.
 * It must not be moved or copied.  The members are private; they are spelled out so
 * that a static initializer can exist.  The first 16 bytes, which never straddle a
 * cache line, are all that a successful acquire or release touches while nobody waits.
 */
typedef struct fairsem {
    FAIRSEM_ALIGNED_ int64_t fairsem_word_;
    int64_t         fairsem_limit_;
    pthread_mutex_t fairsem_mutex_;
    unsigned char   fairsem_reserved_[256 - 16 - sizeof(pthread_mutex_t)];
} fairsem_t;

/*
 * A static semaphore with `units` free units (0 .. FAIRSEM_MAX_UNITS, not checked):
 * unbounded, without a name, no limit on waiters.  It needs no fairsem_init; and no
 * fairsem_destroy if it lives as long as the program, but before its memory ends.  For a
 * semaphore that knows how many units there are, see attr.capacity.
 */
#define FAIRSEM_INITIALIZER(units) \
    { (int64_t)(units) * 2 + FAIRSEM_WATCHED_, FAIRSEM_MAX_UNITS, PTHREAD_MUTEX_INITIALIZER, { 0 } }

/*
 * attr.flags: signals matter to this semaphore, as they do to sem_t.  Linux only.
 *
 * A wait gives up its place and returns EINTR when a signal handler has run in its thread
 * that was installed without SA_RESTART; if the wait has a deadline, any handler.  Units
 * that were handed to it before are its own: it returns 0.
 *
 * fairsem_release, fairsem_tryacquire and the functions of section 6 except dump may be
 * called in a signal handler, whatever it interrupted; if the thread it interrupted is the
 * oldest waiter, that is served.  Not in programs whose tickets have callbacks.
 *
 * It costs system calls that block signals: three in an acquire that waits, three in the
 * release that serves it.  Waits never allocate.
 */
#define FAIRSEM_INTERRUPTIBLE 1u

/*
 * attr.flags: waiting threads sleep at once.  Without it the oldest one stays awake for the
 * time of a wake-up or two where that has paid lately: an answer from another core comes in
 * a fraction of a microsecond instead of some ten.  Each semaphore learns whether it pays,
 * and there is no spinning with FAIRSEM_INTERRUPTIBLE or on a single core; so nobody needs
 * this flag but who counts every microsecond of somebody else's processor time.
 */
#define FAIRSEM_NO_SPIN 2u

/*
 * attr.flags, with attr.bypass_ns: throughput first, up to a bound.
 *
 * Handing every unit to the oldest waiter leaves the unit unused while that one wakes up.
 * With this flag threads that run may take free units ahead of waiters that sleep, by any
 * acquire or try, until the waiter who is next has waited for bypass_ns nanoseconds.  From then
 * on what fits it is handed to it as ever, and so on down the line as long as the next has
 * waited that long, too.  Waiters keep their order among each other.
 *
 * A request for no units (n = 0) passes nobody, and while a ticket is in line nobody does.
 *
 * How long a wait can be, where all have the same priority: bypass_ns, plus the longest time a
 * unit is held, plus what the scheduler needs to run a thread, be it the waiter or the one
 * that is about to wake it; plus the same again, without bypass_ns, for each who was there
 * before.
 *
 * A release need not hand over what fits a waiter before it returns: it may only call the
 * waiter to come for it.  A signal that comes while it does (FAIRSEM_INTERRUPTIBLE) need not
 * end the wait, as with sem_t when somebody else was faster.
 */
#define FAIRSEM_BOUNDED_BYPASS 4u

/*
 * What fairsem_init can be told.  All zero means the defaults, so use a designated
 * initializer:   fairsem_attr_t attr = { .capacity = 8 };
 */
typedef struct fairsem_attr {
    const char *name;        /* for people who debug; the caller keeps the string alive */
    int64_t     capacity;    /* 0: unbounded; else the most units there can ever be free */
    int64_t     max_waiters; /* 0: no limit; else a longer line is refused with ENOBUFS */
    unsigned    flags;       /* 0, or FAIRSEM_INTERRUPTIBLE and others, combined by | */
    unsigned    reserved_[7]; /* must be zero */
    int64_t     bypass_ns;   /* 0; with FAIRSEM_BOUNDED_BYPASS: how long it may go on, > 0 */
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
 *          max_waiters < 0, capacity above FAIRSEM_MAX_UNITS; FAIRSEM_BOUNDED_BYPASS
 *          without bypass_ns > 0, or bypass_ns without it; an unknown flag; a reserved
 *          field that is not zero
 * ENOTSUP  FAIRSEM_INTERRUPTIBLE, on a system without futexes
 */
FAIRSEM_API int fairsem_init(fairsem_t *sem, int64_t units, const fairsem_attr_t *attr);

/*
 * End the life of *sem.  Its memory may be reused at once.  Units that are still held
 * are no obstacle, waiters are.
 *
 * 0
 * EBUSY    somebody waits, or is inside another function; nothing was changed
 */
FAIRSEM_API int fairsem_destroy(fairsem_t *sem);

/* ======================================================================== *
 *  3  Acquire and release
 * ======================================================================== */

/*
 * Closed.  After fairsem_close every function that takes units and has no errors but these
 * returns the closer's reason instead: "the close reason" below.
 */

/*
 * Take n units; wait in line until they are there.  All n are taken at once, never in
 * parts.  n = 0 takes nothing but waits its turn like any other request: it returns
 * when everybody who came before has been served.
 *
 * 0        the units are yours
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS
 * E2BIG    n is more than the capacity of a bounded semaphore: it could never be served.
 *          (A capacity of 0 is a pause, see fairsem_set_capacity: everybody waits.)
 * ENOBUFS  it would have to wait, and attr.max_waiters others already do
 * EINTR    a signal handler ran while it waited (FAIRSEM_INTERRUPTIBLE only)
 * the close reason, before or while it waits
 *
 * E2BIG can also end a wait: when the capacity is made smaller than n, but not 0.
 * Cancellation point if it waits.
 */
FAIRSEM_API int fairsem_acquire(fairsem_t *sem, int64_t n);

/*
 * Take n units if that is possible now.  Never passes a waiter, of whatever priority,
 * and never fails without reason: EAGAIN means that somebody waits, that too few units
 * are free, or that the capacity is 0.  n = 0 succeeds if nobody waits and there is no
 * debt.
 *
 * 0        the units are yours
 * EAGAIN   it would have to wait
 * EINVAL, E2BIG, the close reason   as fairsem_acquire
 */
FAIRSEM_API int fairsem_tryacquire(fairsem_t *sem, int64_t n);

/*
 * Take as many units as are free, at most max, without waiting.  Never passes a waiter.
 * Returns the number of units taken, 0 .. max; 0 if none is free, if anybody waits, if
 * the semaphore is closed, or if max <= 0.
 */
FAIRSEM_API int64_t fairsem_tryacquire_upto(fairsem_t *sem, int64_t max);

/*
 * Give n units back, or add new ones to an unbounded semaphore, and serve from the head
 * of the line everybody whose request now fits, before the call returns.  Any thread
 * may release, and whatever the semaphore's condition: a release after close is accepted.
 * Waits for nothing except other short critical sections.
 *
 * 0
 * EINVAL     n < 0 or n > FAIRSEM_MAX_UNITS
 * EOVERFLOW  there would be, before anybody is served, more free units than the capacity
 *            (unbounded: FAIRSEM_MAX_UNITS); somebody releases what it does not hold
 *
 * In a program that is right it cannot fail, and its result may be ignored.
 */
FAIRSEM_API int fairsem_release(fairsem_t *sem, int64_t n);

/* ======================================================================== *
 *  4  Deadlines, priorities, tokens
 * ======================================================================== */

/*
 * fairsem_acquire that gives up when timeout_ns nanoseconds have passed, measured by
 * CLOCK_MONOTONIC.  timeout_ns <= 0: one look, no wait.  While nobody waits, units that are
 * free are taken without reading a clock.  A waiter that gives up leaves the line as if it
 * had never been there; units that reach it first are its own, and the call returns 0.
 *
 * As fairsem_acquire, and
 * ETIMEDOUT  the time has passed
 */
FAIRSEM_API int fairsem_acquire_for(fairsem_t *sem, int64_t n, int64_t timeout_ns);

/*
 * The same with an absolute deadline on a clock, CLOCK_MONOTONIC or CLOCK_REALTIME;
 * NULL waits for ever.  A deadline does not move when the call is repeated after some
 * other failure, which a relative time does.  A deadline on CLOCK_REALTIME follows the
 * steps of that clock as far as the C library's condition variables do (glibc's do; musl's
 * look at the clock when they fall asleep).  A deadline in the past still takes units that
 * are free while nobody waits, as sem_timedwait does.
 *
 * As fairsem_acquire, and
 * ETIMEDOUT  the deadline has passed
 * EINVAL     another clock (also if the deadline is NULL); deadline->tv_nsec outside
 *            0 .. 999999999.  Both are checked even if units are free
 */
FAIRSEM_API int fairsem_acquire_until(fairsem_t *sem, int64_t n, clockid_t clock,
                                      const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_acquire_until);

/*
 * A token cancels waits: any number of them, on any semaphores, by one call.  For a request
 * that is abandoned, a client that hangs up, a program that ends.
 */
typedef struct fairsem_token {
    FAIRSEM_ALIGNED_ pthread_mutex_t fairsem_mutex_;
    unsigned char fairsem_reserved_[128 - sizeof(pthread_mutex_t)];
} fairsem_token_t;

/* A static token, not canceled.  It needs no fairsem_token_init. */
#define FAIRSEM_TOKEN_INITIALIZER { PTHREAD_MUTEX_INITIALIZER, { 0 } }

/* 0. */
FAIRSEM_API int fairsem_token_init(fairsem_token_t *token);

/*
 * 0
 * EBUSY    waits with this token have not returned yet; those that it has ended do not count
 */
FAIRSEM_API int fairsem_token_destroy(fairsem_token_t *token);

/*
 * End every wait with this token, and every later one before it begins, with `reason`, an
 * errno value or any other number > 0; 0 stands for ECANCELED.  When the call returns the
 * waiters have left their lines.  A waiter that was granted before keeps its units.
 *
 * 0
 * EINVAL   reason < 0
 * EALREADY it is canceled; the first reason stays
 */
FAIRSEM_API int fairsem_token_cancel(fairsem_token_t *token, int reason);

/* The reason it was canceled with; 0: it is not. */
FAIRSEM_API int fairsem_token_reason(const fairsem_token_t *token);

/*
 * How to wait, for fairsem_acquire_with.  All zero: for ever, with priority 0.
 *
 * A deadline needs its clock.  Where CLOCK_REALTIME is 0, as on Linux, a struct that names a
 * deadline and no clock means CLOCK_REALTIME; a time that was read from CLOCK_MONOTONIC is long
 * past there, and the wait times out at once:
 *
 *     struct timespec at;
 *     clock_gettime(CLOCK_MONOTONIC, &at);
 *     at.tv_sec += 5;
 *     fairsem_wait_t how = { .clock = CLOCK_MONOTONIC, .deadline = &at };
 *
 * Of two waiters the one with the lower number is served first, as in nice(1); of two with
 * the same number the one who came first.  A newcomer with a better priority than the whole
 * line goes ahead of it.  The head of the line holds it all the same: the others wait,
 * better or not, until the head has been served or a better one has come.
 */
typedef struct fairsem_wait {
    clockid_t              clock;    /* of the deadline: CLOCK_MONOTONIC or CLOCK_REALTIME */
    const struct timespec *deadline; /* absolute, on that clock; NULL: none */
    int                    priority; /* any int; lower is served first */
    fairsem_token_t       *token;    /* may cancel the wait; NULL: none */
    uintptr_t              reserved_[4]; /* must be zero */
} fairsem_wait_t;

/*
 * The acquire that all others are special cases of.  `how` may be NULL.  A token that is
 * canceled already fails the call even if units are free.
 *
 * As fairsem_acquire_until, and
 * EINVAL     a reserved field is not zero
 * the token's reason
 */
FAIRSEM_API int fairsem_acquire_with(fairsem_t *sem, int64_t n, const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_acquire_with);

/* ======================================================================== *
 *  5  Capacity, debt, close
 * ======================================================================== */

/* The capacity in units; -1: unbounded; 0: paused. */
FAIRSEM_API int64_t fairsem_capacity(const fairsem_t *sem);

/*
 * Change the capacity of a bounded semaphore.  Units in use stay in use: after a change to
 * less than that, fairsem_available is negative, and nobody is served until enough has
 * been released.  Waiters that ask for more than the new capacity fail with E2BIG at once,
 * wherever they stand.  0 is a pause: everybody queues and nobody is served, until the
 * capacity is set again.
 *
 * 0
 * EINVAL   the semaphore is unbounded; capacity < 0 or > FAIRSEM_MAX_UNITS
 */
FAIRSEM_API int fairsem_set_capacity(fairsem_t *sem, int64_t capacity);

/*
 * Take n units now, whether they are there or not, and pass all waiters by doing so: for
 * what has been used already and must be accounted for.  fairsem_available may become
 * negative: a debt, which is repaid by releases before anybody is served.
 *
 * 0
 * EINVAL     n < 0 or n > FAIRSEM_MAX_UNITS
 * EOVERFLOW  the debt would exceed FAIRSEM_MAX_UNITS
 */
FAIRSEM_API int fairsem_consume(fairsem_t *sem, int64_t n);

/*
 * End service for good: everybody in line, and every later acquire, gets `reason`, an errno
 * value or any other number > 0; 0 stands for ESHUTDOWN.  Units that are held stay held and
 * can be released.
 *
 * 0
 * EINVAL   reason < 0
 * EALREADY it is closed; the first reason stays
 */
FAIRSEM_API int fairsem_close(fairsem_t *sem, int reason);

/* The reason it was closed with; 0: it is open. */
FAIRSEM_API int fairsem_closed(const fairsem_t *sem);

/* ======================================================================== *
 *  6  Looking: true when they looked, perhaps no more when they return
 * ======================================================================== */

/* The number of free units; negative: a debt.  Free is not yours to take: see would_block. */
FAIRSEM_API int64_t fairsem_available(const fairsem_t *sem);

/* The number of requests in line.  A waiter that is counted here has its place. */
FAIRSEM_API int64_t fairsem_waiters(const fairsem_t *sem);

/*
 * True where fairsem_tryacquire(sem, n) would return EAGAIN: somebody waits, fewer than n
 * units are free, or the capacity is 0.  False where it would return 0 or another error.
 */
FAIRSEM_API bool fairsem_would_block(const fairsem_t *sem, int64_t n);

/*
 * A semaphore at one moment, and what happened since it was initialized.  The counters of
 * the past count only requests that had to stand in line: the fast path counts nothing.
 * At every moment  waits = waiters + grants + timeouts + cancels.
 */
typedef struct {
    int64_t available;      /* units */
    int64_t capacity;       /* units; -1: unbounded; 0: paused */
    int64_t waiters;        /* requests in line */
    int64_t waiting_units;  /* what they ask for, together */
    int64_t oldest_wait_ns; /* how long the oldest of them has waited, nanoseconds */

    int64_t waits;          /* requests that joined the line and were not served at once */
    int64_t grants;         /* of these: served */
    int64_t timeouts;       /* left at their deadline */
    int64_t cancels;        /* left otherwise: token, pthread_cancel, EINTR, ticket return, close,
                             * E2BIG, and in a forked child those who waited in the parent */
    int64_t wait_ns_total;  /* how long those who left had waited, nanoseconds, or INT64_MAX */
    int64_t wait_ns_max;    /* the longest of these */
    int64_t waiters_max;    /* the longest line there was */
    int64_t refused;        /* ENOBUFS */
    int64_t over_releases;  /* EOVERFLOW of fairsem_release; and grants given back, by a ticket
                             * or a canceled thread, of which not all units fitted any more */
    int64_t reserved_[2];
} fairsem_stat_t;

/* 0. */
FAIRSEM_API int fairsem_stat(fairsem_t *sem, fairsem_stat_t *stat);

/*
 * The same for people: a summary with the semaphore's name, then one line per waiter, from
 * the head of the line (ticket number, units, priority, age in seconds).  Written after a
 * snapshot was taken, so a slow file holds nobody up.  Cancellation is held off meanwhile.
 *
 * 0
 * ENOMEM   no memory for the snapshot; the summary was written
 * EIO      `file` has an error
 */
FAIRSEM_API int fairsem_dump(fairsem_t *sem, FILE *file);

/* ======================================================================== *
 *  7  Units: a guard that knows what it holds
 * ======================================================================== */

/*
 * Units of one semaphore, held by whoever has the guard.  { 0 } is an empty guard.  A guard
 * is plain data of one thread at a time; it may be copied if only one copy is used on.
 * Every function leaves it either empty or holding what it says.
 */
typedef struct fairsem_units {
    fairsem_t *sem;
    int64_t    n;
} fairsem_units_t;

/*
 * fairsem_acquire_with (`how` may be NULL) and fairsem_tryacquire into an empty guard.
 *
 * As these, and
 * EBUSY    the guard is not empty
 */
FAIRSEM_API int fairsem_units_acquire(fairsem_units_t *units, fairsem_t *sem, int64_t n,
                                      const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_units_acquire);
FAIRSEM_API int fairsem_units_tryacquire(fairsem_units_t *units, fairsem_t *sem, int64_t n);

/*
 * Guard n units of sem that you hold already.
 *
 * 0
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS
 * EBUSY    the guard is not empty
 */
FAIRSEM_API int fairsem_units_adopt(fairsem_units_t *units, fairsem_t *sem, int64_t n);

/*
 * Release all that is guarded.  On an empty guard nothing happens, so it is safe in a
 * clean-up path that does not know whether the acquire succeeded.
 *
 * 0
 * EOVERFLOW  as fairsem_release; the guard stays as it was
 */
FAIRSEM_API int fairsem_units_release(fairsem_units_t *units);

/*
 * Release n of the units that are guarded.
 *
 * 0
 * EINVAL     n < 0 or more than are guarded
 * EOVERFLOW  as fairsem_release; the guard stays as it was
 */
FAIRSEM_API int fairsem_units_return(fairsem_units_t *units, int64_t n);

/*
 * Move n of the units in `from` into the empty guard `into`.
 *
 * 0
 * EINVAL   n < 0 or more than are guarded; both are the same guard
 * EBUSY    `into` is not empty
 */
FAIRSEM_API int fairsem_units_split(fairsem_units_t *from, int64_t n, fairsem_units_t *into);

/*
 * Move all units in `from` into `into`, which may hold some of the same semaphore.
 *
 * 0
 * EINVAL   they are of different semaphores, or the same guard, or too many together
 */
FAIRSEM_API int fairsem_units_merge(fairsem_units_t *into, fairsem_units_t *from);

/* Empty the guard without releasing; returns the number of units it held: yours to release. */
FAIRSEM_API int64_t fairsem_units_forget(fairsem_units_t *units);

/* FAIRSEM_SCOPED fairsem_units_t u = { 0 };   released when the scope ends (GCC, Clang). */
#if defined(__GNUC__)
#define FAIRSEM_SCOPED __attribute__((cleanup(fairsem_scope_ends_)))
static inline void fairsem_scope_ends_(fairsem_units_t *units)
{
    (void)fairsem_units_release(units);
}
#endif

/*
 * Acquire n units, call fn(arg), release them: also when fn's thread is canceled in it or
 * calls pthread_exit, or fn throws a C++ exception (GCC, Clang).
 *
 * What fairsem_acquire returns, fn was not called then, or what fairsem_release returns.
 */
FAIRSEM_API int fairsem_with(fairsem_t *sem, int64_t n, void (*fn)(void *), void *arg);

/* ======================================================================== *
 *  8  Tickets: a place in line without a blocked thread
 * ======================================================================== */

/*
 * A ticket is a request in line for which no thread waits: for event loops, for asking in
 * several lines at once, for asking now and waiting later.  { 0 } is an idle ticket.  It
 * must not be moved while it is not idle, nor copied once it has been used.
 *
 *     IDLE --take, at once--> GRANTED
 *     IDLE --take--> WAITING --units come--> GRANTED --claim--> IDLE
 *                    WAITING --capacity too small--> CANCELED --return--> IDLE
 *                    WAITING --close--> CLOSED --return--> IDLE
 *                    WAITING, GRANTED --return--> IDLE
 *
 * The result of take says where the work begins, once and not twice:
 *
 *     static void start(fairsem_ticket_t *ticket, void *arg)
 *     {
 *         struct request *r = arg;
 *
 *         if (fairsem_ticket_claim(ticket, &r->units) == 0)
 *             ...  the units are r's: begin  ...
 *         else
 *             ...  the semaphore was closed, or its capacity made too small  ...
 *     }
 *
 *     switch (fairsem_ticket_take(&r->ticket, &slots, 1, 0, start, r)) {
 *     case 0:           start(&r->ticket, r); break;   granted at once, nobody will call
 *     case EINPROGRESS: break;                         in line: start is called, once
 *     default:          ...  refused, nothing has happened  ...
 *     }
 *
 * Claim or return it before the semaphore is destroyed.  If it has a callback, also return
 * it (returning an idle one is fine) before its memory is used for something else, unless
 * that happens in the callback.
 *
 * In a forked child a ticket that was waiting is idle.
 */
typedef struct fairsem_ticket {
    FAIRSEM_ALIGNED_ unsigned char fairsem_reserved_[128];
} fairsem_ticket_t;

enum fairsem_ticket_state {
    FAIRSEM_TICKET_IDLE,
    FAIRSEM_TICKET_WAITING,
    FAIRSEM_TICKET_GRANTED,
    FAIRSEM_TICKET_CANCELED,    /* it can no longer be served: E2BIG */
    FAIRSEM_TICKET_CLOSED
};

/*
 * Called exactly once for each take that returned EINPROGRESS, unless the ticket is claimed or
 * returned first: that drops a call which has not begun.  It comes when the ticket leaves WAITING,
 * perhaps before the take has returned to its own thread, and is made by the thread that caused
 * it, after that has let go of every lock: by one that releases, closes or sets the capacity,
 * but also by one that leaves the line ahead of it, because its time is out or it is canceled.
 *
 * A thread makes its calls one after the other, in the order in which the tickets were served,
 * never one inside the other: calls that become due while it is in a callback follow when that
 * one has returned, and before the function that began it all does.
 *
 * A callback may call anything of this library, on the same ticket and semaphore too, and may free
 * its ticket.  What cannot work:
 *
 *   - It waits for something that its own thread has still to do: the units of a ticket whose
 *     callback is due behind it, say, or what only its caller can release.  While it waits, it
 *     holds up the calls behind it.
 *   - It does not return: pthread_exit, longjmp.  (Thread cancellation is held off meanwhile.)
 *
 * A C++ exception may leave it (GCC or Clang, with glibc): it reaches the caller of the function
 * that called back, when the calls behind have been made.  Of two that are thrown, one is lost.
 * If it forks, calls that were to follow it are made in the parent, not in the child; nor does a
 * child get the call of a ticket that was in line.
 */
typedef void fairsem_notify_fn(fairsem_ticket_t *ticket, void *arg);

/*
 * Take n units with an idle ticket, or stand in line for them.  notify may be NULL.
 *
 * 0            granted at once; notify is not called, neither now nor later
 * EINPROGRESS  in line, as connect(2) says it; notify has been called or will be, once, unless the
 *              ticket is claimed or returned first
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS; the ticket is not idle, or another thread is in
 *          the middle of taking, claiming or returning it
 * E2BIG, ENOBUFS, the close reason   as fairsem_acquire; the ticket stays idle
 */
FAIRSEM_API int fairsem_ticket_take(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n,
                                    int priority, fairsem_notify_fn *notify, void *arg);

FAIRSEM_API enum fairsem_ticket_state fairsem_ticket_state(const fairsem_ticket_t *ticket);

/*
 * Wait until the ticket leaves WAITING.  A wait that ends otherwise keeps the place in line.
 * how->priority must be 0: the ticket has its priority.  Several threads may wait.
 *
 * 0          it is granted
 * ETIMEDOUT  it is still in line
 * the token's reason: it is still in line
 * E2BIG, the close reason: why it left the line
 * ECANCELED  somebody returned it
 * EINVAL     it is idle; bad clock, deadline, priority or reserved field
 * EINTR      as fairsem_acquire; it is still in line
 *
 * Cancellation point if it waits; the place is kept.
 */
FAIRSEM_API int fairsem_ticket_wait(fairsem_ticket_t *ticket, const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_ticket_wait);

/*
 * Move the units of a granted ticket into the empty guard `into`.
 *
 * 0        they are yours, and the ticket is idle; a callback that has not begun will not
 * EAGAIN   it still waits
 * EINVAL   it is idle
 * EBUSY    the guard is not empty
 * E2BIG, the close reason: why it left the line
 */
FAIRSEM_API int fairsem_ticket_claim(fairsem_ticket_t *ticket, fairsem_units_t *into);

/*
 * Give the ticket back, whatever its state: it leaves the line, or its units go to the next
 * one (as many as fit: see over_releases), and it is idle.  When the call returns, the callback
 * is not running and will not run; if another thread is running it, the call waits for that.  (So
 * do not hold a lock that the callback takes.)  It does not wait for a callback that cannot end
 * before this call returns: in the callback itself, and in one for which it waits in turn, itself
 * or through others, because each returns another's ticket.
 *
 * 0
 */
FAIRSEM_API int fairsem_ticket_return(fairsem_ticket_t *ticket);

#ifdef __cplusplus
}
#endif
#endif /* FAIRSEM_H */
