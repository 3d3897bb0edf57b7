/* SPDX-License-Identifier: MIT */
/*
 * fairsem.pml - the protocol of fairsem for spin: start reading here.
 *
 * Three threads take units, by the fast path or through the queue, and give them back.  They may
 * time out, be canceled, or only try.  The rest is in
 *
 *     section.pml   word, mutex, wait queue, grant loop
 *     wait.pml        completing a waiter, sleeping, aborting a wait, tokens
 *     bypass.pml      FAIRSEM_BOUNDED_BYPASS
 *     age.pml         attr.aging_ns
 *     oracle.pml      I1 to I8: what must be true, and how it is expressed
 *     faults.pml      seeded faults
 *
 * Each inline has the name of the C function that it stands for, where there is one; the comment
 * above it says `file: function`, and check.sh looks for it there.  The command line defines a
 * scene, see check.sh:
 *
 *     ROUNDS              turns of each thread; FOR_EVER: no end (for liveness)
 *     UNITS               the number of units
 *     NEED0 NEED1 NEED2   the number of units that each thread takes
 *     PRIORITY0 ...       of the request; the lower is granted first
 *     DEADLINES           the threads with a deadline, as a set: bit 0 is thread 0
 *     TRIES               the threads that only try
 *     TOKENS              the threads that use the token; another process cancels it
 *     CANCELED_IN_PARK    the threads that pthread_cancel may cancel
 *     SPURIOUS            sleeps may end for no reason
 *     ON_WORD             threads sleep on a futex instead of a parker
 *     SLEEPS_AT_ONCE      FAIRSEM_NO_SPIN: no early wake
 *     BYPASS              FAIRSEM_BOUNDED_BYPASS; BOUND: a process decides when the bound is over
 *     AGING               attr.aging_ns: requests become old
 *     CONSUMES            an owner consumes a unit, perhaps into debt, and releases it again
 *     DESTROY             units come from two releasers; the thread that is granted last destroys
 *                         the semaphore, and its memory is gone, while releases still run
 */
#define N 3

#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef UNITS
#define UNITS 2
#endif
#ifndef NEED0
#define NEED0 1
#endif
#ifndef NEED1
#define NEED1 1
#endif
#ifndef NEED2
#define NEED2 1
#endif
#ifndef PRIORITY0
#define PRIORITY0 0
#endif
#ifndef PRIORITY1
#define PRIORITY1 0
#endif
#ifndef PRIORITY2
#define PRIORITY2 0
#endif
#ifndef DEADLINES
#define DEADLINES 0
#endif
#ifndef TRIES
#define TRIES 0
#endif
#ifndef TOKENS
#define TOKENS 0
#endif
#ifndef CANCELED_IN_PARK
#define CANCELED_IN_PARK 0
#endif
#ifdef DESTROY
#define FREE_AT_START 0
#else
#define FREE_AT_START UNITS
#endif

#define NEED(i)       (i == 0 -> NEED0 : (i == 1 -> NEED1 : NEED2))
#define PRIORITY(i)   (i == 0 -> PRIORITY0 : (i == 1 -> PRIORITY1 : PRIORITY2))
#define DEADLINE(i)   ((DEADLINES >> i) & 1)
#define ONLY_TRIES(i) ((TRIES >> i) & 1)
#define TOKEN(i)      ((TOKENS >> i) & 1)
#define CANCELABLE(i) ((CANCELED_IN_PARK >> i) & 1)

mtype = { NOT_JOINED, QUEUED, PARKED, WOKEN, GRANTED, EXPIRED, CANCELED, ABANDONED };
mtype state[N];         /* of each thread's waiter, as in waiter.h */

#define IN_QUEUE(i)     (state[i] == QUEUED || ASLEEP(i))
/* The thread may be asleep: a process that changes the state must wake it. */
#define ASLEEP(i)       (state[i] == PARKED || state[i] == WOKEN)
#define LISTED(i)       ((length > 0 && queue[0] == i) || (length > 1 && queue[1] == i) \
                         || (length > 2 && queue[2] == i))
#define NOBODY_IN_QUEUE (!IN_QUEUE(0) && !IN_QUEUE(1) && !IN_QUEUE(2))

#include "faults.pml"
#include "ghosts.pml"
#include "age.pml"
#include "section.pml"
#include "bypass.pml"
#include "wait.pml"
#include "oracle.pml"

byte finished;      /* processes that have come to their end */
byte returned;      /* DESTROY: acquires that have returned */

/* acquire.c: fs_acquire.  Of a try; the result is in `ok`. */
inline try_contended()
{
    d_step { alive[me] = 1; state[me] = NOT_JOINED };
    fs_section_lock();
    fs_bypass_passes();
    if
    :: ok
    :: !ok && BUG == TRY_PASSES && NEED(me) <= available ->
        d_step {
            HOLDS(I6, NOBODY_IN_QUEUE);
            available = available - NEED(me);
            has[me] = NEED(me);
            state[me] = GRANTED
        }
    :: !ok && BUG != TRY_PASSES && NEED(me) <= available && length == 0 -> fs_join(me)
    :: else
    fi;
    ok = false;
    fs_section_unlock();
    fs_wake_queue_run();
    atomic { ok = state[me] == GRANTED; alive[me] = 0; state[me] = NOT_JOINED }
}

