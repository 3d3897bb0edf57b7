/* SPDX-License-Identifier: MIT */
/*
 * script.c - scenarios in words.
 *
 * Threads are separated by `|`, their operations by `;`.  A thread that begins with
 *
 *     !      may be hit by pthread_cancel at any moment, in one of its waits
 *
 * and the operations are
 *
 *     acquire n, timed n, for n, try n, upto n, release n, close, capacity n, consume n, destroy
 *     give               release all that this thread holds; nothing if that is nothing
 *     take n, claim, return, watch    with the ticket of this thread
 *     cancel             the token
 *     kill tN            pthread_cancel thread N
 *     later              nothing, but some time passes
 *     after tN k         nothing, when thread N has done k operations; without k: has ended
 *
 * with, where it makes sense: pN (priority), tN (thread N, or its ticket), sN (semaphore N),
 * `token` (the wait carries it), `timed` (watch), `calls` (take, with a callback), `if` (only if
 * the thread holds units).
 *
 * A thread that is canceled gives back what it holds, and ends.
 */
#include "explore.h"

#include <string.h>

struct op script[THREADS_MAX][OPS_MAX];
int threads_count, ops_count[THREADS_MAX], sems_count;
bool script_cancelable[THREADS_MAX];
bool script_quiet_parkers;
static bool used[VERBS];

const char *const verb_name[VERBS] = {
    "acquire", "timed", "for", "try", "upto", "release", "give", "close", "capacity", "consume",
    "destroy", "cancel", "take", "claim", "return", "watch", "kill",
    "after", "later",
};

/* ---- Reading ---- */

static bool read_verb(const char *word, struct op *op)
{
    for (int verb = 0; verb < VERBS; verb++) {
        if (strcmp(word, verb_name[verb]) == 0) {
            op->verb = (enum verb)verb;
            return true;
        }
    }
    return false;
}

static bool read_argument(const char *word, struct op *op)
{
    if (strcmp(word, "token") == 0)
        op->token = true;
    else if (strcmp(word, "timed") == 0)
        op->timed = true;
    else if (strcmp(word, "if") == 0)
        op->if_held = true;
    else if (strcmp(word, "calls") == 0)
        op->calls = true;
    else if (word[0] == 'p')
        op->priority = atoi(word + 1);
    else if (word[0] == 't')
        op->ticket = atoi(word + 1);
    else if (word[0] == 's')
        op->sem = atoi(word + 1);
    else if (word[0] >= '0' && word[0] <= '9')
        op->n = atoi(word);
    else
        return false;
    return true;
}

static bool read_op(char *text, int id, struct op *op)
{
    char *rest, *word = strtok_r(text, " ", &rest);

    *op = (struct op){ .ticket = id };
    if (word == NULL || !read_verb(word, op))
        return false;
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        if (!read_argument(word, op))
            return false;
    }
    used[op->verb] = true;
    if (op->sem >= sems_count)
        sems_count = op->sem + 1;
    return op->sem < SEMS_MAX && op->ticket < THREADS_MAX;
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
    char *rest, *one;

    for (one = strtok_r(text, "|", &rest); one != NULL; one = strtok_r(NULL, "|", &rest)) {
        if (threads_count == THREADS_MAX || !read_thread(one, threads_count))
            return false;
        threads_count++;
    }
    return true;
}

bool script_read(const struct scenario *what)
{
    char text[400];

    memset(script, 0, sizeof script);
    memset(ops_count, 0, sizeof ops_count);
    memset(used, 0, sizeof used);
    threads_count = 0;
    sems_count = 1;
    snprintf(text, sizeof text, "%s", what->threads);
    if (!read_threads(text))
        return false;
    script_quiet_parkers = !what->cold && !used[AFTER];
    for (int i = 0; what->handler != NULL && i < threads_count; i++) {
        snprintf(text, sizeof text, "%s", what->handler);
        if (!read_op(text, i, &script[i][IN_HANDLER]))
            return false;
    }
    return true;
}

bool script_uses(enum verb verb)
{
    return used[verb];
}

const char *op_words(const struct op *op, char *text, size_t size)
{
    int length = snprintf(text, size, "%s %lld", verb_name[op->verb], (long long)op->n);

    if (op->priority != 0)
        length += snprintf(text + length, size - (size_t)length, " p%d", op->priority);
    if (op->verb >= TAKE)
        length += snprintf(text + length, size - (size_t)length, " t%d", op->ticket);
    if (op->sem != 0)
        length += snprintf(text + length, size - (size_t)length, " s%d", op->sem);
    snprintf(text + length, size - (size_t)length, "%s", op->token ? " token" : "");
    return text;
}
