/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - processes that use one segment, and what the tests of it share.
 *
 * A process other than the test's own asserts nothing.  It says by its exit status that all was
 * well, 0, or which line was not (CHILD_CHECK), or it writes into a struct that they share.
 */
#ifndef CROWD_H
#define CROWD_H

#include "children.h"
#include "suite.h"

#include <fairsem/shared.h>
#include <signal.h>
#include <stdatomic.h>

/* Memory that a test and its children share, all zero. */
void *share(size_t size);

/* A segment without a name. */
fairsem_shared_t *make_segment(int64_t units, unsigned flags);

/* The same with this many places for waiters and processes. */
fairsem_shared_t *make_small_segment(int64_t units, unsigned flags, int max_waiters,
                                     int max_processes);

/* A name that no other test, and no other run, has. */
const char *own_name(void);

/* Sleep for so many milliseconds, a signal or not. */
void nap(long ms);

/* Return when *flag is at least `value`; the test fails if that takes a minute. */
void await_flag(_Atomic int *flag, int value);

/* The same in a child, which then ends. */
void child_await_flag(_Atomic int *flag, int value);

/* Return when exactly n requests are in the queue. */
void await_line(fairsem_shared_t *h, int64_t n);

/* A child that acquires n units, says so in *flag, and waits to be killed. */
pid_t fork_holder(fairsem_shared_t *h, int64_t n, _Atomic int *flag);

/* A child that acquires n units, counts itself in *place, gives them back and ends with 0. */
pid_t fork_waiter(fairsem_shared_t *h, int64_t n, _Atomic int *place, _Atomic int *count);

/* Kill it, and return when it is gone. */
void kill_child(pid_t child);

/* What a segment shows is in itself right; returns what was held and free together. */
int64_t check_sums(fairsem_shared_t *h);

#endif
