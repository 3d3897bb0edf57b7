/* SPDX-License-Identifier: MIT */
/*
 * scenarios.c - the table of scenarios, in the language of ../../scenarios/language.h.
 *
 * Without `mortal` any process may die.  If two processes may die, the second is often the process that repairs
 * after the death of the first.
 */
#include "explorer.h"

const struct scenario scenarios[] = {
    /* ---- Acquire, release, the queue ---- */
    { .name = "hand-off", .units = 1, .deaths = 2,
      .threads = "open; acquire 1; start; release 1 || open; start; acquire 1; release 1" },
    { .name = "two-take-turns", .units = 1, .deaths = 2,
      .threads = "open; start; acquire 1; release 1 || open; start; acquire 1; release 1" },
    { .name = "three-take-turns", .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; start; acquire 1; release 1 || open; start; acquire 1; release 1 "
                 "|| open; start; acquire 1; release 1" },
    { .name = "two-in-line", .units = 1, .deaths = 2, .bound = 1,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; start; release 1 "
                 "|| open; acquire 1; start; release 1" },
    { .name = "holder-exits", .units = 1, .deaths = 2,
      .threads = "open; acquire 1; start; exit || open; acquire 1; start; release 1 "
                 "|| open; start; acquire 1; release 1" },
    { .name = "holder-dies-among-signals", .interrupted = true, .units = 1, .deaths = 1,
      .mortal = 1 << 0,
      .threads = "open; acquire 1; start; nap 900; release 1 || open; acquire 1; start; release 1" },
    { .name = "two-in-line-among-signals", .thorough = true, .interrupted = true, .units = 1, .deaths = 2,
      .bound = 1,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; start; release 1 "
                 "|| open; acquire 1; start; release 1" },
    { .name = "age-among-signals", .thorough = true, .interrupted = true, .aging_ns = 100 * MS, .units = 3,
      .deaths = 1, .bound = 1,
      .threads = "open; acquire 3; start; release 2; nap 900; release 1 || open; acquire 2; start; release 2 "
                 "|| open; start; acquire 3 p-1; release 3" },
    /* The owner of the lock is stopped, and the other process waits for the lock in order. */
    { .name = "lock-in-order", .units = 2, .bound = 3, .early = 3,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; start; release 1" },
    { .name = "lock-in-order-among-signals", .interrupted = true, .units = 2, .bound = 3, .deaths = 1,
      .early = 3,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; start; release 1" },
    { .name = "one-release-grants-two", .thorough = true, .units = 2, .deaths = 1, .bound = 1,
      .threads = "open; acquire 2; start; release 2 || open; acquire 1; start; release 1 "
                 "|| open; acquire 1; start; release 1" },
    { .name = "big-head-dies", .units = 2, .deaths = 1, .mortal = 1 << 1,
      .threads = "open; acquire 1; start; nap 900; release 1 || open; acquire 2; start; release 2 "
                 "|| open; acquire 1; start; release 1" },
    { .name = "head-and-holder-die", .thorough = true, .units = 1, .deaths = 2, .bound = 1,
      .mortal = 1 << 0 | 1 << 1,
      .threads = "open; acquire 1; start; nap 900; release 1 || open; acquire 1; start; release 1 "
                 "|| open; acquire 1; start; release 1" },
    { .name = "weights", .units = 3, .deaths = 1, .bound = 1,
      .threads = "open; acquire 2; start; release 2 || open; acquire 3; start; release 3 "
                 "|| open; start; acquire 1; release 1" },
    { .name = "priorities", .thorough = true, .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; start; release 1 "
                 "|| open; start; acquire 1 p-1; release 1" },
    { .name = "age", .aging_ns = 100 * MS, .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; nap 300; release 1 || open; acquire 1; start; release 1 "
                 "|| open; start; acquire 1 p-1; release 1" },
    /* One unit is free all the time, and the aged front needs two. */
    { .name = "age-and-newcomers", .aging_ns = 100 * MS, .units = 2, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; nap 300; release 1 || open; acquire 2; start; release 2 "
                 "|| open; start; nap 200; acquire 1 p-1; release 1" },
    { .name = "age-fits-where-the-head-does-not", .thorough = true, .aging_ns = 100 * MS, .units = 3,
      .deaths = 1, .bound = 1,
      .threads = "open; acquire 3; start; release 2; nap 900; release 1 || open; acquire 2; start; release 2 "
                 "|| open; start; acquire 3 p-1; release 3" },
    { .name = "try-does-not-pass", .units = 2, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; release 1 || open; acquire 2; start; release 2 "
                 "|| open; start; try 1; release 1" },
    { .name = "nothing-fits-in-line", .units = 1, .deaths = 1, .bound = 1, .max_waiters = 1,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; start; release 1 "
                 "|| open; start; acquire 1; release 1" },

    { .name = "aged-slot-used-again", .units = 1, .deaths = 1, .bound = 1, .mortal = 1 << 2 | 1 << 3,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; start; release 1; acquire 1; release 1 "
                 "|| open; acquire 1; start; release 1 || open; acquire 1; start; release 1" },

    /* ---- The number of units ---- */
    { .name = "more-units", .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; capacity 2; release 1 || open; acquire 1; start; release 1 "
                 "|| open; acquire 1; start; release 1" },
    { .name = "fewer-units", .units = 2, .deaths = 1, .bound = 1,
      .threads = "open; acquire 2; start; capacity 1; release 2 || open; acquire 1; start; release 1 "
                 "|| open; start; acquire 1; release 1" },
    { .name = "no-units", .units = 2, .deaths = 1,
      .threads = "open; acquire 1; start; capacity 0; capacity 2; release 1 || open; start; try 1; release 1" },

    /* ---- The last user removes the name ---- */
    { .name = "name-goes-with-its-last-user", .units = 1, .deaths = 1,
      .threads = "open; acquire 1; start; drop; close; open; drop; close "
                 "|| open; start; acquire 1; look; release 1" },
    { .name = "name-goes-with-one-of-two", .thorough = true, .units = 2, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; drop; close || open; acquire 1; start; drop; close "
                 "|| open; start; acquire 1; look; drop" },
    { .name = "name-stays-with-other-units", .units = 1, .deaths = 1,
      .threads = "open; acquire 1; start; drop; close || open; start; capacity 2; look" },

    /* ---- Leaving the queue ---- */
    { .name = "timeout-or-grant", .units = 1, .deaths = 2, .early = 1, .for_ms = 5,
      .threads = "open; acquire 1; start; release 1 || open; for 1; start; release 1" },
    { .name = "timeout-of-the-head", .thorough = true, .units = 2, .deaths = 1, .bound = 1,
      .early = 1,
      .threads = "open; acquire 1; start; nap 300; release 1 || open; for 2; start; release 2 "
                 "|| open; acquire 1; start; release 1" },
    /*
     * The owner of the lock is stopped, and early ends of sleeps let time pass: one to pass the deadline of the
     * wait, two for the wait for the lock.
     */
    { .name = "timeout-without-the-lock", .units = 1, .deaths = 1, .early = 4, .for_ms = 5,
      .threads = "open; acquire 1; start; release 1; try 0 || open; for 1; start; release 1" },
    { .name = "timeout-of-one-without-the-lock", .thorough = true, .units = 1, .deaths = 1,
      .bound = 1, .early = 4, .for_ms = 5,
      .threads = "open; acquire 1; start; release 1 || open; for 1; start; release 1 "
                 "|| open; acquire 1; start; release 1" },
    { .name = "canceled-without-the-lock", .thorough = true, .units = 1, .deaths = 1, .bound = 1,
      .early = 3,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1 token; start; release 1 | cancel" },
    { .name = "no-undo-timeout-without-the-lock", .thorough = true, .units = 0, .deaths = 1,
      .bound = 1, .early = 3,
      .no_undo = true, .mortal = 1 << 0 | 1 << 1,
      .threads = "open; start; release 1 || open; for 1; start || open; start; nap 900; release 1; try 1" },
    { .name = "canceled-or-granted", .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; release 1 || !open; acquire 1; start; release 1 "
                 "|| open; acquire 1; start; release 1" },
    { .name = "token-or-grant", .units = 1, .deaths = 1,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1 token; start; release 1 | cancel" },
    { .name = "token-before-the-wait", .thorough = true, .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; release 1 || open; start; acquire 1 token; release 1 | cancel" },
    { .name = "token-of-the-head", .thorough = true, .units = 2, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; nap 300; release 1 || open; acquire 2 token; start; release 2 | cancel "
                 "|| open; acquire 1; start; release 1" },

    /* ---- Several threads ---- */
    { .name = "two-threads", .thorough = true, .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; start; acquire 1; release 1 | acquire 1; release 1 || open; start; acquire 1; release 1" },
    { .name = "two-threads-in-line", .units = 2, .deaths = 2, .bound = 1,
      .threads = "open; acquire 2; start; release 2 || open; acquire 1; start; release 1 "
                 "| acquire 1; start; release 1" },
    { .name = "two-of-one-between-others", .thorough = true, .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; start; release 1 "
                 "| acquire 1; start; release 1 || open; acquire 1; start; release 1" },

    /* ---- Attach, detach ---- */
    { .name = "open-and-open", .units = 1, .deaths = 2,
      .threads = "open; acquire 1; release 1 || open; acquire 1; release 1" },
    { .name = "open-while-one-dies", .units = 1, .deaths = 2,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; release 1" },
    { .name = "three-open", .thorough = true, .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; start; acquire 1; release 1 || open; acquire 1; release 1 || open; acquire 1; release 1" },
    { .name = "entry-of-a-dead-one", .units = 1, .bound = 1,
      .threads = "open; acquire 1; start; exit || open; acquire 1; start; release 1 "
                 "|| open; start; stat; close; open; acquire 1; release 1" },
    { .name = "close-with-units", .units = 1, .deaths = 2, .early = 2,
      .threads = "open; acquire 1; start; close || open; acquire 1; start; release 1; close" },
    { .name = "close-and-open-again", .units = 1, .deaths = 2, .bound = 1,
      .threads = "open; acquire 1; start; close; open; try 1; release 1 "
                 "|| open; start; acquire 1; close; open; try 1" },
    { .name = "open-twice", .units = 1, .deaths = 1,
      .threads = "open; acquire 1; start; open; close; release 1 || open; start; acquire 1; release 1" },
    { .name = "unlink-and-make-anew", .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; unlink; close; open; acquire 1 "
                 "|| open; acquire 1; start; release 1; close" },
    { .name = "inspect", .units = 1, .deaths = 2,
      .threads = "open; acquire 1; start; release 1 || open; start; stat; acquire 1; stat" },

    /*
     * The first process has lost its liveness lock, and its two threads notice this at the same time.  The
     * table of processes is full.  So the first process gets the entry of a dead process, which holds a unit.
     */
    { .name = "liveness-lock-is-lost", .units = 3, .bound = 2, .max_processes = 2,
      .threads = "open; lose; start; acquire 1; release 1 | acquire 3; release 3 || open; stat; start; exit "
                 "|| open; acquire 1; exit; start" },

    /* ---- Shares.  (Their order is checked with more processes: t_shared_shares.c.) ---- */
    { .name = "shares", .units = 1, .deaths = 1, .bound = 1, .thorough = true,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1 h1; start; release 1 "
                 "| acquire 1 h1; start; release 1 || open; acquire 1 h2; start; release 1" },
    { .name = "share-comes-back", .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; release 1; acquire 1 h3; release 1 "
                 "|| open; acquire 1 h1; start; release 1; acquire 1 h1; release 1" },
    { .name = "share-is-canceled", .units = 1, .deaths = 1, .bound = 1, .thorough = true,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1 h1 token; start; release 1 | cancel "
                 "|| open; acquire 1 h1; start; release 1" },
    { .name = "first-share-beside-plain-requests", .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; start; release 1 "
                 "|| open; start; acquire 1 h2; release 1" },

    /* ---- Fork, exec ---- */
    { .name = "child", .units = 1, .deaths = 2,
      .threads = "anonymous; start; fork 1; acquire 1; release 1 || born; acquire 1; release 1" },
    { .name = "child-of-a-holder", .units = 1, .deaths = 2,
      .threads = "anonymous; acquire 1; start; fork 1; exit || born; acquire 1; release 1" },
    { .name = "child-of-two-threads", .units = 1, .deaths = 1, .bound = 1,
      .threads = "anonymous; start; acquire 1; release 1 | fork 1 || born; acquire 1; release 1" },
    { .name = "child-opens-and-closes", .units = 1, .deaths = 1, .bound = 1,
      .threads = "open; acquire 1; start; fork 1; release 1 || born; open; close; acquire 1; close" },
    { .name = "two-children", .units = 1, .deaths = 1, .bound = 1,
      .threads = "anonymous; start; fork 1; fork 2; acquire 1; release 1 || born; acquire 1; release 1 "
                 "|| born; try 1; close" },
    { .name = "exec", .units = 1, .deaths = 2, .bound = 1,
      .threads = "open; acquire 1; start; exec; open; acquire 1; release 1 || open; start; acquire 1; release 1" },
    { .name = "keep-on-exec", .units = 1, .deaths = 2, .bound = 1,
      .threads = "open; acquire 1; start; keep; exec; open; release 1 || open; acquire 1; start; release 1" },

    /* ---- Without undo ---- */
    { .name = "producer-and-consumer", .units = 0, .deaths = 1, .bound = 1, .no_undo = true, .mortal = 1 << 1,
      .threads = "open; start; release 1; release 1 || open; start; acquire 1 || open; start; acquire 1" },
    { .name = "no-undo-hand-off", .units = 1, .deaths = 1, .no_undo = true, .mortal = 1 << 1,
      .threads = "open; acquire 1; start; release 1 || open; acquire 1; start; release 1 || open; start; try 1" },
    { .name = "no-undo-line", .units = 0, .deaths = 1, .no_undo = true, .mortal = 1 << 0 | 1 << 1,
      .threads = "open; acquire 1; start || open; acquire 1; start "
                 "|| open; start; release 1; release 1; acquire 0" },
    { .name = "no-undo-granter-dies", .units = 1, .deaths = 1, .no_undo = true, .mortal = 1 << 0,
      .threads = "open; start; release 1 || open; acquire 2; start || open; start; nap 900; release 1" },
    { .name = "no-undo-timeout", .units = 0, .deaths = 1, .no_undo = true, .early = 1, .for_ms = 5,
      .mortal = 2,
      .threads = "open; start; release 2; release 1 || open; for 2; start || open; acquire 1; start" },
    { .name = "no-undo-token", .units = 0, .deaths = 1, .bound = 1, .no_undo = true, .mortal = 1 << 1,
      .threads = "open; start; release 1 || open; acquire 1 token; start | cancel "
                 "|| open; start; nap 900; release 1; acquire 1" },
    { .name = "no-undo-close", .units = 1, .deaths = 1, .bound = 1, .no_undo = true, .mortal = 1 << 0,
      .threads = "open; start; stat; keep; close || open; acquire 2; start || open; start; nap 300; release 1" },
    { .name = "no-undo-repair-is-cut-short", .units = 1, .deaths = 2, .bound = 1, .no_undo = true,
      .mortal = 1 << 0 | 1 << 1, .thorough = true,
      .threads = "open; start; release 1 || open; start; stat || open; acquire 2; start "
                 "|| open; start; nap 900; release 1" },
    { .name = "no-undo-fast-path", .units = 1, .deaths = 1, .no_undo = true, .capacity = 5,
      .threads = "open; start; try 1; release 1 || open; start; try 1; release 1 "
                 "|| open; start; for 1; release 1" },

    /* ---- Longer ones ---- */
    { .name = "three-deaths", .units = 1, .deaths = 3, .bound = 1, .thorough = true,
      .threads = "open; acquire 1; start; exit || open; acquire 1; start; release 1 "
                 "|| open; acquire 1; start; release 1" },
};
const int scenarios_count = (int)(sizeof scenarios / sizeof scenarios[0]);
