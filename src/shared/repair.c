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

    if (state == FS_SLOT_GRANTED) {
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

static int find_dead(fairsem_shared_t *h, int from, int *dead)
{
    bool alive;

    for (*dead = from; *dead < h->max_processes; ++*dead) {
        if (FS_GET(&h->processes[*dead].state) == FS_PROCESS_FREE)
            continue;
        int error = fs_shared_alive(h, *dead, &alive);

        if (error != 0 || !alive)
            return error;
    }
    *dead = FS_NOBODY;
    return 0;
}

/* With undo: all units that no process holds are free. */
static int count_anew(fairsem_shared_t *h)
{
    int64_t available = h->capacity, units;
    int error;

    for (int i = 0; i < h->max_processes; i++) {
        if (FS_GET(&h->processes[i].state) == FS_PROCESS_FREE)
            continue;
        error = fs_shared_load_held(h, i, &units);
        if (error != 0 || units > available)
            return error != 0 ? error : fs_shared_is_damaged(h);
        available -= units;
    }
    for (int i = 0; i < h->max_waiters; i++) {
        if (FS_GET(&h->slots[i].state) != FS_SLOT_GRANTED)
            continue;
        error = fs_shared_load_units(h, i, &units);
        if (error != 0 || units > available)
            return error != 0 ? error : fs_shared_is_damaged(h);
        available -= units;
    }
    fs_shared_put_available(h, available);
    return 0;
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
        if (state < 0 || state > FS_SLOT_CANCELED || !fs_index_valid(process, h->max_processes)
            || FS_GET(&h->processes[process].state) == FS_PROCESS_FREE)
            return fs_shared_is_damaged(h);
        seq = FS_GET(&h->slots[i].seq);
        if (seq < 0 || seq == INT64_MAX)
            return fs_shared_is_damaged(h);
        if (seq >= next_seq)
            next_seq = seq + 1;
        if (state == FS_SLOT_WAITING)
            error = fs_queue_join(h, i);
    }
    FS_PUT(&h->segment->next_seq, next_seq);
    return error;
}

int fs_shared_repair(fairsem_shared_t *h)
{
    int dead = 0, error;

    FS_PUT(&h->segment->unfinished, 1);
    error = fs_shared_redo(h);
    while (error == 0 && dead != FS_NOBODY) {
        error = find_dead(h, dead, &dead);
        if (error == 0 && dead != FS_NOBODY)
            error = fs_shared_bury(h, dead);
    }
    if (error == 0)
        error = queue_up_anew(h);
    if (error == 0 && h->undo)
        error = count_anew(h);
    if (error == 0)
        FS_COMMIT(&h->segment->unfinished, 0);
    return error;
}

int fs_shared_inspect(fairsem_shared_t *h)
{
    int dead, error = fs_shared_check_file(h);

    if (error == ENOTRECOVERABLE)
        return fs_shared_is_damaged(h);
    if (error == 0)
        error = find_dead(h, 0, &dead);
    if (error == 0)
        FS_PUT(&h->segment->inspected_ns, fs_tick_ns());
    if (error == 0 && dead != FS_NOBODY)
        error = fs_shared_repair(h);
    return error;
}