/* acquire.c: fs_acquire; wait.c: fs_wait_end.  Of a thread that may wait; the
 * result is in `ok`. */
inline fs_acquire()
{
    d_step { alive[me] = 1; state[me] = NOT_JOINED };
    fs_token_attach();
    if
    :: ok ->
        fs_section_lock();
        ok = state[me] == CANCELED;     /* by the token, a moment before */
        if
        :: !ok -> fs_bypass_passes()
        :: else
        fi;
        if
        :: !ok -> fs_join(me); fs_plan_awake()
        :: else
        fi;
        ok = false;
        fs_section_unlock();
        fs_wake_queue_run();
        fs_sleep();
        fs_token_detach();
canceled:
        ok = st == GRANTED
    :: else
    fi;
    d_step { alive[me] = 0; state[me] = NOT_JOINED }
}

/* semaphore.c: fairsem_acquire and its relatives. */
inline fairsem_acquire()
{
    fs_acquire_fast(NEED(me));
    if
    :: !ok -> fs_bypass_acquire(NEED(me))
    :: else
    fi;
    if
    :: ok
    :: !ok && ONLY_TRIES(me) -> try_contended()
    :: !ok && !ONLY_TRIES(me) -> fs_acquire()
    fi;
    check_result(ok)
}

/* semaphore.c: fairsem_release, fs_release. */
inline fairsem_release(n)
{
    fs_release_fast(n);
    if
    :: !ok -> fs_bypass_release(n)
    :: else
    fi;
    if
    :: ok
    :: else ->
        fs_section_lock();
        d_step { available = available + n; has[me] = has[me] - n };
        fs_section_unlock();
        fs_wake_queue_run()
    fi;
    ok = false
}

/* semaphore.c: fairsem_destroy; then the memory is used for something else. */
inline fairsem_destroy()
{
    if
    :: BUG == DESTROYS_AT_ONCE
    :: else ->
        fs_section_lock();
        HOLDS(I4, length == 0);
        fs_section_unlock()
    fi;
    exists = false
}

/* The variables that every process which uses the semaphore has on its stack. */
#define LOCALS                                            \
    short available, seen; byte wakes, w; mtype st = NOT_JOINED; bit ok, granted, over, open

proctype user(byte me)
{
    LOCALS;
    byte rounds = ROUNDS;

    do
    :: rounds > 0 && st != ABANDONED ->
        st = NOT_JOINED;
        fairsem_acquire();
        if
        :: ok ->
            d_step { held = held + NEED(me); ok = false };
#ifdef DESTROY
            d_step { returned++; ok = returned == N };
            if
            :: ok -> fairsem_destroy()
            :: else
            fi
#else
            held = held - NEED(me);
            fairsem_release(NEED(me))
#endif
        :: else
        fi;
        if
        :: st != ABANDONED -> st = NOT_JOINED
        :: else
        fi;
#ifndef FOR_EVER
        rounds--
#endif
    :: else -> break
    od;
    finished++
}

/* It holds units from the beginning, and releases them. */
proctype releaser(byte me)
{
    LOCALS;

    fairsem_release(has[me]);
    finished++
}

/* capacity.c: fairsem_consume. */
proctype owner(byte me)
{
    LOCALS;

    fs_section_lock();
    d_step { available = available - 1; has[me] = 1 };
    fs_section_unlock();
    fs_wake_queue_run();
    fairsem_release(1);
    finished++
}

#ifdef AGING
/* Time: the oldest may be due at any moment. */
proctype ages()
{
end:
    do
    :: atomic { LISTED(0) && older[0] == 0 && !due[0] -> due[0] = 1 }
    :: atomic { LISTED(1) && older[1] == 0 && !due[1] -> due[1] = 1 }
    :: atomic { LISTED(2) && older[2] == 0 && !due[2] -> due[2] = 1 }
    od
}
#endif

proctype canceler()
{
    LOCALS;
    byte x;

    fairsem_token_cancel();
    finished++
}

init {
    byte processes = N;

    atomic {
        state[0] = NOT_JOINED; state[1] = NOT_JOINED; state[2] = NOT_JOINED;
        run oracle();
        run user(0);
        run user(1);
        run user(2);
        if
        :: TOKENS != 0 -> run canceler(); processes++
        :: else
        fi;
#ifdef BOUND
        run time();
#endif
#ifdef AGING
        run ages();
#endif
#ifdef CONSUMES
        run owner(N); processes++;
#endif
#ifdef DESTROY
        has[N] = 1;
        has[N + 1] = UNITS - 1;
        run releaser(N);
        run releaser(N + 1);
        processes = processes + 2;
#endif
    };
#ifndef FOR_EVER
    finished == processes;
#ifndef DESTROY
    HOLDS(I1, word == UNIT * UNITS && held == 0);
    HOLDS(I3, length == 0)
#endif
#endif
}

/* Every waiter leaves the queue: it is granted, or its wait is aborted. */
#ifdef FOR_EVER
ltl leaves0 { [] (IN_QUEUE(0) -> <> !IN_QUEUE(0)) }
ltl leaves1 { [] (IN_QUEUE(1) -> <> !IN_QUEUE(1)) }
ltl leaves2 { [] (IN_QUEUE(2) -> <> !IN_QUEUE(2)) }
#endif
