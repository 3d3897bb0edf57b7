/* SPDX-License-Identifier: MIT */
/*
 * repair.pml - the semaphore between processes, any of which may die before any step: src/shared/.
 *
 * Processes take units, through the queue if they must wait, and give them back.  DEATHS of them
 * die, at any moment, even in a repair.  Some time later the kernel drops the lock on the byte of a
 * dead process; its stores stay.  BIRTHS new processes take the entry of a dead one.  Each store to
 * the segment is a step of its own.  The semaphore is one with undo: units belong to processes.  A
 * process has one thread and one slot, which has the number of its entry.
 *
 * There is no clock.  A sleep may end whenever its end makes a difference.  The long sleep of one
 * that does not keep watch ends only if nobody can be relied on to keep watch, see LATE.  So if
 * somebody is not woken who must be, even though he would wake up by himself, late, that is a
 * deadlock here.
 *
 * As in fairsem.pml, an inline has the name of its C function, and a comment says where that is.
 *
 *     UNITS               the number of units
 *     NEED0 NEED1 NEED2   the number of units that each process takes
 *     ROUNDS              turns of each process
 *     DEATHS              how many processes die
 *     BIRTHS              how many more are born
 *     DEADLINES           how many waits time out
 *     HOLDS_LONG          units are given back only when nothing else can happen
 *     WATCH               how many keep watch; with three processes and 2, there are no others
 *     BUG                 a seeded fault, see below
 *
 * Not here: tokens, the order in which the lock is handed over, detaching, exec, changes of the
 * total.  A stopped process is one that takes its next step late.
 */
#define N 3

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
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef BIRTHS
#define BIRTHS 0
#endif
#ifndef DEADLINES
#define DEADLINES 0
#endif
#ifndef WATCH
#define WATCH 1
#endif
#define NEED(i) ((i) == 0 -> NEED0 : ((i) == 1 -> NEED1 : NEED2))

/* Seeded faults. */
#define NONE                0
#define NOT_REPAIRED        1 /* the lock is taken from the dead as if it had been free */
#define ENTRY_FREED_FIRST   2 /* a dead process's entry is freed before its place in the queue */
#define COUNTS_NO_GRANTS    3 /* a repair counts what is held, but not what was granted */
#define COUNT_TRUSTED       4 /* a repair does not count at all */
#define QUEUE_TRUSTED       5 /* a repair does not build the queue again */
#define LOCK_OF_LIVING      6 /* the lock is taken from a living process */
#define LOCK_OF_ENTRY       7 /* it does not tell its owner from the next process of that entry */
#define NEVER_LOOKS         8 /* a waiter never looks for the dead */
#define NEVER_LATE          9 /* only those who keep watch ever look for the dead */
#define HEAD_OVERLOOKED    10 /* a check is only for holders and the granted, not for the head */
#define LEAVER_OVERLOOKED  11 /* ... and not for those that died before they said `unsettled` */
#define NOT_CONFIRMED      12 /* whoever was found dead is dropped without another look */
#define WATCH_NOT_TOLD     13 /* one that kept watch leaves and does not wake those who do now */
#define REPAIR_TELLS_NONE  14 /* ... is dropped, and a repair does not wake them */
#define WAKE_ONLY_ONCE     15 /* nobody wakes the granted whose granter has died before the wake */
#define UNSETTLED_FIRST    16 /* a leaver says `unsettled` before it leaves its slot */
#define SETTLED_LAST       17 /* `unsettled` is cleared after the slots have been settled */
#define SETTLER_FORGOTTEN  18 /* a repair does not say `unsettled` again if it finds such slots */
#define GRANTED_BY_STORE   19 /* a grant overwrites what the slot's thread has stored meanwhile */
#define LEFT_AS_FREE       20 /* a leaver without the lock frees its slot */
#define BARGING            21 /* units are taken past the queue */
#ifndef BUG
#define BUG NONE
#endif

/* ---- The segment ---- */

