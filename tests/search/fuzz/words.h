/* SPDX-License-Identifier: MIT */
/* words.h - a record of the steps of a sequence, printed after a finding. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORDS_NUMBERS = 9 };

void words_begin(const uint8_t *data, size_t size);    /* the data must stay valid */

/*
 * SAY("  acquires %lld of s%lld", n, s) adds a line of the running thread.  Returns its number.  All conversions
 * are %lld.  Nothing is printed before a finding, so this is cheap.
 */
#define SAY(...) SAY_(NULL, __VA_ARGS__, 0)
#define SAY_(verb, words, ...) \
    words_say((verb), (words), (const long long[WORDS_NUMBERS]){ __VA_ARGS__ })
int words_say(const char *verb, const char *words, const long long numbers[WORDS_NUMBERS]);
void words_result(int line, long long result);      /* add a line: the result of the call in line `line` */
void words_print(void);

/*
 * The library differs from the model: print the sequence and this message, and stop, with exit status 1, or by
 * abort() if words_abort is set (for libFuzzer).
 */
extern bool words_abort;
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
_Noreturn void finding(const char *what, ...);

#endif
