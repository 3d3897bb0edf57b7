/* SPDX-License-Identifier: MIT */
/* shared_section.c - lock, grant loop, unlock, wake; see shared_section.h. */
#include "shared/shared_section.h"

#include "shared/change.h"
#include "shared/liveness.h"
#include "shared/shared_awake.h"
#include "shared/shared_flow.h"
#include "shared/shared_queue.h"
#include "system/deadline.h"
#include "system/system.h"
#include "tools/buckets.h"
#include "tools/probes.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

void (*fs_shared_step)(const char *what);

int64_t fs_shared_section_now(struct fs_shared_section *in)
{
    if (in->now_ns == 0)
        in->now_ns = fs_now_ns();
    return in->now_ns;
}

/*
 * The handle may be freed already: a thread whose wait a token has canceled may have returned before this
 * wake, and closed the handle.  So use only the address of the slot.  A wake on an address where no thread
 * sleeps does nothing.
 */
static void wake_slot(const struct fs_slot *slot)
{
    FS_STEP("wake");
    fs_shared_wake(&slot->state, INT_MAX);
}

static void wake_all(const struct fs_shared_section *in)
{
    for (int i = 0; i < in->wakes && i < FS_WAKES; i++)
        wake_slot(&in->slots[in->woken[i]]);
    for (int i = 0; in->wakes > FS_WAKES && i < FAIRSEM_SHARED_MAX; i++) {
        if ((in->more[i / 64] >> i % 64 & 1) != 0)
            wake_slot(&in->slots[i]);
    }
}

void fs_shared_will_wake(struct fs_shared_section *in, int slot)
{
    if (in->wakes == 0)
        in->slots = in->handle->slots;
    if (in->wakes == FS_WAKES)
        memset(in->more, 0, sizeof in->more);
    if (in->wakes < FS_WAKES)
        in->woken[in->wakes] = (int16_t)slot;
    else
        in->more[slot / 64] |= UINT64_C(1) << slot % 64;
    in->wakes++;
}

/* Wake the last two waiters: they may have become the detectors (R4), which sleep for shorter times. */
static void wake_detectors(struct fs_shared_section *in)
{
    int last[2];

    for (int i = fs_queue_last_two(in, last); i > 0; i--)
        fs_shared_will_wake(in, last[i - 1]);
}

void fs_shared_section_repair(struct fs_shared_section *in, const struct fs_dead *dead)
{
    fs_shared_repair(in, dead);
    if (in->error == 0)
        wake_detectors(in);
}

void fs_shared_dequeue(struct fs_shared_section *in, int slot)
{
    bool was_detector = fs_queue_is_detector(in->handle, slot);

    fs_queue_dequeue(in, slot);
    fs_flow_left(in, slot);
    if (was_detector)
        wake_detectors(in);
}

/* Move an aged request to the front, and close gaps between tags: the front may change. */
static void update_order(struct fs_shared_section *in)
{
    if (in->handle->aging_ns != 0 && fs_queue_note_age(in, fs_shared_section_now(in)))
        wake_detectors(in);
    if (in->gaps && fs_flow_close_gaps(in))
        wake_detectors(in);
}

/* ---- Slots that their threads have abandoned: see fs_slot_state ---- */

void fs_shared_clean_up_abandoned(struct fs_shared_section *in, int slot)
{
    int state = FS_GET(&in->handle->slots[slot].state);

    if (fs_is_abandoned_in_queue(state))
        fs_shared_dequeue(in, slot);
    if (fs_is_abandoned(state))
        (void)fs_shared_clean_up(in, slot);
}

/*
 * A thread first abandons its slot, then increments `cleanup_pending`.  An increment during our search makes
 * the exchange fail, and the next section searches again.  `cleanup_pending` is cleared after all units are
 * returned: until then is_refused() in shared_acquire.c refuses no request.
 */
static void clean_up_all(struct fs_shared_section *in)
{
    fairsem_shared_t *h = in->handle;
    int pending = atomic_load_explicit(&h->segment->cleanup_pending, memory_order_acquire);

    if (pending == 0)
        return;
    for (int i = 0; i < h->max_waiters; i++)
        fs_shared_clean_up_abandoned(in, i);
    if (in->error != 0)
        return;
    FS_STEP("cleaned up");
    atomic_compare_exchange_strong_explicit(&h->segment->cleanup_pending, &pending, 0,
                                            memory_order_relaxed, memory_order_relaxed);
}

