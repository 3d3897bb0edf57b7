/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs the sequences of the corpus, and then generated ones, the same in each run.
 *
 *   replay [CORPUS [COUNT [SEED]]]     run all sequences of CORPUS (in `make check`, the corpus of the
 *                                      source directory), then COUNT generated ones (50,000)
 *   replay --words BYTES               print what a sequence does: BYTES are a line of a corpus
 *
 * A corpus is a text file with a sequence in each line, in hexadecimal; a line with # is a comment.
 * Exits with 1, and prints the sequence, when the library differs from the model.  Exits with 2 if the corpus has
 * no sequence, or a line that is not a sequence.
 */
#include "../../support/hang.h"
#include "../../support/seed.h"
#include "machine.h"
#include "steps.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096, MOST_LINES = 4096 };

/* Generated sequences, for a second or two.  ThreadSanitizer is slow, and cannot find races in one thread. */
enum { COUNT = MACHINE_CAN_UNWIND ? 50000 : 5000 };

struct bytes {
    uint8_t *data;
    size_t   size;
};

static struct bytes corpus[MOST_LINES];
static int          corpus_lines;

static _Noreturn void die(const char *what, const char *which)
{
    fprintf(stderr, "replay: %s %s\n", what, which);
    exit(2);
}

/* ---- Files ---- */

static struct bytes parse(const char *hex)
{
    const size_t length = strcspn(hex, "\n");
    struct bytes bytes = { malloc(LONGEST), length / 2 };
    unsigned value;

    if (bytes.data == NULL)
        die("no memory for", hex);
    if (length % 2 != 0 || length / 2 > LONGEST || strspn(hex, "0123456789abcdef") != length)
        die("no sequence:", hex);
    for (size_t i = 0; i < bytes.size; i++) {
        sscanf(hex + 2 * i, "%2x", &value);
        bytes.data[i] = (uint8_t)value;
    }
    return bytes;
}

static void read_corpus(const char *name)
{
    static char line[2 * LONGEST + 2];
    FILE *file = fopen(name, "r");

    if (file == NULL)
        die("cannot open", name);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (corpus_lines == MOST_LINES)
            die("too many lines in", name);
        corpus[corpus_lines++] = parse(line);
    }
    if (ferror(file) || corpus_lines == 0)
        die("no sequence in", name);
    fclose(file);
}

/* `make check` gives no arguments, so the corpus is found by the environment variable top_srcdir. */
static void read_corpus_in(const char *top_srcdir)
{
    char name[4096];

    snprintf(name, sizeof name, "%s/tests/search/fuzz/corpus.txt", top_srcdir);
    read_corpus(name);
}

/* ---- The library crashes or hangs in the middle of a sequence ---- */

static void broken(int sig)
{
    finding(sig == SIGALRM ? "the library hangs" : "the library crashed: signal %d", sig);
}

static void catch_signals(void)
{
    static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM };
    struct sigaction action = { .sa_flags = (int)SA_RESETHAND };

    action.sa_handler = broken;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

static uint64_t number(const char *text)
{
    char *end;
    const uint64_t value = strtoull(text, &end, 10);

    if (end == text || *end != '\0')
        die("no number:", text);
    return value;
}

/* ---- Generated sequences ---- */

static uint64_t random_state;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 16;
}

/* Make a sequence from the beginning of a sequence in the corpus, with changes. */
static size_t vary(uint8_t *data, size_t most)
{
    const struct bytes *from = &corpus[random_number() % (unsigned)corpus_lines];
    size_t size = from->size < most ? from->size : most;

    memcpy(data, from->data, size);
    for (uint64_t changes = 1 + random_number() % 6; changes > 0 && size > 0; changes--)
        data[random_number() % size] = (uint8_t)random_number();
    return size;
}

static size_t invent(uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)random_number();
    return size;
}

/* The first 1000 sequences are short, so that their findings are easy to read. */
static void run_generated(int count, uint64_t seed)
{
    uint8_t data[400];

    random_state = seed * 2 + 1;
    for (int i = 0; i < count; i++) {
        size_t most = 40 + random_number() % (i < 1000 ? 40 : sizeof data - 40);
        size_t size = i % 4 == 3 ? vary(data, most) : invent(data, most);

        hang_alarm();
        sequence_run(data, size);
    }
}

static void run_corpus(void)
{
    for (int i = 0; i < corpus_lines; i++) {
        hang_alarm();
        sequence_run(corpus[i].data, corpus[i].size);
    }
}

int main(int argc, char **argv)
{
    int count = COUNT;
    uint64_t seed;

    catch_signals();
    if (argc == 3 && strcmp(argv[1], "--words") == 0) {
        corpus[corpus_lines++] = parse(argv[2]);
        run_corpus();
        words_print();
        return 0;
    }
    if (argc > 4 || (argc > 1 && argv[1][0] == '-'))
        die("see the head of replay.c for how to call it, not with", argv[1]);
    if (argc > 1)
        read_corpus(argv[1]);
    else if (getenv("top_srcdir") != NULL)
        read_corpus_in(getenv("top_srcdir"));
    else
        die("no CORPUS, and no", "top_srcdir");
    if (argc > 2)
        count = (int)number(argv[2]);
    seed = argc > 3 ? number(argv[3]) : test_seed();
    run_corpus();
    run_generated(count, seed);
    printf("%d sequences of the corpus and %d generated ones: as the model says\n", corpus_lines,
           count);
    return 0;
}
