/* SPDX-License-Identifier: MIT */
/*
 * repair.c - drop the dead, and compute the caches again; see repair.h.
 *
 * Each step is a commit point or changes only a cache.  So if a process dies during a repair, the
 * next one repairs from the beginning.
 */
#include "shared/repair.h"

#include "probes.h"
#include "shared/change.h"
#include "shared/life.h"
#include "shared/shared_queue.h"

#include <errno.h>
#include <limits.h>

static void count_returned(fairsem_shared_t *h, const struct fs_process *dead, int64_t units)
{
    FS_COUNT_UP(&h->segment->count.returned, units);
    if (FS_HAS_PROBES)
        fs_probe_shared_returned(h, h->file.inode, units, FS_GET(&dead->pid));
}

/* Drop a slot of a dead process. */
static int drop_slot(fairsem_shared_t *h, const struct fs_process *dead, int slot)
{
    struct fs_shared_counters *count = &h->segment->count;
    int state = FS_GET(&h->slots[slot].state);
    int64_t units;
    int error;

    if (state == FS_SLOT_GRANTED || state == FS_SLOT_TO_RETURN) {
        error = fs_shared_load_units(h, slot, &units);
        if (error != 0)
            return error;
        count_returned(h, dead, units);
        return fs_shared_return_grant(h, slot);
    }
    if (state == FS_SLOT_WAITING)
        FS_COUNT_UP(&count->lost, 1);
    fs_shared_free_slot(h, slot);
    return 0;
}

int fs_shared_bury(fairsem_shared_t *h, int process)
{
    struct fs_process *dead = &h->processes[process];
    int64_t held;
    int error;

    FS_PUT(&h->segment->unfinished, 1);
    for (int i = 0; i < h->max_waiters; i++) {
        if (FS_GET(&h->slots[i].state) != FS_SLOT_FREE && FS_GET(&h->slots[i].process) == process
            && (error = drop_slot(h, dead, i)) != 0)
            return error;
    }
    error = fs_shared_load_held(h, process, &held);
    if (error != 0)
        return error;
    FS_COMMIT(&dead->held, 0);
    FS_PUT(&dead->keeps, 0);
    FS_COMMIT(&dead->state, FS_PROCESS_FREE);
    count_returned(h, dead, held);
    FS_COUNT_UP(&h->segment->count.deaths, 1);
    return 0;
}

void fs_dead_add(struct fs_dead *dead, int process, uint32_t incarnation)
{
    if (dead->count < FS_DEAD_MAX)
        dead->entry[dead->count++] = (struct fs_dead_entry){ process, incarnation };
}

/* The entry may be free, or another process's, since it was listed. */
static int bury_if_dead(fairsem_shared_t *h, const struct fs_dead_entry *entry)
{
    const struct fs_process *p = &h->processes[entry->process];
    bool alive;
    int error;

    if (FS_GET(&p->state) == FS_PROCESS_FREE || FS_GET(&p->incarnation) != entry->incarnation)
        return 0;
    error = fs_shared_alive(h, entry->process, &alive);
    return error != 0 || alive ? error : fs_shared_bury(h, entry->process);
}

/* With undo: all units that no process holds are free. */
static int count_anew(fairsem_shared_t *h)
{
    int64_t total = fs_shared_total(h), out;
    int error = fs_shared_count_out(h, &out);

    if (error == 0 && (total < 0 || total > fs_shared_most(h)))
        error = fs_shared_is_damaged(h);
    if (error == 0)
        fs_shared_put_available(h, total - out);
    return error;
}

static int queue_up_anew(fairsem_shared_t *h)
{
    int64_t next_seq = FS_GET(&h->segment->next_seq), seq;
    int error = 0;

    fs_queue_clear(h);
    for (int i = 0; i < h->max_waiters && error == 0; i++) {
        int state = FS_GET(&h->slots[i].state), process = FS_GET(&h->slots[i].process);

        if (state == FS_SLOT_FREE)
            continue;
        if (state < 0 || state >= FS_SLOT_STATES || !fs_index_valid(process, h->max_processes)
            || FS_GET(&h->processes[process].state) == FS_PROCESS_FREE)
            return fs_shared_is_damaged(h);
        seq = FS_GET(&h->slots[i].seq);
        if (seq < 0 || seq == INT64_MAX)
            return fs_shared_is_damaged(h);
        if (seq >= next_seq)
            next_seq = seq + 1;
        if (state >= FS_SLOT_TO_UNLINK)
            FS_PUT(&h->segment->unsettled, 1);      /* whoever settled may have died */
        if (state == FS_SLOT_WAITING || state == FS_SLOT_TO_UNLINK)
            error = fs_queue_join(h, i);
    }
    FS_PUT(&h->segment->next_seq, next_seq);
    return error;
}

int fs_shared_repair(fairsem_shared_t *h, const struct fs_dead *dead)
{
    int error;

    FS_PUT(&h->segment->unfinished, 1);
    error = fs_shared_redo(h);
    if (error == EAGAIN)
        error = 0;
    for (int i = 0; error == 0 && i < dead->count; i++)
        error = bury_if_dead(h, &dead->entry[i]);
    if (error == 0)
        error = queue_up_anew(h);
    if (error == 0 && h->undo)
        error = count_anew(h);
    if (error == 0)
        FS_COMMIT(&h->segment->unfinished, 0);
    return error;
}
