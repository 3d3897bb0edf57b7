/* SPDX-License-Identifier: MIT */
/* actors.c - the threads of a scenario: each performs its operations. */
#include "explorer.h"

#include <errno.h>

bool script_attaches;

bool script_has_start(int t)
{
    for (int k = 0; k < ops_count[t]; k++) {
        if (script[t][k].verb == START)
            return true;
    }
    return false;
}

/* Set script_attaches if thread t opens the segment, or forks, during the exploration. */
static void find_attaching(int t)
{
    bool begun = !script_has_start(t);

    for (int k = 0; k < ops_count[t]; k++) {
        begun |= script[t][k].verb == START;
        script_attaches |= begun && (script[t][k].verb == OPEN || script[t][k].verb == FORK
                                     || script[t][k].verb == ANONYMOUS);
    }
}

void actors_begin(void)
{
    script_attaches = false;
    for (int t = 0; t < threads_count; t++)
        find_attaching(t);
}

/* ---- Operations ---- */

static void open_it(const char *name)
{
    const fairsem_shared_attr_t attr = {
        .units = scenario->units, .capacity = scenario->capacity,
        .flags = scenario->no_undo ? FAIRSEM_SHARED_NO_UNDO : 0,
        .max_waiters = scenario->max_waiters != 0 ? (int)scenario->max_waiters : 4,
        .max_processes = scenario->max_processes != 0 ? scenario->max_processes : 5,
        .aging_ns = scenario->aging_ns,
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
        .priority = op->priority, .token = op->token ? process_token() : NULL,
        .share_weight = op->share != 0 ? (uint32_t)weight_of_share(op->share) : 0,
        .share_key = (uint64_t)op->share,
    };

    if (op->token || op->priority != 0 || op->share != 0)
        return fairsem_shared_acquire_with(h, op->n, &how);
    return fairsem_shared_acquire(h, op->n);
}

/* With undo, release only units that the process holds: an earlier acquire may have been refused. */
static int release(fairsem_shared_t *h, const struct op *op)
{
    struct process *p = &run.process[self->process];

    if (!scenario->no_undo) {
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

static int drop(fairsem_shared_t *h)
{
    int error = fairsem_shared_unlink_unused(h, "/segment", false);

    return error == EBUSY || error == ENOENT ? 0 : error;
}

/*
 * Does the name lead to the handle's segment?  Then, while this process holds units or the number of units is
 * changed, no `drop` may remove the name (kernel.c).
 */
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

/* If the process dies in this call, the number of units may be the old or the new number. */
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

    if (op->sem != 0 || op->ticket != id_of(self) || op->timed || op->calls || op->if_held
        || script_follows[id_of(self)])
        refuse("not between processes:", scenario->threads);
    if (h == NULL && verbs[op->verb].of == A_SEM)
        return ENOENT;
    switch (op->verb) {
    case OPEN:
        open_it("/segment");
        return 0;
    case ANONYMOUS:
        open_it(NULL);
        return 0;
    case CLOSE:
        return close_it(h);
    case UNLINK:
        fairsem_shared_unlink("/segment");
        return 0;
    case DROP:
        return h != NULL ? drop(h) : 0;
    case LOOK:
        return h != NULL ? look(h) : 0;
    case ACQUIRE:
        return acquire(h, op);
    case TRY:
        return fairsem_shared_tryacquire(h, op->n);
    case FOR:
        return fairsem_shared_acquire_for(h, op->n, MS * (scenario->for_ms != 0 ? scenario->for_ms
                                                                                : 150));
    case RELEASE:
        return release(h, op);
    case CAPACITY:
        return set_units(h, op->n);
    case CANCEL:
        fairsem_token_cancel(process_token(), 0);
        return 0;
    case FORK:
        process_forks((int)op->n);
        return 0;
    case BORN:
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
    case STAT:
        return fairsem_shared_stat(h, &stat);
    case NAP:
        sleep_until_woken(NULL, op->n * MS, false, "naps");
        return 0;
    case START:
        stop(READY, 0, "starts", NULL);
        return 0;
    default:
        refuse("not between processes:", verbs[op->verb].word);
    }
}

static void tell(const struct op *op)
{
    char words[100];

    trace("           P%d T%d -> %s\n", self->process, id_of(self), op_words(op, words, sizeof words));
}

void act(void)
{
    for (self->op = 0; self->op < ops_count[id_of(self)]; self->op++) {
        const struct op *op = &script[id_of(self)][self->op];

        tell(op);
        stop(READY, CAN_SWITCH | CAN_DIE, "goes on", NULL);
        self->joined = false;
        self->calling = true;
        oracle_returned(op, perform(op));
        self->calling = false;
    }
    thread_ends();
}
