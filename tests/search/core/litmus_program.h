/* SPDX-License-Identifier: MIT */
/*
 * litmus_program.h - the language of the litmus tests, for litmus.c.
 *
 * Threads are separated by `|`, their instructions by `;`:
 *
 *     load L order, store L n order, add L n order       of an atomic location, a letter
 *     swap L n m order order      a strong compare-and-swap, and its order if it fails
 *     fence order, read L, write L n (plain), lock, unlock (the one mutex)
 *     if n                the thread goes on only if its last load or read was of n
 */
#ifndef XP_LITMUS_PROGRAM_H
#define XP_LITMUS_PROGRAM_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LITMUS_THREADS = 4, LITMUS_INSTRUCTIONS = 8 };

enum litmus_what {
    LITMUS_LOAD, LITMUS_STORE, LITMUS_ADD, LITMUS_SWAP, LITMUS_FENCE, LITMUS_READ, LITMUS_WRITE,
    LITMUS_LOCK, LITMUS_UNLOCK, LITMUS_IF, LITMUS_WHATS
};

struct litmus_instruction {
    enum litmus_what what;
    int              location, n, m, order, failure;
};

struct litmus_program {
    struct litmus_instruction of[LITMUS_THREADS][LITMUS_INSTRUCTIONS];
    int                       length[LITMUS_THREADS];
};

static inline int litmus_order(const char *word)
{
    return strcmp(word, "acq") == 0 ? memory_order_acquire
           : strcmp(word, "rel") == 0 ? memory_order_release
           : strcmp(word, "acq_rel") == 0 ? memory_order_acq_rel
           : strcmp(word, "sc") == 0 ? memory_order_seq_cst : memory_order_relaxed;
}

static inline struct litmus_instruction litmus_instruction(char *text)
{
    static const char *const words[LITMUS_WHATS] = {
        "load", "store", "add", "swap", "fence", "read", "write", "lock", "unlock", "if",
    };
    struct litmus_instruction in = { .what = LITMUS_WHATS };
    char *rest, *word = strtok_r(text, " ", &rest);
    int numbers = 0, orders = 0;

    for (int what = 0; what < LITMUS_WHATS; what++) {
        if (word != NULL && strcmp(word, words[what]) == 0)
            in.what = (enum litmus_what)what;
    }
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        if (word[0] >= '0' && word[0] <= '9')
            *(numbers++ == 0 ? &in.n : &in.m) = atoi(word);
        else if (word[1] == '\0')
            in.location = word[0] - 'a';
        else
            *(orders++ == 0 ? &in.order : &in.failure) = litmus_order(word);
    }
    return in;
}

/* Returns how many threads it has. */
static inline int litmus_read(struct litmus_program *program, const char *threads)
{
    char text[300], *rest, *one, *more, *in;
    int n = 0;

    snprintf(text, sizeof text, "%s", threads);
    for (one = strtok_r(text, "|", &rest); one != NULL; one = strtok_r(NULL, "|", &rest)) {
        program->length[n] = 0;
        for (in = strtok_r(one, ";", &more); in != NULL; in = strtok_r(NULL, ";", &more))
            program->of[n][program->length[n]++] = litmus_instruction(in);
        n++;
    }
    return n;
}

#endif
