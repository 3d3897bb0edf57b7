/* SPDX-License-Identifier: MIT */
/*
 * section.pml - the word, the mutex, the wait queue and the grant loop: src/core/section.c,
 * queue.c, waitq.c and fast_path.h.
 *
 * One step is one access to what threads share without the mutex: the word, a waiter's state.
 * Data under the mutex changes together with the next such step, because no other thread can see
 * it.  Taking the mutex is one step with the first access under it: a thread that has the
 * mutex and has done nothing yet only delays others, and they cannot tell the difference.
 *
 * The word has OPEN next to SLOW; the source has OPEN at the top.  Closing the queue and reading
 * the count is one step: SLOW is set already when OPEN is, so of the two instructions of
 * fs_section_lock() only one does something.
 *
 * Left out: weak memory (the model is sequentially consistent; the sources justify the order of
 * each atomic access), statistics, limits and capacities, close, tickets, fork.
 */
#define SLOW      1
#define OPEN      2
#define UNIT      4
#define AVAILABLE (word >> 2)

short word = UNIT * FREE_AT_START;  /* available * UNIT + OPEN + SLOW */
byte  mutex;                        /* the process that holds it; 0: none */
byte  queue[N];                     /* the wait queue, in the order of grants */
byte  length;

hidden byte at, i;                  /* used within one step only */

/* pthread_mutex_lock, as a part of the step that follows. */
#ifdef FAIR_MUTEX
/* A process that wants the mutex gets it eventually.  Without this, the weak fairness of a search
 * lets processes that come and go keep another from the mutex for ever. */
chan lockers = [N + 2] of { byte };
inline want_mutex() { lockers ! _pid }
#define MUTEX_IS_MINE (mutex == 0 && lockers ? [eval(_pid)])
inline have_mutex() { lockers ? eval(_pid); mutex = _pid }
#else
inline want_mutex() { skip }
#define MUTEX_IS_MINE (mutex == 0)
inline have_mutex() { mutex = _pid }
#endif

/* fast_path.h: fs_acquire_fast.  A weak compare-and-swap that fails spuriously is one more turn of
 * the loop. */
inline fs_acquire_fast(n)
{
    ok = false;
    d_step { HOLDS(I8, exists); seen = word };
    do
    :: ((seen & SLOW) == 0 || BUG == BARGING) && seen >= UNIT * n ->
        d_step {
            HOLDS(I8, exists);
            if
            :: word == seen ->
                word = word - UNIT * n;
                has[me] = n;
                ok = true;
                HOLDS(I6, NOBODY_IN_QUEUE)
            :: else -> seen = word
            fi
        };
        if
        :: ok -> break
        :: else
        fi
    :: else -> break
    od;
    seen = 0
}

/* fast_path.h: fs_release_fast.  The compare-and-swap is the last access to the semaphore. */
inline fs_release_fast(n)
{
    ok = false;
    d_step { HOLDS(I8, exists); seen = word };
    do
    :: (seen & SLOW) == 0 ->
        d_step {
            HOLDS(I8, exists);
            if
            :: word == seen ->
                word = word + UNIT * n;
                has[me] = has[me] - n;
                ok = true
            :: else -> seen = word
            fi
        };
        if
        :: ok -> break
        :: else
        fi
    :: else -> break
    od;
    seen = 0
}

/* section.c: fs_section_lock.  From here the count is only in `available`, of the caller. */
inline fs_section_lock()
{
    want_mutex();
    atomic {
        MUTEX_IS_MINE ->
        have_mutex();
        HOLDS(I8, exists);
        in_hands = true;
        available = AVAILABLE;
        if
        :: BUG == SLOW_NOT_SET
        :: BUG == OPEN_KEPT -> word = word | SLOW
        :: BUG != SLOW_NOT_SET && BUG != OPEN_KEPT -> word = (word | SLOW) & ~OPEN
        fi
    }
    AFTER_LOCK
}

/* section.c: fs_section_unlock.  The end of it, two steps: between them the fast path is open,
 * and the mutex is not free. */
inline give_word_back_and_unlock()
{
    d_step {
        HOLDS(I8, exists);
        word = available * UNIT + OPEN * open + (length > 0 && BUG != SLOW_DROPPED -> SLOW : 0);
        in_hands = false;
        available = 0;
        open = false
    };
    d_step {
        HOLDS(I8, exists);
        mutex = 0
    }
}

/* waitq.c: fs_waitq_join, fs_waitq_leave. */
#define GOES_AHEAD(mine, other) \
    ((other > mine && BUG != PRIORITY_IGNORED) || (other == mine && BUG == LIFO_QUEUE))

inline waitq_join(x)
{
    at = length;
    do
    :: at > 0 && GOES_AHEAD(PRIORITY(x), PRIORITY(queue[at - 1])) && !IS_OLD(queue[at - 1]) ->
        queue[at] = queue[at - 1];
        at--
    :: else -> break
    od;
    queue[at] = x;
    length++;
    its_own_bound(x);
    at = 0
}

inline waitq_leave(x)
{
    its_own_bound(x);
    at = 0;
    do
    :: at < length && queue[at] != x -> at++
    :: else -> break
    od;
    HOLDS(I4, at < length);
    do
    :: at + 1 < length -> queue[at] = queue[at + 1]; at++
    :: else -> break
    od;
    length--;
    queue[length] = 0;
    at = 0
}

/* queue.c: fs_join. */
inline fs_join(x)
{
    d_step {
        ghost_join(x);
        AGE_JOINS(x)
        waitq_join(x);
        state[x] = QUEUED
    }
}

/* queue.c: fs_leave; complete() is in wait.pml. */
inline fs_leave(x, why)
{
    d_step {
        HOLDS(I8, alive[x]);
        HOLDS(I4, IN_QUEUE(x));
        waitq_leave(x);
        AGE_LEAVES(x)
        ghost_leave(x)
    };
    complete(x, why)
}

/* The waiter that the grant loop considers next. */
#define HEAD \
    (BUG == SMALL_FIRST && length > 1 && NEED(queue[0]) > available -> queue[1] : queue[0])

/* section.c: grant, fs_section_unlock. */
inline fs_section_unlock()
{
    NOTE_AGE
    do
    :: atomic { length > 0 && NEED(HEAD) <= available -> w = HEAD; grants_directly(w) };
        if
        :: !over -> open = true; fs_bypass_wakes(w); break
        :: else
        fi;
        d_step {
            HOLDS(I5, has[w] == 0);
            HOLDS(I6, before[w] == 0);
            available = available - NEED(w);
            has[w] = NEED(w);
            granted = true;
            word = (BUG == GRANT_BEFORE_DEBIT -> word : available * UNIT + SLOW)
        };
        fs_leave(w, GRANTED);
        NOTE_AGE
        if
        :: BUG == GRANTS_ONE -> break
        :: BUG == GRANTS_IN_BATCHES -> give_word_back_and_unlock(); fs_section_lock()
        :: else
        fi
    :: else -> break
    od;
    fs_wake_next();
    d_step { w = 0; over = false; granted = false };
    give_word_back_and_unlock();
    if
    :: BUG == TOUCHES_UNLOCKED -> HOLDS(I8, exists)
    :: else
    fi
}