/* Load the numbers of units, and check that they add up (R8).  CONTENDED stops the fast paths. */
static void load_count(struct fs_shared_section *in)
{
    const fairsem_shared_t *h = in->handle;
    struct fs_segment *s = h->segment;

    FS_STEP("set CONTENDED");
    in->available = fs_word_lock(&s->word);
    if (!h->undo) {
        in->total = in->high_water = h->capacity;
        in->available = fs_checked(in, in->available, 0, h->capacity);
        return;
    }
    in->high_water = fs_checked(in, FS_GET(&s->high_water), 0, FAIRSEM_MAX_UNITS);
    in->total = fs_checked(in, FS_GET(&s->total), 0, in->high_water);
    /* As long as a repair is pending, the numbers need not add up. */
    if (FS_GET(&s->unfinished) == 0 && in->available != in->total - fs_load_units(in, &s->outstanding))
        fs_damaged(in);
}

/* Repair, and reap `process` (which may be FS_NOBODY) if it is dead. */
static void repair_without(struct fs_shared_section *in, int process)
{
    struct fs_dead dead;

    dead.count = 0;
    if (process != FS_NOBODY)
        fs_dead_add(&dead, process, FS_GET(&in->handle->processes[process].incarnation));
    fs_shared_section_repair(in, &dead);
}

int fs_shared_section_begin(struct fs_shared_section *in, fairsem_shared_t *h,
                            enum fs_lock_mode mode, const struct fs_deadline *deadline)
{
    struct fs_segment *s = h->segment;
    int dead_owner = FS_NOBODY, error = fs_shared_lock(h, mode, deadline, &dead_owner);

    if (error == ENOTRECOVERABLE)
        return fs_shared_set_damaged(h);
    if (error != 0 && error != EOWNERDEAD)
        return error;
    if (error == EOWNERDEAD) {
        /*
         * Acquire order: we must see what threads wrote before they released the units in the word.  If the
         * dead owner has locked the word, fs_word_lock() loads it with relaxed order.
         */
        (void)atomic_fetch_or_explicit(&s->word, FS_CONTENDED, memory_order_acquire);
        /* If we die before the repair, the next process must repair. */
        FS_PUT(&s->unfinished, 1);
        FS_COUNT_UP(&s->count.repairs, 1);
    }
    in->handle = h;
    in->error = 0;
    in->wakes = 0;
    in->gaps = false;
    in->now_ns = 0;
    load_count(in);
    if (FS_GET(&s->damaged) != 0)
        fs_note_error(in, ENOTRECOVERABLE);
    else if (FS_GET(&s->unfinished) != 0)
        repair_without(in, dead_owner);
    if (in->error == 0) {
        clean_up_all(in);
        update_order(in);
    }
    return in->error != 0 ? fs_shared_section_unlock(in) : 0;
}

int fs_shared_section_unlock(struct fs_shared_section *in)
{
    fs_shared_unlock(in->handle);
    wake_all(in);
    return in->error;
}

/* ---- The grant loop ---- */

static void probe_grant(const fairsem_shared_t *h, const struct fs_slot *slot, int64_t waited_ns)
{
    if (FS_HAS_PROBES) {
        int process = FS_GET(&slot->process);

        if (fs_index_valid(process, h->max_processes))
            fs_probe_shared_grant(h, h->file.inode, FS_GET(&slot->units), FS_GET(&slot->seq),
                                  waited_ns, FS_GET(&h->processes[process].pid));
    }
}

static void count_grant(fairsem_shared_t *h, int slot, int64_t now, bool passes)
{
    struct fs_shared_counters *count = &h->segment->count;
    int64_t waited = fs_since(now, FS_GET(&h->slots[slot].enqueued_ns));

    FS_COUNT_UP(&count->grants, 1);
    if (passes)
        FS_COUNT_UP(&count->aged, 1);
    FS_COUNT_UP(&count->lengths[fs_wait_bucket(waited)], 1);
    FS_COUNT_UP(&count->wait_ns_total, waited);
    if (waited > FS_GET(&count->wait_ns_max))
        FS_PUT(&count->wait_ns_max, waited);
    probe_grant(h, &h->slots[slot], waited);
}

