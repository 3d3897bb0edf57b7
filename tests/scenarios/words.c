/* SPDX-License-Identifier: MIT */
/*
 * words.c - scenarios on the command line and in reports: settings, a colon, threads.
 *
 *     units 1, capacity 2, paused: acquire 2 token; give | cancel | capacity 2
 *
 * The settings are members of struct scenario, for scenarios of threads, of processes, or of both.  A setting
 * that is 0 or false may be omitted.  Without settings, the colon is omitted, too.
 */
#include "language.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Settings ---- */

enum kind { NUMBER, INT, FLAG, YES };

static const struct setting {
    const char *name;
    enum kind   kind;
    size_t      offset;
    unsigned    flag;
    enum { BOTH, OF_THREADS, OF_PROCESSES } of;
} setting[] = {
#define SETTING(name, kind, of) { #name, kind, offsetof(struct scenario, name), 0, of }
    SETTING(units, NUMBER, BOTH), SETTING(capacity, NUMBER, BOTH), SETTING(max_waiters, NUMBER, BOTH),
    SETTING(debt, NUMBER, OF_THREADS), SETTING(bypass_ns, NUMBER, OF_THREADS), SETTING(aging_ns, NUMBER, BOTH),
    SETTING(spurious, INT, OF_THREADS), SETTING(signals, INT, OF_THREADS), SETTING(no_memory, INT, OF_THREADS),
    SETTING(closed, INT, OF_THREADS), SETTING(canceled, INT, OF_THREADS), SETTING(paused, YES, OF_THREADS),
    SETTING(cold, YES, OF_THREADS), SETTING(may_block, YES, OF_THREADS), SETTING(deaths, INT, OF_PROCESSES),
    SETTING(mortal, INT, OF_PROCESSES), SETTING(early, INT, OF_PROCESSES), SETTING(for_ms, INT, OF_PROCESSES),
    SETTING(max_processes, INT, OF_PROCESSES), SETTING(no_undo, YES, OF_PROCESSES),
    SETTING(interrupted, YES, OF_PROCESSES),
#undef SETTING
    { "interruptible", FLAG, offsetof(struct scenario, flags), FAIRSEM_INTERRUPTIBLE, OF_THREADS },
    { "no_spin", FLAG, offsetof(struct scenario, flags), FAIRSEM_NO_SPIN, OF_THREADS },
};
enum { SETTINGS = sizeof setting / sizeof setting[0] };

static int64_t setting_of(const struct scenario *what, const struct setting *one)
{
    const char *at = (const char *)what + one->offset;

    switch (one->kind) {
    case NUMBER: return *(const int64_t *)(const void *)at;
    case INT:    return *(const int *)(const void *)at;
    case FLAG:   return (*(const unsigned *)(const void *)at & one->flag) != 0;
    case YES:    return *(const bool *)(const void *)at;
    }
    return 0;
}

static void set(struct scenario *what, const struct setting *one, int64_t value)
{
    char *at = (char *)what + one->offset;

    switch (one->kind) {
    case NUMBER: *(int64_t *)(void *)at = value; break;
    case INT:    *(int *)(void *)at = (int)value; break;
    case FLAG:   *(unsigned *)(void *)at |= one->flag; break;
    case YES:    *(bool *)(void *)at = true; break;
    }
}

static bool read_setting(const char *text, struct scenario *what)
{
    static char handler[60];
    char *end;

    text += strspn(text, " ");
    if (strncmp(text, "handler ", 8) == 0) {
        snprintf(handler, sizeof handler, "%s", text + 8);
        what->handler = handler;
        return true;
    }
    for (int i = 0; i < SETTINGS; i++) {
        size_t length = strlen(setting[i].name);
        const char *rest = text + length;

        if (strncmp(text, setting[i].name, length) != 0 || (*rest != ' ' && *rest != '\0'))
            continue;
        set(what, &setting[i], strtoll(rest, &end, 10));
        return end[strspn(end, " ")] == '\0' && (end != rest) == (setting[i].kind <= INT);
    }
    return false;
}

static bool settings_fit(const struct scenario *what)
{
    for (int i = 0; i < SETTINGS; i++) {
        if (setting_of(what, &setting[i]) != 0
            && setting[i].of == (script_has_processes ? OF_THREADS : OF_PROCESSES))
            return false;
    }
    return true;
}

