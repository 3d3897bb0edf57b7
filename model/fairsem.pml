/* SPDX-License-Identifier: MIT */
/*
 * fairsem.pml - the protocol of fairsem for spin: start reading here.
 *
 * Three threads take units, by the fast path or in line, and give them back; they may be late,
 * be canceled, only try.  The rest is in
 *
 *     semaphore.pml   word, mutex, line, grant loop
 *     wait.pml        being told, sleeping, giving up, tokens
 *     bypass.pml      FAIRSEM_BOUNDED_BYPASS
 *     oracle.pml      I1 to I8: what must be true, and how it is expressed
 *     faults.pml      seeded faults
 *
 * Every inline is named after the C function it stands for.  What a scene is made of comes
 * from the command line, see check.sh:
 *
 *     ROUNDS              turns of each thread; FOR_EVER: no end (for liveness)
 *     UNITS               how many there are
 *     NEED0 NEED1 NEED2   how many each thread takes
 *     PRIORITY0 ...       of the request; lower is better
 *     DEADLINES           who has one, a set of threads: bit 0 is thread 0
 *     TRIES               who only tries
 *     TOKENS              who carries the token; another process cancels it
 *     CANCELED_IN_PARK    who may be canceled by pthread_cancel
 *     SPURIOUS            sleeps end for no reason
 *     ON_WORD             sleep on a futex instead of a parker
 *     SLEEPS_AT_ONCE      FAIRSEM_NO_SPIN: nobody is alerted
 *     BYPASS              FAIRSEM_BOUNDED_BYPASS; BOUND: the time until it is over is a process
 *     CONSUMES            an owner consumes a unit, into debt perhaps, and releases it again
 *     DESTROY             units come from two releasers; who is served last destroys the
 *                         semaphore, and its memory is gone, while releases still run
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

mtype = { IDLE, QUEUED, PARKED, ALERTED, GRANTED, EXPIRED, CANCELED, ABANDONED };
mtype state[N];         /* of each thread's waiter, as in semaphore_internal.h */

#define IN_LINE(i)     (state[i] == QUEUED || ASLEEP(i))
/* Whoever changes the state must wake it. */
#define ASLEEP(i)      (state[i] == PARKED || state[i] == ALERTED)
#define NOBODY_IN_LINE (!IN_LINE(0) && !IN_LINE(1) && !IN_LINE(2))

#include "faults.pml"
#include "ghosts.pml"
#include "semaphore.pml"
#include "bypass.pml"
#include "wait.pml"
#include "oracle.pml"

byte finished;      /* processes that have come to their end */
byte served;        /* DESTROY: acquires that have returned */

/* semaphore.c: fairsem_tryacquire behind its fast path.  The answer is ok. */
inline try_contended()
{
    d_step { alive[me] = 1; state[me] = IDLE };
    fs_lock_line();
    fs_bypass_allowed();
    if
    :: ok
    :: !ok && BUG == TRY_PASSES && NEED(me) <= available ->
        d_step {
            HOLDS(I6, NOBODY_IN_LINE);
            available = available - NEED(me);
            has[me] = NEED(me);
            state[me] = GRANTED
        }
    :: !ok && BUG != TRY_PASSES && NEED(me) <= available && length == 0 -> fs_join(me)
    :: else
    fi;
    ok = false;
    fs_serve_and_unlock();
    fs_wake_all();
    atomic { ok = state[me] == GRANTED; alive[me] = 0; state[me] = IDLE }
}

/* semaphore.c: acquire_contended, of one that waits.  The answer is ok. */
inline acquire_contended()
{
    d_step { alive[me] = 1; state[me] = IDLE };
    fs_token_attach();
    if
    :: ok ->
        fs_lock_line();
        ok = state[me] == CANCELED;     /* by the token, a moment ago */
        if
        :: !ok -> fs_bypass_allowed()
        :: else
        fi;
        if
        :: !ok -> fs_join(me)
        :: else
        fi;
        ok = false;
        fs_serve_and_unlock();
        fs_wake_all();
        fs_sleep();
        fs_token_detach();
canceled:
        ok = st == GRANTED
    :: else
    fi;
    d_step { alive[me] = 0; state[me] = IDLE }
}

/* semaphore.c: fairsem_acquire and its relatives. */
inline fairsem_acquire()
{
    fs_take_fast(NEED(me));
    if
    :: !ok -> fs_bypass_take(NEED(me))
    :: else
    fi;
    if
    :: ok
    :: !ok && ONLY_TRIES(me) -> try_contended()
    :: !ok && !ONLY_TRIES(me) -> acquire_contended()
    fi;
    told_the_truth(ok)
}

/* semaphore.c: fairsem_release, release_contended. */
inline fairsem_release(n)
{
    fs_give_fast(n);
    if
    :: !ok -> fs_bypass_give(n)
    :: else
    fi;
    if
    :: ok
    :: else ->
        fs_lock_line();
        d_step { available = available + n; has[me] = has[me] - n };
        fs_serve_and_unlock();
        fs_wake_all()
    fi;
    ok = false
}

/* semaphore.c: fairsem_destroy, and the memory is used for something else. */
inline fairsem_destroy()
{
    if
    :: BUG == DESTROYS_AT_ONCE
    :: else ->
        fs_lock_line();
        HOLDS(I4, length == 0);
        fs_serve_and_unlock()
    fi;
    exists = false
}

/* What every process that uses the semaphore has on its stack. */
#define LOCALS short available, seen; byte wakes, w; mtype st = IDLE; bit ok, granted, over, open

proctype user(byte me)
{
    LOCALS;
    byte rounds = ROUNDS;

    do
    :: rounds > 0 && st != ABANDONED ->
        st = IDLE;
        fairsem_acquire();
        if
        :: ok ->
            d_step { held = held + NEED(me); ok = false };
#ifdef DESTROY
            d_step { served++; ok = served == N };
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
        :: st != ABANDONED -> st = IDLE
        :: else
        fi;
#ifndef FOR_EVER
        rounds--
#endif
    :: else -> break
    od;
    finished++
}

/* Has units from the beginning, and gives them away. */
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

    fs_lock_line();
    d_step { available = available - 1; has[me] = 1 };
    fs_serve_and_unlock();
    fs_wake_all();
    fairsem_release(1);
    finished++
}

proctype canceller()
{
    LOCALS;
    byte x;

    fairsem_token_cancel();
    finished++
}

init {
    byte processes = N;

    atomic {
        state[0] = IDLE; state[1] = IDLE; state[2] = IDLE;
        run oracle();
        run user(0);
        run user(1);
        run user(2);
        if
        :: TOKENS != 0 -> run canceller(); processes++
        :: else
        fi;
#ifdef BOUND
        run time();
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

/* Every waiter is served or leaves. */
#ifdef FOR_EVER
ltl served0 { [] (IN_LINE(0) -> <> !IN_LINE(0)) }
ltl served1 { [] (IN_LINE(1) -> <> !IN_LINE(1)) }
ltl served2 { [] (IN_LINE(2) -> <> !IN_LINE(2)) }
#endif