#define NOBODY 0                /* in place of a process, which is 1 + its number */
#define FREE      0
#define WAITING   1
#define GRANTED   2
#define TO_UNLINK 3
#define TO_RETURN 4

byte lock;                      /* NOBODY, or its owner, */
byte lock_incarnation;          /* and which of the processes that had this entry */
bit  unfinished;
bit  unsettled;
byte available;                 /* a cache */
bit  used[N];                   /* the table of processes: in use, */
byte incarnation[N];
byte has[N];                    /* and the units that each holds */
byte state[N];                  /* the slots, */
byte seq[N];                    /* with their numbers in order of arrival; 0: FREE */
bit  in_queue[N];               /* a cache: the queue, in order of seq */
byte redo_slot;                 /* NOBODY, or the process that receives its units */
byte redo_has;

/* ---- The kernel ---- */

bit killed[N];                  /* this process takes no more steps */
bit byte_locked[N];             /* its lock on its byte */
byte deaths, births, deadlines;

#define ALIVE(i) byte_locked[i]

/* How each waits in the queue. */
#define AWAKE        0
#define LIES_DOWN    1          /* will sleep long */
#define LIES_DOWN_M  2          /* ... and has missed a wake-up that would have told it to watch */
#define SHORT        3          /* asleep; it keeps watch */
#define LONG         4
#define LONG_M       5          /* ... and has missed a wake-up */
byte sleep[N];

/* ---- Ghosts ---- */

bit I1 = 1, I2 = 1, R2 = 1, R3 = 1, ALONE = 1, ORDER = 1;   /* names for what pan prints */
#define HOLDS(name, condition) assert((condition) || !name)

bit  stuck;                     /* somebody waits whose units are free */
bit  paused;                    /* nobody is killed now */
byte owners;                    /* the living processes that believe they have the lock */
bit  member[N];                 /* the process that lives has moved in */

#define ANY(P)     (P(0) || P(1) || P(2))
#define SUM(P)     (P(0) + P(1) + P(2))
#define ANY2(P, i) (P(i, 0) || P(i, 1) || P(i, 2))
#define SUM2(P, i) (P(i, 0) + P(i, 1) + P(i, 2))
#define FIRST(P)   (P(0) -> 1 : (P(1) -> 2 : (P(2) -> 3 : NOBODY)))

#define AHEAD(i, k)  (in_queue[k] && seq[k] < seq[i])
#define BEHIND(i, k) (in_queue[k] && seq[k] > seq[i])
#define IS_HEAD(i)   (in_queue[i] && !ANY2(AHEAD, i))
#define HEAD         FIRST(IS_HEAD)

/* shared/shared_queue.c: fs_queue_keeps_watch, fs_queue_last_two */
#define KEEPS_WATCH(i) (SUM2(BEHIND, i) < WATCH)
#define LAST(i)        (in_queue[i] && KEEPS_WATCH(i))
#define THE_LAST       (LAST(0) + 2 * LAST(1) + 4 * LAST(2))    /* a set */

#define GRANTED_TO(i) ((state[i] == GRANTED || state[i] == TO_RETURN) -> NEED(i) : 0)
#define HELD_BY(i)    (used[i] -> has[i] : 0)
#define TAKEN         (SUM(HELD_BY) + SUM(GRANTED_TO))
#define ORPHAN(i)     (state[i] != FREE && !used[i])    /* no process will ever find this death */
#define WAITS(i)      (state[i] == WAITING && ALIVE(i) && member[i])
#define PASSED(i, k)  (WAITS(k) && seq[k] < seq[i])

/* It is the first of the living, and its units are free if those of the dead are. */
#define TAKEN_BY(i)   (member[i] -> HELD_BY(i) + GRANTED_TO(i) : 0)
#define STUCK(i)      (WAITS(i) && !ANY2(PASSED, i) && NEED(i) <= UNITS - SUM(TAKEN_BY))