/* Returns NULL if the words are not a scenario.  The next call overwrites the result. */
const struct scenario *scenario_of_words(const char *words)
{
    static char name[TEXT_MAX], settings[200], threads[TEXT_MAX];
    static struct scenario what;
    const char *colon = strchr(words, ':');
    char *rest, *one;

    what = (struct scenario){ .name = name, .threads = threads };
    snprintf(name, sizeof name, "%s", words);
    snprintf(threads, sizeof threads, "%s", colon != NULL ? colon + 1 : words);
    snprintf(settings, sizeof settings, "%.*s", (int)(colon != NULL ? colon - words : 0), words);
    for (one = strtok_r(settings, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
        if (!read_setting(one, &what))
            return NULL;
    }
    return script_read(&what) && settings_fit(&what) ? &what : NULL;
}

/* ---- Operations ---- */

struct text {
    char  *at;
    size_t left;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    if ((size_t)length >= text->left)
        length = (int)text->left - 1;
    text->at += length;
    text->left -= (size_t)length;
}

static bool has_number(const struct op *op)
{
    return verbs[op->verb].number == UNITS || (verbs[op->verb].number == OPTIONAL && op->n != 0);
}

/* Add an operation with `blank` between its words.  The ticket of thread `id` is the default. */
static void add_op(struct text *text, const struct op *op, char blank, int id)
{
    unsigned of = verbs[op->verb].of;

    add(text, "%s", verbs[op->verb].word);
    if ((of & A_THREAD) != 0 || ((of & A_TICKET) != 0 && op->ticket != id))
        add(text, "%ct%d", blank, op->ticket);
    if (has_number(op) && op->n == FAIRSEM_MAX_UNITS)
        add(text, "%cmax", blank);
    else if (has_number(op))
        add(text, "%c%lld", blank, (long long)op->n);
    if (op->priority != 0)
        add(text, "%cp%d", blank, op->priority);
    if (op->share != 0)
        add(text, "%ch%d", blank, op->share);
    if (op->sem != 0)
        add(text, "%cs%d", blank, op->sem);
    if (op->token)
        add(text, "%ctoken", blank);
    if (op->past)
        add(text, "%cpast", blank);
    else if (op->timed)
        add(text, "%ctimed", blank);
    if (op->if_held)
        add(text, "%cif", blank);
    if (op->calls && op->callback == 0)
        add(text, "%ccalls", blank);
    else if (op->calls && blank == '.')
        add(text, ".again");
    else if (op->calls) {
        for (int k = 0; k < callback_ops[op->callback]; k++) {
            add(text, "%s", k == 0 ? " calls=" : "+");
            add_op(text, &callback_script[op->callback][k], '.', op->ticket);
        }
    }
}

const char *op_words(const struct op *op, char *buffer, size_t size)
{
    struct text text = { buffer, size };

    add_op(&text, op, ' ', (verbs[op->verb].of & A_TICKET) != 0 ? -1 : 0);
    return buffer;
}

/* Returns false if the buffer is too small. */
bool threads_words(char *buffer, size_t size)
{
    struct text text = { buffer, size };

    for (int t = 0; t < threads_count; t++) {
        add(&text, "%s%s", t > 0 ? " | " : "", script_cancelable[t] ? "!" : "");
        for (int k = 0; k < ops_count[t]; k++) {
            add(&text, "%s", k > 0 ? "; " : "");
            add_op(&text, &script[t][k], ' ', t);
        }
    }
    return text.left > 1;
}

/* ---- Whole scenarios ---- */

void scenario_words(const struct scenario *what, char *buffer, size_t size)
{
    struct text text = { buffer, size };
    const char *before = "";

    for (int i = 0; i < SETTINGS; i++) {
        int64_t value = setting_of(what, &setting[i]);

        if (value == 0)
            continue;
        add(&text, "%s%s", before, setting[i].name);
        if (setting[i].kind == NUMBER || setting[i].kind == INT)
            add(&text, " %lld", (long long)value);
        before = ", ";
    }
    if (what->handler != NULL) {
        add(&text, "%shandler %s", before, what->handler);
        before = ", ";
    }
    add(&text, "%s%s", *before != '\0' ? ": " : "", what->threads);
}
