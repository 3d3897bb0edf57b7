/* SPDX-License-Identifier: MIT */
/*
 * bypass.pml - FAIRSEM_BOUNDED_BYPASS: src/bypass.h.
 *
 * The bound is over, or not: of the head, which is the only one that is asked about.  With
 * BOUND time is a process, which the head of the line cannot escape for ever; `late` is that
 * it has waited too long, and from then on it is.  Without BOUND nothing is remembered, and
 * every look at the clock may say either: more behaviors than there are, in fewer states.
 */
#ifdef BOUND
bit late;

proctype time()
{
end:
    do
    :: atomic { length > 0 && !late -> late = 1 }
    od
}

/* x has joined or leaves, and it is the head: the bound of the next head is its own. */
inline its_own_bound(x)
{
    if
    :: line[0] == x -> late = 0
    :: else
    fi
}
#define LATE late
#else
inline its_own_bound(x) { skip }
#define LATE false
#endif

#ifdef BYPASS
/* bypass.h: fs_bypass_over.  Must the head be served, and is not passed?  The answer is over. */
inline fs_bypass_over(head)
{
#ifdef BOUND
    over = (state[head] != PARKED && BUG != OPENS_TO_AWAKE) || (late && BUG != BOUND_FORGOTTEN);
    HOLDS(I6, over || !late)
#else
    if
    :: over = true
    :: state[head] == PARKED || BUG == OPENS_TO_AWAKE -> over = false
    fi
#endif
}

/* bypass.h: fs_bypass_take. */
inline fs_bypass_take(n)
{
    d_step { HOLDS(I8, exists); seen = word };
    do
    :: seen & OPEN && (seen >> 2) >= n ->
        d_step {
            HOLDS(I8, exists);
            if
            :: word == seen ->
                word = word - UNIT * n;
                has[me] = n;
                ok = true;
                HOLDS(I3, !in_hands)
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

/* bypass.h: fs_bypass_give.  The compare-and-swap is the last touch. */
inline fs_bypass_give(n)
{
    d_step { HOLDS(I8, exists); seen = word };
    do
    :: seen & OPEN ->
        d_step {
            HOLDS(I8, exists);
            if
            :: word == seen ->
                word = word + UNIT * n;
                has[me] = has[me] - n;
                ok = true;
                HOLDS(I3, !in_hands)
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

/* bypass.h: fs_bypass_allowed; semaphore.c: take_past_the_line.  The answer is ok. */
inline fs_bypass_allowed()
{
    if
    :: atomic { length > 0 && NEED(me) <= available ->
        fs_bypass_over(line[0]);
        if
        :: !over ->
            HOLDS(I6, !LATE);
            available = available - NEED(me);
            has[me] = NEED(me);
            state[me] = GRANTED;
            ok = true
        :: else -> over = false
        fi
       }
    :: else
    fi
}

#else
inline fs_bypass_over(head) { over = true }
inline fs_bypass_take(n) { skip }
inline fs_bypass_give(n) { skip }
inline fs_bypass_allowed() { skip }
#endif
