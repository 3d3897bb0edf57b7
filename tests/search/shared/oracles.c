/* SPDX-License-Identifier: MIT */
/* oracles.c - checks invariants after each store to a segment and before time jumps; checks all results. */
#include "explorer.h"

#include <errno.h>

/* ---- The authoritative state of a segment, see layout.h ---- */

static struct fs_segment *header(int file)
{
    return (void *)kernel_memory(file);
}

static struct fs_process *entries(int file)
{
    return (void *)(header(file) + 1);
}

static struct fs_slot *slots(int file)
{
    return (void *)(entries(file) + header(file)->max_processes);
}

/* Does a live process hold this liveness lock? */
static bool entry_lives(int file, int index)
{
    return index >= 0 && index < BYTES && run.file[file].liveness[index] != 0;
}

/* A change in the redo log counts as made, since a repair will make it. */
int64_t oracle_taken(int file)
{
    const struct fs_segment *s = header(file);
    int redone = FS_GET(&s->redo.slot) - 1, changed = FS_GET(&s->redo.process) - 1;
    int64_t taken = 0;

    for (int i = 0; i < s->max_processes; i++) {
        if (entry_lives(file, i) && FS_GET(&entries(file)[i].state) == FS_PROCESS_USED)
            taken += redone >= 0 && changed == i ? FS_GET(&s->redo.held)
                                                 : FS_GET(&entries(file)[i].held);
    }
    for (int i = 0; i < s->max_waiters; i++) {
        const struct fs_slot *slot = &slots(file)[i];
        int state = redone == i ? FS_GET(&s->redo.slot_state) : FS_GET(&slot->state);

        if (state == FS_SLOT_GRANTED && entry_lives(file, FS_GET(&slot->process)))
            taken += FS_GET(&slot->units);
    }
    return taken;
}

/* Live processes hold no more units than the total, except units from before the total was lowered. */
static void check_sum(int file)
{
    int64_t taken = oracle_taken(file), total = FS_GET(&header(file)->total);

    if (scenario->no_undo)
        return;
    if (taken > total + run.file[file].debt)
        fail("conservation", "the live have %lld of %lld units", (long long)taken, (long long)total);
    run.file[file].debt = taken > total ? taken - total : 0;
}

/* `keepers` must count each process that keeps units across exec: otherwise none would look for its units. */
static void check_keepers(int file)
{
    int keepers = 0;

    for (int i = 0; i < header(file)->max_processes; i++)
        keepers += FS_GET(&entries(file)[i].keeps) != 0;
    if (keepers > FS_GET(&header(file)->keepers))
        fail("keepers", "%d processes keep units, and fewer are counted", keepers);
}

/* ---- Order ---- */

/* An aged request has the best priority, so among aged requests only the arrival counts. */
static int rank_of(int file, int index, int priority)
{
    return FS_GET(&slots(file)[index].aged) != 0 ? INT32_MIN : priority;
}

enum { ANY_SHARE = -1 };

/*
 * Check that no live waiter precedes a grant with this priority, arrival and share.  Within a priority, waiters
 * of other shares may precede it.
 */
static void check_order(int file, int priority, int64_t arrival, int share, const char *what)
{
    for (int i = 0; i < SLOTS; i++) {
        const struct ghost *g = &run.file[file].ghost[i];
        int rank = rank_of(file, i, g->priority);
        bool same_line = share == ANY_SHARE || share == g->share;

        if (g->waits && run.process[g->process].lives
            && (rank < priority || (rank == priority && g->arrival < arrival && same_line)))
            fail("order", "%s passes the slot %d of process %d", what, i, g->process);
    }
}

static void slot_changed(int file, int index, int state)
{
    struct ghost *g = &run.file[file].ghost[index];

    if (index >= SLOTS)
        fail("explorer", "too many slots");
    if (state == FS_SLOT_WAITING && !g->waits) {
        *g = (struct ghost){ true, self->process, FS_GET(&slots(file)[index].priority),
                             script[id_of(self)][self->op].share, run.file[file].arrivals++ };
        self->joined = true;
    } else if (state == FS_SLOT_GRANTED && g->waits) {
        check_order(file, rank_of(file, index, g->priority), g->arrival, g->share, "a grant");
        g->waits = false;
    } else if (state != FS_SLOT_WAITING) {
        g->waits = false;
    }
}

/* The running thread takes free units.  If it has not waited, no live waiter may precede it. */
static void check_take(int file)
{
    const struct op *op = &script[id_of(self)][self->op];

    if (self->process == AUDITOR || self->joined || !takes_n(op) || FS_GET(&header(file)->redo.slot) != 0)
        return;
    check_order(file, op->verb == TRY ? INT32_MAX : op->priority, INT64_MAX, ANY_SHARE, "a new request");
}

/* ---- Stores ---- */