/* What a process does next.  From TAKE to EVICT, it takes the lock. */
#define WAIT      0
#define TAKE      1
#define COME      2
#define CHECK     3
#define GIVE_BACK 4
#define EVICT     5
#define ATTACH    6
#define MOVE_IN   7
#define DONE      8

#define NEXT_TURN round++; why = (round < ROUNDS -> TAKE : DONE)

/* ---- change.c ---- */

/* shared/change.c: fs_shared_redo */
inline fs_shared_redo()
{
    if
    :: redo_slot == NOBODY
    :: else ->
        has[redo_slot - 1] = redo_has;
        fs_shared_free_slot((redo_slot - 1));
        redo_slot = NOBODY
    fi
}

/* shared/change.c: fs_shared_receive */
inline fs_shared_receive()
{
    redo_has = has[me] + NEED(me);
    redo_slot = me + 1;
    fs_shared_redo()
}

/* shared/change.c: fs_shared_free_slot */
inline fs_shared_free_slot(s)
{
    d_step { state[s] = FREE; seq[s] = 0 }
}

/* shared/change.c: fs_shared_return_grant */
inline fs_shared_return_grant(s)
{
    fs_shared_free_slot(s);
    available = available + NEED(s)
}

/* ---- Wake-ups ---- */

/* shared/kernel.c: fs_shared_wake.  A wake before the sleep is lost; so a grant is stored first. */
inline fs_shared_wake(s)
{
    if
    :: sleep[s] == LIES_DOWN -> sleep[s] = LIES_DOWN_M
    :: sleep[s] >= SHORT -> sleep[s] = AWAKE
    :: else
    fi
}

/* Whoever was to wake them is dead: for each that was not woken. */
inline miss(s)
{
    if
    :: sleep[s] == LIES_DOWN -> sleep[s] = LIES_DOWN_M
    :: sleep[s] == LONG -> sleep[s] = LONG_M
    :: else
    fi
}

/* ---- repair.c ---- */

/* shared/repair.c: fs_shared_bury */
inline fs_shared_bury(d)
{
    unfinished = 1;
    HOLDS(R3, !member[d]);
    if
    :: BUG == ENTRY_FREED_FIRST -> used[d] = 0
    :: else
    fi;
    if
    :: state[d] != FREE -> fs_shared_free_slot(d)
    :: else
    fi;
    has[d] = 0;
    used[d] = 0
}

/* shared/repair.c: bury_if_dead */
inline bury_if_dead(d, as_listed)
{
    if
    :: BUG == NOT_CONFIRMED || (used[d] && incarnation[d] == as_listed && !ALIVE(d)) ->
        fs_shared_bury(d)
    :: else
    fi
}

/* shared/repair.c: queue_up_anew */
inline queue_up_anew()
{
    d_step { in_queue[0] = 0; in_queue[1] = 0; in_queue[2] = 0; i = 0 }
    do
    :: i < N ->
        if
        :: state[i] >= TO_UNLINK && BUG != SETTLER_FORGOTTEN -> unsettled = 1
        :: else
        fi;
        if
        :: state[i] == WAITING || state[i] == TO_UNLINK -> in_queue[i] = 1
        :: else
        fi;
        i++
    :: else -> i = 0; break
    od
}

/* shared/repair.c: count_anew */
inline count_anew()
{
    available = UNITS - SUM(HELD_BY) - (BUG != COUNTS_NO_GRANTS -> SUM(GRANTED_TO) : 0)
}

/*
 * shared/repair.c: fs_shared_repair.  shared/shared_section.c: fs_shared_section_repair, wake_watch.  Those
 * who keep watch now are told after the unlock.  `one` is NOBODY, or a process to drop if it is dead.
 */
