/* SPDX-License-Identifier: MIT */
/*
 * verbs.h - what the threads of a scenario can do: a row for each verb of the language.
 *
 * A row has all that the explorer must know about a verb, except the verb's call (calls.h), its effect
 * (model_steps.c), and rules of an oracle or of generate.c for a single verb.  language.h explains the
 * columns.  There is no include guard: a file may include this file again with another macro VERB.  If
 * .drawn or the order of the rows changes, all seeds make other scenarios.
 */

VERB(ACQUIRE, "acquire", ASKS, .with = PRIORITY | TOKEN | SHARE, .waits = true, .drawn = 26,
     .returns = R_WAIT | R(CLOSED) | R(TOKEN))
VERB(TIMED, "timed", ASKS, .with = PRIORITY | TOKEN | SHARE, .waits = true, .deadline = true,
     .drawn = 10, .simpler = ACQUIRE, .returns = R_WAIT | R(CLOSED) | R(TOKEN) | R(ETIMEDOUT))
VERB(FOR, "for", ASKS, .waits = true, .deadline = true, .drawn = 3, .simpler = TIMED,
     .counts_as = TIMED, .returns = R_WAIT | R(CLOSED) | R(ETIMEDOUT))
VERB(TRY, "try", ASKS, .drawn = 6,
     .returns = R(OK) | R(EAGAIN) | R(EINVAL) | R(E2BIG) | R(CLOSED))
VERB(UPTO, "upto", .of = A_SEM, .number = UNITS, .units = TAKES_SOME, .drawn = 4, .simpler = TRY,
     .returns = R(OK) | R(SOME))

VERB(RELEASE, "release", .of = A_SEM, .number = UNITS, .units = GIVES, .drawn = 12,
     .returns = R(OK) | R(EINVAL) | R(EOVERFLOW))
/* Release all units of this thread; no call if the thread holds none. */
VERB(GIVE, "give", .of = A_SEM, .units = GIVES, .counts_as = RELEASE, .returns = R(OK))

VERB(CLOSE, "close", .of = A_SEM, .number = OPTIONAL, .drawn = 4,
     .returns = R(OK) | R(EINVAL) | R(EALREADY))
/* Close, and wait until n units are free. */
VERB(DRAIN, "drain", .of = A_SEM, .number = UNITS, .with = PRIORITY | TOKEN | TIME | SHARE,
     .waits = true, .drawn = 3, .returns = R_WAIT | R(TOKEN) | R(ETIMEDOUT))
VERB(CAPACITY, "capacity", .of = A_SEM, .number = UNITS, .drawn = 6, .returns = R(OK) | R(EINVAL))
VERB(CONSUME, "consume", .of = A_SEM, .number = UNITS, .units = CONSUMES, .drawn = 3,
     .returns = R(OK) | R(EINVAL) | R(EOVERFLOW))
VERB(DESTROY, "destroy", .of = A_SEM, .returns = R(OK) | R(EBUSY))

VERB(WOULD, "would", .of = A_SEM, .number = UNITS, .drawn = 2, INSPECTS)
VERB(STAT, "stat", .of = A_SEM, .drawn = 1, INSPECTS)
VERB(AVAILABLE, "available", .of = A_SEM, .drawn = 1, INSPECTS)
VERB(WAITERS, "waiters", .of = A_SEM, .drawn = 2, INSPECTS)
VERB(SIZE, "size", .of = A_SEM, .drawn = 1, INSPECTS)
VERB(IS_CLOSED, "closed", .of = A_SEM, .drawn = 1, INSPECTS)
VERB(STATE, "state", .of = A_TICKET, .drawn = 3, INSPECTS)

VERB(CANCEL, "cancel", .of = A_TOKEN, .number = OPTIONAL, .drawn = 5,
     .returns = R(OK) | R(EINVAL) | R(EALREADY))

VERB(TAKE, "take", .of = A_SEM | A_TICKET, .number = UNITS, .with = PRIORITY | SHARE,
     .units = RESERVES, .drawn = 11, .returns = R(OK) | R(EINPROGRESS) | R(EINVAL) | R(E2BIG) | R(ECANCELED)
                             | R(ENOBUFS) | R(CLOSED))
