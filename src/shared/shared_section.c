/* SPDX-License-Identifier: MIT */
/* shared_section.c - lock, grant loop, unlock, wake; see shared_section.h. */
#include "shared/shared_section.h"

#include "cpu.h"
#include "deadline.h"
#include "probes.h"
#include "shared/change.h"
#include "shared/life.h"
#include "shared/repair.h"
#include "shared/shared_queue.h"

#include <errno.h>
#include <limits.h>

void (*fs_shared_step)(const char *what);

int64_t fs_shared_section_now(struct fs_shared_section *section)
{
    if (section->now_ns == 0)
        section->now_ns = fs_now_ns();
    return section->now_ns;
}

/*
 * The handle is not used any more: a thread whose wait a token has canceled may have seen that, and
 * closed it.  A wake on an address where no thread sleeps does nothing.
 */
static void wake_all(struct fs_shared_section *section)
{
    for (int i = 0; i < section->wakes; i++) {
        FS_STEP("wake");
        fs_shared_wake(section->words[i], INT_MAX);
    }
    section->wakes = 0;
}

void fs_shared_will_wake(fairsem_shared_t *h, struct fs_shared_section *section, int slot)
{
    if (section->wakes == FS_WAKES)
        wake_all(section);
    section->words[section->wakes++] = &h->slots[slot].state;
}

/* The last two, who keep watch now (R4), may not know that. */
static void wake_watch(fairsem_shared_t *h, struct fs_shared_section *section)
{
    int last[2];

    for (int i = fs_queue_last_two(h, last); i > 0; i--)
        fs_shared_will_wake(h, section, last[i - 1]);
}

/* Those who kept watch may be among the dead. */
int fs_shared_section_repair(fairsem_shared_t *h, struct fs_shared_section *section,
                             const struct fs_dead *dead)
{
    int error = fs_shared_repair(h, dead);

    if (error == 0)
        wake_watch(h, section);
    return error;
}

static int note_age(fairsem_shared_t *h, struct fs_shared_section *section)
{
    bool watched;
    int error = fs_queue_note_age(h, fs_shared_section_now(section), &watched);

    if (error == 0 && watched)
        wake_watch(h, section);
    return error;
}

int fs_shared_take_out(fairsem_shared_t *h, struct fs_shared_section *section, int slot)
{
    bool watched = fs_queue_keeps_watch(h, slot);
    int error = fs_queue_leave(h, slot);

    if (error == 0 && watched)
        wake_watch(h, section);
    return error;
}

/* ---- Slots that were left to us: see fs_slot_state ---- */

/* It is not in the queue any more. */
static int free_left(fairsem_shared_t *h, int slot)
{
    FS_COUNT_UP(&h->segment->count.timeouts, 1);
    fs_shared_free_slot(h, slot);
    return 0;
}

static int settle_slot(fairsem_shared_t *h, struct fs_shared_section *section, int slot)
{
    int error;

    switch (FS_GET(&h->slots[slot].state)) {
    case FS_SLOT_TO_UNLINK:
        error = fs_shared_take_out(h, section, slot);
        return error != 0 ? error : free_left(h, slot);
    case FS_SLOT_TO_RETURN:
        return fs_shared_return_grant(h, slot);
    case FS_SLOT_TO_FREE:
        fs_shared_free_slot(h, slot);
        return 0;
    default:
        return 0;
    }
}

/*
 * A thread first changes the state of its slot, then `unsettled`: so none is overlooked.  It is cleared
 * last: until then nobody is refused because of units that wait to be returned.
 */
static int settle(fairsem_shared_t *h, struct fs_shared_section *section)
{
    int left = atomic_load_explicit(&h->segment->unsettled, memory_order_acquire), error = 0;

    for (int i = 0; i < h->max_waiters && error == 0; i++)
        error = settle_slot(h, section, i);
    FS_STEP("settled");
    if (error == 0)
        atomic_compare_exchange_strong_explicit(&h->segment->unsettled, &left, 0,
                                                memory_order_relaxed, memory_order_relaxed);
    return error;
}

/* The lock is held.  Repair, and drop this process, if any, if it is dead. */
static int repair_without(fairsem_shared_t *h, struct fs_shared_section *section, int process)
{
    struct fs_dead dead;

    dead.count = 0;
    if (process != FS_NOBODY)
        fs_dead_add(&dead, process, FS_GET(&h->processes[process].incarnation));
    return fs_shared_section_repair(h, section, &dead);
}

/* The lock is held.  Setting SLOW keeps others from changing the count. */
static int open_up(fairsem_shared_t *h, struct fs_shared_section *section, int dead_owner)
{
    struct fs_segment *segment = h->segment;
    int64_t available;
    int error = 0;

    if (!h->undo) {
        FS_STEP("set SLOW");
        atomic_fetch_or_explicit(&segment->word, FS_SLOW, memory_order_acquire);
    }
    if (FS_GET(&segment->damaged) != 0)
        return ENOTRECOVERABLE;
    if (FS_GET(&segment->unfinished) != 0)
        error = repair_without(h, section, dead_owner);
    if (error == 0 && FS_GET(&segment->unsettled) != 0)
        error = settle(h, section);
    if (error == 0 && h->aging_ns != 0)
        error = note_age(h, section);
    return error != 0 ? error : fs_shared_load_available(h, &available);
}

int fs_shared_section_begin(fairsem_shared_t *h, const struct fs_deadline *deadline,
                            struct fs_shared_section *section)
{
    int dead_owner = FS_NOBODY, error = fs_shared_lock(h, deadline, &dead_owner);

