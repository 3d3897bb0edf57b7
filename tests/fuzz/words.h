/* SPDX-License-Identifier: MIT */
/*
 * words.h - the sequence so far in words, kept as cheaply as possible: the format and its
 * numbers, put together only when somebody wants to read them.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WORDS_NUMBERS 6

void words_begin(const uint8_t *data, size_t size);    /* of this sequence, which stay there */
void words_print(FILE *file);
void words_bytes(FILE *file, const uint8_t *data, size_t size); /* as a line of the corpus */

/*
 * SAY("fairsem_release(s%lld, %lld)", s, n): one line more, by the thread that runs now.
 * Returns its number.  Every conversion is %lld.
 */
#define SAY(...) SAY_(__VA_ARGS__, 0)
#define SAY_(words, ...) words_say((words), (const long long[]){ __VA_ARGS__ }, \
    (int)(sizeof((const long long[]){ __VA_ARGS__ }) / sizeof(long long)))
int words_say(const char *words, const long long *numbers, int count);

/* What came of a call. */
enum words_kind { WORDS_ERROR, WORDS_NUMBER };
void words_result(int line, enum words_kind kind, long long result);

/* An errno value's name, or NULL. */
const char *words_error(long long error);

/*
 * The library does not do what the model says: print the sequence, and this, and stop, as
 * words_stop says: 1 as exit status or, for libFuzzer, abort.
 */
extern bool words_abort;
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
_Noreturn void finding(const char *what, ...);

#endif
