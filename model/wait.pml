/* SPDX-License-Identifier: MIT */
/*
 * wait.pml - being told, sleeping, giving up, tokens: src/wait.c, the parkers, token.c.
 *
 * Time is a choice: wherever a thread with a deadline looks at the clock it may be late, and
 * its sleep may end.  So is pthread_cancel, wherever it is a cancellation point.  A signal
 * that interrupts is an expiry under another name.
 *
 * With ON_WORD threads sleep as in park_futex.c, else as in park_cond.c.
 */
bit token[N];           /* the parker's: a wake that is remembered */
byte noted[N];          /* how many have noted it and will wake it */
bit asleep[N];          /* ON_WORD: the kernel has it; else it has had its last look */

bit  t_mutex;           /* the token's */
bit  t_reason;
byte t_list;            /* the waits that carry it, a set */
bit  t_canceled;        /* ghost: the cancel has returned */

#define BY_ITSELF(why) (why == EXPIRED || why == ABANDONED)

/* park_cond.c: fs_wake_later; park_futex.c: fs_wake_word_later.  `wakes` is the aftermath's. */
inline fs_wake_later(x)
{
    HOLDS(I8, alive[x]);
    noted[x] = noted[x] + ((wakes >> x) & 1 -> 0 : 1);
    wakes = wakes | (1 << x)
}

/* wait.c: told_awake and tell_on_parker or tell_on_word.  One compare-and-swap tells a thread
 * that is awake. */
inline tell(x, why)
{
    if
    :: atomic { BY_ITSELF(why) || state[x] == IDLE -> HOLDS(I8, alive[x]); state[x] = why }
    :: atomic {
        !BY_ITSELF(why) && state[x] == QUEUED && BUG != TOLD_BY_STORE ->
        HOLDS(I8, alive[x]);
        state[x] = why
       }
    :: !BY_ITSELF(why) && state[x] == QUEUED && BUG == TOLD_BY_STORE -> state[x] = why
    :: !BY_ITSELF(why) && ASLEEP(x) && BUG == TOUCHES_GRANTED ->
        state[x] = why;
        fs_wake_later(x)
    :: !BY_ITSELF(why) && ASLEEP(x) && BUG != TOUCHES_GRANTED ->
        d_step { fs_wake_later(x); state[x] = why }
    fi
}

/* wait.c: fs_wake_all, in any order; no lock held.  The waiter may be gone: only its parker,
 * which is immortal, or the address of its word is touched. */
inline fs_wake_all()
{
    do
    :: wakes != 0 ->
        atomic {
            if
            :: wakes & 1 -> w = 0
            :: wakes & 2 -> w = 1
            :: wakes & 4 -> w = 2
            fi;
#ifdef ON_WORD
            asleep[w] = 0;
#else
            token[w] = 1;
#endif
            noted[w]--;
            wakes = wakes & ~(1 << w);
            w = 0
        }
    :: else -> break
    od
}

/* awake.c: fs_awake_alert; whether it is tried is for the lesson to know: so, perhaps. */
#if defined(BYPASS) || defined(SLEEPS_AT_ONCE)
inline fs_awake_alert() { skip }
#else
inline fs_awake_alert()
{
    if
    :: atomic { granted && length > 0 && state[line[0]] == PARKED -> alert(line[0]) }
    :: true
    fi
}
#endif

/* awake.c: fs_awake_call. */
inline fs_awake_call(x)
{
    if
    :: d_step { BUG != CALLS_NOBODY && state[x] == PARKED -> alert(x) }
    :: else
    fi
}

inline alert(x)
{
    if
    :: BUG == ALERTS_SILENTLY
    :: else -> fs_wake_later(x)
    fi;
    state[x] = ALERTED
}

/* semaphore.c: give_up_acquire.  Of x, by its own thread or by the token's canceller; the
 * state it leaves behind in `st`. */
inline give_up_acquire(x, why)
{
    fs_lock_line();
    HOLDS(I8, alive[x]);
    st = state[x];
    if
    :: IN_LINE(x) ->
        st = why;
        fs_leave(x, why);
        if
        :: why == ABANDONED && BUG == ABANDON_MAKES_UNITS -> available = available + NEED(x)
        :: else
        fi
    :: st == IDLE && BUG != CANCEL_SKIPS_IDLE ->
        st = why;
        tell(x, why)
    :: st == GRANTED && why == ABANDONED && BUG != ABANDONS_UNITS ->
        d_step { available = available + NEED(x); has[x] = 0 }      /* fs_give_back */
    :: else ->
        if
        :: why == EXPIRED && BUG == EXPIRED_AND_GRANTED -> st = EXPIRED
        :: else
        fi
    fi;
    if
    :: BUG == NO_CASCADE -> give_word_back_and_unlock()
    :: else -> fs_serve_and_unlock()
    fi
}

