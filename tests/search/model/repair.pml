/* SPDX-License-Identifier: MIT */
/*
 * repair.pml - the semaphore between processes, any of which may die before any step: src/shared/.
 *
 * Processes take units, through the queue if they must wait, and give them back.  DEATHS of them
 * die, at any moment, even in a repair.  Some time later the kernel drops the lock on the byte of a
 * dead process; its stores stay.  Each store to the segment is a step of its own.  The semaphore is
 * one with undo: units belong to processes.
 *
 * As in fairsem.pml, an inline has the name of its C function, and a comment says where that is.
 *
 *     UNITS               the number of units
 *     NEED0 NEED1 NEED2   the number of units that each process takes
 *     ROUNDS              turns of each process
 *     DEATHS              how many of the three die
 *     BUG                 a seeded fault, see below
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
#define NEED(i) ((i) == 0 -> NEED0 : ((i) == 1 -> NEED1 : NEED2))

/* Seeded faults. */
#define NONE              0
#define NOT_REPAIRED      1 /* the lock is taken from the dead as if it had been free */
#define ENTRY_FREED_FIRST 2 /* a dead process's entry is freed before its place in the queue */
#define COUNTS_NO_GRANTS  3 /* a repair counts what is held, but not what was granted */
#define COUNT_TRUSTED     4 /* a repair does not count at all */
#define QUEUE_TRUSTED      5 /* a repair does not build the queue again */
#define ONLY_HEAD_LOOKS   6 /* only the head looks for the dead: no other waiter checks the head */
#define NEVER_LOOKS       7 /* a waiter never looks for the dead */
#define LOCK_OF_LIVING    8 /* the lock is taken from a living process */
#ifndef BUG
#define BUG NONE
#endif

/* ---- The segment ---- */

#define NOBODY 0                /* in place of a process, which is 1 + its number */
#define FREE    0
#define WAITING 1
#define GRANTED 2

byte lock;                      /* NOBODY, or its owner */
bit  unfinished;
byte available;                 /* a cache */
bit  used[N];                   /* the table of processes: in use, */
byte has[N];                    /* and the units that each holds */
byte state[N];                  /* the slots: each process has one, */
byte seq[N];                    /* with its number in order of arrival */
bit  in_queue[N];                /* a cache: the queue, in order of seq */
byte next_seq;
byte redo_slot;                 /* NOBODY, or the process that receives its units */
byte redo_has;

/* ---- The kernel ---- */

bit killed[N];                  /* this process takes no more steps */
bit byte_locked[N];             /* its lock on its byte */
byte deaths;

#define ALIVE(i) byte_locked[i]

/* ---- Ghosts ---- */

bit I1 = 1, R2 = 1, ALONE = 1;  /* names for what pan prints */
#define HOLDS(name, condition) assert((condition) || !name)

byte owners;                    /* the living processes that believe they have the lock */

#define HEAD_BEFORE(i, k) (in_queue[k] && seq[k] < seq[i])
#define IS_HEAD(i) (in_queue[i] && !HEAD_BEFORE(i, 0) && !HEAD_BEFORE(i, 1) && !HEAD_BEFORE(i, 2))
#define HEAD (IS_HEAD(0) -> 1 : (IS_HEAD(1) -> 2 : (IS_HEAD(2) -> 3 : NOBODY)))

#define GRANTED_TO(i) (state[i] == GRANTED -> NEED(i) : 0)
#define HELD_BY(i)    (used[i] -> has[i] : 0)
#define TAKEN         (HELD_BY(0) + HELD_BY(1) + HELD_BY(2) \
                       + GRANTED_TO(0) + GRANTED_TO(1) + GRANTED_TO(2))
#define ORPHAN(i)     (state[i] != FREE && !used[i])    /* no process will ever find this death */

/* ---- change.c ---- */

