/* SPDX-License-Identifier: MIT */
/* draft.c - see draft.h: conversion from and to a script, and what is legal in a program. */
#include "draft.h"

#include <string.h>

bool draft_read(struct draft *draft, const struct scenario *what)
{
    memset(draft, 0, sizeof *draft);
    if (!script_read(what))
        return false;
    draft->what = *what;
    snprintf(draft->handler, sizeof draft->handler, "%s",
             what->handler != NULL ? what->handler : "");
    draft->threads = threads_count;
    for (int t = 0; t < threads_count; t++) {
        draft->ops[t] = ops_count[t];
        draft->cancelable[t] = script_cancelable[t];
        memcpy(draft->op[t], script[t], sizeof script[t]);
    }
    memcpy(draft->callback, callback_script, sizeof callback_script);
    memcpy(draft->callback_ops, callback_ops, sizeof callback_ops);
    draft->callbacks = callbacks_count;
    return true;
}

/* ---- What is legal ---- */

/* Does thread t begin its operation k only after thread u has ended? */
static bool comes_after(const struct draft *d, int t, int k, int u)
{
    for (int i = 0; i < k; i++) {
        if (d->op[t][i].verb == AFTER && d->op[t][i].n == 0 && d->op[t][i].ticket == u)
            return true;
    }
    return false;
}

/* Has thread t returned ticket u before its operation k? */
static bool gives_back(const struct draft *d, int t, int k, int u)
{
    for (int i = 0; i < k; i++) {
        if (d->op[t][i].verb == RETURN && d->op[t][i].ticket == u)
            return true;
    }
    return false;
}

/*
 * A semaphore is destroyed last: after all other threads have ended and all tickets have been
 * returned.  (The header also allows it directly after an acquire, to a program that knows which
 * release granted that.  Such programs are in scenarios.c.)
 */
static bool may_destroy(const struct draft *d, int t, int k)
{
    if (k != d->ops[t] - 1 || d->cancelable[t])
        return false;
    for (int u = 0; u < d->threads; u++) {
        if (u != t && !comes_after(d, t, k, u))
            return false;
        for (int v = 0; v < d->threads; v++) {
            for (int i = 0; i < d->ops[v]; i++) {
                if (d->op[v][i].verb == KILL && d->op[v][i].ticket == t)
                    return false;
                if (d->op[v][i].verb == TAKE && !gives_back(d, t, k, d->op[v][i].ticket))
                    return false;
            }
        }
    }
    return true;
}

static bool has_callbacks(const struct draft *d)
{
    for (int t = 0; t < d->threads; t++) {
        for (int k = 0; k < d->ops[t]; k++) {
            if (d->op[t][k].verb == TAKE && d->op[t][k].calls)
                return true;
        }
    }
    return false;
}

static bool op_legal(const struct draft *d, int t, int k)
{
    const struct op *op = &d->op[t][k];

    if (op->ticket >= d->threads)
        return false;
    return op->verb != DESTROY || may_destroy(d, t, k);
}

static bool may_be_canceled(const struct draft *d)
{
    for (int t = 0; t < d->threads; t++) {
        if (d->cancelable[t])
            return true;
        for (int k = 0; k < d->ops[t]; k++) {
            if (d->op[t][k].verb == KILL)
                return true;
        }
    }
    return false;
}

/*
 * A handler may release and try, on an interruptible semaphore without callbacks.  (Not if a thread
 * may be canceled: nothing records whether its handler had acted by then, so no model can know.)
 */
bool draft_legal(const struct draft *d)
{
    const struct scenario *what = &d->what;

    for (int t = 0; t < d->threads; t++) {
        if (d->ops[t] == 0)
            return false;
        for (int k = 0; k < d->ops[t]; k++) {
            if (!op_legal(d, t, k))
                return false;
        }
    }
    for (int c = 1; c < d->callbacks; c++) {
        for (int k = 0; k < d->callback_ops[c]; k++) {
            if (d->callback[c][k].ticket >= d->threads)
                return false;
        }
    }
    if (d->handler[0] != '\0'
        && (has_callbacks(d) || may_be_canceled(d) || (what->flags & FAIRSEM_INTERRUPTIBLE) == 0))
        return false;
    if (what->signals > 0 && (what->flags & FAIRSEM_INTERRUPTIBLE) == 0)
        return false;
    if (what->paused && what->capacity == 0)
        return false;
    return d->threads > 0 && (what->capacity == 0 || what->units <= what->capacity);
}

/* ---- To the script ---- */

/* Put the draft into the script, and make the scenario's words from that. */
static bool to_script(const struct draft *d)
{
    threads_count = d->threads;
    for (int t = 0; t < d->threads; t++) {
        ops_count[t] = d->ops[t];
        script_cancelable[t] = d->cancelable[t];
        memcpy(script[t], d->op[t], sizeof script[t]);
    }
    memcpy(callback_script, d->callback, sizeof callback_script);
    memcpy(callback_ops, d->callback_ops, sizeof callback_ops);
    callbacks_count = d->callbacks;
    return true;
}

const struct scenario *draft_put(const struct draft *draft, const char *name)
{
    static struct scenario what;
    static char threads[500], handler[60], own_name[100];

    if (!draft_legal(draft) || !to_script(draft) || !threads_words(threads, sizeof threads))
        return NULL;
    snprintf(handler, sizeof handler, "%s", draft->handler);
    snprintf(own_name, sizeof own_name, "%s", name);
    what = draft->what;
    what.name = own_name;
    what.threads = threads;
    what.handler = handler[0] != '\0' ? handler : NULL;
    return script_read(&what) ? &what : NULL;
}
