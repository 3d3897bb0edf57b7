/* SPDX-License-Identifier: MIT */
/* audit.c - after all processes have ended, another process opens the segment, and checks it. */
#include "explorer.h"

#include "shared/attach.h"
#include "shared/lock.h"
#include "shared/repair.h"

#include <errno.h>
#include <string.h>

static int the_file(void)
{
    int last = -1;

    for (int i = 0; i < FILES; i++) {
        if (run.file[i].named)
            return i;
        if (run.file[i].made && ((const struct fs_segment *)(void *)kernel_memory(i))->magic
                                    == FS_SEGMENT_MAGIC)
            last = i;
    }
    return last;
}

static int64_t held_by_the_living(void)
{
    int64_t held = 0;

    for (int i = 0; i < PROCESSES; i++)
        held += run.process[i].lives ? run.process[i].held : 0;
    return held;
}

static int users(int file)
{
    int n = 0;

    for (int i = 0; i < BYTES; i++)
        n += run.file[file].liveness[i] != 0;
    return n;
}

/* ---- Conservation ---- */

static void check_free(int64_t available, int64_t total)
{
    int64_t expected = scenario->units + run.outside;

    if (!scenario->no_undo) {
        if (available != total - held_by_the_living())
            fail("conservation", "%lld units are free, of %lld, and live processes have %lld",
                 (long long)available, (long long)total, (long long)held_by_the_living());
        if (total != run.units && total != run.perhaps)
            fail("audit", "there are %lld units instead of %lld", (long long)total, (long long)run.units);
    } else if (available < expected - run.doubtful || available > expected + run.doubtful) {
        fail("conservation", "%lld units are free, not %lld (+-%lld)", (long long)available,
             (long long)expected, (long long)run.doubtful);
    }
}

static void check_stat(fairsem_shared_t *h, int file)
{
    fairsem_shared_stat_t stat;
    int error = fairsem_shared_stat(h, &stat);

    if (error != 0)
        fail("audit", "stat returns %d", error);
    if (run.named > 1)
        return;     /* a process may hold units of several segments: struct process has only their sum */
    check_free(stat.available, stat.capacity);
    if (!scenario->no_undo && stat.held != held_by_the_living())
        fail("audit", "held is %lld instead of %lld", (long long)stat.held,
             (long long)held_by_the_living());
    if (stat.waiters != 0)
        fail("audit", "%lld are in the queue", (long long)stat.waiters);
    if (stat.processes != users(file))
        fail("audit", "%lld entries are in use, %d processes live", (long long)stat.processes,
             users(file));
    for (int i = 0; i < h->max_waiters; i++) {
        if (FS_GET(&h->slots[i].state) != FS_SLOT_FREE)
            fail("audit", "the slot %d is in use", i);
    }
}

/* ---- A second repair changes nothing ---- */

/* Clear the members that any repair may change: the lock and the counters. */
static void leave_out(struct fs_segment *s)
{
    FS_PUT(&s->lock, 0);
    memset(&s->count, 0, sizeof s->count);
}

static void repair_again(fairsem_shared_t *h, int file)
{
    static _Alignas(64) char once[SEGMENT_SIZE], twice[SEGMENT_SIZE];
    static const struct fs_dead nobody;
    struct fs_shared_section in;
    int error;

    memcpy(once, kernel_memory(file), SEGMENT_SIZE);
    error = fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL);
    if (error == 0) {
        fs_shared_repair(&in, &nobody);
        error = fs_shared_section_end(&in);
    }
    if (error != 0)
        fail("audit", "repair returns %d", error);
    memcpy(twice, kernel_memory(file), SEGMENT_SIZE);
    leave_out((void *)once);
    leave_out((void *)twice);
    for (int i = 0; i < SEGMENT_SIZE; i++) {
        if (once[i] != twice[i])
            fail("repair", "a second repair changes byte %d", i);
    }
}

/* ---- All units can be acquired ---- */

static void acquire_all(fairsem_shared_t *h)
{
    int64_t available = fairsem_shared_available(h);

    if (available < 0 || fairsem_shared_tryacquire(h, available) != 0
        || fairsem_shared_available(h) != 0 || fairsem_shared_release(h, available) != 0)
        fail("audit", "the free units cannot be acquired");
}

void audit_act(void)
{
    fairsem_shared_t *h;
    int file = the_file(), error;

    if (file >= 0) {
        run.file[file].named = true;
        error = fairsem_shared_open(&h, "/segment", 0, 0, NULL);
        if (error != 0)
            fail("audit", "open returns %d", error);
        check_stat(h, file);
        repair_again(h, file);
        acquire_all(h);
        repair_again(h, file);
    }
    thread_ends();
}
