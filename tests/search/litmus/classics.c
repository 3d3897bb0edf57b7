/* SPDX-License-Identifier: MIT */
/*
 * classics.c - the litmus tests of the literature, which say whether axioms.c is right: those of
 * ../core/litmus_tests.c, where another implementation has the same outcomes, and more.  The
 * language is described in ../core/litmus.c.
 */
#include "explorer.h"

#include "../core/litmus.h"

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

enum { INSTRUCTIONS = 8, OWN = sizeof own / sizeof own[0] };

enum what { LOAD, STORE, ADD, SWAP, FENCES, READS, WRITES, LOCK, UNLOCK, IF, WHATS };

static const char *const word_of[WHATS] = {
    "load", "store", "add", "swap", "fence", "read", "write", "lock", "unlock", "if",
};

static struct instruction {
    enum what what;
    int       at, n, m, order, failure;
} program[THREADS][INSTRUCTIONS];
static int length[THREADS];

/* ---- Reading ---- */

static int order_of(const char *word)
{
    return strcmp(word, "acq") == 0 ? memory_order_acquire
           : strcmp(word, "rel") == 0 ? memory_order_release
           : strcmp(word, "acq_rel") == 0 ? memory_order_acq_rel
           : strcmp(word, "sc") == 0 ? memory_order_seq_cst : memory_order_relaxed;
}

static struct instruction read_instruction(char *text)
{
    struct instruction in = { .what = WHATS };
    char *rest, *word = strtok_r(text, " ", &rest);
    int numbers = 0, orders = 0;

    for (int what = 0; what < WHATS; what++) {
        if (word != NULL && strcmp(word, word_of[what]) == 0)
            in.what = (enum what)what;
    }
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        if (word[0] >= '0' && word[0] <= '9')
            *(numbers++ == 0 ? &in.n : &in.m) = atoi(word);
        else if (word[1] == '\0')
            in.at = word[0] - 'a';
        else
            *(orders++ == 0 ? &in.order : &in.failure) = order_of(word);
    }
    return in;
}

static int read_program(const char *threads)
{
    char text[300], *rest, *one, *more, *in;
    int n = 0;

    snprintf(text, sizeof text, "%s", threads);
    for (one = strtok_r(text, "|", &rest); one != NULL; one = strtok_r(NULL, "|", &rest)) {
        length[n] = 0;
        for (in = strtok_r(one, ";", &more); in != NULL; in = strtok_r(NULL, ";", &more))
            program[n][length[n]++] = read_instruction(in);
        n++;
    }
    return n;
}

/* ---- Running ---- */

static int64_t *cell_of(const struct instruction *in)
{
    return &((int64_t *)(void *)shared)[in->at];
}

/* The value that it has seen. */
static int64_t change(const struct instruction *in)
{
    int64_t *at = cell_of(in), expected = in->n;

    access_begins(at, 8, in->what == ADD ? ACCESS_CHANGE : ACCESS_SWAP, CALLER);
    if (in->what == ADD) {
        expected = *at;
        access_stores(at, 8, expected + in->n, ACCESS_CHANGE, in->order, CALLER);
    } else if (!access_swap_fails(at, 8, *at, &expected, in->failure, CALLER)) {
        access_stores(at, 8, in->m, ACCESS_SWAP, in->order, CALLER);
    }
    return expected;
}

/* False: the thread does not go on. */
static bool execute(const struct instruction *in, int64_t *last)
{
    int64_t *at = cell_of(in);

    switch (in->what) {
    case LOAD:   *last = access_load(at, 8, 0, in->order, CALLER); break;
    case STORE:  access_stores(at, 8, in->n, ACCESS_STORE, in->order, CALLER); break;
    case FENCES: access_fence(in->order); break;
    case READS:  *last = read_plain(at); break;
    case WRITES: write_plain(at, in->n); break;
    case LOCK:   lock(&shared[SHARED - 1]); break;
    case UNLOCK: unlock(&shared[SHARED - 1]); break;
    case IF:     return *last == in->n;
    default:     *last = change(in); break;
    }
    return true;
}

static void run_thread(int t)
{
    bool goes_on = true;
    int64_t last = 0;

    for (int i = 0; i < length[t]; i++) {
        enum what what = program[t][i].what;

        goes_on = goes_on && execute(&program[t][i], &last);
        if (what == LOAD || what == ADD || what == SWAP || what == READS)
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
    test->threads = read_program(threads);
    for (int t = 0; t < test->threads; t++)
        test->thread[t] = run_thread;
}
