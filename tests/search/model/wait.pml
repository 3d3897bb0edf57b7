/* SPDX-License-Identifier: MIT */
/*
 * wait.pml - completing a waiter, sleeping, aborting a wait, tokens: src/core/wait.c, the parkers,
 * token.c.
 *
 * Time is a choice: wherever a thread with a deadline reads the clock, the deadline may have
 * passed, and its sleep may end.  pthread_cancel is a choice at every cancellation point.  A
 * signal that interrupts a wait is a timeout under another name.
 *
 * With ON_WORD threads sleep as in park_futex.c, otherwise as in park_cond.c.
 */
bit permit[N];          /* the parker's permit: a wake that is remembered */
byte noted[N];          /* how many processes have it in their wake queues */
bit asleep[N];          /* ON_WORD: it sleeps in the kernel; else it has made its last check */

bit  t_mutex;           /* the token's */
bit  t_reason;
byte t_list;            /* the waits that use it, as a set */
bit  t_canceled;        /* ghost: the cancel has returned */

#define BY_ITSELF(why) (why == EXPIRED || why == ABANDONED)

/* wake_queue.h: fs_wake_queue_add.  `wakes` is the wake queue of this process, a set. */
inline fs_wake_queue_add(x)
{
    HOLDS(I8, alive[x]);
    noted[x] = noted[x] + ((wakes >> x) & 1 -> 0 : 1);
    wakes = wakes | (1 << x)
}

/* Its parker says that the wake has been made; a word says nothing. */
#ifdef ON_WORD
#define WOKEN_ALREADY(x) false
#else
#define WOKEN_ALREADY(x) (state[x] == WOKEN && noted[x] == 0 && BUG != TOUCHES_GRANTED)
#endif

/* wait.c: complete_thread.  For a thread that is awake, one compare-and-swap
 * does it. */
inline complete(x, why)
{
    if
    :: atomic { BY_ITSELF(why) || state[x] == NOT_JOINED -> HOLDS(I8, alive[x]); state[x] = why }
    :: atomic {
        !BY_ITSELF(why) && state[x] == QUEUED && BUG != COMPLETED_BY_STORE ->
        HOLDS(I8, alive[x]);
        state[x] = why
       }
    :: !BY_ITSELF(why) && state[x] == QUEUED && BUG == COMPLETED_BY_STORE -> state[x] = why
    :: atomic {         /* has_been_woken */
        !BY_ITSELF(why) && WOKEN_ALREADY(x) -> HOLDS(I8, alive[x]); state[x] = why
       }
    :: !BY_ITSELF(why) && ASLEEP(x) && BUG == TOUCHES_GRANTED ->
        state[x] = why;
        fs_wake_queue_add(x)
    :: !BY_ITSELF(why) && ASLEEP(x) && !WOKEN_ALREADY(x) && BUG != TOUCHES_GRANTED ->
        d_step { fs_wake_queue_add(x); state[x] = why }
    fi
}

/* wake_queue.c: fs_wake_queue_run.  In any order; no lock held.  The waiter may be gone: this uses
 * only its parker, which is immortal, or the address of its word. */
inline fs_wake_queue_run()
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
            permit[w] = 1;
#endif
            noted[w]--;
            wakes = wakes & ~(1 << w);
            w = 0
        }
    :: else -> break
    od
}

/* queue.c: fs_wake_next, fs_plan_awake.  The source learns whether to try; the model chooses. */
#if defined(BYPASS) || defined(SLEEPS_AT_ONCE)
inline fs_wake_next() { skip }
inline fs_plan_awake() { skip }
#else
/* By a waiter that has joined, of one near the head. */
inline fs_plan_awake()
{
    if
    :: atomic { length > 1 && state[queue[0]] == PARKED -> complete_woken(queue[0]) }
    :: atomic { length > 2 && state[queue[1]] == PARKED -> complete_woken(queue[1]) }
    :: true
    fi
}

inline fs_wake_next()
{
    if
    :: atomic { granted && length > 0 && state[queue[0]] == PARKED -> complete_woken(queue[0]) }
    :: true
    fi
}
#endif

/* bypass.c: fs_bypass_wakes. */
inline fs_bypass_wakes(x)
{
    if
    :: d_step { BUG != OPENS_SILENTLY && state[x] == PARKED -> complete_woken(x) }
    :: else
    fi
}

/* wait.c: complete_thread.  Of a waiter that sleeps, with WOKEN. */
inline complete_woken(x)
{
    if
    :: BUG == WOKEN_BUT_ASLEEP
    :: else -> fs_wake_queue_add(x)
    fi;
    state[x] = WOKEN
}

