/* SPDX-License-Identifier: MIT */
/*
 * scenarios.c - what the library promises, a line for each case, in the language of language.h: first
 * scenarios with one outcome, then races.  By default the semaphore has 0 units and no capacity.
 *
 * All threads of a scenario must end, whatever happens: a thread that waits for ever is an error of the
 * library.  A number such as U13 is a row of doc/scenarios.md: a bug of another semaphore.
 */
#include "language.h"

#include <errno.h>

#define INTERRUPTIBLE .flags = FAIRSEM_INTERRUPTIBLE

#define LONG (INT64_C(3600) * 1000000000)
#define MAX  FAIRSEM_MAX_UNITS      /* 1152921504606846976 */

const struct scenario scenarios[] = {
    /* ---- Order of arrival ---- */
    { .name = "waiters-are-granted-in-arrival-order", .threads =
      "acquire 1 > acquire 1 > acquire 1 > "
      "release 1; after t0; waiters = 2; release 1; after t1; waiters = 1; release 1; after t2; "
      "available = 0" },
    /* U1 (cpython 90155), U5 (async-lock 23), U30 (anyio 1170): the waiter may not have run yet. */
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
    /* U26 (golang sync PR 7, zio 11187: the request waits for ever, and blocks the queue). */
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
    /* temporal 9286: a newcomer must wait behind waiters of an equal priority, not of a worse priority. */
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

    /* ---- Shares: h1 and h2 have weight 1, h3 has weight 3 ---- */
    { .name = "units-go-round-between-two-shares", .threads =
      "> take 1 t0 h1 = EINPROGRESS; take 1 t1 h1 = EINPROGRESS; take 1 t2 h2 = EINPROGRESS; shares = 2; "
      "release 1; state t0 = granted; release 1; state t2 = granted; state t1 = waiting; release 1" },
    { .name = "units-go-round-between-three-shares-and-requests-without-one", .threads =
      "acquire 1 h1 > acquire 1 > acquire 1 h2 > "
      "take 1 h1 = EINPROGRESS; shares = 2; waiters = 4; release 3; after t0; after t1; after t2; "
      "state = waiting; release 1" },
    { .name = "requests-without-a-share-have-weight-one", .threads =
      "> take 2 t0 = EINPROGRESS; take 1 t1 = EINPROGRESS; take 1 t2 h1 = EINPROGRESS; "
      "take 1 t3 h1 = EINPROGRESS; release 4; state t3 = granted; state t1 = waiting; release 1" },
    { .name = "a-share-of-weight-three-gets-three-units-of-four", .threads =
      "> take 1 t0 h1 = EINPROGRESS; take 1 t1 h3 = EINPROGRESS; take 1 t2 h3 = EINPROGRESS; "
      "take 1 t3 h3 = EINPROGRESS > acquire 1 h1 > "
      "release 1; state t0 = granted; release 3; state t3 = granted; waiters = 1; release 1; after t1" },
    { .name = "thirds-of-a-unit-add-up", .threads =
      "> take 1 t0 h3 = EINPROGRESS; take 1 t1 h1 = EINPROGRESS; take 1 t2 h1 = EINPROGRESS; "
      "take 2 t3 h3 = EINPROGRESS > acquire 1 h3 > release 4; state t3 = granted; waiters = 2; "
      "release 1; after t1; state t2 = waiting; release 1" },
    { .name = "a-front-that-is-returned-costs-its-share-nothing", .threads =
      "> take 9 t0 h1 = EINPROGRESS; take 1 t1 h1 = EINPROGRESS; take 1 t2 h2 = EINPROGRESS; release 1; "
      "available = 1; return t0; state t1 = granted; state t2 = waiting; release 1" },
    { .name = "a-front-that-its-token-ends-costs-its-share-nothing", .threads =
      "acquire 3 h1 token = ECANCELED > acquire 1 h1 > acquire 1 h2 > "
      "release 1; cancel; after t0; after t1; waiters = 1; release 1" },
    { .name = "a-front-whose-thread-is-canceled-costs-its-share-nothing", .threads =
      "acquire 3 h1 = killed > acquire 1 h1 > acquire 1 h2 > "
      "release 1; kill t0; after t0; after t1; waiters = 1; release 1" },
    { .name = "new-shares-do-not-pass-a-large-front", .threads =
      "> take 1 t0 h1 = EINPROGRESS; take 3 t1 h1 = EINPROGRESS; release 2; take 1 t2 h3 = EINPROGRESS; "
      "take 1 t3 h2 = EINPROGRESS; available = 1; waiters = 3; release 2; state t1 = granted > "
      "shares = 2; release 1; state t2 = granted; release 1; state t3 = granted" },
    { .name = "priorities-come-before-shares", .threads =
      "> take 1 t0 h1 = EINPROGRESS; take 1 t1 h2 p1 = EINPROGRESS; take 1 t2 h2 p-1 = EINPROGRESS; "
      "take 1 t3 h1 = EINPROGRESS > release 1; state t2 = granted; release 1; state t0 = granted; "
      "release 1; state t3 = granted; state t1 = waiting; release 1" },
    { .name = "a-share-that-goes-on-at-a-worse-priority-waits-for-one-round", .threads =
      "> take 1 t0 h2 p1 = EINPROGRESS; take 9 t1 h1 = EINPROGRESS; take 1 t2 h2 p1 = EINPROGRESS; "
      "take 1 t3 h1 p1 = EINPROGRESS; release 9; state t1 = granted > release 2; state t0 = granted; "
      "state t3 = granted; state t2 = waiting; release 1" },
    { .name = "a-share-that-gets-a-better-request-waits-there-for-one-round", .threads =
      "> take 9 t0 h1 = EINPROGRESS; take 1 t1 h1 = EINPROGRESS; take 1 t2 h2 p-1 = EINPROGRESS; "
      "release 1; claim t2; release 9; claim t0; take 1 t0 h2 p-1 = EINPROGRESS; "
      "take 1 t2 h2 p-1 = EINPROGRESS; take 1 t3 h1 p-1 = EINPROGRESS > release 2; state t0 = granted; "
      "state t3 = granted; state t2 = waiting; release 1; state t2 = granted; release 1" },
    { .name = "what-a-share-had-at-a-better-priority-does-not-hold-it-up-at-a-worse-one", .threads =
      "> take 1 t0 h2 p1 = EINPROGRESS; take 9 t1 h1 = EINPROGRESS; release 9; state t1 = granted; "
      "take 1 t2 h2 p1 = EINPROGRESS; take 1 t3 h1 p1 = EINPROGRESS > release 2; state t0 = granted; "
      "state t3 = granted; state t2 = waiting; release 1" },
    { .name = "a-share-that-comes-back-has-no-credit", .threads =
      "> take 1 t0 h1 = EINPROGRESS; take 1 t1 h2 = EINPROGRESS; take 1 t2 h2 = EINPROGRESS; "
      "take 1 t3 h2 = EINPROGRESS; release 3; claim t0; claim t1; take 1 t0 h1 = EINPROGRESS; "
      "take 1 t1 h1 = EINPROGRESS > release 1; state t0 = granted; state t3 = waiting; release 1; "
      "state t3 = granted; state t1 = waiting; release 1" },
    { .name = "a-share-that-comes-back-late-starts-at-the-virtual-time", .threads =
      "> take 1 t0 h1 = EINPROGRESS; take 9 t1 h2 = EINPROGRESS; take 9 t2 h2 = EINPROGRESS; "
      "take 1 t3 h2 = EINPROGRESS; release 19; claim t0; claim t1; claim t2; waiters = 1 > "
      "take 9 t0 h1 = EINPROGRESS; take 1 t1 h1 = EINPROGRESS; release 9; state t0 = granted; "
      "release 1; state t3 = granted; state t1 = waiting; release 1" },
    { .name = "a-share-that-was-granted-less-is-granted-by-the-call-that-asks", .threads =
      "> take 1 t0 h3 = EINPROGRESS; take 1 t1 h2 = EINPROGRESS; take 3 t2 h2 = EINPROGRESS; release 3; "
      "available = 1; waits = 3; take 1 t3 h3 = EINPROGRESS; state t3 = granted; waits = 4 > "
      "release 1; acquire 1 h3; available = 0; grants = 4; waiters = 1; release 3" },
    { .name = "a-charge-is-a-part-of-the-next-grant", .threads =
      "> take 1 t0 h1 = EINPROGRESS; take 1 t1 h1 = EINPROGRESS; take 1 t2 h2 = EINPROGRESS; "
      "take 1 t3 h2 = EINPROGRESS; charge 2 h1; release 3; state t3 = granted; state t1 = waiting; "
      "release 1; charge min h1 = EINVAL" },
    { .name = "a-charge-counts-when-its-share-comes-back", .threads =
      "> take 1 t0 h1 = EINPROGRESS; take 1 t1 h2 = EINPROGRESS; take 1 t2 h2 = EINPROGRESS; "
      "take 1 t3 h2 = EINPROGRESS; release 2; claim t0; charge 2 h1; take 1 t0 h1 = EINPROGRESS; release 2; "
      "state t3 = granted > state t0 = waiting; release 1" },
    { .name = "a-negative-charge-gives-units-back", .threads =
      "> take 4 t0 h1 = EINPROGRESS; take 4 t1 h1 = EINPROGRESS; take 1 t2 h2 = EINPROGRESS; "
      "take 1 t3 h2 = EINPROGRESS; charge -3 h1; release 9; state t1 = granted; state t3 = waiting; "
      "release 1" },
    { .name = "a-share-is-not-destroyed-while-a-request-of-it-waits", .threads =
      "acquire 1 h1 > unshare h1 = EBUSY; unshare h2; destroy = EBUSY; release 1; after t0; unshare h1; "
      "acquire 1 h1 = EINVAL; take 1 h1 = EINVAL; charge 1 h1 = EINVAL; destroy" },
    { .name = "a-share-waits-at-one-semaphore-at-a-time", .units = 1, .threads =
      "acquire 2 h1 > acquire 1 s1 h1 = EINVAL; take 1 s1 h1 = EINVAL; drain 0 s1 h1 = EINVAL; "
      "closed s1 = 0; release 1; after t0; take 2 s1 h1 = EINPROGRESS; acquire 1 h1 = EINVAL > "
      "release 1 s1; release 1; acquire 1 h1" },
    { .name = "a-semaphore-with-aging-has-no-shares", .aging_ns = LONG, .units = 1, .threads =
      "> acquire 1 h1 = EINVAL; take 1 h1 = EINVAL; drain 1 h1 = EINVAL; closed = 0; available = 1" },
    { .name = "a-semaphore-with-a-bypass-has-no-shares", .bypass_ns = LONG, .units = 1, .threads =
      "> acquire 1 h1 = EINVAL; take 1 h1 = EINVAL; drain 1 h1 = EINVAL; closed = 0; available = 1" },
    { .name = "a-ticket-is-watched-without-a-share", .threads =
      "> take 1 h1 = EINPROGRESS; watch h1 = EINVAL; release 1; watch h1 = EINVAL; watch" },
    { .name = "a-close-ends-the-requests-of-all-shares", .threads =
      "acquire 1 h1 p-1 = ESHUTDOWN > acquire 1 h2 p1 = ESHUTDOWN > "
      "take 1 t2 h1 p2 = EINPROGRESS; take 1 t3 h3 = EINPROGRESS; shares = 3; close; waiters = 0; "
      "shares = 0; state t2 = closed; state t3 = closed; unshare h1; acquire 1 h2 = ESHUTDOWN" },
    { .name = "a-drain-does-not-wait-in-its-share", .units = 1, .threads =
      "acquire 1 > drain 1 h1 > drain 1 h2 p-1 > "
      "shares = 0; waiters = 2; release 1; after t1; after t2; available = 1" },
    { .name = "a-smaller-capacity-ends-the-large-requests-of-all-shares", .capacity = 9, .threads =
      "> take 9 t0 h1 p-1 = EINPROGRESS; take 1 t1 h1 p2 = EINPROGRESS; take 9 t2 h2 p1 = EINPROGRESS; "
      "take 1 t3 h2 p1 = EINPROGRESS; capacity 5; state t0 = canceled; state t2 = canceled; shares = 2 > "
      "release 5; state t3 = granted; state t1 = waiting; release 1" },
    { .name = "units-go-round-after-a-pause", .units = 1, .capacity = 1, .threads =
      "> capacity 0; take 1 t0 h1 = EINPROGRESS; take 1 t1 h1 = EINPROGRESS; take 1 t2 h2 = EINPROGRESS; "
      "capacity 2; state t0 = granted; state t2 = granted; state t1 = waiting; capacity 3" },

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
    /* U11: the large request at the front fails, and the next waiter fits already. */
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
    /* A thread that holds 1 unit releases 2, so only one of the ticket's two units fits into the capacity. */
    { .name = "a-returned-grant-gives-back-the-units-that-fit", .units = 3, .capacity = 3, .threads =
      "> acquire 1; take 2; release 2; return; available = 3; over_releases = 1; "
      "release 1 = EOVERFLOW; destroy" },

    /* ---- Close ---- */
    /* U46 (Seastar: waiters want the reason). */
    { .name = "every-waiter-and-every-later-acquire-gets-the-reason", .units = 3, .threads =
      "acquire 4 = ESHUTDOWN > timed 1 = ESHUTDOWN > acquire 0 = ESHUTDOWN > "
      "closed = 0; close; waiters = 0; closed = ESHUTDOWN; after t0; after t1; after t2; "
      "acquire 1 = ESHUTDOWN; available = 3; destroy" },
    { .name = "a-reason-may-be-any-number-above-0", .threads =
      "acquire 1 = 2147483647 > close 2147483647; closed = 2147483647; after t0 > "
      "acquire 1 s1 = 1 > close 1 s1; closed s1 = 1; after t2" },
    { .name = "the-reason-may-be-1", .units = 3, .threads =
      "> close 1; acquire 1 = 1; acquire 0 = 1; timed 1 = 1; for 1 past = 1; try 1 = 1; take 1 = 1; "
      "state = idle; available = 3; destroy" },
    { .name = "all-that-takes-returns-the-reason", .units = 3, .closed = 4711, .threads =
      "> closed = 4711; acquire 1 = 4711; acquire 0 = 4711; try 1 = 4711; try 0 = 4711; for 1 = 4711; "
      "for 1 past = 4711; timed 1 = 4711; timed 1 past = 4711; timed 1 p-2147483648 = 4711 > "
      "take 1 = 4711; state = idle; upto 9 = 0; would 0 = 0; would 1 = 0; would 1000 = 0; waiters = 0; "
      "available = 3" },
    { .name = "the-first-reason-stays", .units = 1, .threads =
      "> close -1 = EINVAL; close -2147483648 = EINVAL; closed = 0; try 1; release 1; close 4711; "
      "close 32 = EALREADY; close 4711 = EALREADY; close = EALREADY; closed = 4711" },
    /* U34 (tokio 8020: the bit "closed" was in the counter, and another operation cleared it). */
    { .name = "nothing-opens-a-closed-semaphore", .units = 5, .capacity = 9, .closed = 4711, .threads =
      "> release 1; try 1 = 4711; release 100 = EOVERFLOW; try 1 = 4711; consume 2; try 1 = 4711; "
      "consume 100; try 0 = 4711; capacity 50; acquire 1 = 4711 > "
      "capacity 1; acquire 1 = 4711; close 32 = EALREADY; try 1 = 4711; take 1 = 4711; upto 3 = 0; "
      "would 1 = 0; capacity 0; try 0 = 4711; capacity 9 > "
      "try 1 = 4711; for 1 = 4711; release 101; try 1 = 4711; closed = 4711; waiters = 0; "
      "available = 5; destroy" },
    { .name = "a-release-after-close-is-accepted-and-grants-nothing", .units = 4, .capacity = 4,
      .threads =
      "> acquire 1; acquire 3; close; release 1; available = 1; release 3; available = 4; "
      "release 1 = EOVERFLOW; try 1 = ESHUTDOWN; available = 4 > destroy" },
    /* U45: the release grants before the close, even if the waiter has not run before the close. */
    { .name = "a-waiter-granted-before-the-close-keeps-its-units", .threads =
      "acquire 2 > acquire 1 = 4711 > release 2; close 4711; after t0; after t1; available = 0; "
      "release 2; available = 2; destroy" },
    { .name = "a-last-request-for-all-units-lets-those-before-it-end-before-the-close", .threads =
      "acquire 2; release 2 > acquire 3; close > "
      "take 1 = EINPROGRESS; release 3; after t1; state = closed; return; grants = 2; available = 0; "
      "destroy" },
    { .name = "a-last-request-for-0-units-waits-until-those-before-it-are-granted", .threads =
      "acquire 2 > acquire 0; close > "
      "take 3 = EINPROGRESS; release 3; after t1; state = closed; return; grants = 2; available = 1; "
      "release 2; destroy" },
    { .name = "a-token-is-free-when-a-close-has-ended-its-waits", .threads =
      "acquire 1 token = 4711 > acquire 1 token = 4711 > acquire 1 token = 4711 > "
      "close 4711; after t0; after t1; after t2; reason = 0; cancel; destroy" },

    /* ---- Drain ---- */
    { .name = "an-unused-semaphore-is-drained-at-once", .units = 3, .threads =
      "> drain 3; closed = ESHUTDOWN; available = 3; try 1 = ESHUTDOWN; acquire 1 = ESHUTDOWN; "
      "drain 3; drain 0; destroy" },
    { .name = "a-drain-waits-for-the-last-unit", .threads =
      "drain 3 > release 2; waiters = 1; destroy = EBUSY; available = 2; try 1 = ESHUTDOWN; "
      "upto 2 = 0; acquire 1 = ESHUTDOWN; release 1; after t0; available = 3 > waiters = 0; destroy" },
    /* During a pause no unit is free, so a drain of any n waits for all units that are in use. */
    { .name = "a-drain-during-a-pause-ends-when-no-unit-is-in-use", .units = 3, .capacity = 3,
      .threads =
      "acquire 2; capacity 0; drain 0 past = ETIMEDOUT > drain 3 > drain 0 > "
      "release 1; waiters = 2; release 1; after t1; after t2; available = 0; drain 3 past; drain 0; "
      "destroy" },
    { .name = "a-drain-goes-on-after-a-pause", .units = 3, .capacity = 3, .threads =
      "> acquire 1; capacity 0; drain 2 past = ETIMEDOUT; capacity 3; drain 3 past = ETIMEDOUT; "
      "drain 2 past; release 1; destroy" },
    { .name = "a-drain-closes-and-waiters-get-the-reason", .units = 1, .threads =
      "acquire 2 = ESHUTDOWN > acquire 1 = ESHUTDOWN > take 1 = EINPROGRESS; drain 2 > "
      "after t0; after t1; state t2 = closed; return t2; waiters = 1; release 1; after t2; "
      "available = 2" },
    { .name = "several-threads-may-drain", .units = 2, .debt = 4, .closed = EPIPE, .threads =
      "drain 2 > drain 2 > drain 1 p1 > "
      "release 3; waiters = 3; release 1; after t0; after t1; after t2; available = 2; closed = 32" },
    { .name = "an-invalid-drain-changes-nothing", .units = 2, .capacity = 2, .threads =
      "> drain -1 = EINVAL; drain 1152921504606846977 = EINVAL; drain 3 = E2BIG; closed = 0; try 2; "
      "release 2; drain 2" },
    { .name = "a-drain-that-times-out-leaves-the-semaphore-closed", .threads =
      "> drain 1 timed = ETIMEDOUT; closed = ESHUTDOWN; drain 1 past = ETIMEDOUT; waiters = 0" },
    /* A drain whose time has passed needs no place in the queue, and is not a wait. */
    { .name = "a-drain-with-a-token-or-without-a-place-in-the-queue", .max_waiters = 1, .threads =
      "drain 1 token = 32 > "
      "drain 1 = ENOBUFS; drain 1 past = ETIMEDOUT; refused = 1; waits = 1; cancel 32; after t0; "
      "drain 1 token = 32; drain 1 token past = 32; release 1; drain 1 past > destroy" },
    { .name = "a-drain-follows-a-change-of-capacity", .units = 3, .capacity = 4, .threads =
      "drain 4 = E2BIG > capacity 0; waiters = 1; capacity 3; after t0; release 1; consume 1 > "
      "drain 3 > capacity 4; after t2; release 1; drain 4" },
    { .name = "no-thread-passes-a-drain-on-a-semaphore-with-bypass", .bypass_ns = LONG, .threads =
      "drain 2 > release 1; try 1 = ESHUTDOWN; upto 1 = 0; release 1; try 1 = ESHUTDOWN; upto 1 = 0; "
      "after t0; available = 2" },
    { .name = "a-canceled-thread-stops-draining", .threads =
      "drain 1 = killed > kill t0; after t0; waiters = 0; release 1; available = 1; destroy" },

    /* ---- Debt ---- */
    { .name = "a-consume-takes-more-than-there-is", .units = 2, .threads =
      "> consume 0; consume 1; available = 1; consume 4; available = -3; would 0 = 1; try 0 = EAGAIN; "
      "for 0 past = ETIMEDOUT" },
    { .name = "a-debt-is-repaid-before-any-grant", .debt = 3, .threads =
      "acquire 0 > acquire 2 > "
      "release 2; waiters = 2; available = -1; release 2; after t0; waiters = 1; consume 3; "
      "available = -2; release 4; after t1 > available = 0; destroy" },
    /* U35: the check comes before the subtraction. */
    { .name = "a-debt-beyond-the-largest-is-refused-and-changes-nothing", .units = 1, .threads =
      "> consume -1 = EINVAL; consume 1152921504606846977 = EINVAL; consume max; "
      "available = -1152921504606846975; consume 2 = EOVERFLOW; consume max = EOVERFLOW; "
      "available = -1152921504606846975; consume 1; consume 1 = EOVERFLOW; consume 0 > "
      "release max; release max; release 1 = EOVERFLOW; available = max" },
    { .name = "the-lowest-count-is-the-largest-debt-of-a-paused-semaphore", .capacity = MAX, .threads =
      "> consume max; capacity 0; available = -2305843009213693952; consume 1 = EOVERFLOW; "
      "try 0 = EAGAIN; capacity max; release max; release max; release 1 = EOVERFLOW; try max > "
      "destroy" },

    /* ---- Tickets ---- */
    { .name = "a-ticket-goes-from-idle-to-waiting-to-granted-to-idle", .units = 1, .threads =
      "> state = idle; claim = EINVAL; take 2 = EINPROGRESS; state = waiting; waiters = 1; "
      "destroy = EBUSY; claim = EAGAIN; take 1 = EINVAL; release 2; state = granted > "
      "waiters = 0; available = 1; take 1 t0 = EINVAL; claim t0; state t0 = idle; give; "
      "available = 3; take 3 t0; available = 0 > "
      "claim t0; give; available = 3; take 0 t0; state t0 = granted; return t0; state t0 = idle; "
      "destroy" },
    { .name = "a-ticket-that-cannot-be-taken-stays-idle", .units = 2, .capacity = 4, .max_waiters = 1,
      .threads =
      "> take -1 = EINVAL; take 1152921504606846977 = EINVAL; take 5 = E2BIG; state = idle; "
      "take 3 t1 = EINPROGRESS; take 1 = ENOBUFS; state = idle; waiters = 1; return t1; close 4711 > "
      "take 1 t0 = 4711; state t0 = idle; available = 2; destroy" },
    { .name = "tickets-and-threads-wait-in-one-queue", .threads =
      "take 1 = EINPROGRESS; acquire 1 > take 2 = EINPROGRESS; acquire 1 > "
      "take 1 p-1 = EINPROGRESS; release 1; state = granted; state t0 = waiting; release 2; "
      "state t0 = granted; after t0; release 1; state t1 = waiting; waiters = 2 > "
      "release 1; state t1 = granted; waiters = 1; return t2; after t1; claim t0; give; claim t1; "
      "give; available = 3" },
    /* U10, U14: when the front leaves, the next waiters are granted while they fit, and no other. */
    { .name = "a-returned-ticket-leaves-the-queue-or-passes-its-units-on", .units = 5, .threads =
      "take 8 = EINPROGRESS; take 6 t1 = EINPROGRESS; acquire 3 > "
      "take 5 t2 = EINPROGRESS; return; state = idle; waiters = 3; available = 5; return t0; after t0; "
      "waiters = 1; available = 2; release 3 > "
      "state = granted; take 4 t0 = EINPROGRESS; return; state = idle; state t0 = granted; "
      "available = 1; return; return; available = 1; return t0 > available = 5; destroy" },
    { .name = "a-ticket-that-left-the-queue-without-units-says-why-until-it-is-returned",
      .capacity = 4, .threads =
      "> take 4 = EINPROGRESS; take 1 t1 = EINPROGRESS; capacity 3; state = canceled; "
      "state t1 = waiting; close 4711; state = canceled; state t1 = closed; claim = E2BIG; "
      "claim t1 = 4711 > "
      "watch t0 = E2BIG; watch t1 = 4711; take 1 t0 = EINVAL; take 1 t1 = EINVAL; claim t0 = E2BIG; "
      "return t0; return t1; state t0 = idle; state t1 = idle; available = -1 > destroy" },

    /* ---- Waiting for a ticket ---- */
    { .name = "a-wait-for-a-ticket-that-ends-early-keeps-the-place", .threads =
      "> watch = EINVAL; take 1 = EINPROGRESS; take 1 t1 = EINPROGRESS; watch past = ETIMEDOUT; "
      "watch timed = ETIMEDOUT; cancel 4711; watch token = 4711; state = waiting; waiters = 2; "
      "release 1 > "
      "after t0; state t0 = granted; state t1 = waiting; watch t0; watch t0 past; state t0 = granted; "
      "return t0; watch t1; return t1; destroy" },
    { .name = "a-wait-for-a-ticket-has-no-priority", .threads =
      "> take 1 = EINPROGRESS; watch p1 = EINVAL; watch p-1 = EINVAL; state = waiting" },
    { .name = "several-threads-can-wait-for-one-ticket", .threads =
      "take 1 = EINPROGRESS; watch > watch t0 token = 4711 > watch t0 timed = ETIMEDOUT > "
      "cancel 4711; after t1; after t2; state t0 = waiting; waiters = 1; release 1; after t0; "
      "return t0; destroy" },
    { .name = "a-thread-that-waits-for-a-ticket-is-canceled-and-others-go-on", .threads =
      "take 1 = EINPROGRESS; watch = 32 > watch t0 = killed > "
      "kill t1; after t1; state t0 = waiting; close 32; after t0; return t0; destroy" },
    /* A thread that comes after the return gets EINVAL. */
    { .name = "a-return-ends-all-waits-for-the-ticket", .threads =
      "take 1 = EINPROGRESS > watch t0 = ECANCELED or EINVAL > watch t0 = ECANCELED or EINVAL > "
      "return t0; after t1; after t2; waiters = 0; destroy" },

    /* ---- Tokens ---- */
    { .name = "a-token-keeps-its-first-reason", .threads =
      "> reason = 0; cancel -1 = EINVAL; cancel -2147483648 = EINVAL; reason = 0; cancel; "
      "reason = ECANCELED; cancel 4711 = EALREADY; cancel = EALREADY; reason = ECANCELED" },
    { .name = "a-token's-reason-may-be-the-largest-int", .threads =
      "acquire 1 token = 2147483647 > cancel 2147483647; reason = 2147483647; after t0" },
    /* U17 (golang 63615): even if units are free, or the deadline has passed. */
    { .name = "a-token-that-is-canceled-already-fails-the-acquire-and-takes-nothing", .units = 3,
      .threads =
      "> acquire 1 token; cancel 4711; acquire 1 token = 4711; acquire 0 token = 4711; "
      "timed 1 token past = 4711; acquire 5 token = 4711; waiters = 0; available = 2" },
    { .name = "a-canceled-waiter-leaves-the-middle-of-the-queue", .units = 5, .threads =
      "acquire 8 > acquire 6 token = ECANCELED > acquire 2 > "
      "cancel; waiters = 2; available = 5; after t1; release 3; after t0; waiters = 1; release 2; "
      "after t2; destroy" },
    /* U10, U11: without any release. */
    { .name = "when-a-token-cancels-the-head-the-waiters-it-held-up-are-granted", .units = 5, .threads =
      "acquire 8 token = 4711 > acquire 2 > acquire 4 > "
      "cancel 4711; waiters = 1; available = 3; after t0; after t1; release 1; after t2; destroy" },
    /* U14 (kotlinx PR 1323: canceling a waiter without units woke the next waiter). */
    { .name = "a-token-that-cancels-a-waiter-that-has-nothing-gives-nothing-to-the-next", .threads =
      "acquire 1 token = ECANCELED > acquire 1 > "
      "cancel; after t0; waiters = 1; available = 0; release 1; after t1; available = 0" },
    { .name = "a-waiter-granted-before-the-cancel-keeps-its-units", .threads =
      "acquire 1 token > release 1; cancel; after t0; available = 0" },
    { .name = "a-wait-that-has-ended-no-longer-uses-its-token", .threads =
      "acquire 1 token > timed 1 token = ETIMEDOUT > acquire 1 token = killed > "
      "after t1; kill t2; after t2; waiters = 1; release 1; after t0; cancel; reason = ECANCELED" },

    /* ---- pthread_cancel (U51: TizenRT 7526, nuttx 619, dmtcp 138 left a stale node or count) ---- */
    { .name = "a-canceled-waiter-leaves-the-queue", .threads =
      "acquire 1 = killed > timed 1 = killed > acquire 1 > "
      "kill t1; after t1; waiters = 2; kill t0; after t0; waiters = 1; release 1; after t2; "
      "available = 0; destroy" },
    { .name = "a-canceled-waiter-leaves-the-queue-from-a-futex", INTERRUPTIBLE, .threads =
      "acquire 1 = killed > acquire 1 = killed > acquire 1 > "
      "kill t1; after t1; waiters = 2; kill t0; after t0; waiters = 1; release 1; after t2; destroy" },
    /* U10, U11. */
    { .name = "when-a-large-head-is-canceled-the-waiters-behind-it-are-granted", .units = 5, .threads =
      "acquire 8 = killed > acquire 2 > acquire 6 = killed > "
      "kill t0; after t0; after t1; waiters = 1; available = 3; kill t2; after t2; waiters = 0; "
      "available = 3" },
    /* U14. */
    { .name = "canceling-a-waiter-that-has-nothing-gives-nothing-to-the-next", .threads =
      "acquire 1 = killed > acquire 1 = killed > "
      "kill t0; after t0; waiters = 1; kill t1; after t1; available = 0; waiters = 0" },
    /* U1, second half: when the waiter has been canceled, the releaser can take the unit itself. */
    { .name = "a-unit-is-not-reserved-for-a-waiter-that-is-gone", .threads =
      "acquire 1 = killed > kill t0; after t0; release 1; acquire 1" },
    /* A pending cancel acts only in a wait: elsewhere the thread would end with its units. */
    { .name = "only-a-wait-is-a-cancellation-point", .units = 9, .threads =
      "> kill t0; acquire 1; try 1; for 1; for 1 past; release 4; upto 1 = 1; release 1; waiters = 0; "
      "would 1 = 0 > try 100 = EAGAIN; available = 9" },
    { .name = "a-pending-cancel-acts-when-the-wait-begins", .threads =
      "> kill t0; acquire 1 = killed > after t0; waiters = 0; destroy" },

    /* ---- Deadlines ---- */
    /* U10, U11 (golang 37852, embassy 6964, shuttle 167): without any release. */
    { .name = "when-a-large-head-times-out-the-waiters-behind-it-are-granted", .units = 5, .threads =
      "timed 8 = ETIMEDOUT > acquire 2 > acquire 4 > "
      "after t0; after t1; waiters = 1; available = 3; release 1; after t2" },
    { .name = "a-waiter-that-times-out-in-the-middle-causes-no-grant", .units = 5, .threads =
      "acquire 8 > timed 6 = ETIMEDOUT > acquire 1 > "
      "after t1; waiters = 2; available = 5; release 3; after t0; waiters = 1; release 1" },
    /* U17, U24: as with sem_timedwait. */
    { .name = "a-deadline-in-the-past-takes-units-that-are-free", .units = 2, .threads =
      "> timed 1 past; for 1 past; timed 1 past = ETIMEDOUT; for 1 past = ETIMEDOUT; waiters = 0; "
      "waits = 0" },

    /* ---- FAIRSEM_BOUNDED_BYPASS ---- */
    { .name = "a-waiter-is-not-passed-after-the-bound", .bypass_ns = 1, .threads =
      "acquire 1 > later; release 1; waiters = 0; try 1 = EAGAIN; upto 1 = 0; after t0" },
    { .name = "a-large-request-is-not-passed-after-the-bound", .units = 3, .bypass_ns = 1, .threads =
      "acquire 5 > later; try 1 = EAGAIN; for 1 past = ETIMEDOUT; upto 1 = 0; would 1 = 1; "
      "available = 3; release 2; after t0; available = 0" },
    { .name = "waiters-that-may-be-passed-keep-their-order-among-themselves", .bypass_ns = LONG,
      .threads =
      "acquire 1 > acquire 1 > acquire 1 > "
      "release 1; after t0; waiters = 2; release 1; after t1; waiters = 1; release 1" },
    /* A ticket has no thread that could wake up and compete for the units. */
    { .name = "with-a-bypass-a-ticket-is-granted-by-the-release", .bypass_ns = LONG, .threads =
      "> take 1 = EINPROGRESS; release 1; state = granted; try 1 = EAGAIN; return; available = 1" },
    { .name = "a-woken-waiter-that-is-canceled-leaves-its-unit-to-the-next", .bypass_ns = LONG,
      .threads =
      "acquire 1 token = 0 or ECANCELED; give > acquire 1 > "
      "release 1; cancel; after t0; after t1; available = 0; destroy" },
    { .name = "no-thread-passes-during-a-pause", .units = 2, .capacity = 2, .paused = true,
      .bypass_ns = LONG, .threads =
      "acquire 1 > try 0 = EAGAIN; would 0 = 1; try 0 = EAGAIN; capacity 1; after t0" },
    { .name = "capacity-and-close-hold-while-threads-may-pass", .capacity = 2, .bypass_ns = LONG,
      .threads =
      "acquire 2 = 0 or 4711 > release 2; release 3 = EOVERFLOW; try 3 = E2BIG; close 4711; "
      "try 1 = 4711; after t0; available = 0 or 2" },
    /* The ticket is taken while a waiter is being woken to compete. */
    { .name = "with-a-bypass-a-ticket-that-is-granted-at-once-does-not-call-back", .bypass_ns = LONG,
      .threads =
      "acquire 1 > release 2; take 1 calls; state = granted; called = 0; waits = 1; after t0; return; "
      "available = 1" },
    { .name = "no-thread-passes-while-a-ticket-is-in-the-queue", .bypass_ns = LONG, .threads =
      "acquire 1 > take 1 calls = EINPROGRESS; release 1; try 1 = EAGAIN; waiters = 1; called = 0; "
      "release 1; called = 1; after t0; return" },
    { .name = "a-request-for-no-units-passes-no-waiter", .bypass_ns = LONG, .threads =
      "acquire 1 > try 0 = EAGAIN; for 0 past = ETIMEDOUT; release 1; acquire 0; waiters = 0; "
      "after t0" },

    /* ---- Age: old at once with 1 ns, and never with an hour ---- */
    /* `aged` counts the grants that were made before a better priority, and no others. */
    { .name = "old-requests-are-granted-in-the-order-of-arrival", .aging_ns = 1, .threads =
      "> take 1 p5 = EINPROGRESS; take 1 t1 = EINPROGRESS; take 1 t2 p5 = EINPROGRESS; "
      "take 1 t3 p-3 = EINPROGRESS; later; release 1; state = granted; release 1; state t1 = granted; "
      "release 1 > state t2 = granted; state t3 = waiting; release 1; aged = 3; grants = 4" },
    { .name = "who-would-be-first-by-priority-is-not-aged", .aging_ns = 1, .threads =
      "> take 1 = EINPROGRESS; take 1 t1 p1 = EINPROGRESS; take 1 t2 p1 = EINPROGRESS; later; "
      "release 1; state = granted; release 1; state t1 = granted; release 1; aged = 0" },
    { .name = "an-old-request-of-the-worst-priority-comes-before-the-best", .aging_ns = 1, .threads =
      "> take 1 p2147483647 = EINPROGRESS; take 1 t1 p-2147483648 = EINPROGRESS; "
      "take 1 t2 = EINPROGRESS; later; release 1; state = granted; release 1; state t1 = granted; "
      "release 1; aged = 1" },
    { .name = "requests-that-are-not-old-are-granted-by-priority", .aging_ns = LONG, .threads =
      "> take 1 p5 = EINPROGRESS; take 1 t1 = EINPROGRESS; take 1 t2 p5 = EINPROGRESS; "
      "take 1 t3 p-3 = EINPROGRESS; later; release 1; state t3 = granted; release 1; "
      "state t1 = granted; release 1 > state t0 = granted; state t2 = waiting; release 1; aged = 0" },
    { .name = "the-longest-age-is-never-reached", .aging_ns = INT64_MAX, .threads =
      "> take 1 p2147483647 = EINPROGRESS; take 1 t1 p-2147483648 = EINPROGRESS; "
      "take 1 t2 = EINPROGRESS; later; release 1; state t1 = granted; release 1; state t2 = granted; "
      "release 1; aged = 0" },
    { .name = "nobody-takes-units-that-an-old-request-waits-for", .units = 1, .capacity = 4,
      .aging_ns = 1, .threads =
      "> take 2 p2147483647 = EINPROGRESS; later; timed 1 p-2147483648 past = ETIMEDOUT; "
      "try 1 = EAGAIN; upto 1 = 0; would 1 = 1; available = 1; return; timed 1 p-2147483648 past; "
      "destroy" },
    /* A ticket has no thread, but a thread that waits for the ticket checks when the ticket ages. */
    { .name = "a-ticket-that-is-waited-for-takes-what-lies-free", .capacity = 4,
      .aging_ns = 1000 * MOMENT_NS, .threads =
      "> take 2 p1 = EINPROGRESS; take 4 t1 = EINPROGRESS; release 3; watch; available = 1; return t1; "
      "return; destroy" },
    { .name = "an-old-request-times-out-and-is-canceled-as-others", .aging_ns = 1, .threads =
      "acquire 1 p2 token = 7 > timed 1 p3 = ETIMEDOUT; timeouts = 0 or 1; cancel 7; after t0; "
      "cancels = 1; aged = 0; waiters = 0; destroy" },
    { .name = "a-smaller-capacity-refuses-young-and-old-alike", .capacity = 8, .aging_ns = 1,
      .threads =
      "> take 5 p4 = EINPROGRESS; take 2 t1 p2 = EINPROGRESS; take 6 t2 = EINPROGRESS; "
      "take 1 t3 p3 = EINPROGRESS; later; capacity 4; state = canceled; state t1 = waiting; "
      "state t2 = canceled; state t3 = waiting > "
      "close; return t0; return t1; return t2; return t3; waiters = 0; destroy" },
    { .name = "with-bounded-bypass-old-requests-come-first-too", .bypass_ns = 1, .aging_ns = 1,
      .threads =
      "acquire 1 p2 > acquire 1 p1 > later; release 1; after t0; waiters = 1; release 1; after t1; "
      "destroy" },
    /* The aged request precedes the better newcomer, although only the newcomer fits. */
    { .name = "a-better-request-behind-an-old-one-waits", .units = 1, .aging_ns = 1, .threads =
      "take 2 p1 = EINPROGRESS; later; acquire 1 p-1 > waits = 2; waiters = 2; return t0; after t0; "
      "destroy" },

    /* ---- What fairsem_stat() counts ---- */
    /* Whether the call succeeded or failed.  (`stat` is 16 times the free units, plus the waiters.) */
    { .name = "a-call-that-does-not-wait-is-not-counted", .units = 4, .capacity = 4, .threads =
      "> acquire 1; release 1; acquire 2; take 1; try 4 = EAGAIN; acquire 5 = E2BIG; "
      "acquire -1 = EINVAL; for 4 past = ETIMEDOUT; upto 100 = 1; return > "
      "waits = 0; waiters_max = 0; waiting_units = 0; refused = 0; over_releases = 0; stat = 16; "
      "capacity 0; size = 0; stat = -48" },
    { .name = "waiters-and-their-units-are-counted", .units = 1, .capacity = 9, .max_waiters = 3,
      .threads =
      "acquire 3 > acquire 4 token = ECANCELED > "
      "take 2 = EINPROGRESS; stat = 19; waiters_max = 3; waiting_units = 9; waits = 3; "
      "acquire 1 = ENOBUFS; for 1 = ENOBUFS; release 9 = EOVERFLOW; refused = 2; over_releases = 1 > "
      "cancel; cancels = 1; waiting_units = 5; release 4; grants = 2; waiting_units = 0; stat = 0; "
      "return t2; cancels = 1; after t1" },
    { .name = "every-way-out-of-the-queue-without-units-is-counted", .capacity = 9, .threads =
      "take 1 = EINPROGRESS; return; cancels = 1; acquire 1 = killed > acquire 8 = E2BIG > "
      "acquire 1 = ESHUTDOWN > "
      "kill t0; after t0; cancels = 2; capacity 2; cancels = 3; close; cancels = 4; waits = 4; "
      "waiters_max = 3; grants = 0" },

    /* ---- Lifetime ---- */
    { .name = "a-semaphore-with-waiters-cannot-be-destroyed", .units = 1, .threads =
      "acquire 2 > destroy = EBUSY; waiters = 1; available = 1; release 1; after t0; destroy" },
    /* U43 (libdispatch crashes when the value is below the initial one). */
    { .name = "units-that-are-held-do-not-keep-a-semaphore-alive", .units = 2, .capacity = 2,
      .threads = "> acquire 2; destroy" },

    /* ---- Callbacks of tickets ---- */
    { .name = "a-ticket-that-is-granted-at-once-does-not-call-back", .units = 2, .threads =
      "> take 2 calls; state = granted; release 1; return; called = 0; available = 3" },
    { .name = "a-ticket-that-waited-calls-back-once-when-it-is-granted", .units = 1, .capacity = 5,
      .threads =
      "> take 5 calls = EINPROGRESS; take 4 t1 calls = EINPROGRESS; called = 0; release 4; called = 1; "
      "called t1 = 0; state = granted; return; called = 1; called t1 = 1" },
    { .name = "a-ticket-that-a-smaller-capacity-refuses-calls-back", .units = 1, .capacity = 5,
      .threads =
      "> take 5 calls = EINPROGRESS; take 4 t1 calls = EINPROGRESS; capacity 4; called = 1; "
      "called t1 = 0; capacity 2; called t1 = 1; state = canceled; return; return t1 > "
      "called t0 = 1; called t1 = 1; destroy" },
    { .name = "a-ticket-that-is-closed-calls-back", .units = 1, .threads =
      "> take 5 calls = EINPROGRESS; take 4 t1 calls = EINPROGRESS; close; called = 1; called t1 = 1; "
      "state = closed; return; return t1; called = 1; destroy" },
    { .name = "a-ticket-that-is-returned-while-it-waits-does-not-call-back", .threads =
      "> take 1 calls = EINPROGRESS; return; release 1; close; called = 0; available = 1" },
    { .name = "a-return-of-the-head-calls-back-for-the-ticket-behind-it", .units = 5, .threads =
      "> take 8 = EINPROGRESS; take 3 t1 calls = EINPROGRESS; return; called t1 = 1; "
      "state t1 = granted" },
    { .name = "a-capacity-too-small-for-the-head-calls-back-for-the-ticket-behind-it", .units = 5,
      .capacity = 9, .threads =
      "acquire 8 = E2BIG > take 3 calls = EINPROGRESS; capacity 7; called = 1; state = granted; "
      "after t0" },
    { .name = "a-token-of-the-head-calls-back-for-the-ticket-behind-it", .units = 5, .threads =
      "acquire 8 token = ECANCELED > take 3 calls = EINPROGRESS; cancel; called = 1; state = granted; "
      "after t0" },
    { .name = "the-canceled-thread-of-the-head-calls-back-for-the-ticket-behind-it", .units = 5,
      .threads =
      "acquire 8 = killed > take 3 calls = EINPROGRESS; kill t0; after t0; called = 1; "
      "state = granted" },
    { .name = "a-head-that-times-out-calls-back-for-the-ticket-behind-it", .units = 5, .threads =
      "timed 8 = ETIMEDOUT > "
      "take 3 calls = EINPROGRESS or 0; after t0; called = 0 or 1; state = granted" },

    /* ---- Results ---- */
    /* U47 (zephyr 38816: one code for two outcomes). */
    { .name = "each-outcome-has-its-own-result", .capacity = 2, .max_waiters = 1, .threads =
      "> try 1 = EAGAIN; for 1 = ETIMEDOUT > after t0; acquire 1 > "
      "acquire 1 = ENOBUFS; acquire 3 = E2BIG; acquire -3 = EINVAL; destroy = EBUSY; release 1; "
      "after t1; release 3 = EOVERFLOW; destroy" },
    { .name = "the-lowest-and-the-highest-number-are-refused", .units = 4, .threads =
      "> acquire min = EINVAL; try min = EINVAL; for min = EINVAL; timed min = EINVAL; "
      "timed min p1 = EINVAL; release min = EINVAL; available = 4 > "
      "acquire 9223372036854775807 = EINVAL; try 9223372036854775807 = EINVAL; "
      "for 9223372036854775807 = EINVAL; timed 9223372036854775807 = EINVAL; "
      "timed 9223372036854775807 p1 = EINVAL; release 9223372036854775807 = EINVAL; available = 4" },

    /*
     * ---- Races ----
     *
     * The explorer takes the possible results from its model.  A line lists the results if they are few.
     */

    /* ---- Acquire and release ---- */
    { .name = "hand-off", .units = 1, .threads =
      "acquire 1 = 0; give | acquire 1 = 0; give | acquire 1 = 0; give" },
    { .name = "hand-off-of-four", .units = 1, .threads =
      "acquire 1 = 0; give | acquire 1 = 0; give | acquire 1 = 0; give | acquire 1 = 0; give" },
    { .name = "again", .units = 1, .threads =
      "acquire 1 = 0; give; acquire 1 = 0; give | acquire 1 = 0; give; acquire 1 = 0; give" },
    { .name = "weights", .units = 2, .threads =
      "acquire 1 = 0; give | acquire 2 = 0; give | acquire 1 = 0; give" },
    { .name = "one-release-grants-many", .threads =
      "acquire 1 = 0 | acquire 2 = 0 | acquire 1 = 0 | release 4" },
    { .name = "big-head", .units = 1, .threads =
      "acquire 3 = 0; give | acquire 1 = 0; give | release 1; release 1" },
    { .name = "two-releasers", .threads =
      "acquire 2 = 0 | acquire 1 = 0 | release 1; release 1 | release 1" },
    { .name = "zero-is-a-fence", .units = 1, .threads =
      "acquire 1 = 0; give | acquire 0 = 0 | acquire 1 = 0; give | timed 0 = 0 or ETIMEDOUT" },
    { .name = "wakes-for-no-reason", .units = 1, .spurious = 2, .threads =
      "acquire 1 = 0; give | acquire 1 = 0; give | timed 1 = 0 or ETIMEDOUT; give" },
    { .name = "over-release", .capacity = 1, .threads =
      "acquire 1 = 0; give | release 1 | release 1" },

    /* ---- Not waiting ---- */
    { .name = "try-passes-no-waiter", .units = 1, .threads =
      "acquire 2 = 0; give | try 1 = 0 or EAGAIN; give | release 1" },
    { .name = "upto-passes-no-waiter", .units = 1, .threads =
      "acquire 2 = 0; give | upto 3; give | release 1" },
    { .name = "try-and-upto", .units = 2, .threads =
      "try 1 = 0 or EAGAIN; give; try 2 = 0 or EAGAIN; give | upto 2; give | acquire 2 = 0; give | "
      "try 1 = 0 or EAGAIN; upto 1; give" },

    /* ---- Time-outs ---- */
    { .name = "timeout-or-grant", .threads =
      "timed 1 = 0 or ETIMEDOUT; give | release 1; acquire 1 = 0" },
    { .name = "relative-timeout", .threads =
      "for 1 = 0 or ETIMEDOUT; give | release 1; acquire 1 = 0" },
    { .name = "timeout-of-a-big-head", .units = 1, .spurious = 1, .threads =
      "timed 2; give | acquire 1 = 0; give | try 1 = 0 or EAGAIN; give" },
    { .name = "two-timeouts", .threads =
      "timed 1 = 0 or ETIMEDOUT; give | timed 1 = 0 or ETIMEDOUT; give | release 1" },
    { .name = "timeouts-of-three", .units = 1, .threads =
      "timed 2; give | timed 1 = 0 or ETIMEDOUT; give | timed 2; give" },
    { .name = "timeout-and-upto", .units = 1, .threads =
      "timed 2 = 0 or ETIMEDOUT; give | upto 2; give | release 1; timed 1 = 0 or ETIMEDOUT; give" },

    /* ---- Priorities ---- */
    { .name = "priorities", .units = 1, .threads =
      "acquire 1 p1 = 0; give | acquire 1 = 0; give | acquire 1 p-1 = 0; give" },
    { .name = "priority-and-timeout", .units = 1, .threads =
      "timed 2 p-1; give | acquire 1 = 0; give | acquire 1 p1 = 0; give" },
    { .name = "try-and-priorities", .units = 1, .threads =
      "acquire 2 p3 = 0; give | try 1 = 0 or EAGAIN; give | acquire 1 p1 = 0; give | release 1" },

    /* ---- Age ---- */
    { .name = "age", .aging_ns = MOMENT_NS, .units = 1, .threads =
      "acquire 1 p1 = 0; give | acquire 1 = 0; give | later; acquire 1 p-1 = 0; give" },
    /* Only for the explorer: with real threads, tickets t2 and t3 may have aged as well. */
    { .name = "age-of-two-of-four", .aging_ns = MOMENT_NS, .may_block = true, .threads =
      "take 1 p9; take 1 t1 p8; later; take 1 t2 p1; take 1 t3 | "
      "after t0; release 1; state t0 = granted; release 1; state t1 = granted; release 1; "
      "state t3 = granted; state t2 = waiting; release 1" },
    { .name = "age-at-once", .aging_ns = 1, .threads =
      "acquire 1 p1 = 0; give | acquire 1 = 0; give | later; release 1" },
    { .name = "age-fits-where-the-head-does-not", .aging_ns = MOMENT_NS, .may_block = true,
      .threads =
      "acquire 1 p1 = 0 | acquire 3 | release 2" },
    { .name = "age-large", .aging_ns = MOMENT_NS, .threads =
      "acquire 2 p1 = 0; give | acquire 1 = 0; give | release 1; later; release 1" },
    { .name = "age-and-newcomers", .aging_ns = MOMENT_NS, .units = 1, .may_block = true, .threads =
      "acquire 2 p1 = 0 | after t0 1; later; try 1; acquire 1 p-1 | release 1" },
    { .name = "age-and-timeout", .aging_ns = MOMENT_NS, .threads =
      "timed 1 p1 = 0 or ETIMEDOUT; give | acquire 1 = 0; give | later; release 1" },
    { .name = "age-and-token", .aging_ns = MOMENT_NS, .threads =
      "acquire 1 p1 token = 0 or ECANCELED; give | acquire 2 token; give | release 1; later; "
      "cancel" },
    { .name = "age-and-token-of-two-semaphores", .aging_ns = MOMENT_NS, .units = 1, .may_block = true,
      .threads =
      "acquire 5 token | acquire 1 p1 = 0 | acquire 5 s1 token | take 3; cancel" },
    { .name = "age-and-cancel", .aging_ns = MOMENT_NS, .threads =
      "!acquire 1 p1 = 0 or killed; give | acquire 1 = 0; give | release 1; later; release 1" },
    { .name = "age-of-a-ticket", .aging_ns = MOMENT_NS, .threads =
      "take 1 p1 calls; watch; claim; give; return | acquire 1 = 0; give | release 1; later; "
      "release 1" },
    { .name = "age-of-a-ticket-that-fits", .aging_ns = MOMENT_NS, .may_block = true, .threads =
      "take 1 p1; watch | acquire 3 | release 2" },
    { .name = "age-and-a-better-ticket", .aging_ns = MOMENT_NS, .units = 1, .may_block = true,
      .threads =
      "take 2 p1 | after t0 1; later; take 1 p-1; claim" },
    { .name = "age-and-capacity", .aging_ns = MOMENT_NS, .units = 2, .capacity = 2, .threads =
      "acquire 2 p1 = 0 or E2BIG; give | acquire 1; give | acquire 1; later; capacity 1; give" },
    { .name = "age-and-close", .aging_ns = MOMENT_NS, .threads =
      "acquire 1 p1 = 0 or ESHUTDOWN; give | acquire 1 = 0 or ESHUTDOWN; give | release 1; later; "
      "close" },
    { .name = "age-and-bypass", .aging_ns = MOMENT_NS, .bypass_ns = MOMENT_NS, .units = 1, .threads =
      "acquire 1 p1 = 0; give | acquire 1 = 0; give | later; acquire 1 p-1 = 0; give" },

    { .name = "age-and-long-bypass", .aging_ns = MOMENT_NS, .bypass_ns = LONG, .threads =
      "acquire 1 = 0; give | later; release 1" },
    { .name = "age-before-the-deadline", .aging_ns = MOMENT_NS, .threads =
      "timed 1 p1 = 0 or ETIMEDOUT; give | acquire 3 = 0 | release 2; release 2" },

    /* ---- Shares ---- */
    { .name = "two-shares", .units = 1, .threads =
      "acquire 1 h1 = 0; give | acquire 1 h2 = 0; give" },
    { .name = "three-shares", .units = 1, .threads =
      "acquire 1 h1 = 0; give | acquire 1 h2 = 0; give | acquire 1 h3 = 0; give" },
    { .name = "two-requests-of-a-share", .units = 1, .threads =
      "acquire 1 h1 = 0; give | acquire 1 h1 = 0; give | acquire 1 h2 = 0; give" },
    { .name = "shares-and-weights", .units = 2, .threads =
      "acquire 1 h3 = 0; give; acquire 1 h3 = 0; give | acquire 2 = 0; give | acquire 1 h1 = 0; give" },
    { .name = "shares-of-a-flood-and-of-one", .may_block = true, .threads =
      "take 1 h1; take 1 t1 h1; take 1 t2 h1 | take 1 t3 h2; state t3 | release 2" },
    { .name = "shares-and-timeout", .units = 1, .threads =
      "timed 2 h1; give | acquire 1 h1 = 0; give | acquire 1 h2 = 0; give" },
    { .name = "shares-and-token", .units = 1, .threads =
      "acquire 2 h1 token; give | acquire 1 h1 = 0; give | acquire 1 h2 = 0; give | cancel" },
    { .name = "shares-and-pthread-cancel", .units = 1, .threads =
      "!acquire 2 h1; give | acquire 1 h1 = 0; give | release 1; acquire 1 h2 = 0; give" },
    { .name = "shares-and-signals", INTERRUPTIBLE, .signals = 1, .units = 1, .threads =
      "timed 2 h1; give | acquire 1 h1; give | acquire 1 h2; give" },
    { .name = "shares-and-priorities", .units = 1, .threads =
      "acquire 1 h1 p1 = 0; give | acquire 1 h1 = 0; give | acquire 1 h2 p1 = 0; give" },
    { .name = "shares-and-charges", .units = 1, .threads =
      "acquire 1 h1 = 0; give | acquire 1 h1 = 0; give | acquire 1 h2 = 0; give | charge 2 h1" },
    { .name = "shares-and-tickets", .threads =
      "take 1 h1 calls=claim+give; return | acquire 1 h2 = 0; give | release 1" },
    { .name = "shares-and-a-ticket-that-is-taken-again", .may_block = true, .threads =
      "take 1 h1 calls=claim+take.1.h1.again; return | take 1 h2; state | release 1; release 1" },
    { .name = "shares-and-close", .units = 1, .threads =
      "acquire 2 h1 p1; give | acquire 2 h2; give | take 2 h1 calls; return | close" },
    { .name = "shares-and-drains", .units = 1, .threads =
      "acquire 1 h1; give | drain 1 h2 = 0 | drain 0 h1 p-1" },
    { .name = "shares-and-capacity", .units = 2, .capacity = 2, .threads =
      "acquire 2 h1 = 0 or E2BIG; give | acquire 1 h1 = 0; give | acquire 1 h2 p1 = 0; give | capacity 1" },
    { .name = "shares-and-pause", .units = 1, .capacity = 1, .threads =
      "acquire 1 h1; give | acquire 1 h2; give | capacity 0; capacity 1" },
    { .name = "shares-and-full-queue", .units = 1, .max_waiters = 1, .threads =
      "acquire 1 h1; give | acquire 1 h2; give | acquire 1 h1; give" },
    { .name = "shares-and-attempts", .units = 2, .threads =
      "acquire 2 h1 = 0; give | acquire 1 h2 = 0; give | try 1; give; upto 1; give" },
    { .name = "shares-inspected", .may_block = true, .threads =
      "take 1 h1; take 1 t1 h2 | release 2 | after t0 1; shares; state t0; waiters; shares" },
    { .name = "share-at-one-semaphore-and-then-another", .threads =
      "acquire 1 h1 = 0; acquire 1 s1 h1 = 0 | release 1; release 1 s1" },
    { .name = "share-at-one-semaphore-or-another", .threads =
      "acquire 1 h1 = 0 or EINVAL; give | acquire 1 s1 h1 = 0 or EINVAL; give s1 | "
      "release 1; release 1 s1" },
    { .name = "share-of-a-ticket-and-of-another-semaphore", .threads =
      "take 1 h1; return | take 1 s1 h1; return | release 1; release 1 s1" },
    { .name = "share-of-a-drain-that-is-at-another-semaphore", .debt = 1, .may_block = true, .threads =
      "drain 0 s1 h1 | take 0 h1" },
    { .name = "share-destroyed-after-acquire", .threads =
      "acquire 1 h1 = 0; unshare h1; destroy | release 1" },
    { .name = "share-destroyed-after-acquire-beside-another", .threads =
      "acquire 1 h1 = 0; unshare h1 = 0 | acquire 1 h2 = 0; unshare h2 = 0 | release 2" },
    { .name = "share-destroyed-after-timed", .threads =
      "timed 1 h1 = 0 or ETIMEDOUT; unshare h1 = 0 | release 1" },
    { .name = "share-destroyed-after-a-token", .threads =
      "acquire 1 h1 token = ECANCELED; unshare h1 = 0 | cancel" },
    { .name = "share-destroyed-after-close", .threads =
      "acquire 1 h1 = ESHUTDOWN; unshare h1 = 0; destroy | close" },
    { .name = "share-destroyed-after-capacity", .units = 2, .capacity = 2, .threads =
      "take 2 h1; watch; return; unshare h1 = 0 | capacity 1" },
    { .name = "share-destroyed-after-a-return", .threads =
      "take 1 h1; watch; unshare h1 = 0 | after t0 1; return t0" },
    { .name = "share-destroyed-beside-its-last-grant", .threads =
      "take 1 h1 | after t0 1; unshare h1 = 0 or EBUSY | after t0 1; release 1" },
    { .name = "share-destroyed-beside-its-last-return", .threads =
      "take 1 h1; return | after t0 1; unshare h1 = 0 or EBUSY" },

    /* ---- Tokens ---- */
    { .name = "token-or-grant", .threads =
      "acquire 1 token = 0 or ECANCELED; give | release 1 | cancel" },
    { .name = "token-takes-a-big-head", .units = 1, .threads =
      "acquire 2 token; give | acquire 1 = 0; give | cancel" },
    { .name = "token-of-two-waits", .threads =
      "acquire 2 token; give | acquire 1 token = 0 or ECANCELED; give | release 1; cancel" },
    { .name = "token-or-timeout", .threads =
      "timed 1 token; give | cancel | release 1; timed 1 = 0 or ETIMEDOUT" },
    { .name = "token-of-two-semaphores", .threads =
      "acquire 1 token = 0 or ECANCELED | acquire 1 s1 token = 0 or ECANCELED | release 1; "
      "release 1 s1 | cancel" },
    { .name = "no-wait-takes-a-negative-time", .threads =
      "acquire 1 token; stat | acquire 1 s1 token; stat s1 | cancel | later" },
    { .name = "two-cancel-a-token", .units = 1, .threads =
      "acquire 2 token; give | cancel = 0 or EALREADY | cancel = 0 or EALREADY; "
      "try 1 = 0 or EAGAIN; give | upto 1; give" },

    /* ---- Tickets ---- */
    { .name = "ticket-or-return", .threads =
      "take 1; claim; return; give | release 1; acquire 1 = 0; give" },
    { .name = "ticket-returned-at-the-head", .units = 1, .threads =
      "take 2; return | acquire 1 = 0; give | timed 1 = 0 or ETIMEDOUT; give" },
    { .name = "claim-against-return", .threads =
      "take 1; claim; give | release 1 | after t0 1; return t0; acquire 1 = 0" },
    { .name = "ticket-calls-back", .threads =
      "take 1 calls; return; take 1 calls; return | release 1 | release 1" },
    { .name = "claimed-before-its-callback", .threads =
      "take 1 calls; claim; return; give | release 1" },
    { .name = "return-against-callback", .threads =
      "take 1 calls | after t0 1; return t0; acquire 1 = 0 | release 1" },
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
      "take 2; watch; return | after t0 1; return t0 | acquire 1 = 0; give" },
    { .name = "watcher-with-a-token", .threads =
      "take 1; watch token; return | cancel | release 1; acquire 1 = 0" },
    { .name = "watcher-canceled-before-it-joins", .threads =
      "take 1; watch token; return | cancel" },
    { .name = "tickets-try-upto-return", .units = 1, .threads =
      "take 2; return | try 1 = 0 or EAGAIN; give | upto 1; give | release 1" },

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
    { .name = "of-two-threads-that-take-a-ticket-one-succeeds", .threads =
      "take 1 t0 = EINPROGRESS or EINVAL | take 1 t0 = EINPROGRESS or EINVAL |"
      "after t0; after t1; waiters = 1; return t0; waiters = 0" },
    { .name = "a-claim-gets-the-units-that-the-ticket-was-taken-for", .units = 6, .threads =
      "take 1; claim; give; take 2; claim; give | claim t0; give |"
      "after t0; after t1; return t0; available = 6" },
    { .name = "claimed-by-another", .units = 1, .threads =
      "take 1; take 1; return | claim t0; give" },
    /* ---- What one thread finds, call after call, fits together ---- */
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
      "timed 1 = 0 or ETIMEDOUT; waiters | waiters; stat; waiters | release 1; available" },
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
      "acquire 0 token = 0 or ECANCELED; give | acquire 2 token | cancel" },
    { .name = "full-queue-and-token", .max_waiters = 1, .threads =
      "acquire 0 token | acquire 1 token | cancel" },
    { .name = "over-release-beside-a-return", .units = 2, .capacity = 3, .threads =
      "release 2 | take 2; return" },
    { .name = "over-release-and-canceled", .units = 2, .capacity = 3, .may_block = true, .threads =
      "!acquire 2 = 0 or killed | acquire 1 = 0; give; release 2" },
    { .name = "try-while-the-capacity-grows", .units = 1, .capacity = 1, .threads =
      "try 2; would 2 | capacity 2; stat" },
    { .name = "callbacks-cause-callbacks", .threads =
      "take 1 calls=claim+give+take.1.again | take 1 calls=claim+give | release 1; after t0;"
      "after t1; return t0" },
    { .name = "claimed-and-refused-before-its-callback", .capacity = 1, .threads =
      "take 1 calls; claim; take 2 calls; give | release 1" },

    /* ---- pthread_cancel ---- */
    { .name = "canceled-or-granted", .threads =
      "!acquire 1 = 0 or killed; give | release 1; acquire 1 = 0; give" },
    { .name = "canceled-big-head", .units = 1, .threads =
      "!timed 2; give | acquire 1 = 0; give | try 1 = 0 or EAGAIN; give" },
    { .name = "two-canceled", .threads =
      "!acquire 1 = 0 or killed; give | !acquire 1 = 0 or killed; give | release 1; upto 1" },
    { .name = "canceled-by-a-thread", .units = 1, .spurious = 1, .threads =
      "acquire 2 = 0 or killed; give | kill t0; acquire 1 = 0; give | release 1" },
    { .name = "canceled-in-for", .threads =
      "!for 1; give | release 1" },
    { .name = "canceled-with-a-token", .threads =
      "!acquire 1 token; give | cancel | release 1; timed 1 = 0 or ETIMEDOUT; give" },
    { .name = "canceled-watcher", .threads =
      "take 1; return | after t0 1; acquire 1 = 0; give | !after t0 1; watch t0 timed | release 1" },

    /* ---- Close ---- */
    { .name = "close", .threads =
      "acquire 1 = 0 or ESHUTDOWN; give | acquire 2; give | release 1 | close" },
    { .name = "a-deadline-meets-a-close", .threads =
      "timed 1 = ETIMEDOUT or ESHUTDOWN | timed 2 = ETIMEDOUT or ESHUTDOWN | close" },
    { .name = "of-two-threads-that-close-one-succeeds", .threads =
      "acquire 1 = 5 or 6 | close 5 = 0 or EALREADY | close 6 = 0 or EALREADY" },
    { .name = "close-and-tries", .units = 1, .threads =
      "try 1; give | upto 1; give | timed 2; give | close" },
    { .name = "close-and-token", .threads =
      "acquire 1 token; give | cancel | close = 0 or EALREADY | release 1; close = 0 or EALREADY" },
    { .name = "close-and-ticket", .threads =
      "take 1; claim; return; give | close | !timed 1; give | release 1" },
    { .name = "drain", .units = 2, .threads =
      "acquire 1 = 0 or ESHUTDOWN; give | acquire 2 = 0 or ESHUTDOWN; give | drain 2 = 0" },
    { .name = "drain-by-two", .units = 1, .threads =
      "acquire 1 = 0 or ESHUTDOWN; give | drain 1 = 0 | drain 1 = 0 | stat; try 1; give" },
    { .name = "drain-until", .units = 1, .threads =
      "acquire 1 = 0 or ESHUTDOWN; give | drain 1 timed = 0 or ETIMEDOUT; drain 1 = 0 | timed 1; "
      "give" },
    { .name = "drain-and-token", .units = 1, .threads =
      "acquire 1 token; give | drain 1 token = 0 or ECANCELED | cancel" },
    { .name = "drain-and-capacity", .units = 2, .capacity = 2, .threads =
      "acquire 2; give | drain 2 = 0 or E2BIG | capacity 1; capacity 2" },
    { .name = "drain-is-canceled", .units = 1, .threads =
      "!drain 1 = 0 or killed | acquire 1 = 0 or ESHUTDOWN; give | drain 1 = 0" },
    { .name = "drain-and-bypass", .bypass_ns = LONG, .units = 1, .threads =
      "acquire 1 = 0 or ESHUTDOWN; give; try 1; give | acquire 1 = 0 or ESHUTDOWN; give; upto 1; "
      "give | drain 1 = 0" },
    { .name = "drain-and-ticket", .units = 1, .threads =
      "take 1; return | drain 1 = 0; close | acquire 1 = 0 or ESHUTDOWN; give" },
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
      "acquire 1; give | after t0 1; drain 1 = 0; destroy" },

    /* ---- Capacity ---- */
    { .name = "capacity-grows", .capacity = 1, .threads =
      "acquire 1; give | acquire 2; give | capacity 3 | close" },
    { .name = "capacity-shrinks", .units = 2, .capacity = 2, .threads =
      "acquire 2 = 0 or E2BIG; give | acquire 1; give | capacity 1" },
    { .name = "try-while-capacity-grows", .units = 1, .capacity = 1, .threads =
      "try 2 = 0 or E2BIG; give | capacity 2" },
    /* With capacity 1, the try returns E2BIG; with capacity 4, the units are free. */
    { .name = "no-thread-finds-too-few-units-if-there-were-never-too-few", .units = 1, .capacity = 1,
      .threads =
      "try 2 = 0 or E2BIG; give | capacity 4; capacity 1" },
    { .name = "try-while-capacity-shrinks", .units = 3, .capacity = 3, .threads =
      "try 3; give | capacity 2" },
    { .name = "would-while-capacity-shrinks", .units = 5, .capacity = 5, .threads =
      "would 4 = 0 | release 0; capacity 3" },
    { .name = "bypass-inspected", .bypass_ns = LONG, .units = 1, .may_block = true, .threads =
      "acquire 1; give | acquire 1; give; try 1; give | waiters; available; would 1; waiters" },
    { .name = "bypass-and-no-units", .bypass_ns = LONG, .units = 1, .may_block = true, .threads =
      "acquire 1; give | acquire 1; give; acquire 0; try 0 | acquire 0 p-1; release 0; try 0" },
    { .name = "pause", .units = 1, .capacity = 1, .threads =
      "acquire 1; give | capacity 0; capacity 1 | acquire 1; give | try 1; give" },
    { .name = "two-set-the-capacity", .units = 1, .capacity = 2, .threads =
      "acquire 2 = 0 or E2BIG; give | capacity 1; capacity 2 | capacity 3; release 1" },
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
     * fairsem_acquire_all has no verb: it makes these calls one after the other, and shares nothing else with
     * other threads.  tests/search/fuzz/ compares the calls that it makes with a model.
     */
    { .name = "two-semaphores", .units = 1, .threads =
      "acquire 1 = 0; acquire 1 s1 = 0; give s1; give | acquire 1 = 0; acquire 1 s1 = 0; give s1; "
      "give | acquire 1 s1 = 0; give s1" },
    { .name = "timed-out-at-the-second-semaphore", .units = 1, .threads =
      "acquire 1 = 0; timed 2 s1 = 0 or ETIMEDOUT; give s1; give | timed 1 = 0 or ETIMEDOUT; "
      "give | release 1 s1" },
    { .name = "token-of-two-acquires", .units = 1, .threads =
      "acquire 1 token = 0 or ECANCELED; acquire 2 s1 token; give s1; give | acquire 1 = 0; give | "
      "acquire 1 s1 = 0; give s1 | cancel" },
    { .name = "canceled-at-the-second-semaphore", .units = 1, .threads =
      "!acquire 1 = 0 or killed; acquire 2 s1 = 0 or killed; give s1; give | acquire 1 = 0; give | "
      "release 1 s1" },

    /* ---- Destroy: a thread that has been granted may end the semaphore at once ---- */
    { .name = "destroy-after-acquire", .threads =
      "acquire 1 = 0; destroy | release 1" },
    { .name = "destroy-after-two-releases", .threads =
      "acquire 2 = 0; destroy | release 1 | release 1" },
    { .name = "destroy-after-the-last", .threads =
      "acquire 1 = 0; give | acquire 1 = 0; give | after t0; after t1; acquire 2 = 0; destroy | "
      "release 2" },
    { .name = "destroy-after-timed", .threads =
      "timed 1 = 0 or ETIMEDOUT; destroy if | release 1" },
    { .name = "destroy-after-try", .threads =
      "try 1 = 0 or EAGAIN; destroy if | release 1" },
    { .name = "destroy-after-upto", .threads =
      "upto 2; destroy if | release 1" },
    { .name = "destroy-after-a-token", .threads =
      "acquire 1 token; destroy | cancel" },
    { .name = "destroy-after-a-claim", .threads =
      "take 1; claim; destroy if | release 1" },
    { .name = "destroy-after-a-return", .threads =
      "take 1; watch; destroy | after t0 1; return t0" },
    { .name = "destroy-after-pthread-cancel", .threads =
      "!acquire 1 = 0 or killed; give | acquire 1 = 0; give; after t0; destroy | release 1" },
    { .name = "destroy-after-close", .threads =
      "acquire 1; destroy | close" },
    { .name = "destroy-after-capacity", .capacity = 1, .threads =
      "acquire 1; destroy | capacity 2" },
    { .name = "destroy-after-consume", .threads =
      "acquire 1 = 0; destroy | consume 1; release 2" },
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
      "!acquire 1 = 0 or killed; give | release 1; acquire 1 = 0; give" },
    { .name = "canceled-or-signaled", INTERRUPTIBLE, .signals = 1, .units = 1, .threads =
      "!timed 2; give | acquire 1; give | release 1" },
    { .name = "token-and-signal", INTERRUPTIBLE, .signals = 1, .threads =
      "acquire 1 token; give | cancel | release 1" },
    { .name = "weights-on-futexes", INTERRUPTIBLE, .units = 2, .threads =
      "acquire 1 = 0; give | acquire 2 = 0; give | acquire 1 = 0; give" },
    { .name = "destroy-on-futexes", INTERRUPTIBLE, .signals = 1, .threads =
      "acquire 1; destroy if | release 1" },

    /* ---- Parkers ---- */
    { .name = "first-waits", .cold = true, .units = 1, .threads =
      "acquire 1 = 0; give | acquire 1 = 0; give | acquire 1 = 0; give" },
    { .name = "no-memory-for-a-parker", .cold = true, .no_memory = 2, .threads =
      "acquire 1 | timed 1; give | release 2" },
    { .name = "canceled-without-a-parker", .cold = true, .no_memory = 1, .threads =
      "!acquire 1; give | release 1; acquire 1; give" },
    { .name = "parker-is-inherited", .threads =
      "acquire 1 = 0 | after t0; acquire 1 = 0; give | release 1; release 1" },
    { .name = "parker-still-on-a-chain", .spurious = 1, .threads =
      "acquire 1 = 0; acquire 1 = 0 | acquire 1 = 0 | release 2 | release 1" },
    { .name = "woken-by-the-woken", .threads =
      "acquire 1 = 0 | timed 1 = 0 or ETIMEDOUT | acquire 1 = 0 | release 3" },
    { .name = "woken-by-the-canceled", .threads =
      "acquire 1 = 0 | !acquire 1 = 0 or killed | acquire 1 = 0 | release 3" },

    /* ---- FAIRSEM_BOUNDED_BYPASS: for a long time, and for a moment ---- */
    { .name = "bypass-hog", .bypass_ns = LONG, .units = 1, .threads =
      "acquire 1 = 0; give; try 1 = 0 or EAGAIN; give | acquire 1 = 0; give | later; "
      "acquire 1 = 0; give" },
    { .name = "bypass-hog-soon", .bypass_ns = MOMENT_NS, .units = 1, .threads =
      "acquire 1 = 0; give; try 1 = 0 or EAGAIN; give | acquire 1 = 0; give | later; "
      "acquire 1 = 0; give" },
    { .name = "bypass-hogs", .bypass_ns = LONG, .units = 1, .threads =
      "acquire 1 = 0; give; acquire 1 = 0; give | acquire 1 = 0; give; try 1 = 0 or EAGAIN; give | "
      "acquire 1 = 0; give" },
    { .name = "bypass-large", .bypass_ns = LONG, .units = 2, .threads =
      "acquire 2 = 0; give | acquire 1 = 0; give; acquire 1 = 0; give | later; "
      "try 1 = 0 or EAGAIN; give; upto 2; give" },
    { .name = "bypass-large-soon", .bypass_ns = MOMENT_NS, .units = 2, .threads =
      "acquire 2 = 0; give | acquire 1 = 0; give; acquire 1 = 0; give | later; "
      "try 1 = 0 or EAGAIN; give; upto 2; give" },
    { .name = "bypass-two-sleepers", .bypass_ns = LONG, .spurious = 1, .threads =
      "acquire 1 = 0; give | acquire 1 = 0; give | release 1; try 1 = 0 or EAGAIN; give | later; "
      "upto 2; give" },
    { .name = "bypass-two-sleepers-soon", .bypass_ns = MOMENT_NS, .spurious = 1, .threads =
      "acquire 1 = 0; give | acquire 1 = 0; give | release 1; try 1 = 0 or EAGAIN; give | later; "
      "upto 2; give" },
    { .name = "bypass-two-of-two", .bypass_ns = LONG, .threads =
      "acquire 1 = 0 | acquire 1 = 0 | release 2; later; try 1 = 0 or EAGAIN; give" },
    { .name = "bypass-two-of-two-soon", .bypass_ns = MOMENT_NS, .threads =
      "acquire 1 = 0 | acquire 1 = 0 | release 2; later; try 1 = 0 or EAGAIN; give" },
    { .name = "bypass-token", .bypass_ns = LONG, .threads =
      "acquire 1 token = 0 or ECANCELED; give | acquire 1 = 0; give | release 1; "
      "try 1 = 0 or EAGAIN; give | cancel" },
    { .name = "bypass-timeout", .bypass_ns = LONG, .threads =
      "timed 1 = 0 or ETIMEDOUT; give | acquire 1 = 0; give | release 1; try 1 = 0 or EAGAIN; "
      "give; later; release 1" },
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
