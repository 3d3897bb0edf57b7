/* SPDX-License-Identifier: MIT */
/*
 * detect.c - failure detection; see detect.h.
 *
 * A check lists the entries whose processes seem to be dead, with their incarnations.  Under the lock each
 * entry is checked again, because another process may have registered in the entry.  Without the lock all
 * numbers are hints: a stale number only delays the units of a dead process until the next check.
 */
#include "shared/detect.h"

#include "shared/attach.h"
#include "shared/liveness.h"
#include "shared/lock.h"
#include "shared/repair.h"
#include "shared/shared_queue.h"
#include "system/deadline.h"

#include <errno.h>
#include <limits.h>

/* A thread that has not received its units OVERDUE_NS after the grant may still be asleep. */
#define OVERDUE_NS 10000000

#define CALL_LEAST_NS 20000
#define CALL_MAX_NS  10000000

int64_t fs_detect_call_ns(const fairsem_shared_t *h)
{
    int64_t took_ns = FS_GET(&h->segment->check_took_ns);

    if (took_ns < CALL_LEAST_NS / 10)
        return CALL_LEAST_NS;
    return took_ns > CALL_MAX_NS / 10 ? CALL_MAX_NS : 10 * took_ns;
}

bool fs_detect_begin(fairsem_shared_t *h, int64_t ns)
{
    _Atomic int64_t *checked = &h->segment->checked_ns;
    int64_t before = FS_GET(checked), now = fs_now_ns();

    return fs_long_ago(now, before, ns)
           && atomic_compare_exchange_strong_explicit(checked, &before, now, memory_order_relaxed,
                                                      memory_order_relaxed);
}

/* ---- Suspects ---- */

static int suspect(fairsem_shared_t *h, int process, struct fs_dead *dead)
{
    /* Load the incarnation before the check: later, the entry may be that of a new process. */
    uint32_t incarnation = FS_GET(&h->processes[process].incarnation);
    bool alive;
    int error = fs_shared_alive(h, process, &alive);

    if (error == 0 && !alive)
        fs_dead_add(dead, process, incarnation);
    return error;
}

/*
 * Mark the processes of granted, canceled and abandoned slots, and of the front waiter.  (Abandoned slots
 * are included because a thread may die after it abandons its slot, before it sets `cleanup_pending`.)
 */
static void mark_those_in_slots(const fairsem_shared_t *h, uint64_t marked[])
{
    int front = FS_GET(&h->segment->head);

    for (int i = 0; i < h->max_waiters; i++) {
        int process = FS_GET(&h->slots[i].process);

        if ((FS_GET(&h->slots[i].state) >= FS_SLOT_GRANTED || i == front)
            && fs_index_valid(process, h->max_processes))
            marked[process / 64] |= UINT64_C(1) << process % 64;
    }
}

static int find_dead(fairsem_shared_t *h, enum fs_whom whom, struct fs_dead *dead)
{
    uint64_t marked[FAIRSEM_SHARED_MAX / 64] = { 0 };
    int64_t begun_ns = fs_now_ns();
    int error = fs_shared_check_file(h);

    if (error == 0 && whom != FS_EVERYBODY)
        mark_those_in_slots(h, marked);
    for (int i = 0; i < h->max_processes && error == 0; i++) {
        const struct fs_process *p = &h->processes[i];

        if ((marked[i / 64] >> i % 64 & 1) != 0
            || (FS_GET(&p->state) != FS_PROCESS_FREE && (whom == FS_EVERYBODY || FS_GET(&p->held) != 0)))
            error = suspect(h, i, dead);
    }
    FS_PUT(&h->segment->check_took_ns, fs_since(fs_now_ns(), begun_ns));
    return error == ENOTRECOVERABLE ? fs_shared_set_damaged(h) : error;
}

/* ---- Check ---- */

/*
 * Is a section necessary even if the list of the dead is empty?  Returns true if there is damage, a repair
 * that was cut short, an abandoned slot, a request that has aged, or if the lock's owner is dead.  (A waiter
 * learns of damage only in a section.)
 */
static bool needs_the_lock(fairsem_shared_t *h)
{
    return FS_GET(&h->segment->damaged) != 0
           || FS_GET(&h->segment->unfinished) != 0 || FS_GET(&h->segment->cleanup_pending) != 0
           || fs_queue_is_age_due(h, fs_now_ns()) || fs_shared_lock_is_orphaned(h);
}

int fs_detect_dead(fairsem_shared_t *h, enum fs_whom whom, enum fs_lock_mode mode,
                   const struct fs_deadline *deadline)
{
    struct fs_shared_section in;
    struct fs_dead dead;
    int error = 0;

    /* Each iteration but the last reaps a full list, so this bound is enough. */
    for (int i = 0; i <= h->max_processes / FS_DEAD_MAX; i++) {
        /* Attach first: in a forked child `self` is still the parent's entry, and would count as alive. */
        error = fs_shared_ensure_attached(h, mode, deadline);
        dead.count = 0;
        if (error == 0)
            error = find_dead(h, whom, &dead);
        if (error != 0 || (dead.count == 0 && !needs_the_lock(h)))
            return error;
        error = fs_shared_enter(&in, h, mode, deadline);
        if (error != 0)
            return error;
        if (dead.count != 0)
            fs_shared_section_repair(&in, &dead);
        error = fs_shared_section_end(&in);
        if (error != 0 || dead.count < FS_DEAD_MAX)
            return error;
    }
    return error;
}

int fs_detect_dead_try(fairsem_shared_t *h)
{
    int error = fs_detect_dead(h, FS_THOSE_OF_INTEREST, FS_LOCK_TRY_FOR_GRACE, NULL);

    return error == ETIMEDOUT ? 0 : error;
}

void fs_detect_wake_granted(fairsem_shared_t *h)
{
    int64_t now = fs_now_ns();

    for (int i = 0; i < h->max_waiters; i++) {
        const struct fs_slot *slot = &h->slots[i];

        if (FS_GET(&slot->state) == FS_SLOT_GRANTED
            && fs_long_ago(now, FS_GET(&slot->granted_ns), OVERDUE_NS)) {
            FS_STEP("wake again");
            fs_shared_wake(&slot->state, INT_MAX);
        }
    }
}
