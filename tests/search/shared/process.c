/* SPDX-License-Identifier: MIT */
/*
 * process.c - the private memory of the simulated processes; fork, exec and death.
 *
 * The library's static variables (between ../engine/static_first.c and static_last.c) and a heap
 * exist once.  Their contents are swapped when a thread of another process goes on.
 */
#include "explorer.h"

#include <string.h>

static _Alignas(64) char heap[HEAP_SIZE];      /* first, how much is used; then the token */

struct image {
    char statics[STATICS_SIZE];
    char heap[HEAP_SIZE];
};
static struct image fresh, image[PROCESSES];
static int resident;                /* the process whose memory is in place; -1: none */

static size_t heap_used(const char *in)
{
    size_t used;

    memcpy(&used, in, sizeof used);
    return used;
}

static void save(struct image *to)
{
    statics_save(to->statics);
    memcpy(to->heap, heap, heap_used(heap));
}

static void load(const struct image *from)
{
    statics_load(from->statics);
    memcpy(heap, from->heap, heap_used(from->heap));
}

static size_t first_free(void)
{
    return 64 + ((sizeof(fairsem_token_t) + 15) & ~(size_t)15);
}

fairsem_token_t *process_token(void)
{
    return (fairsem_token_t *)(void *)(heap + 64);
}

void process_learn(void)
{
    size_t used = first_free();

    statics_check();
    memcpy(heap, &used, sizeof used);
    *process_token() = (fairsem_token_t)FAIRSEM_TOKEN_INITIALIZER;
    save(&fresh);
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
        save(&image[resident]);
    load(&image[process]);
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

/* The child is a copy; the stacks of its parent's other threads are never accessed. */
void process_forks(int child)
{
    const struct process *parent = &run.process[self->process];
    struct thread *caller = self;

    save(&image[resident]);
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

/* All private memory is new; the pid and some descriptors remain. */
void process_execs(void)
{
    struct process *p = &run.process[self->process];

    end_threads(self->process, self);
    load(&fresh);
    p->handle = NULL;
    p->opened = 0;
    p->mapped = 0;
    self->cleanups = NULL;
    if (!kernel_closes_all(self->process, true))
        p->held = 0;
}

/* It is not known whether its last operation had an effect: see audit.c. */
static void doubt(const struct thread *t)
{
    const struct op *op = &script[id_of(t)][t->op];

    if (t->calling && (op->verb == RELEASE || (op->verb >= ACQUIRE && op->verb <= FOR)))
        run.doubtful += op->n;
}

/* Inside its calls, or by exit. */
void process_dies(int process, bool inside)
{
    for (int i = 0; inside && i < THREADS; i++) {
        if (thread[i].exists && thread[i].process == process && thread[i].at != ENDED)
            doubt(&thread[i]);
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

/* ---- malloc: no memory is ever reused ---- */

void *xp_malloc(size_t size)
{
    size_t used = heap_used(heap);
    char *block = heap + used;

    used += (size + 15) & ~(size_t)15;
    if (used > sizeof heap)
        fail("explorer", "the heap is too small");
    memcpy(heap, &used, sizeof used);
    memset(block, 0, size);
    return block;
}

void *xp_calloc(size_t count, size_t size)
{
    return xp_malloc(count * size);
}

void xp_free(void *block)
{
    (void)block;
}

uint64_t process_hash(uint64_t hash)
{
    if (resident >= 0)
        save(&image[resident]);
    for (int i = 0; i < PROCESSES; i++) {
        if (!run.process[i].lives)
            continue;
        hash = mix(hash, image[i].statics, statics_size());
        hash = mix(hash, image[i].heap, heap_used(image[i].heap));
    }
    return hash;
}
