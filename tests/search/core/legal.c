/* SPDX-License-Identifier: MIT */
/* legal.c - is the script that generate.c or minimize.c has made a legal program? */
#include "explorer.h"

/*
 * A semaphore must be destroyed by the last operation of a thread that has returned all tickets, after all
 * other threads have ended.  (A program may also destroy it directly after an acquire, if it knows the release
 * that has granted the acquire.  Such programs are in scenarios.c.)
 */
static bool may_destroy(int t, int k)
{
    unsigned ended = 1u << t, returned = 0, taken = 0;
    bool last = k == ops_count[t] - 1, killed = false;

    for (int i = 0; i < k; i++) {
        if (script[t][i].verb == AFTER && script[t][i].n == 0)
            ended |= 1u << script[t][i].ticket;
        if (script[t][i].verb == RETURN)
            returned |= 1u << script[t][i].ticket;
    }
    for (int i = 0; i < places; i++) {
        const struct op *op = op_of(place[i]);

        if (op->verb == TAKE)
            taken |= 1u << op->ticket;
        killed = killed || (op->verb == KILL && op->ticket == t);
    }
    return last && !killed && !script_cancelable[t] && ended == (1u << threads_count) - 1
           && (taken & ~returned) == 0;
}

/* May thread t destroy the share of this operation?  Only if no other thread uses the share. */
static bool may_unshare(int t, const struct op *op)
{
    for (int i = 0; i < places; i++) {
        if (place[i] / OPS_MAX != t && op_of(place[i])->share == op->share)
            return false;
    }
    for (int i = 0; i < CALLBACKS_MAX * CALLBACK_OPS; i++) {
        if (callback_script[i / CALLBACK_OPS][i % CALLBACK_OPS].share == op->share)
            return false;
    }
    return true;
}

/*
 * A signal handler needs an interruptible semaphore, no callbacks, and no cancellation of threads: nothing
 * records whether the handler of a canceled thread has acted before.
 */
static bool is_legal(const struct scenario *what)
{
    bool interruptible = (what->flags & FAIRSEM_INTERRUPTIBLE) != 0, handles = interruptible;

    for (int t = 0; t < threads_count; t++) {
        if (ops_count[t] == 0)
            return false;
        handles = handles && !script_cancelable[t];
        for (int k = 0; k < ops_count[t]; k++) {
            const struct op *op = &script[t][k];

            if ((op->verb == DESTROY && !may_destroy(t, k)) || (op->verb == UNSHARE && !may_unshare(t, op)))
                return false;
            handles = handles && op->verb != KILL && !(op->verb == TAKE && op->calls);
        }
    }
    return tickets_count <= threads_count && (what->handler == NULL || handles)
           && (what->signals == 0 || interruptible) && (!what->paused || what->capacity != 0)
           && (what->capacity == 0 || what->units <= what->capacity);
}

/*
 * Returns the script with these settings, or NULL if that is illegal or too long.  The next call overwrites the
 * result.
 */
const struct scenario *scenario_of_script(const struct scenario *settings, const char *name)
{
    static struct scenario what;
    static char threads[500], own_name[100];

    if (!threads_words(threads, sizeof threads))
        return NULL;
    snprintf(own_name, sizeof own_name, "%s", name);
    what = *settings;
    what.name = own_name;
    what.threads = threads;
    return script_read(&what) && is_legal(&what) ? &what : NULL;
}
