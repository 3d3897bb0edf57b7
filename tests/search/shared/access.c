/* SPDX-License-Identifier: MIT */
/*
 * access.c - the library's loads and stores, atomic and plain: ../engine/instrument.c calls this file.
 *
 * This file decides before which accesses a thread stops (explorer.h).  It checks that the process has mapped
 * each segment that it accesses, and that it holds the segment's lock, except for accesses that layout.h
 * permits without the lock.
 */
#include "explorer.h"

#include <string.h>

/* ---- Fields ---- */

#define IN(member) (offset >= offsetof(struct fs_segment, member)   \
                    && offset < offsetof(struct fs_segment, member) + sizeof header->member)
#define IS(type, member) (offset == offsetof(struct type, member))

enum sharing {
    LOCKED,         /* accessed only under the lock */
    HINT,           /* stored only under the lock; a load without the lock is a hint */
    ENTRY,          /* like HINT: a process that attaches loads it, to find a free entry */
    OPEN_TO_ALL,    /* stored only under the lock, but loaded at any time */
    FREE_TO_STORE   /* loaded and stored at any time */
};

/*
 * The owner of an entry's liveness lock fills in a free entry without the lock, and finds in `keeps` what it
 * kept at an exec.
 */
static bool initializes_entry(int file, size_t offset)
{
    const struct fs_process *entry = (const void *)(kernel_memory(file) + sizeof(struct fs_segment));
    size_t index = offset / sizeof *entry;

    return run.file[file].liveness[index] == self->process + 1
           && (FS_GET(&entry[index].state) == FS_PROCESS_FREE
               || offset % sizeof *entry == offsetof(struct fs_process, keeps));
}

/* A process abandons its slot without the lock when its time has passed, or when it is canceled. */
static bool abandoned_by_owner(int file, size_t index)
{
    return index < SLOTS && run.file[file].ghost[index].process == self->process
           && (script[id_of(self)][self->op].verb == FOR || self->canceled);
}

static enum sharing sharing_of(int file, size_t offset)
{
    const struct fs_segment *header = (const void *)kernel_memory(file);
    size_t slots = sizeof *header + (size_t)header->max_processes * sizeof(struct fs_process), index;

    if (offset < sizeof *header) {
        if (IN(lock))
            return FREE_TO_STORE;
        if (IN(handover))
            return OPEN_TO_ALL;
        if (IN(word) || IN(damaged) || IN(checked_ns) || IN(check_took_ns) || IN(cleanup_pending)
            || IN(keepers))
            return FREE_TO_STORE;
        return IN(unfinished) || IN(head) || IN(tail) || IN(oldest) || IN(waiters) || IN(total)
               ? HINT : LOCKED;
    }
    if (offset < slots) {
        offset -= sizeof *header;
        if (initializes_entry(file, offset))
            return FREE_TO_STORE;
        offset %= sizeof(struct fs_process);
        if (IS(fs_process, incarnation))
            return FREE_TO_STORE;
        if (IS(fs_process, held))
            return HINT;
        return IS(fs_process, state) || IS(fs_process, keeps) || IS(fs_process, pid)
               ? ENTRY : LOCKED;
    }
    index = (offset - slots) / sizeof(struct fs_slot);
    offset = (offset - slots) % sizeof(struct fs_slot);
    if (index >= (size_t)header->max_waiters)
        return LOCKED;      /* the table of flows */
    /* Times: a thread loads those of its own slot.  A check loads the oldest waiter's, as a hint. */
    if (IS(fs_slot, state) && abandoned_by_owner(file, index))
        return FREE_TO_STORE;
    if (IS(fs_slot, strategy))
        return index < SLOTS && run.file[file].ghost[index].process == self->process
               ? FREE_TO_STORE : LOCKED;
    if (IS(fs_slot, process) || IS(fs_slot, next) || IS(fs_slot, seq))
        return HINT;
    return IS(fs_slot, state) || IS(fs_slot, granted_ns) || IS(fs_slot, enqueued_ns) ? OPEN_TO_ALL
                                                                                   : LOCKED;
}

/* Is the file still being made?  A file without a name and without users is known only to its maker. */
static bool is_being_made(int file)
{
    if (run.file[file].named)
        return false;
    for (int i = 0; i < BYTES; i++) {
        if (run.file[file].liveness[i] != 0)
            return false;
    }
    return true;
}

/* ---- Stops ---- */

static void check_lock(size_t offset, enum sharing sharing, enum access_kind kind)
{
    if (sharing == LOCKED || (kind == ACCESS_STORE && sharing < FREE_TO_STORE))
        fail("lock", "T%d %s a member under the lock, without the lock: offset %zu", id_of(self),
             kind == ACCESS_LOAD ? "loads" : "stores to", offset);
}