/* shared/change.c: fs_shared_redo */
inline fs_shared_redo()
{
    if
    :: redo_slot == NOBODY
    :: else ->
        has[redo_slot - 1] = redo_has;
        state[redo_slot - 1] = FREE;
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

/* ---- repair.c ---- */

/* shared/repair.c: fs_shared_bury */
inline fs_shared_bury(d)
{
    unfinished = 1;
    if
    :: BUG == ENTRY_FREED_FIRST -> used[d] = 0
    :: else
    fi;
    if
    :: state[d] != FREE -> state[d] = FREE
    :: else
    fi;
    has[d] = 0;
    used[d] = 0
}

/* shared/repair.c: find_dead */
#define DEAD(i) (used[i] && !ALIVE(i))
#define A_DEAD  (DEAD(0) -> 1 : (DEAD(1) -> 2 : (DEAD(2) -> 3 : NOBODY)))

/* shared/repair.c: queue_up_anew */
inline queue_up_anew()
{
    i = 0;
    do
    :: i < N -> in_queue[i] = 0; i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < N -> in_queue[i] = (state[i] == WAITING); i++
    :: else -> break
    od
}

/* shared/repair.c: count_anew */
inline count_anew()
{
    available = UNITS - HELD_BY(0) - HELD_BY(1) - HELD_BY(2) -
                (BUG != COUNTS_NO_GRANTS -> GRANTED_TO(0) + GRANTED_TO(1) + GRANTED_TO(2) : 0)
}

/* shared/repair.c: fs_shared_repair */
inline fs_shared_repair()
{
    unfinished = 1;
    fs_shared_redo();
    dead = A_DEAD;
    do
    :: dead != NOBODY -> fs_shared_bury((dead - 1)); dead = A_DEAD
    :: else -> break
    od;
    if
    :: BUG != QUEUE_TRUSTED -> queue_up_anew()
    :: else
    fi;
    if
    :: BUG == COUNT_TRUSTED -> unfinished = 0
    :: else -> count_anew(); unfinished = 0
    fi
}

/* shared/repair.c: fs_shared_inspect */
inline fs_shared_inspect()
{
    if
    :: A_DEAD != NOBODY -> fs_shared_repair()
    :: else
    fi
}

/* ---- The section ---- */

/* shared/lock.c: fs_shared_lock.  shared/shared_section.c: fs_section_begin */
inline fs_section_begin()
{
    do
    :: atomic { lock == NOBODY -> lock = me + 1; owners++; from_dead = 0; break }
    :: atomic { lock != NOBODY && (!ALIVE(lock - 1) || BUG == LOCK_OF_LIVING) ->
                lock = me + 1; owners++; from_dead = 1; break }
    od;
    HOLDS(ALONE, owners == 1);
    if
    :: from_dead && BUG != NOT_REPAIRED -> unfinished = 1
    :: else
    fi;
    if
    :: unfinished -> fs_shared_repair()
    :: else
    fi
}

/* shared/shared_section.c: fs_section_grant */
inline fs_section_grant()
{
    do
    :: HEAD == NOBODY -> break
    :: HEAD != NOBODY ->
        h = HEAD - 1;
        if
        :: NEED(h) > available -> break
        :: else
        fi;
        if
        :: !ALIVE(h) -> fs_shared_repair()
        :: else ->
            in_queue[h] = 0;
            available = available - NEED(h);
            state[h] = GRANTED
        fi
    od
}

/* shared/shared_section.c: fs_section_end */
inline fs_section_end()
{
    fs_section_grant();
    HOLDS(I1, available + TAKEN == UNITS);
    HOLDS(R2, !ORPHAN(0) && !ORPHAN(1) && !ORPHAN(2));
    atomic { lock = NOBODY; owners-- }
}

/* ---- shared_wait.c ---- */

#define HEAD_IS_DEAD (BUG != ONLY_HEAD_LOOKS && HEAD != NOBODY && !ALIVE(HEAD - 1))

#define IS_TO_BE_SEEN ((HEAD == me + 1 && A_DEAD != NOBODY) || HEAD_IS_DEAD || unfinished \
                       || (lock != NOBODY && !ALIVE(lock - 1)))

/* shared/shared_wait.c: come_and_leave, inspect */
inline wait_in_queue()
{
    do
    :: state[me] == GRANTED ->
        fs_section_begin();
        if
        :: state[me] == GRANTED -> fs_shared_receive(); fs_section_end(); break
        :: else -> fs_section_end()
        fi
    /* Every 100 ms.  Here only if there is something to find, or the search would have no end. */
    :: BUG != NEVER_LOOKS && state[me] != GRANTED && IS_TO_BE_SEEN ->
        fs_section_begin();
        if
        :: HEAD == me + 1 || HEAD_IS_DEAD -> fs_shared_inspect()
        :: else
        fi;
        fs_section_end()
    od
}

/* shared/shared.c: take_or_join */
inline acquire()
{
    fs_section_begin();
    if
    :: HEAD != NOBODY || NEED(me) > available -> fs_shared_inspect()
    :: else
    fi;
    if
    :: HEAD == NOBODY && NEED(me) <= available ->
        has[me] = has[me] + NEED(me);
        available = available - NEED(me);
        fs_section_end()
    :: else ->
        seq[me] = next_seq;
        next_seq++;
        state[me] = WAITING;
        in_queue[me] = 1;
        fs_section_end();
        wait_in_queue()
    fi
}

/* shared/change.c: fs_shared_give_back */
inline release()
{
    fs_section_begin();
    has[me] = has[me] - NEED(me);
    available = available + NEED(me);
    fs_section_end()
}

proctype process(byte me)
{
    byte i, h, dead, round;
    bit from_dead;

    {
        do
        :: round < ROUNDS -> acquire(); release(); round++
        :: else -> break
        od
    } unless { killed[me] };
end:
    if
    /* The kernel notices, or has noticed. */
    :: killed[me] ->
        atomic {
            if
            :: lock == me + 1 -> owners--
            :: else
            fi;
            byte_locked[me] = 0
        }
    fi
}

/* A process that has done all its turns lives on, and may die later. */
proctype killer()
{
    byte i;

    do
    :: deaths < DEATHS ->
        if
        :: i = 0
        :: i = 1
        :: i = 2
        :: break
        fi;
        if
        :: !killed[i] -> atomic { killed[i] = 1; deaths++ }
        :: else
        fi
    :: else -> break
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
