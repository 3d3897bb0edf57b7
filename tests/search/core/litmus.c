/* SPDX-License-Identifier: MIT */
/*
 * litmus.c - checks that views.c implements the memory model of views.h.
 *
 * Runs small programs under every schedule, with any number of stale loads.  The outcomes of a program must be
 * exactly the expected set.  With an outcome too many, the explorer would report false errors; with an outcome
 * too few, it would miss faults.
 *
 * Threads are separated by `|`, their instructions by `;`:
 *
 *     load L order, store L n order, add L n order       L: an atomic location, a letter
 *     swap L n m order order      a strong compare-and-swap; the second order is for a failure
 *     read L, write L n (plain), lock, unlock (of the only mutex)
 *     if n                the thread continues only if its last load or read has seen n
 *
 * An outcome lists the values that the loads have seen, thread by thread, with `-` for a load that
 * was not made.  If the test has last_values, `/` and the last values of x and y follow.
 */
#include "views.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTIONS_MAX = 8, OUTCOMES_MAX = 64, OUTCOME_SIZE = 16 };

static const struct test {
    const char *name, *threads, *outcomes;
    bool        last_values;    /* the outcomes contain the last values of x and y */
    bool        race;           /* the program must have a race; the outcomes are not compared */
} tests[] = {
#include "litmus_tests.h"
};
enum { TESTS = sizeof tests / sizeof tests[0] };

/* ---- A program ---- */

/* Instructions up to READ see a value. */
enum what { LOAD, ADD, SWAP, READ, STORE, WRITE, LOCK, UNLOCK, IF, WHATS };

static struct instruction {
    enum what what;
    int64_t  *at;
    int       n, m, order, failure;
} program[THREADS][INSTRUCTIONS_MAX];
static int length[THREADS];

static int64_t cell[26];

static int order_of(const char *word)
{
    return strcmp(word, "acq") == 0 ? memory_order_acquire
           : strcmp(word, "rel") == 0 ? memory_order_release
           : strcmp(word, "acq_rel") == 0 ? memory_order_acq_rel
           : strcmp(word, "sc") == 0 ? memory_order_seq_cst : memory_order_relaxed;
}

static struct instruction read_instruction(char *text)
{
    static const char *const words[WHATS] = {
        "load", "add", "swap", "read", "store", "write", "lock", "unlock", "if",
    };
    struct instruction in = { .what = LOAD };
    char *rest, *word = strtok_r(text, " ", &rest);
    int numbers = 0, orders = 0;

    while (in.what < WHATS && strcmp(word, words[in.what]) != 0)
        in.what++;
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        if (word[0] >= '0' && word[0] <= '9')
            *(numbers++ == 0 ? &in.n : &in.m) = atoi(word);
        else if (word[1] == '\0')
            in.at = &cell[word[0] - 'a'];
        else
            *(orders++ == 0 ? &in.order : &in.failure) = order_of(word);
    }
    return in;
}

static void read_program(const char *threads)
{
    char text[300], *rest, *one, *more, *in;

    threads_count = 0;
    snprintf(text, sizeof text, "%s", threads);
    for (one = strtok_r(text, "|", &rest); one != NULL; one = strtok_r(NULL, "|", &rest)) {
        int t = threads_count++;

        length[t] = 0;
        for (in = strtok_r(one, ";", &more); in != NULL; in = strtok_r(NULL, ";", &more))
            program[t][length[t]++] = read_instruction(in);
    }
}

/* ---- A run ---- */

static int mutex_of;                            /* the thread that holds the mutex, or -1 */
static int next[THREADS], last[THREADS];    /* the next instruction; the last value seen */
static char saw[THREADS][INSTRUCTIONS_MAX];

static void write_cell(const struct instruction *in, int64_t value, bool change)
{
    races_access(in->at, sizeof *in->at, ATOMIC_WRITE, NULL);
    if (change)
        views_change(in->at, sizeof *in->at, value, in->order);
    if (change || views_store(in->at, sizeof *in->at, value, in->order))
        *in->at = value;
}

static int64_t read_cell(const struct instruction *in)
{
    int64_t value = *in->at;

    races_access(in->at, sizeof value, in->what == READ ? PLAIN_READ : ATOMIC_READ, NULL);
    if (in->what == LOAD)
        return views_load(in->at, sizeof value, in->order);
    if (in->what == SWAP && views_swap_fails(in->at, sizeof value, in->n, in->failure, &value))
        return value;
    if (in->what != READ)
        write_cell(in, in->what == ADD ? value + in->n : in->m, true);
    return value;
}