/* Grant the front waiter, which fits, and whose process is alive; or free the slot if it has been abandoned. */
static void grant_front(struct fs_shared_section *in, int front, int64_t units)
{
    fairsem_shared_t *h = in->handle;
    struct fs_slot *slot = &h->slots[front];
    int64_t now = fs_shared_section_now(in);
    bool passes = fs_queue_front_passes(in, front);
    int core = FS_GET(&slot->core);

    fs_queue_dequeue(in, front);
    FS_PUT(&slot->granted_ns, now);
    FS_PUT(&slot->core, (int16_t)(h->spins ? fs_cpu_current() : FS_NO_CORE));
    if (!fs_shared_grant_slot(in, front, units)) {
        fs_flow_left(in, front);
        (void)fs_shared_clean_up(in, front);
        return;
    }
    fs_flow_granted(in, front, units);
    count_grant(h, front, now, passes);
    fs_shared_awake_granted(h, front, core, now);
    fs_shared_will_wake(in, front);
}

/* R4: a process whose waiter was enqueued a moment ago was alive at that time, and is not checked again. */
static bool seems_alive(struct fs_shared_section *in, int front, int process)
{
    int64_t enqueued_ns = FS_GET(&in->handle->slots[front].enqueued_ns);

    return !fs_long_ago(fs_shared_section_now(in), enqueued_ns, FS_SEEN_NS)
           || fs_shared_check_alive(in, process);
}

/* Returns false if there is no front waiter, if it does not fit, or after an error. */
static bool grant_or_remove_front(struct fs_shared_section *in)
{
    const struct fs_slot *slots = in->handle->slots;
    int64_t units;
    int front, state, process;
    bool alive;

    update_order(in);
    front = fs_queue_front(in);
    if (front == FS_NOBODY)
        return false;
    state = FS_GET(&slots[front].state);
    if (fs_is_abandoned_in_queue(state)) {
        fs_shared_clean_up_abandoned(in, front);
        return true;
    }
    if (state != FS_SLOT_WAITING)
        fs_damaged(in);
    process = fs_load_process(in, front);
    units = fs_load_units(in, &slots[front].units);
    if (units > in->available)
        return false;
    alive = seems_alive(in, front, process);
    /* EBADF: our descriptor was closed.  Neither grant nor reap; other processes go on with the segment. */
    if (in->error != 0)
        return false;
    if (alive)
        grant_front(in, front, units);
    else
        repair_without(in, process);
    return true;
}

/*
 * Each iteration dequeues at least one slot, with one exception: before we reap a dead process, another
 * process may take its liveness lock.  Then the dead process seems to be alive (R3), and the next iteration
 * grants the slot of the dead process.
 */
void fs_shared_section_grant(struct fs_shared_section *in)
{
    int turns = 0;

    while (in->error == 0 && grant_or_remove_front(in)) {
        if (turns++ > 2 * in->handle->max_waiters)
            fs_damaged(in);
    }
}

int fs_shared_section_end(struct fs_shared_section *in)
{
    struct fs_segment *s = in->handle->segment;
    int64_t word;

    fs_shared_section_grant(in);
    word = FS_GET(&s->word);
    if (!in->handle->undo && in->error == 0 && FS_GET(&s->head) == FS_NOBODY) {
        FS_STEP("clear CONTENDED");
        /* While CONTENDED is set, only we change the word, unless the segment is damaged. */
        atomic_compare_exchange_strong_explicit(&s->word, &word, word & ~FS_CONTENDED,
                                                memory_order_acq_rel, memory_order_relaxed);
        /*
         * A process that finds damage without the lock stores `damaged`, then sets CONTENDED.  If the
         * exchange has cleared that CONTENDED, its acquire order makes us see `damaged`.
         */
        if (FS_GET(&s->damaged) != 0)
            fs_damaged(in);
    }
    return fs_shared_section_unlock(in);
}

int fs_shared_section_end_with(struct fs_shared_section *in, int result)
{
    int error = fs_shared_section_result(in, result), at_end = fs_shared_section_end(in);

    return error != 0 ? error : at_end;
}
