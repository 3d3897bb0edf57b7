/* SPDX-License-Identifier: MIT */
/*
 * script.c - reads and performs the operations of the processes.
 *
 *      open, acquire 1: release 1 | cancel || open: acquire 1
 *
 * || separates processes, and | separates threads of a process.  The operations before a colon are done before the
 * exploration, in this order only; a thread that must wait there is waiting when the exploration begins.  Without a
 * colon all operations are explored.  A thread that begins with `born` belongs to a child that another process
 * forks.
 */
#include "explorer.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

const char *const verb_name[VERBS] = {
    "open", "anonymous", "close", "unlink", "drop", "look",
    "acquire", "urgent", "cancelable", "token", "try", "for", "release", "set", "cancel",
    "fork", "exec", "exit", "keep", "lose", "inspect", "nap", ":"
};

struct op script[THREADS][OPS];
int ops_count[THREADS];
bool script_attaches;

/* ---- Words ---- */

static bool read_op(const char **text, struct op *op)
{
    const char *at = *text;
    size_t length = strcspn(at, " ,:|");

    *op = (struct op){ .verb = VERBS };
    for (int v = 0; v < VERBS; v++) {
        if (strlen(verb_name[v]) == length && strncmp(at, verb_name[v], length) == 0)
            op->verb = (enum verb)v;
    }
    if (length == 4 && strncmp(at, "born", 4) == 0)
        op->verb = FORK;
    at += length + strspn(at + length, " ");
    if (isdigit((unsigned char)*at))
        op->n = strtol(at, (char **)(uintptr_t)&at, 10);
    *text = at + strspn(at, " ,");
    return op->verb != VERBS;
}

static bool add_op(int t, struct op op)
{
    if (ops_count[t] == OPS || t >= THREADS - 1)
        return false;
    script[t][ops_count[t]++] = op;
    return true;
}

bool script_has_start(int t)
{
    for (int k = 0; k < ops_count[t]; k++) {
        if (script[t][k].verb == START)
            return true;
    }
    return false;
}

/* Find out whether the segment is opened, or first used, during the exploration. */
static void find_attaching(int t)
{
    bool begun = !script_has_start(t);

    for (int k = 0; k < ops_count[t]; k++) {
        begun |= script[t][k].verb == START;
        script_attaches |= begun && (script[t][k].verb == OPEN || script[t][k].verb == FORK
                                     || script[t][k].verb == ANONYMOUS);
    }
}

bool script_read(const struct scenario *what)
{
    const char *at = what->threads;
    int t = 0, process = 0;
    struct op op;

    memset(script, 0, sizeof script);
    memset(ops_count, 0, sizeof ops_count);
    memset(thread, 0, sizeof thread);
    thread[0].exists = true;
    for (at += strspn(at, " "); *at != '\0'; at += strspn(at, " ")) {
        bool good = true;

        if (*at == '|') {
            process += at[1] == '|';
            at += at[1] == '|' ? 2 : 1;
            good = ++t < THREADS - 1;
            thread[t] = (struct thread){ .exists = true, .process = process };
        } else if (*at == ':') {
            good = add_op(t, (struct op){ .verb = START });
            at++;
        } else {
            good = read_op(&at, &op) && add_op(t, op);
        }
        if (!good) {
            printf("%s: cannot be read: %s\n", what->name, at);
            return false;
        }
    }
    script_attaches = false;
    for (t = 0; t < THREADS - 1; t++)
        find_attaching(t);
    return process < AUDITOR;
}

/* ---- Operations ---- */

static void open_it(const char *name)
{
    const fairsem_shared_attr_t attr = {
        .units = scenario->units, .capacity = scenario->capacity, .flags = scenario->flags,
        .max_waiters = scenario->max_waiters != 0 ? scenario->max_waiters : 4,
        .max_processes = scenario->max_processes != 0 ? scenario->max_processes : 5,
        .aging_ns = scenario->aging_ms * INT64_C(1000000),
    };
    fairsem_shared_t *handle;
    int error = fairsem_shared_open(&handle, name, O_CREAT, 0600, &attr);

    if (error != 0)
        fail("result", "T%d: open returns %d", id_of(self), error);
    run.process[self->process].handle = handle;
    run.process[self->process].opened++;
}