/* The thread is canceled in its park; wait.c: abandon.  It ends without its units. */
inline abandon()
{
    give_up_acquire(me, ABANDONED);
    fs_wake_all();
    fs_token_detach();
    st = ABANDONED;
    goto canceled
}

/* Why a park may end that nobody has woken. */
#ifdef SPURIOUS
#define FOR_NO_REASON(x) true
#else
#define FOR_NO_REASON(x) DEADLINE(x)
#endif

#ifdef ON_WORD
/* park_futex.c: fs_futex_park.  The kernel compares the word and sleeps in one step. */
inline fs_park()
{
    d_step { asleep[me] = (state[me] == PARKED || BUG == SLEEPS_BLINDLY) };
    if
    :: !asleep[me]
    :: FOR_NO_REASON(me) -> asleep[me] = 0
    :: CANCELABLE(me) -> asleep[me] = 0; abandon()
    fi;
    st = state[me]
}
#define LAST_LOOK skip
#else
/* park_cond.c: fs_park.  Every return uses the token up, whatever ended the sleep. */
inline fs_park()
{
    if
    :: BUG == WAKE_FORGOTTEN -> token[me] = 0
    :: else
    fi;
    if
    :: atomic { token[me] || FOR_NO_REASON(me) -> token[me] = 0; asleep[me] = 0 }
    :: CANCELABLE(me) -> asleep[me] = 0; abandon()
    fi;
    d_step { st = state[me]; asleep[me] = st == PARKED }
}
#define LAST_LOOK asleep[me] = 1
#endif

/* wait.c: fall_asleep.  To spin is to do this later. */
inline fall_asleep()
{
    if
    :: atomic { state[me] == QUEUED ->
        state[me] = PARKED;
        st = PARKED;
        LAST_LOOK
       }
    :: atomic { state[me] != QUEUED -> st = state[me] }
    fi
}

/* wait.c: claim. */
#ifdef BYPASS
inline claim()
{
    if
    :: BUG == NO_CLAIM
    :: else ->
        fs_lock_line();
        fs_serve_and_unlock();
        fs_wake_all()
    fi
}
#else
inline claim() { skip }
#endif

/* wait.c: fs_sleep.  Sleep until the waiter has left the line. */
inline fs_sleep()
{
    fall_asleep();
    do
    :: st == PARKED && DEADLINE(me) ->
        asleep[me] = 0;
        give_up_acquire(me, EXPIRED);
        fs_wake_all();
        break
    :: st == PARKED ->
        fs_park();
        if
        :: BUG == WAKE_IS_GRANT -> st = GRANTED
        :: else
        fi
    :: st == QUEUED ->
        claim();
        fall_asleep()
    :: st == ALERTED ->
        d_step { state[me] = (state[me] == ALERTED -> QUEUED : state[me]); st = state[me] }
    :: st != PARKED && st != QUEUED && st != ALERTED -> break
    od
}

/* token.c: fs_token_attach, under the token's mutex from beginning to end. */
inline fs_token_attach()
{
    if
    :: TOKEN(me) ->
        atomic {
            t_mutex == 0 ->
            ok = !t_reason;
            t_list = (ok -> t_list | (1 << me) : t_list)
        }
    :: else -> ok = true
    fi
}

/* token.c: fs_token_detach.  Who has been canceled need not ask: he is off the list. */
inline fs_token_detach()
{
    if
    :: TOKEN(me) && state[me] != CANCELED && BUG != NOT_DETACHED ->
        atomic { t_mutex == 0 -> t_list = t_list & ~(1 << me) }
    :: else
    fi
}

/* token.c: fairsem_token_cancel. */
inline fairsem_token_cancel()
{
    atomic { t_mutex == 0 -> t_mutex = 1; t_reason = 1 };
    do
    :: t_list != 0 ->
        atomic {
            if
            :: t_list & 1 -> x = 0
            :: t_list & 2 -> x = 1
            :: t_list & 4 -> x = 2
            fi;
            t_list = t_list & ~(1 << x)
        };
        give_up_acquire(x, CANCELED);
        x = 0;
        st = IDLE
    :: else -> break
    od;
    t_canceled = 1;
    t_mutex = 0;
    fs_wake_all()
}
