/* SPDX-License-Identifier: MIT */
/*
 * core.pml - the protocol of a semaphore on one page, for who would rather not read C.
 *
 * THE PROMISE.  A unit that becomes free goes to the thread that has waited longest, and nobody who
 * comes later takes it first.  Nothing is lost: no unit, and no wake-up.  Every thread is served.
 *
 * HOW.  The word has the count and a bit, SLOW.  While SLOW is clear, threads take and return units by
 * one compare-and-swap.  Who cannot takes the mutex, and sets SLOW: from then on only its holder
 * changes the word.  In that section a thread takes its units, or joins the queue; before it unlocks,
 * it grants the head of the queue its units as long as they suffice.  A granted thread that may sleep
 * is woken after that.
 *
 *      QUEUED   in the queue, its thread is awake, and will look at its state before it sleeps
 *      PARKED   in the queue, its thread may sleep: whoever changes the state wakes it
 *      GRANTED  it has its units            EXPIRED  its time was over, and it has none
 *
 * Each step below is one access to memory that others can see.  spin tries all orders of the steps of
 * three threads.  A scene is given by
 *
 *      UNITS, NEED0..2     units there are, and that each thread takes
 *      DEADLINES           the threads that may time out, as a set: bit 0 is thread 0
 *      ROUNDS              turns of each thread; 0: for ever
 *      BUG               a mistake is made, which spin must find: make check-model
 */
#ifndef UNITS
#define UNITS 1
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
#ifndef DEADLINES
#define DEADLINES 0
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef BUG
#define BUG NONE
#endif
#define N 3
#define NEED(i)     (i == 0 -> NEED0 : (i == 1 -> NEED1 : NEED2))
#define DEADLINE(i) ((DEADLINES >> i) & 1)
#define NOBODY      N

mtype = { NONE, BARGING, SMALL_FIRST, LIFO, NO_CASCADE, GRANTS_ONE, GRANT_BEFORE_DEBIT, SLOW_DROPPED,
          SLOW_NOT_SET, EXPIRED_AND_GRANTED, STORED, WAKE_FORGOTTEN, WAKES_FIRST, TOUCHES_GRANTED };
mtype = { OUT, QUEUED, PARKED, GRANTED, EXPIRED };

/* The word: its two parts change in one step. */
byte available = UNITS;
bool slow;

byte mutex = NOBODY;    /* who holds it */
byte queue[N], length;  /* under the mutex: the oldest first */
mtype state[N] = OUT;   /* of each thread's waiter, which is on its stack */
bool there[N];          /* is that waiter still there? */
bool permit[N];         /* a parker: somebody has woken the thread, or will not let it sleep */

/* For the laws alone. */
byte has[N];            /* units that were debited for a thread */

/* I1: no unit is lost or made.  I2: none is idle.  I3: SLOW is set while somebody waits. */
#define CONSERVED  (available + has[0] + has[1] + has[2] == UNITS)
#define NOT_IDLE   (length == 0 || NEED(queue[0]) > available)
hidden byte I1 = 1, I2 = 1, I3 = 1, I5 = 1, I6 = 1, I8 = 1;     /* names for what pan prints */
#define LAW(name, holds) assert((holds) || !name)

/* ---- The fast path: one compare-and-swap.  I6: nobody passes. ---- */

#define CAN_TAKE(i) ((!slow || BUG == BARGING) && available >= NEED(i))

inline take(i)
{
    LAW(I6, length == 0);
    available = available - NEED(i); has[i] = NEED(i)
}

/* ---- The section ---- */

inline lock()
{
    atomic { mutex == NOBODY -> mutex = me };
    if
    :: BUG != SLOW_NOT_SET -> slow = true
    :: else
    fi
}

/* Take thread i out of the queue, wherever it is. */
inline leave(i)
{
    d_step {
        at = 0;
        do
        :: queue[at] != i -> at++
        :: else -> break
        od;
        do
        :: at + 1 < length -> queue[at] = queue[at + 1]; at++
        :: else -> break
        od;
        length--;
        queue[length] = 0
    }
}

/* Whom does the grant loop look at?  The oldest.  (The mistakes: another one, which fits.) */
inline find_head()
{
    d_step {
        head = queue[0];
        if
        :: BUG == LIFO -> head = queue[length - 1]
        :: BUG == SMALL_FIRST && NEED(head) > available && length > 1 -> head = queue[1]
        :: else
        fi
    }
}

