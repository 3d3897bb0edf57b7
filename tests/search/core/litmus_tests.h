/* SPDX-License-Identifier: MIT */
/*
 * litmus_tests.h - the litmus tests, in the language of litmus.c, which includes this file.
 *
 * The outcomes follow from the axioms of RC11, with the release sequences of C++20 and without load buffering.
 * They are the outcomes of all executions with these properties: happens-before is coherent, read-modify-writes
 * are atomic, the seq_cst order has no cycle, and no load reads from its own future.
 */

/* The outcomes are in alphabetical order. */
#define EXACTLY(what)    what, false, false
#define WITH_LAST(what)  what, true, false
#define RACE             "", false, true

{ "message passing: release, acquire",
  "store x 1 rlx; store y 1 rel | load y acq; load x rlx", EXACTLY("00 01 11") },
{ "message passing: the store relaxed",
  "store x 1 rlx; store y 1 rlx | load y acq; load x rlx", EXACTLY("00 01 10 11") },
{ "message passing: the load relaxed",
  "store x 1 rlx; store y 1 rel | load y rlx; load x rlx", EXACTLY("00 01 10 11") },
{ "message passing: over a third thread",
  "store x 1 rlx; store y 1 rel | load y acq; store z 1 rel | load z acq; load x rlx",
  EXACTLY("000 001 010 011 100 101 111") },
{ "message passing: over a third thread, relaxed",
  "store x 1 rlx; store y 1 rel | load y rlx; store z 1 rel | load z acq; load x rlx",
  EXACTLY("000 001 010 011 100 101 110 111") },
{ "message passing: a value that was read is passed on, too",
  "store x 1 rlx | load x rlx; store y 1 rel | load y acq; load x rlx",
  EXACTLY("000 001 010 011 100 101 111") },

{ "store buffering: relaxed",
  "store x 1 rlx; load y rlx | store y 1 rlx; load x rlx", EXACTLY("00 01 10 11") },
{ "store buffering: release, acquire",
  "store x 1 rel; load y acq | store y 1 rel; load x acq", EXACTLY("00 01 10 11") },
{ "store buffering: seq_cst",
  "store x 1 sc; load y sc | store y 1 sc; load x sc", EXACTLY("01 10 11") },
{ "store buffering: read-modify-writes between the two",
  "store x 1 rlx; add z 1 acq_rel; load y rlx | store y 1 rlx; add z 1 acq_rel; load x rlx",
  EXACTLY("0011 0111 1100 1101") },

{ "load buffering: not covered, 11 is left out",
  "load x rlx; store y 1 rlx | load y rlx; store x 1 rlx", EXACTLY("00 01 10") },

{ "independent reads of independent writes: release, acquire",
  "store x 1 rel | store y 1 rel | load x acq; load y acq | load y acq; load x acq",
  EXACTLY("0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111") },
{ "independent reads of independent writes: seq_cst",
  "store x 1 sc | store y 1 sc | load x sc; load y sc | load y sc; load x sc",
  EXACTLY("0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111") },

{ "release sequence: a read-modify-write continues it",
  "store y 1 rlx; store x 1 rel | add x 1 rlx | load x acq; load y rlx",
  EXACTLY("000 001 010 011 100 101 111 121") },
{ "release sequence: another thread's relaxed store ends it",
  "store y 1 rlx; store x 1 rel | load x rlx; store x 2 rlx | load x acq; load y rlx",
  EXACTLY("000 001 011 020 021 100 101 111 120 121") },
{ "release sequence: so does one of the same thread (C++20, C23)",
  "store y 1 rlx; store x 1 rel; store x 2 rlx | load x acq; load y rlx",
  EXACTLY("00 01 11 20 21") },

