/* SPDX-License-Identifier: MIT */
/*
 * ghosts.pml - variables that the protocol never reads, and the assertions about them.
 */

/* Names for what pan prints.  They are always 1, and not part of a state. */
hidden byte I1 = 1, I2 = 1, I3 = 1, I4 = 1, I5 = 1, I6 = 1, I8 = 1;
hidden byte TRUTH = 1, TOKENS_WORD = 1;
#define HOLDS(name, condition) assert((condition) || !name)

byte has[N + 2];        /* units that were debited for a thread and that it has not given back */
byte held;              /* units that threads know to be theirs */
bit  in_hands;          /* I3: set from fs_section_lock() until the word is given back */
byte before[N];         /* I6: a set, bit i for thread i */
bit  alive[N];          /* I8 */
bit  exists = 1;        /* I8 */

#ifdef AGING
#define GHOST_OLD(i) old[i]
#else
#define GHOST_OLD(i) false
#endif

/* x joins: note which waiters it must not pass, and which must not pass it. */
inline ghost_join(x)
{
    i = 0;
    do
    :: i < N ->
        if
        :: i != x && IN_QUEUE(i) && (PRIORITY(i) <= PRIORITY(x) || GHOST_OLD(i)) ->
            before[x] = before[x] | (1 << i)
        :: i != x && IN_QUEUE(i) && PRIORITY(i) > PRIORITY(x) && !GHOST_OLD(i) ->
            before[i] = before[i] | (1 << x)
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

/* The oldest becomes old: none may pass it any more, and it passes all. */
inline ghost_grows_old(x)
{
    before[0] = before[0] | (IN_QUEUE(0) << x);
    before[1] = before[1] | (IN_QUEUE(1) << x);
    before[2] = before[2] | (IN_QUEUE(2) << x);
    before[x] = 0
}

inline ghost_leave(x)
{
    before[0] = before[0] & ~(1 << x);
    before[1] = before[1] & ~(1 << x);
    before[2] = before[2] & ~(1 << x);
    before[x] = 0
}

/* An acquire of thread `me` returns: its result must say what it got. */
inline check_result(success)
{
    HOLDS(TRUTH, success == (has[me] != 0))
}