static int acquire(fairsem_shared_t *h, const struct op *op)
{
    const fairsem_wait_t how = {
        .priority = op->verb == URGENT ? -1 : 0,
        .token = op->verb == BY_TOKEN ? process_token() : NULL,
    };

    switch (op->verb) {
    case TRY:
        return fairsem_shared_tryacquire(h, op->n);
    case FOR:
        return fairsem_shared_acquire_for(h, op->n, MS * (scenario->for_ms != 0 ? scenario->for_ms
                                                                                : 150));
    case URGENT:
    case BY_TOKEN:
        return fairsem_shared_acquire_with(h, op->n, &how);
    default:
        return fairsem_shared_acquire(h, op->n);
    }
}

/* Release only units that the process holds, because an earlier acquire may have been refused. */
static int release(fairsem_shared_t *h, const struct op *op)
{
    struct process *p = &run.process[self->process];

    if ((scenario->flags & FAIRSEM_SHARED_NO_UNDO) == 0) {
        if (p->held < op->n)
            return 0;
        p->held -= op->n;
        p->sure = p->sure && p->held > 0;
    }
    return fairsem_shared_release(h, op->n);
}

static int close_it(fairsem_shared_t *h)
{
    struct process *p = &run.process[self->process];
    bool last = p->opened == 1;
    int error;

    if (last)
        p->held = 0;
    error = fairsem_shared_close(h);
    if (error == 0)
        p->opened--;
    if (error == 0 && last)
        p->handle = NULL;
    return error;
}

/* Remove the name if the segment is unused. */
static int drop(fairsem_shared_t *h)
{
    int error = fairsem_shared_unlink_unused(h, "/segment", false);

    return error == EBUSY || error == ENOENT ? 0 : error;
}

/* Does the name lead to the handle's segment?  Then it must stay while units are held, or their number is changed. */
static int look(fairsem_shared_t *h)
{
    struct process *p = &run.process[self->process];
    fairsem_shared_t *now;

    if (fairsem_shared_open(&now, "/segment", 0, 0, NULL) != 0)
        return 0;
    p->sure = p->sure || (now == h && p->held > 0);
    run.sure = run.sure || (now == h && run.units != scenario->units);
    return fairsem_shared_close(now);
}

/* If the process dies in this call, the number of units may be the old or the new one. */
static int set_units(fairsem_shared_t *h, int64_t n)
{
    int error;

    run.perhaps = n;
    error = fairsem_shared_set_units(h, n);
    if (error == 0)
        run.units = n;
    return error;
}

static int perform(const struct op *op)
{
    fairsem_shared_t *h = run.process[self->process].handle;
    fairsem_shared_stat_t stat;

    if (h == NULL && op->verb >= ACQUIRE && op->verb <= SET)
        return ENOENT;
    switch (op->verb) {
    case OPEN:
        open_it("/segment");
        return 0;
    case ANONYMOUS:
        open_it(NULL);
        return 0;
    case CLOSE:
        return h != NULL ? close_it(h) : 0;
    case UNLINK:
        fairsem_shared_unlink("/segment");
        return 0;
    case DROP:
        return h != NULL ? drop(h) : 0;
    case LOOK:
        return h != NULL ? look(h) : 0;
    case RELEASE:
        return release(h, op);
    case SET:
        return set_units(h, op->n);
    case CANCEL:
        fairsem_token_cancel(process_token(), 0);
        return 0;
    case FORK:
        if (op->n != 0)
            process_forks((int)op->n);
        return 0;
    case EXEC:
        process_execs();
        return 0;
    case EXIT:
        process_dies(self->process, false);
        thread_ends();
    case KEEP:
        return fairsem_shared_keep_on_exec(h, true);
    case LOSE:
        run.process[self->process].held = 0;
        kernel_loses(self->process);
        return 0;
    case INSPECT:
        return fairsem_shared_stat(h, &stat);
    case NAP:
        sleep_until_woken(NULL, op->n * MS, false, "naps");
        return 0;
    case START:
        stop(READY, 0, "starts", NULL);
        return 0;
    default:
        return acquire(h, op);
    }
}

void script_act(void)
{
    for (self->op = 0; self->op < ops_count[id_of(self)]; self->op++) {
        const struct op *op = &script[id_of(self)][self->op];

        trace("           P%d T%d -> %s %d\n", self->process, id_of(self), verb_name[op->verb],
              (int)op->n);
        stop(READY, CAN_SWITCH | CAN_DIE, "goes on", NULL);
        self->joined = false;
        self->calling = true;
        oracle_returned(op, perform(op));
        self->calling = false;
    }
    thread_ends();
}