    section->now_ns = 0;
    section->wakes = 0;
    if (error == ENOTRECOVERABLE)
        return fs_shared_is_damaged(h);
    if (error == EOWNERDEAD) {
        /* Whichever process comes next must repair, in case we die first. */
        FS_COMMIT(&h->segment->unfinished, 1);
        FS_COUNT_UP(&h->segment->count.repairs, 1);
    } else if (error != 0) {
        return error;
    }
    error = open_up(h, section, dead_owner);
    return error != 0 ? fs_shared_section_fail(h, section, error) : 0;
}

int fs_shared_section_fail(fairsem_shared_t *h, struct fs_shared_section *section, int error)
{
    fs_shared_unlock(h);
    wake_all(section);
    return error;
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
    int64_t waited = fs_since(now, FS_GET(&h->slots[slot].joined_ns));

    FS_COUNT_UP(&count->grants, 1);
    if (passes)
        FS_COUNT_UP(&count->aged, 1);
    FS_COUNT_UP(&count->wait_ns_total, waited);
    if (waited > FS_GET(&count->wait_ns_max))
        FS_PUT(&count->wait_ns_max, waited);
    probe_grant(h, &h->slots[slot], waited);
}

/* A turn: from the grant before, if the head was waiting then, and somebody is behind it. */
static void learn_turn(fairsem_shared_t *h, int head, int core, int64_t now)
{
    struct fs_awake awake = h->segment->awake;
    int64_t before = FS_GET(&h->segment->granted_ns);

    FS_PUT(&h->segment->granted_ns, now);
    /* The same time: a release that grants many. */
    if (before == now || FS_GET(&h->slots[head].joined_ns) > before
        || FS_GET(&h->segment->waiters) == 0)
        before = now;
    fs_awake_granted(&awake, core, fs_since(now, before));
    h->segment->awake = awake;
}

/* Grant the head, which fits and whose process lives, unless its thread has gone. */
static int grant_head(fairsem_shared_t *h, struct fs_shared_section *section, int head)
{
    int64_t now = fs_shared_section_now(section);
    bool passes = fs_queue_head_passes(h, head);
    int core = FS_GET(&h->slots[head].core), error = fs_queue_leave(h, head);

    if (error != 0)
        return error;
    FS_PUT(&h->slots[head].granted_ns, now);
    FS_PUT(&h->slots[head].core, (int16_t)(h->spins ? fs_cpu_current() : FS_NO_CORE));
    error = fs_shared_grant_slot(h, head);
    if (error == EAGAIN)
        return free_left(h, head);
    if (error != 0)
        return error;
    count_grant(h, head, now, passes);
    learn_turn(h, head, core, now);
    fs_shared_will_wake(h, section, head);
    return 0;
}

/* R4: no check if it joined a moment ago, because it was alive then. */
static int seems_alive(fairsem_shared_t *h, int head, int process, struct fs_shared_section *section,
                       bool *alive)
{
    int64_t joined_ns = FS_GET(&h->slots[head].joined_ns);

    *alive = !fs_long_ago(fs_shared_section_now(section), joined_ns, FS_SEEN_NS);
    return *alive ? 0 : fs_shared_alive(h, process, alive);
}

/* 0: granted, or dropped the dead; EAGAIN: the head does not fit, or the queue is empty. */
static int grant_or_drop_head(fairsem_shared_t *h, struct fs_shared_section *section)
{
    int64_t available, units;
    int head, process, state, error = 0;
    bool alive;

    if (h->aging_ns != 0)
        error = note_age(h, section);
    if (error == 0)
        error = fs_queue_head(h, &head);
    if (error != 0)
        return error;
    if (head == FS_NOBODY)
        return EAGAIN;
    state = FS_GET(&h->slots[head].state);
    if (state == FS_SLOT_TO_UNLINK)
        return settle_slot(h, section, head);
    if (state != FS_SLOT_WAITING)
        return fs_shared_is_damaged(h);
    error = fs_slot_process(h, head, &process);
    if (error == 0)
        error = fs_shared_load_units(h, head, &units);
    if (error == 0)
        error = fs_shared_load_available(h, &available);
    if (error != 0)
        return error;
    if (units > available)
        return EAGAIN;
    error = seems_alive(h, head, process, section, &alive);
    if (error != 0)
        return error;
    return alive ? grant_head(h, section, head) : repair_without(h, section, process);
}

/*
 * Each turn takes at least one slot out of the queue, except if a head seemed to be dead, and another
 * process has taken its entry since: then the next turn grants it.
 */
int fs_shared_section_grant(fairsem_shared_t *h, struct fs_shared_section *section)
{
    for (int i = 0; i <= 2 * h->max_waiters; i++) {
        int error = grant_or_drop_head(h, section);

        if (error != 0)
            return error == EAGAIN ? 0 : error;
    }
    return fs_shared_is_damaged(h);
}

int fs_shared_section_end(fairsem_shared_t *h, struct fs_shared_section *section)
{
    int error = fs_shared_section_grant(h, section);
    int64_t word = FS_GET(&h->segment->word);

    if (!h->undo && error == 0 && FS_GET(&h->segment->head) == FS_NOBODY) {
        FS_STEP("clear SLOW");
        /* No other process changes the word while SLOW is set, unless the segment is damaged. */
        atomic_compare_exchange_strong_explicit(&h->segment->word, &word, word & ~FS_SLOW,
                                                memory_order_acq_rel, memory_order_relaxed);
        /*
         * A process that found damage without the lock may have set SLOW where it was set.  Acquire
         * order, above: if the exchange undid that, `damaged` is seen here.
         */
        if (FS_GET(&h->segment->damaged) != 0)
            error = fs_shared_is_damaged(h);
    }
    return fs_shared_section_fail(h, section, error);
}