VERB(CLAIM, "claim", .of = A_TICKET, .units = CLAIMS, .drawn = 4,
     .returns = R(OK) | R(EAGAIN) | R(EINVAL) | R(E2BIG) | R(CLOSED) | R(EBUSY), .never = R(EBUSY),
     .why_never = "scenarios claim into an empty guard; contract/t_guard.c has a full one")
VERB(RETURN, "return", .of = A_TICKET, .drawn = 4, .returns = R(OK))
/* fairsem_ticket_wait. */
VERB(WATCH, "watch", .of = A_TICKET, .with = TOKEN | TIME, .waits = true, .drawn = 5,
     .returns = R(OK) | R(EINVAL) | R(E2BIG) | R(ETIMEDOUT) | R(EINTR) | R(ECANCELED) | R(TOKEN)
                | R(CLOSED) | R(PTHREAD_CANCEL))

/* fairsem_share_charge, and fairsem_share_destroy. */
VERB(CHARGE, "charge", .of = A_SHARE, .number = UNITS, .drawn = 2, .counts_as = CONSUME,
     .returns = R(OK) | R(EINVAL))
VERB(UNSHARE, "unshare", .of = A_SHARE, .counts_as = DESTROY, .returns = R(OK) | R(EBUSY))

/* pthread_cancel. */
VERB(KILL, "kill", .of = A_THREAD, .drawn = 2)
/* Wait until thread tN has done this number of operations; without a number, until thread tN has ended. */
VERB(AFTER, "after", .of = A_THREAD, .number = OPTIONAL)
/* Let some time pass. */
VERB(LATER, "later", .drawn = 1)

/* The token's reason, the number of runs of the ticket's callback, and the counters of fairsem_stat(). */
VERB(REASON, "reason", .of = A_TOKEN, .inspects = true)
VERB(CALLBACKS, "called", .of = A_TICKET, .inspects = true)
VERB(STAT_WAITING_UNITS, "waiting_units", .of = A_SEM, .inspects = true)
VERB(STAT_WAITERS_MAX, "waiters_max", .of = A_SEM, .inspects = true)
VERB(STAT_WAITS, "waits", .of = A_SEM, .inspects = true)
VERB(STAT_GRANTS, "grants", .of = A_SEM, .inspects = true)
VERB(STAT_TIMEOUTS, "timeouts", .of = A_SEM, .inspects = true)
VERB(STAT_CANCELS, "cancels", .of = A_SEM, .inspects = true)
VERB(STAT_REFUSED, "refused", .of = A_SEM, .inspects = true)
VERB(STAT_OVER_RELEASES, "over_releases", .of = A_SEM, .inspects = true)
VERB(STAT_AGED, "aged", .of = A_SEM, .inspects = true)
VERB(STAT_SHARES, "shares", .of = A_SEM, .inspects = true)

/* ---- Of processes, see ../search/shared/ ---- */

/* The segment.  `drop` removes its name if no process uses the segment; `look` checks whether the name leads to
 * the segment. */
VERB(OPEN, "open", .of = A_PROCESS)
VERB(ANONYMOUS, "anonymous", .of = A_PROCESS)
VERB(UNLINK, "unlink", .of = A_PROCESS)
VERB(DROP, "drop", .of = A_PROCESS)
VERB(LOOK, "look", .of = A_PROCESS)
/* `keep`: keep the units on exec.  `lose`: lose the liveness lock. */
VERB(KEEP, "keep", .of = A_PROCESS)
VERB(LOSE, "lose", .of = A_PROCESS)
/* The child of `fork N` is process N, whose thread begins with `born`. */
VERB(FORK, "fork", .of = A_PROCESS, .number = UNITS)
VERB(BORN, "born", .of = A_PROCESS)
VERB(EXEC, "exec", .of = A_PROCESS)
VERB(EXIT, "exit", .of = A_PROCESS)
/* `nap N`: sleep for N ms.  `start`: begin the exploration. */
VERB(NAP, "nap", .of = A_PROCESS, .number = UNITS)
VERB(START, "start", .of = A_PROCESS)
