/* SPDX-License-Identifier: MIT */
/*
 * shared_acquire.c - an acquire after the fast path: take units in a section, or enqueue a request; and
 * check for dead processes, which may hold the units (R4).
 */
#include "shared/shared_acquire.h"

#include "shared/attach.h"
#include "shared/change.h"
#include "shared/shared_flow.h"
#include "shared/liveness.h"
#include "shared/shared_queue.h"
#include "shared/shared_wait.h"
#include "shared/detect.h"
#include "tools/probes.h"

#include <errno.h>

/* ---- In the section ---- */

static void count_wait(fairsem_shared_t *h)
{
    struct fs_shared_counters *count = &h->segment->count;
    int64_t waiters = FS_GET(&h->segment->waiters);

    FS_COUNT_UP(&count->waits, 1);
    if (waiters > FS_GET(&count->waiters_max))
        FS_PUT(&count->waiters_max, waiters);
}

static void fill_in_slot(const struct fs_shared_wait *wait, struct fs_slot *slot)
{
    FS_PUT(&slot->process, FS_GET(&wait->handle->self));
    FS_PUT(&slot->units, wait->units);
    FS_PUT(&slot->seq, wait->seq);
    FS_PUT(&slot->priority, wait->priority);
    FS_PUT(&slot->enqueued_ns, wait->enqueued_ns);
    FS_PUT(&slot->granted_ns, 0);
    FS_PUT(&slot->aged, 0);
}

/* Enqueue the request.  Returns FS_NOT_OVER, or ENOBUFS if all slots are in use. */
static int shared_enqueue(struct fs_shared_wait *wait, struct fs_shared_section *in)
{
    fairsem_shared_t *h = wait->handle;
    const int index = fs_slot_find_free(h);
    int next;

    if (index == FS_NOBODY)
        return ENOBUFS;
    wait->enqueued_ns = fs_shared_section_now(in);
    wait->seq = fs_load_seq(in, &h->segment->next_seq);
    FS_PUT(&h->segment->next_seq, wait->seq + 1);
    fill_in_slot(wait, &h->slots[index]);
    if (h->aging_ns == 0)
        fs_flow_tag(in, index, &wait->share);
    FS_COMMIT(in, &h->slots[index].state, FS_SLOT_WAITING);
    FS_PUT(&wait->slot, index);
    fs_queue_enqueue(in, index);
    next = fs_shared_awake_begin(&wait->awake, in, index, wait->units, wait->enqueued_ns);
    if (next != FS_NOBODY)
        fs_shared_will_wake(in, next);
    count_wait(h);
    fs_probe_shared_wait_begin(h, h->file.inode, wait->units, wait->seq, wait->priority);
    return FS_NOT_OVER;
}

/*
 * Does this process keep its units over exec?  Such a process must not wait: its liveness lock outlasts the
 * exec, so nobody would free the slot of a thread that the exec has ended.
 */
static bool keeps(const fairsem_shared_t *h)
{
    return FS_GET(&h->processes[FS_GET(&h->self)].keeps) != 0;
}

/* Returns the result, or FS_NOT_OVER if the request has been enqueued. */
static int shared_take_or_enqueue(struct fs_shared_wait *wait, struct fs_shared_section *in)
{
    /* While the total is 0 (a pause), a request waits if a former total was large enough for it. */
    if (wait->units > (in->total != 0 ? in->total : in->high_water))
        return E2BIG;
    if (wait->units <= in->available && fs_queue_leads(in, wait->priority)) {
        fs_shared_take(in, wait->units);
        return 0;
    }
    if (wait->refusal != 0)
        return wait->refusal;
    return keeps(wait->handle) ? EBUSY : shared_enqueue(wait, in);
}

static int enter_and_take(struct fs_shared_wait *wait)
{
    struct fs_shared_section in;
    int result = fs_shared_wait_enter(wait, &in);

    if (result != 0)
        return result;
    result = wait->reason != 0 ? wait->reason : shared_take_or_enqueue(wait, &in);
    if (result == ENOBUFS && wait->checked)
        FS_COUNT_UP(&wait->handle->segment->count.refused, 1);
    result = fs_shared_section_result(&in, result);
    /* Ignore an error here: the thread's next section returns it again. */
    (void)fs_shared_section_end(&in);
    return result;
}

/* ---- Checking for dead processes ---- */

/* R4: before a refusal, reap dead processes, which may hold the units or fill the queue, and try again. */
static int take_again(struct fs_shared_wait *wait, int result)
{
    fairsem_shared_t *h = wait->handle;
    int error;

    if (result == wait->refusal && !fs_detect_begin(h, fs_detect_call_ns(h)))
        return result;
    error = fs_shared_wait_check(wait, result == ENOBUFS ? FS_EVERYBODY : FS_THOSE_OF_INTEREST);
    if (error != 0)
        return error;
    wait->checked = true;
    return enter_and_take(wait);
}

static int take_or_check(struct fs_shared_wait *wait)
{
    fairsem_shared_t *h = wait->handle;
    int result = enter_and_take(wait), error;

    if (result == ENOBUFS || result == EBUSY || (result != 0 && result == wait->refusal))
        result = take_again(wait, result);
    if (result != FS_NOT_OVER)
        return result;
    /* R4: check processes only after the enqueue, so that meanwhile no other request gets ahead of this one. */
    error = fs_detect_begin(h, fs_detect_call_ns(h)) ? fs_detect_dead_try(h) : fs_shared_check_file(h);
    return error != 0 ? error : FS_NOT_OVER;
}

/*
 * Can a request be refused without the lock?  Only if no pending repair or cleanup could free units, and
 * the last check of processes is recent.  If each refusal took the lock, processes that poll would keep the
 * lock from processes that release units.
 */
static bool is_refused(fairsem_shared_t *h, int64_t n)
{
    const struct fs_segment *segment = h->segment;

    return n <= fs_shared_total(h)
           && n > fs_word_available(atomic_load_explicit(&segment->word, memory_order_acquire))
           && FS_GET(&segment->damaged) == 0 && FS_GET(&segment->unfinished) == 0
           && FS_GET(&segment->cleanup_pending) == 0
           && !fs_long_ago(fs_now_ns(), FS_GET(&segment->checked_ns), fs_detect_call_ns(h));
}

int fs_shared_acquire(fairsem_shared_t *h, int64_t n, const fairsem_wait_t *how, int refusal,
                      const struct fs_deadline *deadline)
{
    struct fs_shared_wait wait;
    int result = fs_shared_wait_begin(&wait, h, deadline, how->token);

    if (result != 0)
        return result;
    wait.units = n;
    wait.priority = how->priority;
    wait.share = (struct fs_shared_share){ .key = how->share_key, .weight = how->share_weight };
    wait.refusal = refusal;
    /* Go on after ETIMEDOUT (attaching would have to wait): fs_shared_enter() tries again to attach. */
    result = fs_shared_ensure_attached(h, FS_LOCK_TRY, NULL);
    if (result == 0 || result == ETIMEDOUT)
        result = fs_shared_look_at_file(h);
    if (result == 0)
        result = refusal != 0 && is_refused(h, n) ? refusal : take_or_check(&wait);
    if (result == ETIMEDOUT && FS_GET(&wait.reason) != 0)
        result = FS_GET(&wait.reason);
    result = fs_shared_wait_for(&wait, result);
    return result == ETIMEDOUT && refusal != 0 ? refusal : result;
}