inline fs_shared_repair(one, the_listed)
{
    unfinished = 1;
    fs_shared_redo();
    if
    :: one != NOBODY -> bury_if_dead((one - 1), incarnation[one - 1]); one = NOBODY
    :: else
    fi;
    if
    :: the_listed ->
        i = 0;
        do
        :: i < N ->
            if
            :: listed[i] != 0 -> bury_if_dead(i, listed[i] - 1)
            :: else
            fi;
            listed[i] = 0;
            i++
        :: else -> break
        od
    :: else
    fi;
    if
    :: BUG != QUEUE_TRUSTED -> queue_up_anew()
    :: else
    fi;
    if
    :: BUG != COUNT_TRUSTED -> count_anew()
    :: else
    fi;
    d_step {
        unfinished = 0;
        if
        :: BUG != REPAIR_TELLS_NONE -> wakes = wakes | THE_LAST
        :: else
        fi
    }
}

/* ---- The section ---- */

/* shared/lock.c: judge */
#define ORPHANED (lock != NOBODY && (!ALIVE(lock - 1) || (BUG != LOCK_OF_ENTRY && \
                                     lock_incarnation != incarnation[lock - 1])))

/* shared/lock.c: fs_shared_lock, try_to_take */
#define CAN_LOCK (lock == NOBODY || ORPHANED || BUG == LOCK_OF_LIVING)

inline fs_shared_lock()
{
    d_step {
#ifdef HOLDS_LONG
        stuck = (why == GIVE_BACK && ANY(STUCK));
        HOLDS(I2, !stuck);
        paused = (why != GIVE_BACK && paused);
#endif
        dead = lock;
        lock = me + 1;
        lock_incarnation = incarnation[me];
        owners++;
        owns = 1
    }
    HOLDS(ALONE, owners == 1)
}

/* shared/shared_section.c: fs_shared_take_out */
inline fs_shared_take_out(s)
{
    atomic {
        watched = KEEPS_WATCH(s);
        in_queue[s] = 0;
        if
        :: watched && BUG != WATCH_NOT_TOLD -> wakes = wakes | THE_LAST
        :: else
        fi;
        watched = 0
    }
}

/* shared/shared_section.c: settle_slot */
inline settle_slot(s)
{
    if
    :: state[s] == TO_UNLINK -> fs_shared_take_out(s); fs_shared_free_slot(s)
    :: state[s] == TO_RETURN -> fs_shared_return_grant(s)
    :: else
    fi
}

/* shared/shared_section.c: settle */
inline settle()
{
    if
    :: BUG != SETTLED_LAST -> unsettled = 0
    :: else
    fi;
    i = 0;
    do
    :: i < N -> settle_slot(i); i++
    :: else -> i = 0; break
    od;
    if
    :: BUG == SETTLED_LAST -> unsettled = 0
    :: else
    fi
}

/* shared/shared_section.c: fs_shared_section_begin, open_up.  The lock has been taken. */
inline fs_shared_section_begin()
{
    if
    :: dead == NOBODY && !unfinished && !unsettled
    :: else ->
        if
        :: dead != NOBODY && BUG != NOT_REPAIRED -> unfinished = 1
        :: else
        fi;
        if
        :: unfinished -> fs_shared_repair(dead, 0)
        :: else -> dead = NOBODY
        fi;
        if
        :: unsettled -> settle()
        :: else
        fi
    fi
}

/* shared/shared_section.c: grant_head.  shared/change.c: fs_shared_grant_slot, commit_grant */
inline grant_head()
{
    in_queue[h] = 0;
    available = available - NEED(h);
    if
    :: atomic { state[h] == WAITING || BUG == GRANTED_BY_STORE ->
                HOLDS(ORDER, !ANY2(PASSED, h));
                state[h] = GRANTED; wakes = wakes | (1 << h) }
    :: else -> available = available + NEED(h); fs_shared_free_slot(h)
    fi
}

#define FITS (HEAD != NOBODY && (state[HEAD - 1] == TO_UNLINK || NEED(HEAD - 1) <= available))

