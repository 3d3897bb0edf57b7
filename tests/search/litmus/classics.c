/* SPDX-License-Identifier: MIT */
/*
 * classics.c - the litmus tests of the literature, which say whether axioms.c is right: those of
 * ../core/litmus_tests.c, where another implementation has the same outcomes, and more.  The
 * language is described in ../core/litmus_program.h.
 */
#include "explorer.h"

#include "../core/litmus.h"
#include "../core/litmus_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `more`: with load buffering, where the axiom against it is all that forbids some. */
static const struct {
    const char *name, *threads, *outcomes, *more;
} own[] = {
    { "load buffering: relaxed",
      "load x rlx; store y 1 rlx | load y rlx; store x 1 rlx", "00 01 10", "00 01 10 11" },
    { "load buffering: release, acquire",
      "load x acq; store y 1 rel | load y acq; store x 1 rel", "00 01 10", NULL },
    { "load buffering: release and acquire on one of the two locations",
      "load x acq; store y 1 rlx | load y rlx; store x 1 rel", "00 01 10", NULL },
    { "load buffering: two acquires order nothing",
      "load x acq; store y 1 rlx | load y acq; store x 1 rlx", "00 01 10", "00 01 10 11" },
    { "load buffering: read-modify-writes, relaxed",
      "add x 1 rlx; store y 1 rlx | add y 1 rlx; store x 1 rlx", "00 01 10", "00 01 10 11" },
    { "S: a store that overtakes",
      "store x 2 rlx; store y 1 rel | load y acq; store x 1 rlx", "0/11 0/21 1/11", NULL },
    { "R: seq_cst, and not",
      "store x 1 sc; store y 1 sc | store y 2 sc; load x sc", "0/11 1/11 1/12", NULL },
    { "W+RWC: relaxed",
      "store x 1 rlx; store y 1 rlx | load y rlx; load z rlx | store z 1 rlx; load x rlx",
      "000 001 010 011 100 101 110 111", NULL },
    { "Z6.U: a cycle over release, acquire is not one of seq_cst (RC11, figure 1)",
      "store x 1 sc; store y 1 rel | add y 1 sc; load y rlx | store y 3 sc; load x sc",
      "010 011 030 031 120 121 130 131 310 311 340 341", NULL },
};

enum { OWN = sizeof own / sizeof own[0] };

static struct litmus_program program;

/* ---- Running ---- */

static int64_t *cell_of(const struct litmus_instruction *in)
{
    return &((int64_t *)(void *)shared)[in->location];
}

/* The value that it has seen. */
static int64_t change(const struct litmus_instruction *in)
{
    int64_t *at = cell_of(in), expected = in->n;

    access_begins(at, 8, in->what == LITMUS_ADD ? ACCESS_CHANGE : ACCESS_SWAP, CALLER);
    if (in->what == LITMUS_ADD) {
        expected = *at;
        access_stores(at, 8, expected + in->n, ACCESS_CHANGE, in->order, CALLER);
    } else if (!access_swap_fails(at, 8, *at, &expected, in->failure, CALLER)) {
        access_stores(at, 8, in->m, ACCESS_SWAP, in->order, CALLER);
    }
    return expected;
}

/* False: the thread does not go on. */
static bool execute(const struct litmus_instruction *in, int64_t *last)
{
    int64_t *at = cell_of(in);

    switch (in->what) {
    case LITMUS_LOAD:   *last = access_load(at, 8, 0, in->order, CALLER); break;
    case LITMUS_STORE:  access_stores(at, 8, in->n, ACCESS_STORE, in->order, CALLER); break;
    case LITMUS_FENCE:  access_fence(in->order); break;
    case LITMUS_READ:   *last = read_plain(at); break;
    case LITMUS_WRITE:  write_plain(at, in->n); break;
    case LITMUS_LOCK:   lock(&shared[SHARED - 1]); break;
    case LITMUS_UNLOCK: unlock(&shared[SHARED - 1]); break;
    case LITMUS_IF:     return *last == in->n;
    default:     *last = change(in); break;
    }
    return true;
}

static void run_thread(int t)
{
    bool goes_on = true;
    int64_t last = 0;

    for (int i = 0; i < program.length[t]; i++) {
        enum litmus_what what = program.of[t][i].what;

        goes_on = goes_on && execute(&program.of[t][i], &last);
        if (what == LITMUS_LOAD || what == LITMUS_ADD || what == LITMUS_SWAP || what == LITMUS_READ)
            say(goes_on ? (char)('0' + last) : '-');
    }
}

static void begins(void)
{
}

int classics_count(void)
{
    return litmus_tests_count + OWN;
}

void classic(int which, struct test *test)
{
    const char *threads;

    *test = (struct test){ .begins = begins };
    if (which < litmus_tests_count) {
        const struct litmus_test *one = &litmus_test[which];

        threads = one->threads;
        test->name = one->name;
        test->outcomes = one->race ? "race" : one->outcomes;
        /* That table leaves load buffering out. */
        if (strcmp(threads, own[0].threads) == 0)
            test->more = own[0].more;
    } else {
        which -= litmus_tests_count;
        threads = own[which].threads;
        test->name = own[which].name;
        test->outcomes = own[which].outcomes;
        test->more = own[which].more;
    }
    test->last_values = strchr(test->outcomes, '/') != NULL;
    test->threads = litmus_read(&program, threads);
    for (int t = 0; t < test->threads; t++)
        test->thread[t] = run_thread;
}
