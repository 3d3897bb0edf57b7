/* SPDX-License-Identifier: MIT */
/*
 * age.pml - attr.aging_ns: the oldest request is the head once it has waited for so long.
 *
 * A process makes requests due at any moment, as time does, the oldest first.  That is noted in the
 * next section.  (That the thread of such a request also looks by itself is left out: what it finds
 * is a section like others.)
 */
#ifdef AGING

byte older[N];          /* those in the queue that came before this one: a set */
bit  due[N];            /* it has waited for so long */
bit  old[N];            /* ... and that was noted */

#define IS_OLD(i) (old[i] && BUG != NEWCOMERS_PASS_OLD)
#define NOTE_AGE  fs_age_note();
#define AFTER_LOCK ; fs_age_note()
#define AGE_JOINS(x)  age_joins(x);
#define AGE_LEAVES(x) age_leaves(x);

inline age_joins(x)
{
    older[x] = (IN_QUEUE(0) << 0) | (IN_QUEUE(1) << 1) | (IN_QUEUE(2) << 2)
}

inline age_leaves(x)
{
    older[0] = older[0] & ~(1 << x);
    older[1] = older[1] & ~(1 << x);
    older[2] = older[2] & ~(1 << x);
    older[x] = 0;
    due[x] = 0;
    old[x] = 0
}

/* age.h: fs_age_note.  Where the oldest is in the queue, `i`; who it is, `at`. */
inline fs_age_note()
{
    d_step {
        i = 0;
        do
        :: i < length && older[queue[i]] != 0 -> i++
        :: else -> break
        od;
        if
        :: i < length && due[queue[i]] && !old[queue[i]] && BUG != AGE_IGNORED ->
            at = queue[i];
            old[at] = 1;
            ghost_grows_old(at);
            do
            :: i > 0 -> queue[i] = queue[i - 1]; i--
            :: else -> break
            od;
            queue[0] = at
        :: else
        fi;
        i = 0;
        at = 0
    }
}

#else
#define IS_OLD(i) false
#define NOTE_AGE
#define AFTER_LOCK
#define AGE_JOINS(x)
#define AGE_LEAVES(x)
#endif
