/* SPDX-License-Identifier: MIT */
/* words.c - see words.h. */
#include "words.h"

#include "../../scenarios/language.h"
#include "threads.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES 8192      /* only the beginning of a longer sequence is kept */

static struct line {
    const char *verb;               /* or NULL */
    const char *words;              /* a letter for each number of a verb; NULL for a result */
    long long   numbers[WORDS_NUMBERS];
    int         thread, inside;     /* the depth of nested calls */
} lines[LINES];
static int count;
static const uint8_t *bytes;
static size_t         bytes_size;
bool words_abort;

void words_begin(const uint8_t *data, size_t size)
{
    count = 0;
    bytes = data;
    bytes_size = size;
}

int words_say(const char *verb, const char *words, const long long numbers[WORDS_NUMBERS])
{
    struct line *line = &lines[count < LINES - 1 ? count : LINES - 1];

    *line = (struct line){ verb, words, { 0 }, thread_running(), thread_call()->depth };
    memcpy(line->numbers, numbers, sizeof line->numbers);
    return count++;
}

void words_result(int line, long long result)
{
    SAY(NULL, line, result);
}

/* Parameters that are 0 are omitted, as in the language. */
static void print_verb(const struct line *line)
{
    printf("%s %lld", line->verb, line->numbers[0]);
    for (int i = 1; line->words[i] != '\0'; i++) {
        if (line->numbers[i] != 0)
            printf(" %c%lld", line->words[i], line->numbers[i]);
    }
}

void words_print(void)
{
    for (int i = 0; i < count && i < LINES; i++) {
        const long long *n = lines[i].numbers;

        printf("%4d  thread %d  %*s", i, lines[i].thread, 2 * lines[i].inside, "");
        if (lines[i].verb != NULL)
            print_verb(&lines[i]);
        else if (lines[i].words == NULL)
            printf("%lld returns %lld %s", n[0], n[1], script_error(n[1]));
        else
            printf(lines[i].words, n[0], n[1], n[2], n[3], n[4]);
        putchar('\n');
    }
}

void finding(const char *what, ...)
{
    va_list list;

    words_print();
    printf("bytes: ");
    for (size_t i = 0; i < bytes_size; i++)
        printf("%02x", bytes[i]);
    printf("\nFOUND: ");
    va_start(list, what);
    vprintf(what, list);
    va_end(list);
    putchar('\n');
    fflush(NULL);
    if (words_abort)
        abort();
    _exit(1);
}
