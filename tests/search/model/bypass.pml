/* SPDX-License-Identifier: MIT */
/*
 * bypass.pml - FAIRSEM_BOUNDED_BYPASS: src/core/bypass.h.
 *
 * The model asks only whether the bound of the head is over.  With BOUND, time is a process that
 * sets `late` sooner or later: the head of the queue has waited too long, and stays late.  Without
 * BOUND nothing is remembered, and every reading of the clock may say either.  That allows more
 * behaviors than really exist, but needs fewer states.
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

/* If x, which has joined or leaves, is the head, the new head has its own bound. */
inline its_own_bound(x)
{
    if
    :: queue[0] == x -> late = 0
    :: else
    fi
}
#define LATE late
#else
inline its_own_bound(x) { skip }
#define LATE false
#endif

#ifdef BYPASS
/* bypass.c: grants_directly.  Must the head be granted, and not be passed?  Sets `over`. */
inline grants_directly(head)
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

/* bypass.h: fs_bypass_acquire. */
inline fs_bypass_acquire(n)
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

/* bypass.h: fs_bypass_release.  The compare-and-swap is the last access. */
inline fs_bypass_release(n)
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

/* bypass.h: fs_bypass_passes; acquire.h: fs_take_or_say.  The result is in `ok`. */
inline fs_bypass_passes()
{
    if
    :: atomic { length > 0 && NEED(me) <= available ->
        grants_directly(queue[0]);
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
inline grants_directly(head) { over = true }
inline fs_bypass_acquire(n) { skip }
inline fs_bypass_release(n) { skip }
inline fs_bypass_passes() { skip }
#endif
