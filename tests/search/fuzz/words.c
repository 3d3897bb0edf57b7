/* SPDX-License-Identifier: MIT */
/* words.c - see words.h. */
#include "words.h"

#include "threads.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES 4096      /* only the beginning of a longer sequence is kept */

static struct line {
    const char *words;
    long long   numbers[WORDS_NUMBERS];
    int         thread;
    int         inside;             /* how many calls of this thread it is in */
    int         returned_after;     /* the last line before the result; -1: not yet */
    enum words_kind kind;
    long long   result;
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

void words_bytes(FILE *file, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(file, "%02x", data[i]);
    fputc('\n', file);
}

int words_say(const char *words, const long long *numbers, int n)
{
    struct line *line = &lines[count < LINES - 1 ? count : LINES - 1];

    line->words = words;
    if (n > WORDS_NUMBERS)
        n = WORDS_NUMBERS;
    memcpy(line->numbers, numbers, (size_t)n * sizeof *numbers);
    line->thread = thread_running();
    line->inside = thread_call()->depth;
    line->returned_after = -1;
    return count++;
}

void words_result(int line, enum words_kind kind, long long result)
{
    if (line >= LINES)
        return;
    lines[line].returned_after = count - 1;
    lines[line].kind = kind;
    lines[line].result = result;
}

const char *words_error(long long error)
{
    static const struct { int error; const char *name; } errors[] = {
        { 0, "0" }, { E2BIG, "E2BIG" }, { EAGAIN, "EAGAIN" }, { EALREADY, "EALREADY" },
        { EBUSY, "EBUSY" }, { ECANCELED, "ECANCELED" }, { EINTR, "EINTR" },
        { EINVAL, "EINVAL" }, { EIO, "EIO" }, { ENOBUFS, "ENOBUFS" }, { ENOMEM, "ENOMEM" },
        { ENOTSUP, "ENOTSUP" }, { EOVERFLOW, "EOVERFLOW" }, { EPIPE, "EPIPE" },
        { ESHUTDOWN, "ESHUTDOWN" }, { ETIMEDOUT, "ETIMEDOUT" },
    };

    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].error == error)
            return errors[i].name;
    }
    return NULL;
}

static void print_result(FILE *file, int i)
{
    const struct line *line = &lines[i];
    const char *name = words_error(line->result);

    if (line->kind == WORDS_ERROR && name != NULL)
        fprintf(file, " = %s", name);
    else
        fprintf(file, " = %lld", line->result);
    if (line->returned_after > i)
        fprintf(file, "  (after %d)", line->returned_after);
}

void words_print(FILE *file)
{
    for (int i = 0; i < count && i < LINES; i++) {
        const struct line *line = &lines[i];
        const long long *n = line->numbers;

        fprintf(file, "%4d  thread %d  %*s", i, line->thread, 2 * line->inside, "");
        fprintf(file, line->words, n[0], n[1], n[2], n[3], n[4], n[5]);
        if (line->returned_after >= 0)
            print_result(file, i);
        fputc('\n', file);
    }
}

void finding(const char *what, ...)
{
    va_list list;

    words_print(stderr);
    fprintf(stderr, "bytes: ");
    words_bytes(stderr, bytes, bytes_size);
    fprintf(stderr, "FOUND: ");
    va_start(list, what);
    vfprintf(stderr, what, list);
    va_end(list);
    fputc('\n', stderr);
    fflush(NULL);
    if (words_abort)
        abort();
    _exit(1);
}
