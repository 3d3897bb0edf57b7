/* SPDX-License-Identifier: MIT */
/*
 * coverage.c - which results each operation had in which state, and which operations met.
 *
 * The counts are made while scenarios run, and added to a file; those of several processes are read
 * together.  Two operations have met if a run had both at the same time, in two threads, and came
 * to its end with a new history.
 */
#include "coverage.h"

#include "oracles.h"

#include <string.h>

long seen[VERBS][VARIANTS][STATES][RESULTS];
long met[KINDS][KINDS];

/* Not in struct run: it must not make two states of a run differ. */
static enum state began_in[CALLS];

const char *const state_name[STATES] = {
    "units free", "none free", "in debt", "waiters", "queue full", "paused", "closed",
    "ticket idle", "ticket waiting", "ticket granted", "ticket canceled", "ticket closed",
    "token open", "token waited with", "token canceled",
};

const char *const result_name[RESULTS] = {
    "0", "some", "EINPROGRESS", "EINVAL", "E2BIG", "ENOBUFS", "EAGAIN", "ETIMEDOUT", "EINTR",
    "EOVERFLOW", "EALREADY", "EBUSY", "ECANCELED", "token's-reason", "close-reason",
    "pthread_cancel", "waits-for-ever",
};

enum variant variant_of(const struct op *op)
{
    return op->calls ? WITH_CALLBACK : op->token ? WITH_TOKEN : PLAIN;
}

/* ---- States ---- */

/* Asks the library, without a stop. */
static int quietly(int (*ask)(int), int which)
{
    struct thread *me = self;
    int answer;

    self = NULL;
    answer = ask(which);
    self = me;
    return answer;
}

static int ask_ticket(int t)
{
    return (int)fairsem_ticket_state(&tickets[t]);
}

static int ask_token(int unused)
{
    (void)unused;
    return fairsem_token_reason(&the_token);
}

static enum state state_of_sem(int i)
{
    const struct fs_sem *s = sem_inside(i);
    int64_t waiters = *(const volatile uint32_t *)&s->waiters;

    if (*(const volatile int *)&s->closed != 0)
        return CLOSED;
    if (*(const volatile int64_t *)&s->limit == 0)
        return PAUSED;
    if (s->max_waiters != 0 && waiters >= s->max_waiters)
        return LINE_FULL;
    if (waiters > 0)
        return SOMEBODY_WAITS;
    return available(i) < 0 ? IN_DEBT : available(i) == 0 ? NONE_FREE : UNITS_FREE;
}

static enum state state_of_token(void)
{
    if (quietly(ask_token, 0) != 0)
        return TOKEN_CANCELED;
    for (int k = 0; k < places; k++) {
        if (run.call[place[k]].phase == CALLED
            && script[place[k] / OPS_MAX][place[k] % OPS_MAX].token)
            return TOKEN_WAITED_WITH;
    }
    return TOKEN_OPEN;
}

static enum state state_of_ticket(int t)
{
    return (enum state)(TICKET_IDLE + quietly(ask_ticket, t));
}

static enum state state_for(const struct op *op)
{
    unsigned of = verbs[op->verb].of;

    if (op->token && state_of_token() == TOKEN_CANCELED)
        return TOKEN_CANCELED;
    if ((of & A_TOKEN) != 0)
        return state_of_token();
    if ((of & A_TICKET) != 0 && ((of & A_SEM) == 0 || state_of_ticket(op->ticket) != TICKET_IDLE))
        return state_of_ticket(op->ticket);
    return run.sem_dead[op->sem] ? CLOSED : state_of_sem(op->sem);
}

/* ---- Results ---- */

static bool is_close_reason(int64_t result)
{
    for (int i = 0; i < sems_count; i++) {
        if (!run.sem_dead[i] && *(const volatile int *)&sem_inside(i)->closed == result)
            return true;
    }
    return false;
}

static enum result result_of_errno(const struct op *op, int64_t result)
{
    static const struct { int number; enum result result; } table[] = {
        { EINPROGRESS, GOT_EINPROGRESS }, { EINVAL, GOT_EINVAL }, { E2BIG, GOT_E2BIG },
        { ENOBUFS, GOT_ENOBUFS }, { EAGAIN, GOT_EAGAIN }, { ETIMEDOUT, GOT_ETIMEDOUT },
        { EINTR, GOT_EINTR }, { EOVERFLOW, GOT_EOVERFLOW }, { EALREADY, GOT_EALREADY },
        { EBUSY, GOT_EBUSY }, { ECANCELED, GOT_ECANCELED },
    };