void oracle_field_words(int file, size_t offset, char *text, size_t size)
{
    static const struct {
        size_t      offset;
        const char *name;
    } name[] = {
#define HEADER(member) { offsetof(struct fs_segment, member), #member }
        HEADER(word), HEADER(total), HEADER(high_water), HEADER(outstanding), HEADER(lock), HEADER(handover),
        HEADER(cleanup_pending), HEADER(damaged), HEADER(unfinished), HEADER(head),
        HEADER(tail), HEADER(oldest), HEADER(youngest), HEADER(waiters),
        HEADER(next_seq), HEADER(checked_ns), HEADER(check_took_ns), HEADER(free_hint), HEADER(keepers),
        HEADER(redo.slot), HEADER(redo.slot_state), HEADER(redo.process), HEADER(redo.has_word),
        HEADER(redo.held), HEADER(redo.word), HEADER(count),
#define PROCESS(member) { 1000 + offsetof(struct fs_process, member), "process." #member }
        PROCESS(state), PROCESS(incarnation), PROCESS(held), PROCESS(pid), PROCESS(since_ns),
        PROCESS(keeps),
#define SLOT(member) { 2000 + offsetof(struct fs_slot, member), "slot." #member }
        SLOT(state), SLOT(process), SLOT(units), SLOT(seq), SLOT(priority), SLOT(core), SLOT(aged),
        SLOT(strategy), SLOT(enqueued_ns), SLOT(granted_ns), SLOT(next), SLOT(prev), SLOT(younger),
        SLOT(older),
    };
    const struct fs_segment *s = header(file);
    size_t entry_size = sizeof(struct fs_process), index = 0;
    size_t of_slots = sizeof *s + (size_t)s->max_processes * entry_size;

    if (offset >= of_slots) {
        index = (offset - of_slots) / entry_size;
        offset = 2000 + (offset - of_slots) % entry_size;
    } else if (offset >= sizeof *s) {
        index = (offset - sizeof *s) / entry_size;
        offset = 1000 + (offset - sizeof *s) % entry_size;
    } else if (offset >= offsetof(struct fs_segment, count)) {
        offset = offsetof(struct fs_segment, count);
    }
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        if (name[i].offset == offset)
            snprintf(text, size, offset < 1000 ? " %s" : " %s of %zu", name[i].name, index);
    }
}

static void entry_stored(int file, size_t offset, int64_t before, int64_t now)
{
    size_t index = offset / sizeof(struct fs_process);

    switch (offset % sizeof(struct fs_process)) {
    case offsetof(struct fs_process, held):
        if (now > before && run.file[file].liveness[index] == self->process + 1)
            check_take(file);
        check_sum(file);
        break;
    case offsetof(struct fs_process, state):
        check_sum(file);
        break;
    case offsetof(struct fs_process, keeps):
        check_keepers(file);
        break;
    default:
        break;
    }
}

static void lock_stored(int file, uint32_t before, uint32_t now)
{
    const uint32_t flags = 5u << 29, held = 1u << 30;      /* contended, ordered */

    if ((now & held) != 0 && (int)(now & 0xfff) >= header(file)->max_processes)
        fail("lock", "T%d stores a lock that names no entry", id_of(self));
    if (((now ^ before) & ~flags) != 0)
        run.file[file].owner = (now & held) != 0 ? id_of(self) + 1 : 0;
}

void oracle_stored(int file, size_t offset, int64_t before, int64_t now)
{
    const struct fs_segment *s = header(file);
    size_t of_slots = sizeof *s + (size_t)s->max_processes * sizeof(struct fs_process);

    if (s->magic != FS_SEGMENT_MAGIC)
        return;
    if (offset >= of_slots + (size_t)s->max_waiters * sizeof(struct fs_slot)) {
        return;     /* the table of flows: it decides only the order of requests */
    } else if (offset >= of_slots) {
        if ((offset - of_slots) % sizeof(struct fs_slot) == offsetof(struct fs_slot, state)) {
            slot_changed(file, (int)((offset - of_slots) / sizeof(struct fs_slot)), (int)now);
            check_sum(file);
        }
    } else if (offset >= sizeof *s) {
        entry_stored(file, offset - sizeof *s, before, now);
    } else if (offset == offsetof(struct fs_segment, lock)) {
        lock_stored(file, (uint32_t)before, (uint32_t)now);
    } else if (offset == offsetof(struct fs_segment, redo.slot)) {
        check_sum(file);
    } else if (offset == offsetof(struct fs_segment, keepers)) {
        check_keepers(file);
    } else if (offset == offsetof(struct fs_segment, total)) {
        if (now < before)
            run.file[file].debt += before - now;
        check_sum(file);
    } else if (offset == offsetof(struct fs_segment, damaged)) {
        fail("damage", "T%d declares the segment damaged", id_of(self));
    } else if (offset == offsetof(struct fs_segment, word) && now / 2 < before / 2
               && (s->flags & FAIRSEM_SHARED_NO_UNDO) != 0) {
        check_take(file);
    }
}

/* ---- Time ---- */

/* The first live waiter in the queue, or NULL. */
static const struct ghost *first_in_queue(int file, int *slot)
{
    const struct ghost *first = NULL;
    int rank, best = 0;

    for (int i = 0; i < SLOTS; i++) {
        const struct ghost *g = &run.file[file].ghost[i];

        if (!g->waits || !run.process[g->process].lives)
            continue;
        rank = rank_of(file, i, g->priority);
        if (first == NULL || rank < best || (rank == best && g->arrival < first->arrival)) {
            first = g;
            best = rank;
            *slot = i;
        }
    }
    return first;
}