/* wait.c: fs_abort_request.  Abort the wait of x, by its own thread or by the token's canceler.
 * The state is in `st` afterwards. */
inline fs_abort_request(x, why)
{
    fs_section_lock();
    HOLDS(I8, alive[x]);
    st = state[x];
    if
    :: IN_QUEUE(x) ->
        st = why;
        fs_leave(x, why);
        if
        :: why == ABANDONED && BUG == ABANDON_MAKES_UNITS -> available = available + NEED(x)
        :: else
        fi
    :: st == NOT_JOINED && BUG != CANCEL_SKIPS_COMING ->
        st = why;
        complete(x, why)
    :: st == GRANTED && why == ABANDONED && BUG != ABANDONS_UNITS ->
        d_step { available = available + NEED(x); has[x] = 0 }      /* fs_regain */
    :: else ->
        if
        :: why == EXPIRED && BUG == EXPIRED_AND_GRANTED -> st = EXPIRED
        :: else
        fi
    fi;
    if
    :: BUG == NO_CASCADE -> give_word_back_and_unlock()
    :: else -> fs_section_unlock()
    fi
}

/* wait.c: abandon.  The thread is canceled in its park; it ends without its units. */
inline abandon()
{
    fs_abort_request(me, ABANDONED);
    fs_token_detach();
    fs_wake_queue_run();
    st = ABANDONED;
    goto canceled
}

/* When a park may end although no process has woken it. */
#ifdef SPURIOUS
#define FOR_NO_REASON(x) true
#else
#define FOR_NO_REASON(x) DEADLINE(x)
#endif

#ifdef ON_WORD
/* park_futex.c: fs_park_on_word.  The kernel compares the word and sleeps in one step. */
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
#define LAST_LOAD skip
#else
/* park_cond.c: fs_park_on_cond.  Every return consumes the permit, whatever ended the sleep. */
inline fs_park()
{
    if
    :: BUG == WAKE_FORGOTTEN -> permit[me] = 0
    :: else
    fi;
    if
    :: atomic { permit[me] || FOR_NO_REASON(me) -> permit[me] = 0; asleep[me] = 0 }
    :: CANCELABLE(me) -> asleep[me] = 0; abandon()
    fi;
    d_step { st = state[me]; asleep[me] = st == PARKED }
}
#define LAST_LOAD asleep[me] = 1
#endif

/* wait.c: fall_asleep.  Spinning is the same, only later. */
inline fall_asleep()
{
    if
    :: atomic { state[me] == QUEUED ->
        state[me] = PARKED;
        st = PARKED;
        LAST_LOAD
       }
    :: atomic { state[me] != QUEUED -> st = state[me] }
    fi
}

/* wait.c: come_to_claim. */
#ifdef BYPASS
inline come_to_claim()
{
    if
    :: BUG == NO_CLAIM
    :: else ->
        fs_section_lock();
        fs_section_unlock();
        fs_wake_queue_run()
    fi
}
#else
inline come_to_claim() { skip }
#endif

/* wait.c: fs_sleep, state_when_awake.  Sleep until the waiter has left the queue. */
inline fs_sleep()
{
    fall_asleep();
    do
    :: st == PARKED && DEADLINE(me) ->
        asleep[me] = 0;
        fs_abort_request(me, EXPIRED);
        fs_wake_queue_run();
        break
    :: st == PARKED ->
        fs_park();
        if
        :: BUG == WAKE_IS_GRANT -> st = GRANTED
        :: else
        fi
    :: st == QUEUED ->
        come_to_claim();
        fall_asleep()
    :: st == WOKEN ->
        d_step { state[me] = (state[me] == WOKEN -> QUEUED : state[me]); st = state[me] }
    :: st != PARKED && st != QUEUED && st != WOKEN -> break
    od
}

/* token.c: fs_token_attach.  Under the token's mutex from beginning to end. */
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

/* token.c: fs_token_detach.  A canceled wait is no longer on the list. */
inline fs_token_detach()
{
    if
    :: TOKEN(me) && state[me] != CANCELED && BUG != NOT_DETACHED ->
        atomic { t_mutex == 0 -> t_list = t_list & ~(1 << me) }
    :: else
    fi
}

/* token.c: fairsem_token_cancel, cancel_all.  In any order; the source takes the newest
 * first, and lists a wait that has ended until it detaches, for fairsem_token_destroy. */
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
        fs_abort_request(x, CANCELED);
        x = 0;
        st = NOT_JOINED
    :: else -> break
    od;
    t_canceled = 1;
    t_mutex = 0;
    fs_wake_queue_run()
}