/*
 * Is this member only a hint for a check of other processes?  The library checks its findings again under the
 * lock, so an outdated value only delays it, and a thread stops only before the first of several such loads in
 * a row.
 */
static bool is_hint(int file, size_t offset)
{
    const struct fs_segment *header = (const void *)kernel_memory(file);
    size_t slots = sizeof *header + (size_t)header->max_processes * sizeof(struct fs_process), index;

    if (offset < sizeof *header)
        return IN(unfinished) || IN(cleanup_pending) || IN(head) || IN(tail) || IN(waiters) || IN(total);
    if (offset < slots) {
        index = (offset - sizeof *header) / sizeof(struct fs_process);
        return !script_attaches && run.file[file].liveness[index] != self->process + 1;
    }
    index = (offset - slots) / sizeof(struct fs_slot);
    return index >= SLOTS || run.file[file].ghost[index].process != self->process;
}

/* Returns why a thread stops before this access: a set, empty for no stop. */
static unsigned what_for(int file, size_t offset, enum access_kind kind)
{
    enum sharing sharing = sharing_of(file, offset);
    bool locked = run.file[file].owner == id_of(self) + 1;
    bool others_look = sharing >= OPEN_TO_ALL || (sharing == ENTRY && script_attaches);

    if (!locked && is_being_made(file))
        return kind == ACCESS_LOAD ? 0 : CAN_DIE;
    if (!locked)
        check_lock(offset, sharing, kind);
    if (kind == ACCESS_LOAD && !locked && others_look && is_hint(file, offset)) {
        bool again = self->hinted;

        self->hinted = true;
        return again ? 0 : CAN_SWITCH;
    }
    if (kind == ACCESS_LOAD)
        return !locked && others_look ? CAN_SWITCH : 0;
    if (kind >= ACCESS_CHANGE)
        return CAN_SWITCH | CAN_DIE;
    return CAN_DIE | (others_look ? CAN_SWITCH : 0u);
}

/* Does a loop load the same value again?  Then it need not stop: it has stopped before the first load. */
static bool looks_again(const void *at, int64_t now)
{
    bool again = self->last_loaded == at && self->saw == now;

    self->last_loaded = at;
    self->saw = now;
    return again;
}

void access_begins(const void *at, size_t size, enum access_kind kind, const void *pc)
{
    static const char *const doing[] = {
        [ACCESS_LOAD] = "load", [ACCESS_STORE] = "store", [ACCESS_CHANGE] = "swap",
        [ACCESS_SWAP] = "swap",
    };
    size_t offset;
    int64_t now = 0;
    int file;

    (void)pc;
    if (self == NULL)
        return;
    file = kernel_file_of(at, size, &offset);
    memcpy(&now, at, size);
    if (kind == ACCESS_LOAD && looks_again(at, now))
        return;
    if (kind != ACCESS_LOAD)
        self->last_loaded = NULL;
    if (file >= 0) {
        unsigned reasons = what_for(file, offset, kind);

        if (reasons != 0)
            stop(READY, reasons, doing[kind], at);
    } else if (process_has_threads(self->process, 2)) {
        stop(READY, CAN_SWITCH, "private", at);
    }
}

int64_t access_load(const void *at, size_t size, int64_t newest, int order, const void *pc)
{
    (void)at;
    (void)size;
    (void)order;
    (void)pc;
    if (self != NULL)
        self->saw = newest;
    return newest;
}

bool access_stores(const void *at, size_t size, int64_t value, enum access_kind kind, int order,
                   const void *pc)
{
    (void)at;
    (void)size;
    (void)value;
    (void)kind;
    (void)order;
    (void)pc;
    return true;
}

bool access_swap_fails(const void *at, size_t size, int64_t newest, int64_t *expected, int order,
                       const void *pc)
{
    bool fails = *expected != newest;

    (void)at;
    (void)size;
    (void)order;
    (void)pc;
    *expected = newest;
    return fails;
}

void access_stored(const void *at, size_t size, int64_t before, int64_t now)
{
    size_t offset;
    int file = self != NULL ? kernel_file_of(at, size, &offset) : -1;

    if (file >= 0)
        oracle_stored(file, offset, before, now);
}

void access_fence(int order)
{
    (void)order;
}

/* ---- Plain accesses ---- */

void access_plain(const void *at, size_t size, bool write, const void *pc)
{
    size_t offset;
    int file;

    (void)write;
    (void)pc;
    if (self == NULL)
        return;
    file = kernel_file_of(at, size, &offset);
    if (file >= 0 && run.file[file].owner != id_of(self) + 1 && !is_being_made(file))
        fail("lock", "T%d has a plain access to the segment without the lock: offset %zu",
             id_of(self), offset);
}
