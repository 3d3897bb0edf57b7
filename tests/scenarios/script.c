/* SPDX-License-Identifier: MIT */
/* script.c - reads scenarios in words: see language.h. */
#include "language.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct op script[THREADS][OPS_MAX];
int threads_count, ops_count[THREADS], sems_count, tickets_count;
int script_process[THREADS];
bool script_cancelable[THREADS], script_follows[THREADS], script_is_determined, script_has_processes;
bool script_quiet_parkers, script_uses_shares;
struct op callback_script[CALLBACKS_MAX][CALLBACK_OPS];
int callback_ops[CALLBACKS_MAX], callbacks_count;
int place[CALLS], places;
static bool used[VERBS];
static int reading_callback;    /* index of the callback that is being read, or 0 */

const struct verb_row verbs[VERBS] = {
#define R(result) 1u << GOT_##result
#define R_WAIT R(OK) | R(EINVAL) | R(E2BIG) | R(ENOBUFS) | R(EINTR) | R(PTHREAD_CANCEL)
#define ASKS .of = A_SEM, .number = UNITS, .units = TAKES
#define INSPECTS .inspects = true, .returns = R(OK) | R(SOME)
#define VERB(name, in_words, ...) [name] = { .word = in_words, __VA_ARGS__ },
#include "verbs.h"
};

/* ---- Reading ---- */

static bool read_verb(const char *word, struct op *op)
{
    for (int verb = NO_VERB + 1; verb < VERBS; verb++) {
        if (strcmp(word, verbs[verb].word) == 0) {
            op->verb = (enum verb)verb;
            return true;
        }
    }
    return false;
}

static bool read_op(char *text, int id, struct op *op);

/* Read the operations of the callback of a take, as in calls=claim+give. */
static bool read_callback(const char *words, struct op *op)
{
    char text[100], *rest, *one;
    int id = op->ticket, c = callbacks_count;

    if (reading_callback != 0 || c == CALLBACKS_MAX)
        return false;
    callbacks_count++;
    reading_callback = c;
    snprintf(text, sizeof text, "%s", words);
    for (char *dot = text; (dot = strchr(dot, '.')) != NULL;)
        *dot = ' ';
    for (one = strtok_r(text, "+", &rest); one != NULL; one = strtok_r(NULL, "+", &rest)) {
        if (callback_ops[c] == CALLBACK_OPS
            || !read_op(one, id, &callback_script[c][callback_ops[c]]))
            return false;
        callback_ops[c]++;
    }
    reading_callback = 0;
    op->calls = true;
    op->callback = c;
    return true;
}

static const struct { const char *word; int64_t result; } names[] = {
#define NAME(name) { #name, name }
    NAME(EINPROGRESS), NAME(EINVAL), NAME(E2BIG), NAME(ENOBUFS), NAME(EAGAIN), NAME(ETIMEDOUT),
    NAME(EINTR), NAME(EOVERFLOW), NAME(EALREADY), NAME(EBUSY), NAME(ECANCELED), NAME(ESHUTDOWN),
#undef NAME
    { "idle", FAIRSEM_TICKET_IDLE }, { "waiting", FAIRSEM_TICKET_WAITING },
    { "granted", FAIRSEM_TICKET_GRANTED }, { "canceled", FAIRSEM_TICKET_CANCELED },
    { "closed", FAIRSEM_TICKET_CLOSED }, { "max", FAIRSEM_MAX_UNITS },
    { "killed", RESULT_CANCELED },
};

const char *script_error(int64_t result)
{
    size_t i = 0;

    while (names[i].result != result && names[i].result != FAIRSEM_TICKET_IDLE)
        i++;
    return result != 0 && names[i].result == result ? names[i].word : "";
}

/* Read the word after `=` or `or`. */
static bool read_result(const char *word, struct op *op)
{
    int64_t result;
    char *end;

    if (word == NULL || op->results == 2)
        return false;
    result = strtoll(word, &end, 10);
    if (*end != '\0') {
        size_t i = 0;

        while (i < sizeof names / sizeof names[0] && strcmp(word, names[i].word) != 0)
            i++;
        if (i == sizeof names / sizeof names[0])
            return false;
        result = names[i].result;
    }
    op->result[op->results++] = result;
    return true;
}

static bool read_number(const char *text, int64_t *to)
{
    char *end;

    *to = strtoll(text, &end, 10);
    return end != text && *end == '\0';
}

static bool read_int(const char *text, int *to)
{
    int64_t number;
    bool is_number = read_number(text, &number);

    *to = (int)number;
    return is_number;
}

