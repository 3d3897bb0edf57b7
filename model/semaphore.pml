/* SPDX-License-Identifier: MIT */
/*
 * semaphore.pml - the word, the mutex, the line and the grant loop: src/semaphore.c, waitq.c
 * and fast_path.h.
 *
 * One step here is one access to what threads share without the mutex: the word, a waiter's
 * state.  What is under the mutex changes together with the step next to it, because nobody
 * can look.  Taking the mutex is one step with the first access under it: who has it and does
 * nothing yet only delays others, and they cannot tell the difference.
 *
 * The word here is laid out by bits, with OPEN next to SLOW; the source has OPEN at the top.
 * Closing the line and reading the count is one step: SLOW is set already when OPEN is, so of
 * the two instructions of fs_lock_line() only one does something.
 *
 * Left out: weak memory (the model is sequentially consistent; the orders are argued at each
 * atomic in the sources), statistics, limits and capacities, close, fork.
 */
#define SLOW      1
#define OPEN      2
#define UNIT      4
#define AVAILABLE (word >> 2)

short word = UNIT * FREE_AT_START;  /* available * UNIT + OPEN + SLOW */
byte  mutex;                        /* who holds it; 0: nobody */
byte  line[N];                      /* in the order of service */
byte  length;

hidden byte at, i;                  /* inside one step only */

/* pthread_mutex_lock, a part of the step that follows. */
#ifdef FAIR_MUTEX
/* Who wants it gets it in the end.  Without this the weak fairness of a search lets threads
 * that come and go keep somebody from the mutex for ever. */
chan lockers = [N + 2] of { byte };
inline want_mutex() { lockers ! _pid }
#define MUTEX_IS_MINE (mutex == 0 && lockers ? [eval(_pid)])
inline have_mutex() { lockers ? eval(_pid); mutex = _pid }
#else
inline want_mutex() { skip }
#define MUTEX_IS_MINE (mutex == 0)
inline have_mutex() { mutex = _pid }
#endif

/* fast_path.h: fs_take_fast.  A weak compare-and-swap that fails for no reason is one more
 * turn of the loop. */
inline fs_take_fast(n)
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
                HOLDS(I6, NOBODY_IN_LINE)
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

/* fast_path.h: fs_give_fast.  Units of this thread; the compare-and-swap is the last touch. */
inline fs_give_fast(n)
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

/* semaphore.c: fs_lock_line.  From here the count is `available`, in the caller's hands. */
inline fs_lock_line()
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
}

/* Two steps: between them the fast path is open, and the mutex not free. */
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

/* waitq.c: fs_waitq_join and fs_waitq_leave. */
#define GOES_AHEAD(mine, his) \
    ((his > mine && BUG != PRIORITY_IGNORED) || (his == mine && BUG == LIFO_LINE))

inline waitq_join(x)
{
    at = length;
    do
    :: at > 0 && GOES_AHEAD(PRIORITY(x), PRIORITY(line[at - 1])) ->
        line[at] = line[at - 1];
        at--
    :: else -> break
    od;
    line[at] = x;
    length++;
    its_own_bound(x);
    at = 0
}

inline waitq_leave(x)
{
    its_own_bound(x);
    at = 0;
    do
    :: at < length && line[at] != x -> at++
    :: else -> break
    od;
    HOLDS(I4, at < length);
    do
    :: at + 1 < length -> line[at] = line[at + 1]; at++
    :: else -> break
    od;
    length--;
    line[length] = 0;
    at = 0
}

/* semaphore.c: fs_join. */
inline fs_join(x)
{
    d_step {
        ghost_join(x);
        waitq_join(x);
        state[x] = QUEUED
    }
}

/* semaphore.c: fs_leave; tell() is in wait.pml. */
inline fs_leave(x, why)
{
    d_step {
        HOLDS(I8, alive[x]);
        HOLDS(I4, IN_LINE(x));
        waitq_leave(x);
        ghost_leave(x)
    };
    tell(x, why)
}

/* Whom does the grant loop look at? */
#define HEAD \
    (BUG == SMALL_FIRST && length > 1 && NEED(line[0]) > available -> line[1] : line[0])

/* semaphore.c: fs_serve_and_unlock, the grant loop. */
inline fs_serve_and_unlock()
{
    do
    :: atomic { length > 0 && NEED(HEAD) <= available -> w = HEAD; fs_bypass_over(w) };
        if
        :: !over -> open = true; fs_awake_call(w); break
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
        if
        :: BUG == SERVES_ONE -> break
        :: BUG == GRANTS_IN_BATCHES -> give_word_back_and_unlock(); fs_lock_line()
        :: else
        fi
    :: else -> break
    od;
    fs_awake_alert();
    d_step { w = 0; over = false; granted = false };
    give_word_back_and_unlock();
    if
    :: BUG == TOUCHES_UNLOCKED -> HOLDS(I8, exists)
    :: else
    fi
}
