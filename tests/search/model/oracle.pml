/* SPDX-License-Identifier: MIT */
/*
 * oracle.pml - what must be true, and how each invariant of sem.h is expressed.
 * Some are asserted where something happens; the others are checked in every state.  The ghosts
 * are in ghosts.pml.
 *
 *  I1  available + held = UNITS whenever the mutex is free; `has` says which thread holds them,
 *      by every debit and credit.  And the result of a call agrees with what its thread has: TRUTH.
 *  I2  Whenever the mutex is free, the head of the queue does not fit; or the queue is OPEN, the
 *      head is WOKEN or QUEUED, and it is awake or in the wake queue of some process.
 *  I3  The word has SLOW while a process has the count in `available`, and while the queue is not
 *      empty.  A fast path that writes a word with SLOW breaks I1 or I6.  The word has OPEN only
 *      while no process has the count and the queue is not empty.
 *  I4  In the queue <=> QUEUED, PARKED or WOKEN, whenever the mutex is free; and a waiter that
 *      is taken out was in.
 *  I5  The debit is whole, and visible before the grant: at every moment, the units that are
 *      available and those that threads know to be theirs are at most UNITS together.
 *  I6  `before` is the set of waiters still in the queue that came before me with the same or a
 *      better priority, or came later with a better one.  It is empty when I am granted.  It does
 *      not depend on how the queue is kept.  A take by a fast path or a try finds an empty queue,
 *      except with BYPASS: then the queue is OPEN, or the bound of its head is not over.
 *  I7  is I2 again, at the end of the section that removed the head or added units.
 *  I8  `alive` says that the waiter is on its thread's stack, `exists` that the semaphore exists:
 *      every access to either asserts them.  That a waiter does not touch the semaphore after it
 *      was completed can be read in fs_sleep(); no user could tell.
 *
 *  I9 is not expressed but tested: the scene with DESTROY finds grants in two sections.  I10 is
 *  about arguments, of which the model has none.
 */
#define HELD_BY_ALL (has[0] + has[1] + has[2] + has[3] + has[4])
#define IS_FREE     (mutex == 0 && exists)

#define I1_HOLDS (AVAILABLE + HELD_BY_ALL == UNITS)
#define COMES(x) ((state[x] == QUEUED || state[x] == WOKEN) \
                  && (!asleep[x] || permit[x] || noted[x] != 0))
#define I2_HOLDS (length == 0 || NEED(queue[0]) > AVAILABLE || (word & OPEN && COMES(queue[0])))
#define I3_HOLDS ((word & SLOW || (!in_hands && length == 0)) \
                  && (!(word & OPEN) || (!in_hands && (mutex != 0 || length > 0))))
#define I4_HOLDS (LISTED(0) == IN_QUEUE(0) && LISTED(1) == IN_QUEUE(1) && LISTED(2) == IN_QUEUE(2))
#define I5_HOLDS (AVAILABLE + held <= UNITS)

/* When a token's cancel has returned, no waiter with that token is in the queue. */
#define TOKEN_HOLDS (!t_canceled || !((IN_QUEUE(0) && TOKEN(0)) || (IN_QUEUE(1) && TOKEN(1)) \
                                      || (IN_QUEUE(2) && TOKEN(2))))

/* It checks every state: whenever something is wrong, it can take a step. */
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
