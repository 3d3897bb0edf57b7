/* SPDX-License-Identifier: MIT */
/*
 * oracle.pml - what must be true, and how each of the invariants of semaphore_internal.h is
 * expressed.  Some are asserted where something happens, the rest is looked at in every state
 * there is.  The ghosts are in ghosts.pml.
 *
 *  I1  available + held = UNITS whenever the mutex is free; `has` is who holds them, by every
 *      debit and credit.  And what a call returns is what its thread has: TRUTH.
 *  I2  Nobody stands at the head of the line who fits, whenever the mutex is free; or else the
 *      line is OPEN, the head ALERTED or QUEUED, and awake or to be woken by somebody who has
 *      noted it.
 *  I3  The word has SLOW while the count is in somebody's hands, and while anybody is in
 *      line.  A fast path that writes a word which has SLOW breaks I1 or I6.  It has OPEN
 *      only while it is in nobody's hands and somebody is in line.
 *  I4  In line <=> QUEUED, PARKED or ALERTED, whenever the mutex is free; and who is taken
 *      out was in.
 *  I5  The debit is whole, and visible before the grant: at every moment what is available
 *      and what threads know to be theirs is at most UNITS.
 *  I6  `before` is who came before me with the same or a better priority, or came later with
 *      a better one, and is still in line: nobody, when I am granted.  It does not know how
 *      the line is kept.  A take by a fast path or a try finds no line, but for BYPASS: then
 *      the line is OPEN, or the bound of its head is not over.
 *  I7  is I2 again, at the end of the section that removed the head or added units.
 *  I8  `alive` is the waiter on its thread's stack, `exists` the semaphore: every touch of
 *      either asserts them.  That a waiter does not touch the semaphore when it has been told
 *      can be read in fs_sleep(); no user could tell.
 *
 *
 *  I9 is not expressed but tested: the scene with DESTROY finds grants in two sections.  I10
 *  is about arguments, of which there are none here.
 */
#define HELD_BY_ALL (has[0] + has[1] + has[2] + has[3] + has[4])
#define LISTED(i)   ((length > 0 && line[0] == i) || (length > 1 && line[1] == i) \
                     || (length > 2 && line[2] == i))
#define IS_FREE     (mutex == 0 && exists)

#define I1_HOLDS (AVAILABLE + HELD_BY_ALL == UNITS)
#define COMES(x) ((state[x] == QUEUED || state[x] == ALERTED) \
                  && (!asleep[x] || token[x] || noted[x] != 0))
#define I2_HOLDS (length == 0 || NEED(line[0]) > AVAILABLE || (word & OPEN && COMES(line[0])))
#define I3_HOLDS ((word & SLOW || (!in_hands && length == 0)) \
                  && (!(word & OPEN) || (!in_hands && (mutex != 0 || length > 0))))
#define I4_HOLDS (LISTED(0) == IN_LINE(0) && LISTED(1) == IN_LINE(1) && LISTED(2) == IN_LINE(2))
#define I5_HOLDS (AVAILABLE + held <= UNITS)

/* When a token's cancel has returned nobody who carries it stands in line. */
#define TOKEN_HOLDS (!t_canceled || !((IN_LINE(0) && TOKEN(0)) || (IN_LINE(1) && TOKEN(1)) \
                                      || (IN_LINE(2) && TOKEN(2))))

/* Looks at every state there is: whenever something is wrong it can take a step. */
proctype oracle()
{
end:
    if
    :: atomic { IS_FREE && !I1_HOLDS -> HOLDS(I1, I1_HOLDS) }
    :: atomic { IS_FREE && !I2_HOLDS -> HOLDS(I2, I2_HOLDS) }
    :: atomic { exists && !I3_HOLDS -> HOLDS(I3, I3_HOLDS) }
    :: atomic { IS_FREE && !I4_HOLDS -> HOLDS(I4, I4_HOLDS) }
    :: atomic { exists && !I5_HOLDS -> HOLDS(I5, I5_HOLDS) }
    :: atomic { IS_FREE && !TOKEN_HOLDS -> HOLDS(TOKENS_WORD, TOKEN_HOLDS) }
    fi
}