/* shared/shared_section.c: fs_shared_section_grant, grant_or_drop_head */
inline fs_shared_section_grant()
{
    do
    :: atomic { !FITS -> HOLDS(I1, available + TAKEN == UNITS); HOLDS(R2, !ANY(ORPHAN)); break }
    :: atomic { FITS -> h = HEAD - 1 };
        if
        :: state[h] == TO_UNLINK -> settle_slot(h)
        :: state[h] != TO_UNLINK && !ALIVE(h) -> dead = h + 1; fs_shared_repair(dead, 0)
        /* It lives, or has joined a moment ago, and is not checked. */
        :: state[h] != TO_UNLINK -> grant_head()
        fi;
        h = 0
    od
}

/* shared/shared_section.c: fs_shared_section_end, wake_all.  The wakes come in any order. */
inline fs_shared_section_end()
{
    fs_shared_section_grant();
    atomic {
        d_step { lock = NOBODY; lock_incarnation = 0; owners--; owns = 0 }
        if
        :: wakes == 0 -> goto unlocked
        :: else
        fi
    }
    do
    :: atomic { wakes & 1 -> wakes = wakes - 1; fs_shared_wake(0) }
    :: atomic { wakes & 2 -> wakes = wakes - 2; fs_shared_wake(1) }
    :: atomic { wakes & 4 -> wakes = wakes - 4; fs_shared_wake(2) }
    :: wakes == 0 -> break
    od
}

/* ---- watch.c ---- */

/* shared/watch.c: find_dead, find_processes, find_in_slots, suspect_slot */
#define LEFT_OR_GRANTED(i) (state[i] == GRANTED || \
                            (state[i] >= TO_UNLINK && BUG != LEAVER_OVERLOOKED))
#define OF_INTEREST(i) (used[i] && (has[i] != 0 || LEFT_OR_GRANTED(i) || \
                                    (IS_HEAD(i) && BUG != HEAD_OVERLOOKED)))
#define SEEMS_DEAD(i)  (OF_INTEREST(i) && !ALIVE(i))

/* shared/watch.c: needs_the_lock */
#define NEEDS_THE_LOCK (unfinished || unsettled || ORPHANED)

/* shared/watch.c: fs_watch_wake_granted */
#define OVERDUE(i) (state[i] == GRANTED && sleep[i] >= SHORT && BUG != WAKE_ONLY_ONCE)
inline fs_watch_wake_granted()
{
    if
    :: OVERDUE(0) -> fs_shared_wake(0)
    :: else
    fi;
    if
    :: OVERDUE(1) -> fs_shared_wake(1)
    :: else
    fi;
    if
    :: OVERDUE(2) -> fs_shared_wake(2)
    :: else
    fi
}

#define LIST(i) listed[i] = (SEEMS_DEAD(i) -> 1 + incarnation[i] : 0)

/* shared/watch.c: fs_watch_check.  The list is made without the lock. */
inline fs_watch_check()
{
    d_step {
        LIST(0); LIST(1); LIST(2);
        why = ((listed[0] || listed[1] || listed[2] || NEEDS_THE_LOCK) -> CHECK : WAIT)
    }
}

/* ---- shared_wait.c ---- */

#define IS_TO_BE_SEEN (BUG != NEVER_LOOKS && (ANY(SEEMS_DEAD) || NEEDS_THE_LOCK || ANY(OVERDUE)))

/*
 * Who keeps watch?  The last in the queue do, except those that are dead or have left without the
 * lock, and those that do not know because the wake-up was missed.  If nobody is left, others look.
 */
#define QUEUES(i)    (state[i] == WAITING || state[i] == TO_UNLINK)
#define LATER(i, k)  (QUEUES(k) && seq[k] > seq[i])
#define RELIED_ON(i) (state[i] == WAITING && ALIVE(i) && SUM2(LATER, i) < WATCH \
                      && sleep[i] != LIES_DOWN_M && sleep[i] != LONG_M)
#define NAPS(i)      (ALIVE(i) && sleep[i] == SHORT)
#define LATE         (BUG != NEVER_LATE && !ANY(RELIED_ON))

