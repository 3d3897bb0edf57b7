/* SPDX-License-Identifier: MIT */
/*
 * process.c - the private memory of the simulated processes; fork, exec and death.
 *
 * The library's static variables and its heap exist only once (../engine/stacks.c).  Their contents are swapped
 * when a thread of another process continues.
 */
#include "explorer.h"

#include <string.h>

static struct image fresh, image[PROCESSES];
static int resident;                /* the process whose memory is in place, or -1 */
static fairsem_token_t *token;      /* in the heap, so each process has its own token at this address */

fairsem_token_t *process_token(void)
{
    return token;
}

void process_learn(void)
{
    statics_check();
    token = heap_take(sizeof *token);
    *token = (fairsem_token_t)FAIRSEM_TOKEN_INITIALIZER;
    image_save(&fresh);
}

void process_reset(void)
{
    stacks_clear();
    memset(run.process, 0, sizeof run.process);
    for (int i = 0; i < PROCESSES; i++) {
        image[i] = fresh;
        run.process[i].root = i;
    }
    resident = -1;
}

void process_enter(int process)
{
    if (resident == process)
        return;
    if (resident >= 0)
        image_save(&image[resident]);
    image_load(&image[process]);
    resident = process;
}

bool process_has_threads(int process, int at_least)
{
    int n = 0;

    for (int i = 0; i < THREADS; i++)
        n += thread[i].exists && thread[i].process == process && thread[i].at != ENDED;
    return n >= at_least;
}

/* ---- Fork, exec, death ---- */

static void (*in_child)(void);

int xp_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)prepare;
    (void)parent;
    in_child = child;
    return 0;
}

static void end_threads(int process, const struct thread *except)
{
    for (int i = 0; i < THREADS; i++) {
        if (thread[i].process == process && thread[i].exists && &thread[i] != except)
            thread[i].at = ENDED;
    }
}

/*
 * The private memory of the child is a copy of its parent's.  Stacks are not copied: the child accesses none.
 */
void process_forks(int child)
{
    const struct process *parent = &run.process[self->process];
    struct thread *caller = self;

    image_save(&image[resident]);
    image[child] = image[resident];
    run.process[child] = *parent;
    run.process[child].held = 0;
    process_enter(child);
    self = NULL;
    in_child();
    self = caller;
    process_enter(caller->process);
    for (int i = 0; i < THREADS; i++) {
        if (thread[i].exists && thread[i].process == child)
            thread[i].at = READY;
    }
}

/* After an exec, all private memory is new.  The pid stays, and so do descriptors that are kept open. */
void process_execs(void)
{
    struct process *p = &run.process[self->process];

    end_threads(self->process, self);
    image_load(&fresh);
    p->handle = NULL;
    p->opened = 0;
    p->mapped = 0;
    self->cleanups = NULL;
    if (!kernel_closes_all(self->process, true))
        p->held = 0;
}

/* A call in which a thread dies may have had its effect or not: audit.c allows both. */
static void penalty(const struct thread *t)
{
    const struct op *op = &script[id_of(t)][t->op];

    if (t->calling && (op->verb == RELEASE || takes_n(op)))
        run.doubtful += op->n;
}

/* The process dies; `inside`: in the middle of its calls, not by exit. */
void process_dies(int process, bool inside)
{
    for (int i = 0; inside && i < THREADS; i++) {
        if (thread[i].exists && thread[i].process == process && thread[i].at != ENDED)
            penalty(&thread[i]);
    }
    end_threads(process, NULL);
    run.process[process].lives = false;
    run.process[process].held = 0;
    run.process[process].handle = NULL;
    run.process[process].mapped = 0;
    kernel_closes_all(process, false);
    if (resident == process)
        resident = -1;
}

void *xp_malloc(size_t size)
{
    return heap_take(size);
}

void *xp_calloc(size_t count, size_t size)
{
    return heap_take(count * size);
}

uint64_t process_hash(uint64_t hash)
{
    if (resident >= 0)
        image_save(&image[resident]);
    for (int i = 0; i < PROCESSES; i++) {
        if (run.process[i].lives)
            hash = image_hash(hash, &image[i]);
    }
    return hash;
}
