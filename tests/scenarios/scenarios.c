/* SPDX-License-Identifier: MIT */
/*
 * scenarios.c - the table of scenarios, in the language of language.h.  By default there are 0 units,
 * and the semaphore is unbounded.
 *
 * All threads of a scenario must end, whatever happens.  If one does not, the library has lost it,
 * which is an error.
 */
#include "language.h"

#include <errno.h>

#define INTERRUPTIBLE .flags = FAIRSEM_INTERRUPTIBLE

#define LONG (INT64_C(3600) * 1000000000)

#define MAX  FAIRSEM_MAX_UNITS     /* 1152921504606846976 */

const struct scenario scenarios[] = {
    /* ---- Order of arrival ---- */
    { .name = "waiters-are-granted-in-arrival-order", .threads =
      "acquire 1 > acquire 1 > acquire 1 > "
      "release 1; after t0; waiters = 2; release 1; after t1; waiters = 1; release 1; after t2; "
      "available = 0" },
    /* U1 (cpython 90155), U5 (async-lock 23), U30 (anyio 1170): it belongs to a waiter that has not run. */
    { .name = "a-releaser-cannot-take-the-unit-back-from-a-waiter", .threads =
      "acquire 1 > release 1; available = 0; waiters = 0; try 1 = EAGAIN; after t0" },
    /* U2 (cpython 97545: three passes for release(3)). */
    { .name = "one-release-grants-all-that-fit", .threads =
      "acquire 1 > acquire 1 > acquire 1 > "
      "release 2; waiters = 1; available = 0; after t0; after t1; waiters = 1; release 1" },
    /* U3 (.NET 5600, vs-threading 502), U7. */
    { .name = "a-hog-that-reacquires-at-once-cannot-starve-a-waiter", .threads =
      "acquire 1; release 1 > release 1; acquire 1; after t0; available = 0" },
    /* U6 (Java's tryAcquire passes the queue). */
    { .name = "no-way-to-take-units-passes-a-waiter", .units = 4, .capacity = 8, .threads =
      "acquire 8 > acquire 1 > "
      "try 1 = EAGAIN; try 0 = EAGAIN; upto 4 = 0; for 1 past = ETIMEDOUT; "
      "timed 1 past = ETIMEDOUT; timed 1 past token = ETIMEDOUT; would 1 = 1; would 0 = 1; "
      "available = 4; waiters = 2 > release 4; after t0; waiters = 1; release 8; after t1; "
      "available = 7" },
    { .name = "a-small-request-times-out-behind-a-large-one", .units = 4, .capacity = 8, .threads =
      "acquire 8 > timed 1 = ETIMEDOUT; for 1 = ETIMEDOUT; available = 4; waiters = 1; release 4; "
      "after t0" },
    /* U56 (libc++ 46357, gcc 98033: no wake-up because the count was positive already). */
    { .name = "two-releases-in-a-row-grant-two-waiters", .threads =
      "acquire 1 > acquire 1 > release 1; release 1; after t0; after t1; available = 0" },
    /* marusama 3 wakes waiters only when the count crosses a limit. */
    { .name = "units-released-one-by-one-add-up-for-a-large-request", .threads =
      "acquire 3 > acquire 1 > "
      "release 1; available = 1; waiters = 2; release 1; available = 2; waiters = 2; release 1; "
      "after t0; waiters = 1; release 1" },
    { .name = "a-request-for-no-units-is-granted-at-once-if-nobody-waits", .threads =
      "> acquire 0; try 0; for 0 past; would 0 = 0" },
    { .name = "a-request-for-no-units-waits-for-all-before-it", .threads =
      "acquire 1 > acquire 0 > acquire 1 > "
      "release 0; waiters = 3; release 1; after t0; after t1; waiters = 1; release 1" },

    /* ---- Units ---- */
    /* U15 (cats-effect 403, Effect-TS 6638: a waiter that holds a part of its units leaks it). */
    { .name = "units-are-taken-all-at-once-never-in-parts", .units = 2, .threads =
      "acquire 3 > available = 2; release 1; after t0; available = 0; release 3; available = 3" },
    /* U32 (golang 56026, embassy 2755). */
    { .name = "upto-takes-what-is-free-and-no-more-than-asked", .units = 10, .threads =
      "> upto 4 = 4; upto 100 = 6; upto 100 = 0; available = 0; release 1; upto 0 = 0; upto -5 = 0; "
      "upto max = 1" },
    /* U37 (tokio 2607, 4447: counts of 16, then 32 bits). */
    { .name = "counts-are-64-bits-wide", .units = INT64_C(1) << 41, .capacity = INT64_C(1) << 41,
      .threads =
      "> size = 2199023255552; acquire 1099511627777; available = 1099511627775; "
      "try 1099511627776 = EAGAIN; release 1099511627777; try 2199023255552; destroy" },
    { .name = "the-largest-count-works", .units = MAX, .threads =
      "> available = max; acquire max; available = 0; release max; available = max" },
    /* U35 (asyncband 144: checked after the addition). */
    { .name = "a-release-past-the-largest-count-is-refused-and-changes-nothing", .units = MAX - 1,
      .threads =
      "> release 2 = EOVERFLOW; available = 1152921504606846975; release max = EOVERFLOW; "
      "release 1; release 1 = EOVERFLOW; available = max" },
    { .name = "a-release-past-the-largest-count-grants-nothing", .units = MAX - 2, .threads =
      "acquire max > release 3 = EOVERFLOW; waiters = 1; available = 1152921504606846974; release 2; "
      "after t0; available = 0" },
    /* U36 (zephyr 25173: the release is ignored without an error). */
    { .name = "a-release-beyond-the-capacity-is-refused-and-changes-nothing", .units = 2,
      .capacity = 3, .threads =
      "> release 2 = EOVERFLOW; available = 2; release 1; release 1 = EOVERFLOW; release 0; "
      "available = 3; over_releases = 2; destroy" },
    /* U26 (golang sync PR 7, zio 11187: it waits for ever, and blocks the queue). */
    { .name = "a-request-above-the-capacity-fails-at-once", .units = 2, .capacity = 2, .threads =
      "> acquire 3 = E2BIG; try 3 = E2BIG; for 3 = E2BIG; for 3 past = E2BIG; would 3 = 0; "
      "acquire 2; acquire 5 = E2BIG; waits = 0" },
    { .name = "a-request-above-the-capacity-leaves-the-queue-alone", .capacity = 2, .threads =
      "acquire 2 > acquire 3 = E2BIG; waiters = 1; release 2; after t0; destroy" },
    /* U59 (scylla max_queue_length: a refused request left an entry behind). */
    { .name = "a-full-queue-refuses-a-request-that-would-wait", .max_waiters = 2, .threads =
      "acquire 1 > acquire 1 > "
      "acquire 1 = ENOBUFS; for 1 = ENOBUFS; for 1 past = ETIMEDOUT; try 1 = EAGAIN; waiters = 2; "
      "refused = 2; release 2; after t0; after t1; waiters = 0 > release 1; acquire 1; destroy" },
    /* U33 (golang 53940). */
    { .name = "the-capacity-the-free-units-and-the-waiters-can-be-read", .units = 3, .threads =
      "> size = -1; available = 3; waiters = 0; would 3 = 0; would 4 = 1; would -1 = 0" },
    { .name = "who-asks-behind-a-waiter-would-block", .units = 3, .threads =
      "acquire 4 > waiters = 1; would 1 = 1; release 1; after t0; would 0 = 0" },

    /* ---- Priorities (U38: tokio 3242, tornado 1998, deadpool 272) ---- */
    { .name = "the-lower-number-is-granted-first", .threads =
      "acquire 1 p5 > acquire 1 > acquire 1 p-3 > "
      "take 1 = EINPROGRESS; release 1; after t2; release 1; after t1; state = waiting; release 1; "
      "state = granted; waiters = 1; release 1" },
    { .name = "equal-numbers-are-granted-in-arrival-order", .threads =
      "acquire 1 p5 > acquire 1 p5 > acquire 1 p5 > "
      "release 1; after t0; waiters = 2; release 1; after t1; waiters = 1; release 1" },
    { .name = "the-last-to-come-is-granted-first-if-it-is-best", .threads =
      "acquire 1 p3 > acquire 1 p2 > acquire 1 p1 > "
      "release 1; after t2; waiters = 2; release 1; after t1; waiters = 1; release 1" },
    /* A comparison by subtraction would overflow here. */
    { .name = "any-int-is-a-priority", .threads =
      "> take 1 t0 p2147483647 = EINPROGRESS; take 1 t1 = EINPROGRESS; "
      "take 1 t2 p-2147483648 = EINPROGRESS; take 1 t3 p-1 = EINPROGRESS; release 1; "
      "state t2 = granted; release 1; state t3 = granted; release 1; state t1 = granted > "
      "state t0 = waiting; release 1; state t0 = granted" },
    { .name = "neighbors-at-both-ends-of-int-are-told-apart", .threads =
      "> take 1 t0 p2147483647 = EINPROGRESS; take 1 t1 p2147483646 = EINPROGRESS; "
      "take 1 t2 p-2147483647 = EINPROGRESS; take 1 t3 p-2147483648 = EINPROGRESS; release 1; "
      "state t3 = granted; release 1; state t2 = granted; release 1; state t1 = granted > "
      "state t0 = waiting; release 1; state t0 = granted" },
    { .name = "an-acquire-without-a-priority-has-priority-zero", .threads =
      "acquire 1 p1 > acquire 1 > acquire 1 p-1 > "
      "release 1; after t2; release 1; after t1; waiters = 1; release 1" },
    /* temporal 9286: it must not wait behind those that it would pass anyway; an equal one must. */
    { .name = "a-newcomer-better-than-all-waiters-is-granted-at-once-if-it-fits", .units = 5,
      .threads =
      "acquire 8 p5 > acquire 1 p4; available = 4; acquire 1; take 1 p4; state = granted; "
      "available = 2; waits = 1 > acquire 1 p5 > "
      "waiters = 2; available = 2; waits = 2; return t1; release 5; after t0; waiters = 1; "
      "release 1" },
    { .name = "a-better-newcomer-that-does-not-fit-holds-up-the-queue", .units = 3, .threads =
      "acquire 4 p5 > acquire 6 > acquire 1 p1 > "
      "release 2; available = 5; release 1; after t1; waiters = 2; release 1; after t2; "
      "waiters = 1; release 4; available = 0" },
    /* U6: a try has no priority. */
    { .name = "no-try-passes-a-waiter-of-any-priority", .units = 4, .threads =
      "acquire 8 p2147483647 > try 1 = EAGAIN; try 0 = EAGAIN; upto 4 = 0; would 1 = 1; would 0 = 1; "
      "available = 4; release 4; after t0" },
    { .name = "a-full-queue-refuses-a-better-newcomer-only-if-it-does-not-fit", .units = 2,
      .max_waiters = 1, .threads =
      "acquire 3 > acquire 3 p-1 = ENOBUFS; acquire 2 p-1; acquire 1 p-1 = ENOBUFS; waiters = 1; "
      "release 3; after t0; destroy" },
    /* U10, U11: without any release. */
    { .name = "when-a-better-head-times-out-the-waiters-it-held-up-are-granted", .threads =
      "acquire 2 > timed 8 p-1 = ETIMEDOUT > release 5; after t1; after t0; waiters = 0; "
      "available = 3; destroy" },
    { .name = "when-a-better-head-is-canceled-by-its-token-the-waiters-it-held-up-are-granted",
      .threads =
      "acquire 2 > acquire 8 p-1 token = ECANCELED > release 5; waiters = 2; cancel; waiters = 0; "
      "available = 3; after t1; after t0" },
    { .name = "when-the-thread-of-a-better-head-is-canceled-the-waiters-it-held-up-are-granted",
      .threads =
      "acquire 2 > acquire 8 p-1 = killed > release 5; waiters = 2; kill t1; after t1; after t0; "
      "waiters = 0; available = 3; destroy" },

    /* ---- Capacity (U28: golang 29721, tokio 5308, anyio 73, redisson 603) ---- */
    { .name = "units-in-use-stay-in-use-when-the-capacity-changes", .units = 5, .capacity = 5,
      .threads =
      "> acquire 3; capacity 3; size = 3; available = 0; try 1 = EAGAIN; capacity 1; available = -2; "
      "try 0 = EAGAIN; upto 1 = 0; would 0 = 1 > "
      "capacity 3; release 1; try 1; capacity 10; available = 7; release 4 = EOVERFLOW; release 3; "
      "available = 10; destroy" },
    { .name = "a-larger-capacity-grants-the-waiters-that-fit", .capacity = 3, .threads =
      "acquire 2 > acquire 3 > acquire 1 > "
      "capacity 7; waiters = 2; available = 2; after t0; waiters = 2; capacity 9; after t1; "
      "after t2; available = 0; destroy" },
    { .name = "a-smaller-capacity-fails-every-request-for-more", .units = 3, .capacity = 5, .threads =
      "acquire 4 = E2BIG > acquire 2 > acquire 5 = E2BIG > "
      "take 1 = EINPROGRESS; capacity 2; waiters = 2; available = 0; after t0; after t2; release 2; "
      "after t1; state = waiting; release 1" },
    { .name = "a-smaller-capacity-fails-the-last-request-if-it-is-too-large", .units = 3,
      .capacity = 5, .threads =
      "acquire 4 = E2BIG > acquire 1 > acquire 3 = E2BIG > "
      "capacity 2; waiters = 1; available = 0; after t0; after t2; release 1; after t1; destroy" },
    /* U11: the large head fails, and the next waiter fits already. */
    { .name = "when-a-smaller-capacity-fails-the-head-the-waiters-behind-it-are-granted", .units = 5,
      .capacity = 6, .threads =
      "acquire 6 = E2BIG > acquire 3 > capacity 4; waiters = 0; available = 0; after t0; after t1; "
      "acquire 5 = E2BIG; destroy" },
    /* U29 (anyio PR 1223: the difference was granted although more was in use than allowed). */
    { .name = "growing-while-too-much-is-in-use-grants-nothing", .units = 2, .capacity = 2, .threads =
      "acquire 2 > acquire 1 > "
      "capacity 0; available = -2; capacity 1; waiters = 1; available = -1; release 1; waiters = 1; "
      "release 1; after t1; available = 0" },
    /* U31 (trio 3321, anyio: 0 taken for "too large"). */
    { .name = "a-capacity-of-zero-is-a-pause", .units = 3, .capacity = 3, .paused = true, .threads =
      "> size = 0; available = 0; would 0 = 1; would 100 = 1; try 0 = EAGAIN; try 100 = EAGAIN; "
      "upto 1 = 0; for 0 past = ETIMEDOUT; for 100 = ETIMEDOUT; release 1 = EOVERFLOW" },
    { .name = "in-a-pause-every-request-waits-and-the-next-capacity-decides", .units = 3,
      .capacity = 3, .paused = true, .threads =
      "acquire 0 > acquire 2 > acquire 4 = E2BIG > "
      "take 0 p-1 = EINPROGRESS; release 0; waiters = 4; capacity 3; waiters = 0; available = 1; "
      "state = granted; after t0; after t1; after t2" },
    { .name = "units-released-in-a-pause-are-kept", .units = 4, .capacity = 4, .threads =
      "acquire 3 > acquire 4 > "
      "capacity 0; available = -3; release 3; available = 0; waiters = 1; capacity 4; after t1; "
      "available = 0; release 4; destroy" },
    { .name = "an-unbounded-semaphore-gets-no-capacity", .units = 3, .threads =
      "> capacity 5 = EINVAL; capacity 0 = EINVAL; capacity -1 = EINVAL; size = -1; available = 3" },
    { .name = "an-invalid-capacity-is-refused-and-changes-nothing", .units = 3, .capacity = 4,
      .threads =
      "> capacity -1 = EINVAL; capacity min = EINVAL; capacity 1152921504606846977 = EINVAL; "
      "size = 4; available = 3" },
    /* A thread that holds 1 releases 2, so only one of the ticket's fits.  The library once lost both. */
    { .name = "a-returned-grant-gives-back-the-units-that-fit", .units = 3, .capacity = 3, .threads =
      "> acquire 1; take 2; release 2; return; available = 3; over_releases = 1; "
      "release 1 = EOVERFLOW; destroy" },

    /*
     * ---- What follows are races ----
     *
     * Where no results are given, the explorer finds which ones there may be.
     */

    /* ---- Acquire and release ---- */
    { .name = "hand-off", .units = 1, .threads =
      "acquire 1; give | acquire 1; give | acquire 1; give" },
    { .name = "hand-off-of-four", .units = 1, .threads =
      "acquire 1; give | acquire 1; give | acquire 1; give | acquire 1; give" },
    { .name = "again", .units = 1, .threads =
      "acquire 1; give; acquire 1; give | acquire 1; give; acquire 1; give" },
    { .name = "weights", .units = 2, .threads =
      "acquire 1; give | acquire 2; give | acquire 1; give" },
    { .name = "one-release-grants-many", .threads =
      "acquire 1 | acquire 2 | acquire 1 | release 4" },
    { .name = "big-head", .units = 1, .threads =
      "acquire 3; give | acquire 1; give | release 1; release 1" },
    { .name = "two-releasers", .threads =
      "acquire 2 | acquire 1 | release 1; release 1 | release 1" },
    { .name = "zero-is-a-fence", .units = 1, .threads =
      "acquire 1; give | acquire 0 | acquire 1; give | timed 0" },
    { .name = "wakes-for-no-reason", .units = 1, .spurious = 2, .threads =
      "acquire 1; give | acquire 1; give | timed 1; give" },
    { .name = "over-release", .capacity = 1, .threads =
      "acquire 1; give | release 1 | release 1" },

    /* ---- Not waiting ---- */
    { .name = "try-passes-no-waiter", .units = 1, .threads =
      "acquire 2; give | try 1; give | release 1" },
    { .name = "upto-passes-no-waiter", .units = 1, .threads =
      "acquire 2; give | upto 3; give | release 1" },
    { .name = "try-and-upto", .units = 2, .threads =
      "try 1; give; try 2; give | upto 2; give | acquire 2; give | try 1; upto 1; give" },

    /* ---- Time-outs ---- */
    { .name = "timeout-or-grant", .threads =
      "timed 1; give | release 1; acquire 1" },
    { .name = "relative-timeout", .threads =
      "for 1; give | release 1; acquire 1" },
    { .name = "timeout-of-a-big-head", .units = 1, .spurious = 1, .threads =
      "timed 2; give | acquire 1; give | try 1; give" },
    { .name = "two-timeouts", .threads =
      "timed 1; give | timed 1; give | release 1" },
    { .name = "timeouts-of-three", .units = 1, .threads =
      "timed 2; give | timed 1; give | timed 2; give" },
    { .name = "timeout-and-upto", .units = 1, .threads =
      "timed 2; give | upto 2; give | release 1; timed 1; give" },

    /* ---- Priorities ---- */
    { .name = "priorities", .units = 1, .threads =
      "acquire 1 p1; give | acquire 1; give | acquire 1 p-1; give" },
    { .name = "priority-and-timeout", .units = 1, .threads =
      "timed 2 p-1; give | acquire 1; give | acquire 1 p1; give" },
    { .name = "try-and-priorities", .units = 1, .threads =
      "acquire 2 p3; give | try 1; give | acquire 1 p1; give | release 1" },

    /* ---- Age ---- */
    { .name = "age", .aging_ns = MOMENT_NS, .units = 1, .threads =
      "acquire 1 p1; give | acquire 1; give | later; acquire 1 p-1; give" },
    { .name = "age-at-once", .aging_ns = 1, .threads =
      "acquire 1 p1; give | acquire 1; give | later; release 1" },
    { .name = "age-fits-where-the-head-does-not", .aging_ns = MOMENT_NS, .may_block = true,
      .threads =
      "acquire 1 p1 | acquire 3 | release 2" },
    { .name = "age-large", .aging_ns = MOMENT_NS, .threads =
      "acquire 2 p1; give | acquire 1; give | release 1; later; release 1" },
    { .name = "age-and-newcomers", .aging_ns = MOMENT_NS, .units = 1, .may_block = true, .threads =
      "acquire 2 p1 | after t0 1; later; try 1; acquire 1 p-1 | release 1" },
    { .name = "age-and-timeout", .aging_ns = MOMENT_NS, .threads =
      "timed 1 p1; give | acquire 1; give | later; release 1" },
    { .name = "age-and-token", .aging_ns = MOMENT_NS, .threads =
      "acquire 1 p1 token; give | acquire 2 token; give | release 1; later; cancel" },
    { .name = "age-and-token-of-two-semaphores", .aging_ns = MOMENT_NS, .units = 1, .may_block = true,
      .threads =
      "acquire 5 token | acquire 1 p1 | acquire 5 s1 token | take 3; cancel" },
    { .name = "age-and-cancel", .aging_ns = MOMENT_NS, .threads =
      "!acquire 1 p1; give | acquire 1; give | release 1; later; release 1" },
    { .name = "age-of-a-ticket", .aging_ns = MOMENT_NS, .threads =
      "take 1 p1 calls; watch; claim; give; return | acquire 1; give | release 1; later; release 1" },
    { .name = "age-of-a-ticket-that-fits", .aging_ns = MOMENT_NS, .may_block = true, .threads =
      "take 1 p1; watch | acquire 3 | release 2" },
    { .name = "age-and-a-better-ticket", .aging_ns = MOMENT_NS, .units = 1, .may_block = true,
      .threads =
      "take 2 p1 | after t0 1; later; take 1 p-1; claim" },
    { .name = "age-and-capacity", .aging_ns = MOMENT_NS, .units = 2, .capacity = 2, .threads =
      "acquire 2 p1; give | acquire 1; give | acquire 1; later; capacity 1; give" },
    { .name = "age-and-close", .aging_ns = MOMENT_NS, .threads =
      "acquire 1 p1; give | acquire 1; give | release 1; later; close" },
    { .name = "age-and-bypass", .aging_ns = MOMENT_NS, .bypass_ns = MOMENT_NS, .units = 1, .threads =
      "acquire 1 p1; give | acquire 1; give | later; acquire 1 p-1; give" },

    { .name = "age-and-long-bypass", .aging_ns = MOMENT_NS, .bypass_ns = LONG, .threads =
      "acquire 1; give | later; release 1" },
    { .name = "age-before-the-deadline", .aging_ns = MOMENT_NS, .threads =
      "timed 1 p1; give | acquire 3 | release 2; release 2" },

    /* ---- Tokens ---- */
    { .name = "token-or-grant", .threads =
      "acquire 1 token; give | release 1 | cancel" },
    { .name = "token-takes-a-big-head", .units = 1, .threads =
      "acquire 2 token; give | acquire 1; give | cancel" },
    { .name = "token-of-two-waits", .threads =
      "acquire 2 token; give | acquire 1 token; give | release 1; cancel" },
    { .name = "token-or-timeout", .threads =
      "timed 1 token; give | cancel | release 1; timed 1" },
    { .name = "token-of-two-semaphores", .threads =
      "acquire 1 token | acquire 1 s1 token | release 1; release 1 s1 | cancel" },
    { .name = "two-cancel-a-token", .units = 1, .threads =
      "acquire 2 token; give | cancel | cancel; try 1; give | upto 1; give" },

    /* ---- Tickets ---- */
    { .name = "ticket-or-return", .threads =
      "take 1; claim; return; give | release 1; acquire 1; give" },
    { .name = "ticket-returned-at-the-head", .units = 1, .threads =
      "take 2; return | acquire 1; give | timed 1; give" },
    { .name = "claim-against-return", .threads =
      "take 1; claim; give | release 1 | after t0 1; return t0; acquire 1" },
    { .name = "ticket-calls-back", .threads =
      "take 1 calls; return; take 1 calls; return | release 1 | release 1" },
    { .name = "claimed-before-its-callback", .threads =
      "take 1 calls; claim; return; give | release 1" },
    { .name = "return-against-callback", .threads =
      "take 1 calls | after t0 1; return t0; acquire 1 | release 1" },
    { .name = "return-against-the-next-take", .threads =
      "take 1 calls; claim; take 1 | release 1 | return t0" },
    { .name = "returned-and-taken-meanwhile", .threads =
      "take 1 calls; release 1; claim; take 1 calls; return | after t0 1; return t0" },
    { .name = "returned-while-its-callback-takes-it", .may_block = true, .threads =
      "take 1 calls=claim+take.1.again; return | release 1; release 1" },
    { .name = "returned-by-two-while-its-callback-takes-it", .may_block = true, .threads =
      "take 1 calls=claim+take.1.again; return | release 1 | after t0 1; return t0" },
    { .name = "returned-before-its-first-callback", .may_block = true, .threads =
      "take 1 calls=claim+take.1.again+take.1.again; stat | return t0; state t0 | release 1" },
    { .name = "claim-of-a-ticket-that-was-returned", .threads =
      "take 1 | after t0 1; release 1; claim t0 | after t0 1; return t0" },
    { .name = "watchers", .threads =
      "take 1; watch; claim | after t0 1; watch t0 timed | release 1" },
    { .name = "watcher-of-a-returned-ticket", .units = 1, .spurious = 1, .threads =
      "take 2; watch; return | after t0 1; return t0 | acquire 1; give" },
    { .name = "watcher-with-a-token", .threads =
      "take 1; watch token; return | cancel | release 1; acquire 1" },
    { .name = "watcher-canceled-before-it-joins", .threads =
      "take 1; watch token; return | cancel" },
    { .name = "tickets-try-upto-return", .units = 1, .threads =
      "take 2; return | try 1; give | upto 1; give | release 1" },

    { .name = "watcher-and-a-smaller-capacity", .units = 1, .capacity = 2, .threads =
      "take 2; watch; claim | after t0 1; watch t0 timed | after t0 1; capacity 1; size" },
    { .name = "watched-at-any-time", .threads =
      "take 1; claim; give | watch t0 timed | release 1" },
    { .name = "watched-in-one-queue-or-another", .threads =
      "take 1 s1; return; take 1; return; take 1 s1 | watch t0 timed" },
    { .name = "returned-in-one-queue-or-another", .threads =
      "take 1 s1; return; take 1; return; take 1 s1 | return t0" },
    { .name = "returned-beside-a-claim", .threads =
      "take 1 calls; claim; give | after t0 1; return t0 | after t0 1; release 1" },
    { .name = "closed-returned-and-inspected", .may_block = true, .threads =
      "take 1 calls | after t0 1; close; return t0 | state t0; state t0" },
    { .name = "claimed-by-another", .units = 1, .threads =
      "take 1; take 1; return | claim t0; give" },
    /* ---- What one thread finds, call after call, fits together (I11) ---- */
    { .name = "inspected-beside-grants", .may_block = true, .threads =
      "take 1; take 1 t1 | release 3 | after t0 2; waiters; state t0; available" },
    { .name = "inspected-beside-a-take", .may_block = true, .threads =
      "take 1 | waiters; state t0; waiters" },
    { .name = "granted-and-then-inspected", .may_block = true, .threads =
      "take 1 | release 2 | after t0 1; state t0; available; waiters" },
    { .name = "inspected-beside-a-close", .may_block = true, .threads =
      "take 1 | close | after t0 1; closed; claim t0; closed" },
    { .name = "inspected-beside-a-capacity", .units = 1, .capacity = 2, .may_block = true,
      .threads =
      "take 2 | capacity 1 | after t0 1; size; state t0; available" },
    { .name = "inspected-beside-a-time-out", .threads =
      "timed 1; waiters | waiters; stat; waiters | release 1; available" },
    { .name = "blocked-and-then-inspected", .units = 1, .may_block = true, .threads =
      "take 2 | would 1; state t0; waiters | release 1; would 1; stat" },

    /* ---- Refusals that must be met whatever generate.c makes ---- */
    { .name = "bad-numbers", .threads =
      "acquire -1; timed -1; for -1; try -1 | release -1; close -1; drain -1; capacity -1 | "
      "consume -1; cancel -1; take -1" },
    { .name = "too-big", .capacity = 2, .threads =
      "acquire 3; timed 3; for 3; try 3 | take 3; drain 3" },
    { .name = "too-many", .units = 2, .max_waiters = 1, .threads =
      "take 3; return | after t0 1; timed 3; for 3; take 3 | after t0 1; consume max" },
    { .name = "for-and-everything", INTERRUPTIBLE, .signals = 1, .max_waiters = 2, .threads =
      "for 1 | after t0 1; kill t0; close | after t0 1; close" },
    { .name = "watch-and-everything", INTERRUPTIBLE, .signals = 1, .max_waiters = 2, .threads =
      "take 1; watch | after t0 1; watch t0 timed | after t0 1; close" },

    /* ---- Refusals beside other operations: found by generated scenarios ---- */
    { .name = "closed-and-token", .closed = ESHUTDOWN, .threads =
      "acquire 0 token | acquire 0 token | cancel" },
    { .name = "too-big-and-token", .capacity = 1, .threads =
      "acquire 0 token; give | acquire 2 token | cancel" },
    { .name = "full-queue-and-token", .max_waiters = 1, .threads =
      "acquire 0 token | acquire 1 token | cancel" },
    { .name = "over-release-beside-a-return", .units = 2, .capacity = 3, .threads =
      "release 2 | take 2; return" },
    { .name = "over-release-and-canceled", .units = 2, .capacity = 3, .may_block = true, .threads =
      "!acquire 2 | acquire 1; give; release 2" },
    { .name = "try-while-the-capacity-grows", .units = 1, .capacity = 1, .threads =
      "try 2; would 2 | capacity 2; stat" },
    { .name = "callbacks-cause-callbacks", .threads =
      "take 1 calls=claim+give+take.1.again | take 1 calls=claim+give | release 1; after t0;"
      "after t1; return t0" },

    /* ---- pthread_cancel ---- */
    { .name = "canceled-or-granted", .threads =
      "!acquire 1; give | release 1; acquire 1; give" },
    { .name = "canceled-big-head", .units = 1, .threads =
      "!timed 2; give | acquire 1; give | try 1; give" },
    { .name = "two-canceled", .threads =
      "!acquire 1; give | !acquire 1; give | release 1; upto 1" },
    { .name = "canceled-by-a-thread", .units = 1, .spurious = 1, .threads =
      "acquire 2; give | kill t0; acquire 1; give | release 1" },
    { .name = "canceled-with-a-token", .threads =
      "!acquire 1 token; give | cancel | release 1; timed 1; give" },
    { .name = "canceled-watcher", .threads =
      "take 1; return | after t0 1; acquire 1; give | !after t0 1; watch t0 timed | release 1" },

    /* ---- Close ---- */
    { .name = "close", .threads =
      "acquire 1; give | acquire 2; give | release 1 | close" },
    { .name = "close-and-tries", .units = 1, .threads =
      "try 1; give | upto 1; give | timed 2; give | close" },
    { .name = "close-and-token", .threads =
      "acquire 1 token; give | cancel | close | release 1; close" },
    { .name = "close-and-ticket", .threads =
      "take 1; claim; return; give | close | !timed 1; give | release 1" },
    { .name = "drain", .units = 2, .threads =
      "acquire 1; give | acquire 2; give | drain 2" },
    { .name = "drain-by-two", .units = 1, .threads =
      "acquire 1; give | drain 1 | drain 1 | stat; try 1; give" },
    { .name = "drain-until", .units = 1, .threads =
      "acquire 1; give | drain 1 timed; drain 1 | timed 1; give" },
    { .name = "drain-and-token", .units = 1, .threads =
      "acquire 1 token; give | drain 1 token | cancel" },
    { .name = "drain-and-capacity", .units = 2, .capacity = 2, .threads =
      "acquire 2; give | drain 2 | capacity 1; capacity 2" },
    { .name = "drain-is-canceled", .units = 1, .threads =
      "!drain 1 | acquire 1; give | drain 1" },
    { .name = "drain-and-bypass", .bypass_ns = LONG, .units = 1, .threads =
      "acquire 1; give; try 1; give | acquire 1; give; upto 1; give | drain 1" },
    { .name = "drain-and-ticket", .units = 1, .threads =
      "take 1; return | drain 1; close | acquire 1; give" },
    { .name = "drain-and-pause", .units = 2, .capacity = 2, .threads =
      "acquire 2; give | capacity 0; drain 2 | drain 0 timed" },
    { .name = "drain-in-a-pause", .units = 2, .capacity = 2, .paused = true, .threads =
      "drain 2; drain 0 | capacity 1; capacity 0; size | drain 1 timed" },
    { .name = "drain-and-debt", .units = 1, .threads =
      "consume 1; release 1 | drain 1 | drain 0" },
    { .name = "drain-and-signal", INTERRUPTIBLE, .units = 1, .signals = 1, .threads =
      "acquire 1; give | drain 1; drain 1" },
    { .name = "drain-and-full-queue", .units = 1, .max_waiters = 1, .threads =
      "acquire 1; give | drain 1 | acquire 1; give; drain 1" },
    { .name = "drain-of-too-many", .units = 1, .capacity = 1, .threads =
      "drain 2; drain -1; acquire 1; give | acquire 1; give" },
    { .name = "close-or-drain", .units = 1, .threads =
      "acquire 1; give | acquire 1; give | drain 1 | close 150" },
    { .name = "destroy-after-drain", .units = 1, .threads =
      "acquire 1; give | after t0 1; drain 1; destroy" },

    /* ---- Capacity ---- */
    { .name = "capacity-grows", .capacity = 1, .threads =
      "acquire 1; give | acquire 2; give | capacity 3 | close" },
    { .name = "capacity-shrinks", .units = 2, .capacity = 2, .threads =
      "acquire 2; give | acquire 1; give | capacity 1" },
    { .name = "try-while-capacity-grows", .units = 1, .capacity = 1, .threads =
      "try 2; give | capacity 2" },
    { .name = "try-while-capacity-shrinks", .units = 3, .capacity = 3, .threads =
      "try 3; give | capacity 2" },
    { .name = "pause", .units = 1, .capacity = 1, .threads =
      "acquire 1; give | capacity 0; capacity 1 | acquire 1; give | try 1; give" },
    { .name = "two-set-the-capacity", .units = 1, .capacity = 2, .threads =
      "acquire 2; give | capacity 1; capacity 2 | capacity 3; release 1" },
    { .name = "capacity-and-token", .units = 1, .capacity = 2, .threads =
      "acquire 2 token; give | cancel | capacity 1 | upto 1; give" },
    { .name = "capacity-and-ticket", .units = 1, .capacity = 2, .threads =
      "take 2; return | capacity 1 | !timed 1; give | try 1; give" },

    /* ---- Consume ---- */
    { .name = "debt", .units = 1, .threads =
      "acquire 1; give | consume 1; release 1 | try 1; give" },
    { .name = "debt-and-capacity", .units = 1, .capacity = 2, .threads =
      "consume 1; release 1 | capacity 1; capacity 2 | upto 2; give | timed 1; give" },
    { .name = "debt-and-token", .units = 1, .threads =
      "acquire 1 token; give | consume 2; release 2 | cancel | consume 1; release 1" },
    { .name = "debt-and-ticket", .units = 1, .threads =
      "take 1; return | consume 1; release 1 | !timed 1; give" },
    { .name = "debt-and-close", .units = 1, .threads =
      "acquire 1; give | consume 1; release 1 | close | timed 1; give" },

    /*
     * ---- Several semaphores: the acquires and releases of which fairsem_acquire_all is made ----
     *
     * It has no verb, because it shares nothing between threads except through these, one after the
     * other.  Which of them it makes, and when, is compared with a model in tests/search/fuzz/.
     */
    { .name = "two-semaphores", .units = 1, .threads =
      "acquire 1; acquire 1 s1; give s1; give | acquire 1; acquire 1 s1; give s1; give |"
      "acquire 1 s1; give s1" },
    { .name = "timed-out-at-the-second-semaphore", .units = 1, .threads =
      "acquire 1; timed 2 s1; give s1; give | timed 1; give | release 1 s1" },
    { .name = "token-of-two-acquires", .units = 1, .threads =
      "acquire 1 token; acquire 2 s1 token; give s1; give | acquire 1; give |"
      "acquire 1 s1; give s1 | cancel" },
    { .name = "canceled-at-the-second-semaphore", .units = 1, .threads =
      "!acquire 1; acquire 2 s1; give s1; give | acquire 1; give | release 1 s1" },

    /* ---- Destroy: a thread that has been granted may end the semaphore at once ---- */
    { .name = "destroy-after-acquire", .threads =
      "acquire 1; destroy | release 1" },
    { .name = "destroy-after-two-releases", .threads =
      "acquire 2; destroy | release 1 | release 1" },
    { .name = "destroy-after-the-last", .threads =
      "acquire 1; give | acquire 1; give | after t0; after t1; acquire 2; destroy | release 2" },
    { .name = "destroy-after-timed", .threads =
      "timed 1; destroy if | release 1" },
    { .name = "destroy-after-try", .threads =
      "try 1; destroy if | release 1" },
    { .name = "destroy-after-upto", .threads =
      "upto 2; destroy if | release 1" },
    { .name = "destroy-after-a-token", .threads =
      "acquire 1 token; destroy | cancel" },
    { .name = "destroy-after-a-claim", .threads =
      "take 1; claim; destroy if | release 1" },
    { .name = "destroy-after-a-return", .threads =
      "take 1; watch; destroy | after t0 1; return t0" },
    { .name = "destroy-after-pthread-cancel", .threads =
      "!acquire 1; give | acquire 1; give; after t0; destroy | release 1" },
    { .name = "destroy-after-close", .threads =
      "acquire 1; destroy | close" },
    { .name = "destroy-after-capacity", .capacity = 1, .threads =
      "acquire 1; destroy | capacity 2" },
    { .name = "destroy-after-consume", .threads =
      "acquire 1; destroy | consume 1; release 2" },
    { .name = "destroy-is-refused", .threads =
      "take 1; after t1; after t2; return; destroy | after t0 1; destroy | timed 1; give" },

    /* ---- Signals: the interruptible semaphore, on futexes ---- */
    { .name = "signal-or-grant", INTERRUPTIBLE, .signals = 1, .threads =
      "acquire 1; give | release 1; acquire 1" },
    { .name = "signal-to-a-big-head", INTERRUPTIBLE, .signals = 2, .units = 1, .threads =
      "timed 2; give | acquire 1; give | try 1; give" },
    { .name = "signals-spurious-timeouts", INTERRUPTIBLE, .signals = 1, .spurious = 1, .threads =
      "timed 1; give | acquire 1; give | release 1" },
    { .name = "handler-releases", INTERRUPTIBLE, .signals = 1, .handler = "release 1", .threads =
      "timed 1; give | timed 1; give" },
    { .name = "canceled-on-a-futex", INTERRUPTIBLE, .spurious = 1, .threads =
      "!acquire 1; give | release 1; acquire 1; give" },
    { .name = "canceled-or-signaled", INTERRUPTIBLE, .signals = 1, .units = 1, .threads =
      "!timed 2; give | acquire 1; give | release 1" },
    { .name = "token-and-signal", INTERRUPTIBLE, .signals = 1, .threads =
      "acquire 1 token; give | cancel | release 1" },
    { .name = "weights-on-futexes", INTERRUPTIBLE, .units = 2, .threads =
      "acquire 1; give | acquire 2; give | acquire 1; give" },
    { .name = "destroy-on-futexes", INTERRUPTIBLE, .signals = 1, .threads =
      "acquire 1; destroy if | release 1" },

    /* ---- Parkers ---- */
    { .name = "first-waits", .cold = true, .units = 1, .threads =
      "acquire 1; give | acquire 1; give | acquire 1; give" },
    { .name = "no-memory-for-a-parker", .cold = true, .no_memory = 2, .threads =
      "acquire 1 | timed 1; give | release 2" },
    { .name = "canceled-without-a-parker", .cold = true, .no_memory = 1, .threads =
      "!acquire 1; give | release 1; acquire 1; give" },
    { .name = "parker-is-inherited", .threads =
      "acquire 1 | after t0; acquire 1; give | release 1; release 1" },
    { .name = "parker-still-on-a-chain", .spurious = 1, .threads =
      "acquire 1; acquire 1 | acquire 1 | release 2 | release 1" },
    { .name = "woken-by-the-woken", .threads =
      "acquire 1 | timed 1 | acquire 1 | release 3" },
    { .name = "woken-by-the-canceled", .threads =
      "acquire 1 | !acquire 1 | acquire 1 | release 3" },

    /* ---- FAIRSEM_BOUNDED_BYPASS: for a long time, and for a moment ---- */
    { .name = "bypass-hog", .bypass_ns = LONG, .units = 1, .threads =
      "acquire 1; give; try 1; give | acquire 1; give | later; acquire 1; give" },
    { .name = "bypass-hog-soon", .bypass_ns = MOMENT_NS, .units = 1, .threads =
      "acquire 1; give; try 1; give | acquire 1; give | later; acquire 1; give" },
    { .name = "bypass-hogs", .bypass_ns = LONG, .units = 1, .threads =
      "acquire 1; give; acquire 1; give | acquire 1; give; try 1; give | acquire 1; give" },
    { .name = "bypass-large", .bypass_ns = LONG, .units = 2, .threads =
      "acquire 2; give | acquire 1; give; acquire 1; give | later; try 1; give; upto 2; give" },
    { .name = "bypass-large-soon", .bypass_ns = MOMENT_NS, .units = 2, .threads =
      "acquire 2; give | acquire 1; give; acquire 1; give | later; try 1; give; upto 2; give" },
    { .name = "bypass-two-sleepers", .bypass_ns = LONG, .spurious = 1, .threads =
      "acquire 1; give | acquire 1; give | release 1; try 1; give | later; upto 2; give" },
    { .name = "bypass-two-sleepers-soon", .bypass_ns = MOMENT_NS, .spurious = 1, .threads =
      "acquire 1; give | acquire 1; give | release 1; try 1; give | later; upto 2; give" },
    { .name = "bypass-two-of-two", .bypass_ns = LONG, .threads =
      "acquire 1 | acquire 1 | release 2; later; try 1; give" },
    { .name = "bypass-two-of-two-soon", .bypass_ns = MOMENT_NS, .threads =
      "acquire 1 | acquire 1 | release 2; later; try 1; give" },
    { .name = "bypass-token", .bypass_ns = LONG, .threads =
      "acquire 1 token; give | acquire 1; give | release 1; try 1; give | cancel" },
    { .name = "bypass-timeout", .bypass_ns = LONG, .threads =
      "timed 1; give | acquire 1; give | release 1; try 1; give; later; release 1" },
    { .name = "bypass-timeout-soon", .bypass_ns = MOMENT_NS, .threads =
      "timed 1; give | acquire 1; give | release 1; try 1; give; later; release 1" },
    { .name = "bypass-timeout2", .bypass_ns = LONG, .threads =
      "timed 2; give | acquire 1; give | release 2; upto 1; give" },
    { .name = "bypass-cancel", .bypass_ns = LONG, .threads =
      "!acquire 1; give | acquire 1; give | release 1; try 1; give; later" },
    { .name = "bypass-cancel-soon", .bypass_ns = MOMENT_NS, .threads =
      "!acquire 1; give | acquire 1; give | release 1; try 1; give; later" },
    { .name = "bypass-prio", .bypass_ns = LONG, .threads =
      "acquire 1; give | acquire 2 p-1; give | release 2; try 1; give" },
    { .name = "bypass-ticket", .bypass_ns = LONG, .threads =
      "acquire 1; give | after t0 1; take 1 calls; return | release 2; try 1; give" },
    { .name = "bypass-release-and-claim", .bypass_ns = LONG, .units = 1, .may_block = true,
      .threads =
      "take 2 | after t0 1; stat; release 1; claim t0; give | after t0 1; return t0 |"
      "after t0 1; acquire 1; give" },
    { .name = "bypass-ticket2", .bypass_ns = LONG, .threads =
      "acquire 1; give | take 1 calls; claim; give; return | release 2; try 1; give" },
    { .name = "bypass-capacity", .bypass_ns = LONG, .units = 2, .capacity = 2, .threads =
      "acquire 2; give; acquire 2; give | acquire 1; give | capacity 1; capacity 2" },
    { .name = "bypass-pause", .bypass_ns = LONG, .units = 1, .capacity = 1, .threads =
      "acquire 1; give | acquire 1; give; try 1; give | capacity 0; capacity 1 |"
      "try 0; acquire 1; give" },
    { .name = "bypass-debt", .bypass_ns = LONG, .units = 1, .threads =
      "acquire 1; give | acquire 1; give; try 1; give | consume 1; release 1" },
    { .name = "bypass-close", .bypass_ns = LONG, .units = 1, .threads =
      "acquire 1; give | acquire 1; give; try 1; give | close" },
    { .name = "bypass-destroy", .bypass_ns = LONG, .threads =
      "acquire 1; destroy | release 1" },
    { .name = "bypass-destroy2", .bypass_ns = LONG, .threads =
      "acquire 2; destroy | release 1 | release 1" },
    { .name = "bypass-destroy3", .bypass_ns = LONG, .threads =
      "acquire 1; give | try 1; give; after t0; acquire 1; destroy | release 1" },
    { .name = "bypass-zero", .bypass_ns = LONG, .units = 1, .threads =
      "acquire 1; give | acquire 1; give | acquire 0; try 0" },
    { .name = "bypass-over", .bypass_ns = LONG, .capacity = 1, .units = 1, .threads =
      "acquire 1; give; try 1; give | acquire 1; give | release 2; later" },
    { .name = "bypass-over-soon", .bypass_ns = MOMENT_NS, .capacity = 1, .units = 1, .threads =
      "acquire 1; give; try 1; give | acquire 1; give | release 2; later" },
    { .name = "bypass-sig", .bypass_ns = LONG, INTERRUPTIBLE, .signals = 1, .handler = "release 1",
      .threads =
      "timed 1; give | timed 1; give | try 1; give" },
    { .name = "bypass-nomem", .bypass_ns = LONG, .cold = true, .no_memory = 2, .threads =
      "acquire 1; give | timed 1; give | release 1; try 1; give" },
    { .name = "bypass-chain", .bypass_ns = LONG, .spurious = 1, .threads =
      "acquire 1; acquire 1 | acquire 1 | release 2; try 1; give | release 1" },
};

const int scenarios_count = sizeof scenarios / sizeof scenarios[0];