    if (op->token && result == quietly(ask_token, 0))
        return GOT_TOKEN;
    if (is_close_reason(result))
        return GOT_CLOSED;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].number == result)
            return table[i].result;
    }
    return GOT_CLOSED;
}

static enum result result_kind(const struct op *op, int64_t result)
{
    if (verbs[op->verb].inspects)
        return result == 0 ? GOT_OK : GOT_SOME;
    if (result == RESULT_CANCELED)
        return GOT_PTHREAD_CANCEL;
    if (result == RESULT_NEVER)
        return GOT_NEVER;
    if (result == 0)
        return GOT_OK;
    if (verbs[op->verb].units == TAKES_SOME)
        return GOT_SOME;
    return result_of_errno(op, result);
}

static bool counts(const struct op *op)
{
    return verbs[op->verb].returns != 0;
}

void coverage_begins(const struct op *op)
{
    if (counts(op))
        began_in[id_of(self) * OPS_MAX + self->op] = state_for(op);
}

void coverage_ends(const struct op *op, int64_t result)
{
    enum variant variant = variant_of(op);

    if (counts(op))
        seen[op->verb][variant][began_in[id_of(self) * OPS_MAX + self->op]]
            [result_kind(op, result)]++;
}

/* ---- Which operations meet ---- */

static int kind_of_call(int i)
{
    const struct op *op = &script[i / OPS_MAX][i % OPS_MAX];
    enum verb as = verbs[op->verb].counts_as, verb = as != NO_VERB ? as : op->verb;
    enum result result = result_kind(op, run.call[i].result);
    bool failed = result > GOT_EINPROGRESS;

    return ((int)verb * VARIANTS + (int)variant_of(op)) * 2 + failed;
}

const char *kind_words(int kind, char text[40])
{
    static const char *const with[VARIANTS] = { "", " token", " calls" };

    snprintf(text, 40, "%s%s%s", verbs[kind / 2 / VARIANTS].word, with[kind / 2 % VARIANTS],
             kind % 2 != 0 ? " fails" : "");
    return text;
}

static bool at_the_same_time(int a, int b)
{
    return (run.call[a].after >> b & 1) == 0 && (run.call[b].after >> a & 1) == 0;
}

/* For a run with a new history. */
void coverage_history(void)
{
    for (int k = 0; k < places; k++) {
        int a = place[k];

        if (run.call[a].phase == NOT_YET || !counts(&script[a / OPS_MAX][a % OPS_MAX]))
            continue;
        for (int l = 0; l < places; l++) {
            int b = place[l];

            if (a / OPS_MAX != b / OPS_MAX && run.call[b].phase != NOT_YET
                && counts(&script[b / OPS_MAX][b % OPS_MAX]) && at_the_same_time(a, b))
                met[kind_of_call(a)][kind_of_call(b)]++;
        }
    }
}

/* ---- The file: a word, the place in the array, the count ---- */

static void add_all(const char *word, long *count, size_t size, FILE *file)
{
    for (size_t i = 0; i < size; i++) {
        if (count[i] != 0)
            fprintf(file, "%s %zu %ld\n", word, i, count[i]);
    }
}

static bool read_file(const char *name)
{
    FILE *file = fopen(name, "r");
    char word[10];
    size_t at;
    long count;

    if (file == NULL)
        return false;
    while (fscanf(file, "%9s %zu %ld", word, &at, &count) == 3) {
        if (strcmp(word, "seen") == 0 && at < sizeof seen / sizeof(long))
            (&seen[0][0][0][0])[at] += count;
        else if (strcmp(word, "met") == 0 && at < sizeof met / sizeof(long))
            (&met[0][0])[at] += count;
    }
    fclose(file);
    return true;
}

/* Adds to the file's counts. */
bool coverage_write(const char *name)
{
    FILE *file;

    (void)read_file(name);
    file = fopen(name, "w");
    if (file == NULL)
        return false;
    add_all("seen", &seen[0][0][0][0], sizeof seen / sizeof(long), file);
    add_all("met", &met[0][0], sizeof met / sizeof(long), file);
    return fclose(file) == 0;
}

bool coverage_print(int files, char **name)
{
    memset(seen, 0, sizeof seen);
    memset(met, 0, sizeof met);
    for (int i = 0; i < files; i++) {
        if (!read_file(name[i])) {
            fprintf(stderr, "explore: no file %s\n", name[i]);
            return false;
        }
    }
    return print_promises();
}