/*
 * The grant loop, and the unlock.  I5: the debit is in the word before the grant can be seen.  I8: the
 * waiter is not touched after that.  Its thread need not be woken if it is awake: a compare-and-swap
 * says so.
 */
inline grant_and_unlock()
{
    do
    :: length > 0 && BUG != NO_CASCADE ->
        find_head();
        if
        :: NEED(head) > available -> break
        :: else
        fi;
        LAW(I6, head == queue[0]);
        LAW(I8, there[head]);
        if
        :: BUG != GRANT_BEFORE_DEBIT ->
            d_step { available = available - NEED(head); has[head] = has[head] + NEED(head) }
        :: else
        fi;
        leave(head);
        if
        :: BUG == WAKES_FIRST && state[head] == PARKED -> permit[head] = true
        :: else
        fi;
        if
        :: atomic { state[head] == QUEUED -> state[head] = GRANTED }
        :: state[head] == PARKED ->
            if
            :: BUG != WAKE_FORGOTTEN && BUG != WAKES_FIRST -> wakes = wakes | (1 << head)
            :: else
            fi;
            state[head] = GRANTED
        fi;
        LAW(I8, BUG != TOUCHES_GRANTED || there[head]);
        if
        :: BUG == GRANT_BEFORE_DEBIT ->
            LAW(I5, state[head] != OUT);
            d_step { available = available - NEED(head); has[head] = has[head] + NEED(head) }
        :: else
        fi;
        if
        :: BUG == GRANTS_ONE -> break
        :: else
        fi
    :: else -> break
    od;
    LAW(I1, CONSERVED);
    LAW(I2, NOT_IDLE);
    slow = (length > 0 && BUG != SLOW_DROPPED);
    LAW(I3, slow || length == 0);
    mutex = NOBODY;
    do
    :: wakes != 0 ->
        at = (wakes & 1 -> 0 : (wakes & 2 -> 1 : 2));
        wakes = wakes & ~(1 << at);
        permit[at] = true
    :: else -> break
    od
}

/* ---- A thread: acquire, hold, release, again ---- */

proctype thread(byte me)
{
    byte head, at, wakes, rounds;

    do
    :: ROUNDS != 0 && rounds == ROUNDS -> break
    :: else ->
        rounds = (ROUNDS != 0 -> rounds + 1 : 0);
        if
        :: atomic { CAN_TAKE(me) -> take(me) } -> goto holds
        :: !CAN_TAKE(me)
        fi;
        lock();
        if
        :: length == 0 && available >= NEED(me) ->      /* who need not wait does not join */
            atomic { take(me); state[me] = GRANTED }
        :: else ->
            atomic { there[me] = true; state[me] = QUEUED; queue[length] = me; length++ }
        fi;
        grant_and_unlock();
sleep:  do
        :: state[me] == GRANTED || state[me] == EXPIRED -> break
        :: BUG != STORED && state[me] == QUEUED ->
            if
            :: atomic { state[me] == QUEUED -> state[me] = PARKED }
            :: state[me] != QUEUED
            fi
        :: BUG == STORED && state[me] == QUEUED -> state[me] = PARKED
        :: state[me] == PARKED ->
            if
            :: atomic { permit[me] -> permit[me] = false }
            :: DEADLINE(me) ->                          /* its time is over; but it may be too late */
                lock();
                if
                :: state[me] == PARKED -> leave(me); state[me] = EXPIRED
                :: else -> state[me] = (BUG == EXPIRED_AND_GRANTED -> EXPIRED : state[me])
                fi;
                grant_and_unlock()
            fi
        od;
        there[me] = false;
        if
        :: state[me] == EXPIRED -> state[me] = OUT; LAW(I1, has[me] == 0); goto next
        :: else -> state[me] = OUT
        fi;
holds:  LAW(I5, has[me] == NEED(me));
        if
        :: atomic { !slow -> available = available + has[me]; has[me] = 0 }
        :: slow ->
            lock();
            d_step { available = available + has[me]; has[me] = 0 };
            grant_and_unlock()
        fi;
next:   skip
    od
}

init { atomic { run thread(0); run thread(1); run thread(2) } }

/* If the scheduler runs everybody, who waits is served. */
ltl served { [] (state[0] == QUEUED -> <> (state[0] == GRANTED || state[0] == EXPIRED)) }