/*
 * If live processes leave enough units for the first waiter, it must get them soon: within 100 ms, until a
 * process checks for dead processes, plus 10 ms if a dead process holds the lock.  Each death may take the same
 * time again, because the checking process may have died.
 */
static void check_soon(int file)
{
    int slot = 0;
    const struct ghost *first = first_in_queue(file, &slot);
    int64_t available = scenario->no_undo ? FS_GET(&header(file)->word) / 2
                                          : FS_GET(&header(file)->total) - oracle_taken(file);

    if (first == NULL || FS_GET(&slots(file)[slot].units) > available) {
        run.fits_ns = 0;
    } else if (run.fits_ns == 0 || run.fits_arrival != first->arrival) {
        run.fits_ns = run.now;
        run.fits_arrival = first->arrival;
    } else if (run.now - run.fits_ns > 115 * MS * (run.deaths + 1)) {
        fail("soon", "for %lld ms the units for slot %d, of process %d, have been free",
             (long long)((run.now - run.fits_ns) / MS), slot, first->process);
    }
}

/* Do threads wait for the lock in order on this word?  They are woken one by one, and each wake changes it. */
static bool is_handover(const void *object)
{
    for (int i = 0; i < FILES; i++) {
        if (object == (const void *)&header(i)->handover)
            return true;
    }
    return false;
}

/* Does a thread that sleeps on this word wait for a lock that is free, and reserved for no thread? */
static bool is_free_lock(const void *object)
{
    for (int i = 0; i < FILES; i++) {
        struct fs_segment *s = header(i);

        if (run.file[i].made && FS_GET(&s->lock) == 0
            && (object == (const void *)&s->lock || object == (const void *)&s->handover))
            return true;
    }
    return false;
}

/*
 * All threads sleep.  A thread that sleeps on a changed word, or waits for a free lock, has lost its wake-up.
 * But after a death, the waking process may have died; and a wait for the lock may sleep for 1 ms on a changed
 * word.
 */
void oracle_time_jumps(void)
{
    for (int i = 0; i < THREADS; i++) {
        const struct thread *t = &thread[i];

        if (t->exists && t->at == SLEEPS && !t->woken && t->object != NULL && run.deaths == 0
            && t->deadline - run.now > MS && !is_handover(t->object)
            && *(const volatile int *)(const volatile void *)t->object != t->value)
            fail("lost wake-up", "T%d sleeps on a word that has changed", i);
        if (t->exists && t->at == SLEEPS && !t->woken && t->object != NULL && run.deaths == 0
            && is_free_lock(t->object))
            fail("lost wake-up", "T%d sleeps until it may have a lock that is free", i);
    }
    for (int i = 0; i < FILES; i++) {
        if (run.file[i].made && header(i)->magic == FS_SEGMENT_MAGIC)
            check_soon(i);
    }
    if (run.now - START_NS > 5000 * MS)
        fail("stuck", "a thread has waited for five seconds");
}

/* ---- Results ---- */

static bool is_allowed(const struct op *op, int result)
{
    switch (result) {
    case 0:
        return true;
    case ENOENT:
        return run.process[self->process].handle == NULL;
    case EAGAIN:
        return op->verb == TRY;
    case ETIMEDOUT:
        return op->verb == FOR;
    case ECANCELED:
        return op->token;
    case E2BIG:
        return (op->n > run.units && run.units != 0) || (op->n > run.perhaps && run.perhaps != 0);
    case ENOBUFS:
        return scenario->max_waiters != 0;
    case EBUSY:
        return op->verb == CLOSE || op->verb == KEEP;
    default:
        return false;
    }
}

/* The largest number of units so far.  (No script sets a larger number, and then a smaller number.) */
static int64_t most_units(void)
{
    int64_t set = run.units > run.perhaps ? run.units : run.perhaps;

    return set > scenario->units ? set : scenario->units;
}

void oracle_returned(const struct op *op, int result)
{
    struct process *p = &run.process[self->process];
    int64_t all = 0;

    trace("           P%d T%d <- %s: %d\n", self->process, id_of(self), verbs[op->verb].word,
          result);
    if (!is_allowed(op, result) || !may_result(op, result))
        fail("result", "T%d: %s %lld returns %d", id_of(self), verbs[op->verb].word,
             (long long)op->n, result);
    if (result != 0)
        return;
    if (takes_n(op)) {
        p->sure = p->sure && p->held > 0;
        p->held += op->n;
        run.outside -= op->n;
    } else if (op->verb == RELEASE) {
        run.outside += op->n;
    }
    for (int i = 0; i < PROCESSES; i++)
        all += run.process[i].held;
    if (!scenario->no_undo && run.named <= 1 && all > most_units())
        fail("conservation", "%lld units have been acquired, of %lld", (long long)all,
             (long long)most_units());
}