{ "coherence: two loads", "store x 1 rlx | load x rlx; load x rlx", EXACTLY("00 01 11") },
{ "coherence: two stores", "store x 1 rlx; store x 2 rlx", WITH_LAST("/20") },
{ "coherence: a load, then a store",
  "load x rlx; store x 1 rlx | store x 2 rlx", WITH_LAST("0/10 0/20 2/10") },
{ "coherence: a store, then a load",
  "store x 1 rlx; load x rlx | store x 2 rlx", WITH_LAST("1/10 1/20 2/20") },
{ "coherence: all see the stores in one order",
  "store x 1 rlx | store x 2 rlx | load x rlx; if 1; load x rlx | load x rlx; if 2; load x rlx",
  EXACTLY("0-0- 0-1- 0-21 0-22 110- 111- 1121 1122 120- 121- 1222 2-0- 2-1- 2-21 2-22") },
{ "coherence: a store after one that is known by way of another location",
  "store x 1 rlx; store y 1 rel | load y acq; store x 2 rlx", WITH_LAST("0/11 0/21 1/21") },

{ "2+2W: relaxed",
  "store x 1 rlx; store y 2 rlx | store y 1 rlx; store x 2 rlx", WITH_LAST("/11 /12 /21 /22") },
{ "2+2W: release",
  "store x 1 rel; store y 2 rel | store y 1 rel; store x 2 rel", WITH_LAST("/11 /12 /21 /22") },
{ "2+2W: seq_cst",
  "store x 1 sc; store y 2 sc | store y 1 sc; store x 2 sc", WITH_LAST("/12 /21 /22") },

{ "read-modify-writes: none is lost",
  "add x 1 rlx | add x 1 rlx | add x 1 rlx",
  WITH_LAST("012/30 021/30 102/30 120/30 201/30 210/30") },
{ "read-modify-writes: a store comes before or after, not between",
  "store x 1 rlx | add x 2 rlx", WITH_LAST("0/10 1/30") },
{ "compare-and-swap: one of two", "swap x 0 1 rlx rlx | swap x 0 2 rlx rlx", EXACTLY("01 20") },
{ "compare-and-swap: succeeds, and acquires",
  "store y 1 rlx; store x 1 rel | swap x 1 2 acq rlx; load y rlx", EXACTLY("00 01 11") },
{ "compare-and-swap: fails, and acquires",
  "store y 1 rlx; store x 1 rel | swap x 2 3 acq acq; load y rlx", EXACTLY("00 01 11") },
{ "compare-and-swap: fails, relaxed",
  "store y 1 rlx; store x 1 rel | swap x 2 3 acq rlx; load y rlx", EXACTLY("00 01 10 11") },

{ "mutex: message passing",
  "lock; store x 1 rlx; store y 1 rlx; unlock | lock; load y rlx; load x rlx; unlock",
  EXACTLY("00 11") },
{ "mutex: only one of the two has it",
  "lock; store x 1 rlx; store y 1 rlx; unlock | load y rlx; load x rlx",
  EXACTLY("00 01 10 11") },

{ "plain data: release, acquire",
  "write d 1; store x 1 rel | load x acq; if 1; read d", EXACTLY("0- 11") },
{ "plain data: the store relaxed",
  "write d 1; store x 1 rlx | load x acq; if 1; read d", RACE },
{ "plain data: the load relaxed",
  "write d 1; store x 1 rel | load x rlx; if 1; read d", RACE },
{ "plain data: read before it is written",
  "read d; store x 1 rel | load x acq; if 1; write d 1", EXACTLY("00 01") },
{ "plain data: read before it is written, relaxed",
  "read d; store x 1 rlx | load x acq; if 1; write d 1", RACE },
{ "plain data: a mutex", "lock; write d 1; unlock | lock; read d; unlock", EXACTLY("0 1") },
{ "plain data: no order", "write d 1 | read d", RACE },
{ "plain data: two that only read", "read d | read d", EXACTLY("00") },
{ "plain data: an atomic store of the same bytes", "store d 1 rlx | read d", RACE },