/* shared/shared_wait.c: leave_without_lock */
inline leave_without_lock()
{
    if
    :: BUG == UNSETTLED_FIRST -> unsettled = 1
    :: else
    fi;
    d_step {
        if
        :: BUG == LEFT_AS_FREE -> state[me] = FREE; seq[me] = 0
        :: state[me] == WAITING && BUG != LEFT_AS_FREE -> state[me] = TO_UNLINK
        :: state[me] == GRANTED && BUG != LEFT_AS_FREE -> state[me] = TO_RETURN
        fi
    }
    d_step {
        unsettled = (BUG != UNSETTLED_FIRST || unsettled);
        expired = 0;
        NEXT_TURN
    }
}

/* shared/shared_wait.c: come_and_leave, leave_queue, leave_granted.  The lock is held. */
inline come_and_leave()
{
    if
    :: state[me] == GRANTED -> fs_shared_receive(); expired = 0; why = GIVE_BACK
    :: state[me] == WAITING && expired ->
        fs_shared_take_out(me);
        fs_shared_free_slot(me);
        expired = 0;
        NEXT_TURN
    :: state[me] == WAITING && !expired -> why = WAIT
    fi
}

/* shared/shared_wait.c: sleep_and_check.  Fall asleep, or come for the lock. */
inline sleep_or_come()
{
    if
    :: state[me] == GRANTED || expired -> sleep[me] = AWAKE; why = COME
    :: state[me] == WAITING && !expired && sleep[me] == LIES_DOWN -> sleep[me] = LONG
    :: state[me] == WAITING && !expired && sleep[me] == LIES_DOWN_M -> sleep[me] = LONG_M
    :: state[me] == WAITING && !expired && sleep[me] == AWAKE ->
        sleep[me] = (KEEPS_WATCH(me) -> SHORT : LIES_DOWN)
    fi
}

/* When its sleep times out. */
#define ENDS_GRANTED \
    (state[me] == GRANTED && (sleep[me] == SHORT || (sleep[me] >= LONG && LATE && !ANY(NAPS))))
#define ENDS_WAITING \
    (state[me] == WAITING && \
     ((sleep[me] == SHORT && (IS_TO_BE_SEEN || !KEEPS_WATCH(me))) || \
      (sleep[me] >= LONG && LATE && (IS_TO_BE_SEEN || KEEPS_WATCH(me)))))

/* ---- shared.c ---- */

#define LARGER(a, b) ((a) > (b) -> (a) : (b))
#define NEXT_SEQ     (1 + LARGER(seq[0], LARGER(seq[1], seq[2])))

/* shared/shared.c: shared_take_or_join.  shared/change.c: fs_shared_take */
inline take_or_join()
{
    HOLDS(R3, used[me]);
    HOLDS(R2, state[me] == FREE);
    if
    :: (HEAD == NOBODY || BUG == BARGING) && NEED(me) <= available ->
        HOLDS(ORDER, !ANY(WAITS));
        has[me] = has[me] + NEED(me);
        available = available - NEED(me);
        why = GIVE_BACK
    :: else ->
        d_step { seq[me] = NEXT_SEQ; state[me] = WAITING }
        in_queue[me] = 1;
        why = WAIT
    fi
}

/*
 * In the scenes with HOLDS_LONG, only when nothing else can happen: then nobody may be waiting
 * whose units are free, or would be without the dead.
 */
#ifdef HOLDS_LONG
#define GIVES_BACK timeout
#else
#define GIVES_BACK true
#endif

/* shared/change.c: fs_shared_give_back */
inline fs_shared_give_back()
{
    HOLDS(R3, used[me]);
    has[me] = has[me] - NEED(me);
    available = available + NEED(me);
    NEXT_TURN
}

/* ---- attach.c ---- */

/* shared/attach.c: evict */
inline evict()
{
    if
    :: used[me] -> fs_shared_bury(me); fs_shared_repair(dead, 0)
    :: else
    fi;
    why = MOVE_IN
}

