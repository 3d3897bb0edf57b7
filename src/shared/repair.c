/* SPDX-License-Identifier: MIT */
/*
 * repair.c - reap the dead, and compute the derived data again; see repair.h.
 *
 * Each step is a commit point, or changes only derived data.  So if a process dies during a repair, the next
 * process can repair from the beginning.
 */
#include "shared/repair.h"

#include "shared/change.h"
#include "shared/liveness.h"
#include "shared/shared_flow.h"
#include "shared/shared_queue.h"
#include "tools/probes.h"

static void count_returned(fairsem_shared_t *h, const struct fs_process *dead, int64_t units)
{
    if (units == 0)
        return;
    FS_COUNT_UP(&h->segment->count.returned, units);
    if (FS_HAS_PROBES)
        fs_probe_shared_returned(h, h->file.inode, units, FS_GET(&dead->pid));
}

void fs_shared_reap(struct fs_shared_section *in, int process)
{
    fairsem_shared_t *h = in->handle;
    struct fs_process *dead = &h->processes[process];
    int64_t held = fs_load_units(in, &dead->held);

    FS_PUT(&h->segment->unfinished, 1);
    for (int i = 0; i < h->max_waiters; i++) {
        if (FS_GET(&h->slots[i].state) != FS_SLOT_FREE && FS_GET(&h->slots[i].process) == process)
            count_returned(h, dead, fs_shared_clean_up(in, i));
    }
    FS_COMMIT(in, &dead->held, 0);
    fs_shared_set_keeps(h, process, false);
    FS_COMMIT(in, &dead->state, FS_PROCESS_FREE);
    count_returned(h, dead, held);
    FS_COUNT_UP(&h->segment->count.deaths, 1);
}

void fs_dead_add(struct fs_dead *dead, int process, uint32_t incarnation)
{
    if (dead->count < FS_DEAD_MAX)
        dead->entry[dead->count++] = (struct fs_dead_entry){ process, incarnation };
}

/* The entry may have become free since it was listed, or another process may have registered in it. */
static void reap_if_dead(struct fs_shared_section *in, const struct fs_dead_entry *entry)
{
    const struct fs_process *p = &in->handle->processes[entry->process];

    if (FS_GET(&p->state) != FS_PROCESS_FREE && FS_GET(&p->incarnation) == entry->incarnation
        && !fs_shared_check_alive(in, entry->process))
        fs_shared_reap(in, entry->process);
}

static void queue_up_anew(struct fs_shared_section *in)
{
    fairsem_shared_t *h = in->handle;
    int64_t next_seq = FS_GET(&h->segment->next_seq), seq;

    fs_queue_clear(in);
    for (int i = 0; i < h->max_waiters; i++) {
        int state = (int)fs_checked(in, FS_GET(&h->slots[i].state), 0, FS_SLOT_STATES - 1);

        if (state == FS_SLOT_FREE)
            continue;
        if (FS_GET(&h->processes[fs_load_process(in, i)].state) == FS_PROCESS_FREE)
            fs_damaged(in);
        seq = fs_load_seq(in, &h->slots[i].seq);
        if (seq >= next_seq)
            next_seq = seq + 1;
        if (fs_is_abandoned(state))
            FS_PUT(&h->segment->cleanup_pending, 1);    /* a process may have died while it cleaned up */
        if (state == FS_SLOT_WAITING || fs_is_abandoned_in_queue(state))
            fs_queue_enqueue(in, i);
    }
    FS_PUT(&h->segment->next_seq, next_seq);
    /* This may move slots, and so change the detectors: fs_shared_section_repair() wakes the new ones. */
    fs_flow_recount(in);
}

void fs_shared_repair(struct fs_shared_section *in, const struct fs_dead *dead)
{
    FS_PUT(&in->handle->segment->unfinished, 1);
    fs_shared_redo(in);
    for (int i = 0; i < dead->count && in->error == 0; i++)
        reap_if_dead(in, &dead->entry[i]);
    /* After an error the file may be shorter than before: do not access the tables. */
    if (in->error != 0)
        return;
    queue_up_anew(in);
    /* With undo, all units are free that are neither held nor granted. */
    if (in->handle->undo)
        fs_shared_set_available(in, in->total - fs_shared_count_outstanding(in));
    FS_COMMIT(in, &in->handle->segment->unfinished, 0);
}