static bool read_argument(const char *word, struct op *op)
{
    if (strcmp(word, "token") == 0)
        op->token = true;
    else if (strcmp(word, "timed") == 0)
        op->timed = true;
    else if (strcmp(word, "past") == 0)
        op->timed = op->past = true;
    else if (strcmp(word, "if") == 0)
        op->if_held = true;
    else if (strcmp(word, "calls") == 0)
        op->calls = true;
    else if (strncmp(word, "calls=", 6) == 0)
        return read_callback(word + 6, op);
    else if (strcmp(word, "again") == 0) {
        op->calls = true;
        op->callback = reading_callback;
    } else if (strcmp(word, "max") == 0)
        op->n = FAIRSEM_MAX_UNITS;
    else if (strcmp(word, "min") == 0)
        op->n = INT64_MIN;
    else if (word[0] == 'p')
        return read_int(word + 1, &op->priority);
    else if (word[0] == 't')
        return read_int(word + 1, &op->ticket);
    else if (word[0] == 's')
        return read_int(word + 1, &op->sem);
    else if (word[0] == 'h')
        return read_int(word + 1, &op->share);
    else
        return read_number(word, &op->n);
    return true;
}

static bool read_op(char *text, int id, struct op *op)
{
    char *rest, *word = strtok_r(text, " ", &rest);

    *op = (struct op){ .ticket = id };
    if (word == NULL || !read_verb(word, op))
        return false;
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        if (strcmp(word, "=") == 0 || strcmp(word, "or") == 0) {
            if (!read_result(strtok_r(NULL, " ", &rest), op))
                return false;
        } else if (!read_argument(word, op)) {
            return false;
        }
    }
    used[op->verb] = true;
    script_has_processes |= verbs[op->verb].of == A_PROCESS;
    if (op->sem >= sems_count)
        sems_count = op->sem + 1;
    if (op->ticket >= tickets_count)
        tickets_count = op->ticket + 1;
    if (op->share != 0)
        script_uses_shares = true;
    return (unsigned)op->sem < SEMS_MAX && (unsigned)op->ticket < THREADS && (unsigned)op->share <= SHARES
           && ((verbs[op->verb].of & A_SHARE) == 0 || op->share != 0);
}

static bool read_thread(char *text, int id)
{
    char *rest, *one;

    text += strspn(text, " ");
    script_cancelable[id] = *text == '!';
    text += *text == '!';
    for (one = strtok_r(text, ";", &rest); one != NULL; one = strtok_r(NULL, ";", &rest)) {
        if (ops_count[id] == IN_HANDLER || !read_op(one, id, &script[id][ops_count[id]]))
            return false;
        ops_count[id]++;
    }
    script[id][WHEN_CANCELED] = (struct op){ .verb = GIVE };
    return true;
}

static bool read_threads(char *text)
{
    bool follows = false;
    int process = 0;

    script_is_determined = strchr(text, '>') != NULL && strchr(text, '|') == NULL;
    text += strspn(text, " ");
    text += *text == '>';
    for (char *end; text != NULL; text = end) {
        char separator = '\0';

        end = strpbrk(text, "|>");
        if (end != NULL) {
            separator = *end;
            *end++ = '\0';
        }
        if (threads_count == THREADS || !read_thread(text, threads_count))
            return false;
        script_process[threads_count] = process;
        if (separator == '|' && *end == '|') {
            script_has_processes = true;
            process++;
            end++;
        }
        script_follows[threads_count++] = follows;
        follows = separator == '>';
    }
    return true;
}

/* Give the calls of a determined scenario the result 0 if they have none.  Returns false if an inspecting
 * operation has none. */
static bool complete_results(void)
{
    for (int t = 0; t < threads_count && script_is_determined; t++) {
        for (int k = 0; k < ops_count[t]; k++) {
            if (script[t][k].results == 0 && verbs[script[t][k].verb].inspects)
                return false;
            if (script[t][k].results == 0)
                script[t][k].results = 1;
        }
    }
    return true;
}

/* Find the calls that can happen: operations of threads, of their handlers and of their callbacks. */
static void find_places(const struct scenario *what)
{
    places = 0;
    for (int t = 0; t < threads_count; t++) {
        for (int k = 0; k < OPS_MAX; k++) {
            if (k < ops_count[t] || (k == IN_HANDLER && what->handler != NULL)
                || (k == WHEN_CANCELED && (used[KILL] || script_cancelable[t]))
                || (k >= IN_CALLBACK && callbacks_count > 1))
                place[places++] = t * OPS_MAX + k;
        }
    }
}

bool script_read(const struct scenario *what)
{
    char text[TEXT_MAX];

    memset(script, 0, sizeof script);
    memset(ops_count, 0, sizeof ops_count);
    memset(script_cancelable, 0, sizeof script_cancelable);
    memset(used, 0, sizeof used);
    memset(callback_script, 0, sizeof callback_script);
    memset(callback_ops, 0, sizeof callback_ops);
    threads_count = tickets_count = 0;
    sems_count = 1;
    script_has_processes = script_uses_shares = false;
    callbacks_count = 1;
    reading_callback = 0;
    snprintf(text, sizeof text, "%s", what->threads);
    if (!read_threads(text) || !complete_results())
        return false;
    script_quiet_parkers = !what->cold && !used[AFTER];
    for (int i = 0; what->handler != NULL && i < threads_count; i++) {
        snprintf(text, sizeof text, "%s", what->handler);
        if (script_has_processes || !read_op(text, i, &script[i][IN_HANDLER]))
            return false;
    }
    find_places(what);
    return true;
}

bool script_uses(enum verb verb)
{
    return used[verb];
}