static void execute(int t)
{
    const struct instruction *in = &program[t][next[t]++];

    switch (in->what) {
    case STORE:
        write_cell(in, in->n, false);
        break;
    case WRITE:
        races_access(in->at, sizeof *in->at, PLAIN_WRITE, NULL);
        *in->at = in->n;
        break;
    case LOCK:
        mutex_of = t;
        views_acquire(&mutex_of);
        break;
    case UNLOCK:
        mutex_of = -1;
        views_release(&mutex_of);
        break;
    case IF:
        next[t] = last[t] == in->n ? next[t] : length[t];
        break;
    default:
        last[t] = (int)read_cell(in);
        saw[t][next[t] - 1] = (char)('0' + last[t]);
        break;
    }
}

static void begin(void)
{
    decisions_begin();
    memset(&run, 0, sizeof run);
    memset(cell, 0, sizeof cell);
    memset(next, 0, sizeof next);
    memset(last, 0, sizeof last);
    mutex_of = -1;
    views_reset();
    races_reset();
    for (int t = 0; t < threads_count; t++) {
        for (int i = 0; i < length[t]; i++)
            saw[t][i] = program[t][i].what <= READ ? '-' : '\0';
    }
}

static void run_to_its_end(void)
{
    for (;;) {
        int may[THREADS], n = 0;

        for (int t = 0; t < threads_count; t++) {
            if (next[t] < length[t] && (program[t][next[t]].what != LOCK || mutex_of < 0))
                may[n++] = t;
        }
        if (n == 0)
            break;
        n = may[choose(n)];
        self = &thread[n];
        execute(n);
        self = NULL;
    }
}

static void say_outcome(char *text, size_t size, bool last_values)
{
    size_t n = 0;

    for (int t = 0; t < threads_count; t++) {
        for (int i = 0; i < length[t] && n + 1 < size; i++) {
            if (saw[t][i] != '\0')
                text[n++] = saw[t][i];
        }
    }
    snprintf(text + n, size - n, last_values ? "/%d%d" : "", (int)cell['x' - 'a'],
             (int)cell['y' - 'a']);
}

/* ---- All runs ---- */

static char outcome[OUTCOMES_MAX][OUTCOME_SIZE];
static int outcomes;

static void note_outcome(const char *text)
{
    int at = outcomes;

    for (int i = 0; i < outcomes; i++) {
        if (strcmp(outcome[i], text) == 0)
            return;
    }
    if (outcomes == OUTCOMES_MAX)
        return;     /* the test fails anyway: no test expects that many outcomes */
    for (outcomes++; at > 0 && strcmp(outcome[at - 1], text) > 0; at--)
        memcpy(outcome[at], outcome[at - 1], sizeof outcome[0]);
    snprintf(outcome[at], sizeof outcome[0], "%s", text);
}

static void say_all(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int k = 0; k < outcomes; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", k > 0 ? " " : "", outcome[k]);
}

static bool one(const struct test *test)
{
    char all[OUTCOMES_MAX * (OUTCOME_SIZE + 1) + 1], text[OUTCOME_SIZE];
    long runs = 0;
    bool good;

    views_forget();
    read_program(test->threads);
    outcomes = races_noted = 0;
    decisions_forget();
    do {
        begin();
        run_to_its_end();
        say_outcome(text, sizeof text, test->last_values);
        note_outcome(text);
        runs++;
    } while (decisions_next());
    say_all(all, sizeof all);
    good = test->race ? races_noted > 0
                        : races_noted == 0 && strcmp(all, test->outcomes) == 0;
    printf("%-76s %6ld runs%s\n", test->name, runs, good ? "" : "  FAILED");
    if (!good)
        printf("    %s\n    %s, %d races, expected: %s%s\n", test->threads, all, races_noted,
               test->outcomes, test->race ? "a race" : "");
    return good;
}

bool litmus(void)
{
    int good = 0;

    limits = (struct limits){ .own = true, .own_bound = 1000 };
    races_only_noted = true;
    for (int i = 0; i < TESTS; i++)
        good += one(&tests[i]);
    printf("%d of %d litmus tests have exactly the outcomes that RC11 allows\n", good, TESTS);
    return good == TESTS;
}
