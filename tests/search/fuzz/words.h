/* SPDX-License-Identifier: MIT */
/*
 * words.h - a record of the calls so far, as cheap as possible: formats and their numbers, which
 * are printed only after a finding.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WORDS_NUMBERS 6

void words_begin(const uint8_t *data, size_t size);    /* which must stay valid */
void words_print(FILE *file);
void words_bytes(FILE *file, const uint8_t *data, size_t size); /* as a line of the corpus */

/*
 * SAY("fairsem_release(s%lld, %lld)", s, n) adds a line, by the thread that runs now.
 * Returns its number.  Every conversion is %lld.
 */
#define SAY(...) SAY_(__VA_ARGS__, 0)
#define SAY_(words, ...) words_say((words), (const long long[]){ __VA_ARGS__ }, \
    (int)(sizeof((const long long[]){ __VA_ARGS__ }) / sizeof(long long)))
int words_say(const char *words, const long long *numbers, int count);

/* The kind of a call's result. */
enum words_kind { WORDS_ERROR, WORDS_NUMBER };
void words_result(int line, enum words_kind kind, long long result);

/* An errno value's name, or NULL. */
const char *words_error(long long error);

/*
 * The library does not do what the model says: print the sequence and this message, and stop: with
 * exit status 1 or, if words_abort (for libFuzzer), by abort().
 */
extern bool words_abort;
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
_Noreturn void finding(const char *what, ...);

#endif