proctype process(byte me)
{
    byte i, h, dead, round, wakes, why, listed[N];
    bit owns, watched, expired;

    atomic { member[me] = 1; why = TAKE }
live:
    {
        do
        :: atomic { (why >= TAKE && why <= EVICT && CAN_LOCK &&
                     (why != GIVE_BACK || GIVES_BACK)) -> fs_shared_lock() };
            fs_shared_section_begin();
            if
            :: why == TAKE -> take_or_join()
            :: why == COME -> come_and_leave()
            :: why == CHECK && (listed[0] || listed[1] || listed[2]) ->
                fs_shared_repair(dead, 1);
                why = WAIT
            :: why == CHECK && !(listed[0] || listed[1] || listed[2]) -> why = WAIT
            :: why == GIVE_BACK -> fs_shared_give_back()
            :: why == EVICT -> evict()
            fi;
            fs_shared_section_end();
unlocked:   skip
        :: why == COME && expired && lock != NOBODY -> leave_without_lock()
        :: atomic { (why == WAIT || why == COME) && !expired && deadlines < DEADLINES &&
                    sleep[me] != LIES_DOWN && sleep[me] != LIES_DOWN_M ->
                    deadlines++; expired = 1; why = COME; sleep[me] = AWAKE }
        :: atomic { why == WAIT && sleep[me] < SHORT -> sleep_or_come() }
        :: atomic { why == WAIT && ENDS_GRANTED -> sleep[me] = AWAKE };
            fs_watch_wake_granted()
        :: atomic { why == WAIT && ENDS_WAITING -> sleep[me] = AWAKE };
            if
            :: BUG != NEVER_LOOKS -> fs_watch_wake_granted(); fs_watch_check()
            :: else
            fi
        /* shared/attach.c: attach, move_in.  shared/life.c: fs_shared_be_born */
        :: atomic { why == ATTACH ->
                    incarnation[me] = incarnation[me] + 1; why = (used[me] -> EVICT : MOVE_IN) }
        :: why == MOVE_IN ->
            has[me] = 0;
            d_step { used[me] = 1; member[me] = 1; why = TAKE }
        :: why == DONE -> break
        od
    } unless { killed[me] };
end:
    if
    /* The kernel notices, or has noticed. */
    :: killed[me] ->
        d_step {
            if
            :: (owns && unfinished) || wakes != 0 -> miss(0); miss(1); miss(2)
            :: else
            fi;
            owners = owners - owns;
            i = 0; h = 0; dead = 0; round = 0; wakes = 0; why = 0;
            listed[0] = 0; listed[1] = 0; listed[2] = 0;
            owns = 0; watched = 0; expired = 0;
            sleep[me] = AWAKE;
            member[me] = 0;
            byte_locked[me] = 0
        }
    fi;
end_dead:
    atomic { births < BIRTHS -> births++; killed[me] = 0; byte_locked[me] = 1; why = ATTACH }
    goto live
}

/*
 * A process that has done all its turns lives on, and may die later.  If the killer pauses, that is
 * for ever, or with HOLDS_LONG until something is given back.
 */
proctype killer()
{
end:
    do
    :: atomic { !paused && deaths < DEATHS && !killed[0] -> killed[0] = 1; deaths++ }
    :: atomic { !paused && deaths < DEATHS && !killed[1] -> killed[1] = 1; deaths++ }
    :: atomic { !paused && deaths < DEATHS && !killed[2] -> killed[2] = 1; deaths++ }
    :: atomic { !paused && deaths < DEATHS -> paused = 1 }
    od
}

init
{
    atomic {
        available = UNITS;
        used[0] = 1; used[1] = 1; used[2] = 1;
        byte_locked[0] = 1; byte_locked[1] = 1; byte_locked[2] = 1;
        run process(0); run process(1); run process(2); run killer()
    }
}
