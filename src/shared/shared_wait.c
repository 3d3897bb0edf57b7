/* SPDX-License-Identifier: MIT */
/* shared_wait.c - how a thread waits in the queue between processes; see shared_wait.h. */
#include "cleanup.h"            /* before <pthread.h> */
#include "shared/shared_wait.h"

#include "cpu.h"
#include "deferred.h"
#include "invariant.h"
#include "probes.h"
#include "shared/attach.h"
#include "shared/change.h"
#include "shared/life.h"
#include "shared/repair.h"
#include "shared/shared_queue.h"

#include <errno.h>
#include <pthread.h>

#define INSPECT_NS 100000000       /* R4, R6 */

/* The lock is held, and the slot still belongs to this wait. */
static void probe_end(const struct fs_shared_wait *wait, bool expired)
{
    if (FS_HAS_PROBES) {
        const fairsem_shared_t *h = wait->handle;
        int64_t units = FS_GET(&h->slots[wait->slot].units);
        int64_t waited_ns = fs_since(fs_now_ns(), wait->joined_ns);

        if (expired)
            fs_probe_shared_timeout(h, h->file.inode, units, wait->seq, waited_ns);
        else
            fs_probe_shared_cancel(h, h->file.inode, units, wait->seq, waited_ns);
    }
}

/* ---- A token cancels it ---- */

/* Is the slot still the one that we joined with, and in this state?  The lock is held. */
static bool is_in(const struct fs_shared_wait *wait, enum fs_slot_state state)
{
    const fairsem_shared_t *h = wait->handle;
    const struct fs_slot *slot = &h->slots[wait->slot];

    return FS_GET(&slot->state) == (int)state && FS_GET(&slot->seq) == wait->seq
           && FS_GET(&slot->process) == FS_GET(&h->self);
}

/* A token's cancel and the end of the wait may race: the first of the two stores `reason`. */
static bool decide(struct fs_shared_wait *wait, int reason)
{
    int undecided = 0;

    return atomic_compare_exchange_strong_explicit(&wait->reason, &undecided, reason,
                                                   memory_order_relaxed, memory_order_relaxed);
}

/* True: it is canceled.  The lock is held. */
static bool cancel_inside(struct fs_shared_wait *wait, int reason, struct fs_section *section)
{
    fairsem_shared_t *h = wait->handle;

    if (wait->slot == FS_NOBODY)
        return decide(wait, reason);
    if (!is_in(wait, FS_SLOT_WAITING) || !decide(wait, reason))
        return false;
    /* If the queue is damaged, the waiting thread will also find that. */
    if (fs_queue_leave(h, wait->slot) == 0) {
        FS_COUNT_UP(&h->segment->count.cancels, 1);
        probe_end(wait, false);
        FS_COMMIT(&h->slots[wait->slot].state, FS_SLOT_CANCELED);
        fs_section_will_wake(h, section, wait->slot);
    }
    return true;
}

/* After the unlock the wait may be gone. */
static bool cancel(struct fs_cancelable *by_token, int reason, struct fs_deferred *deferred)
{
    void *outer = (char *)by_token - offsetof(struct fs_shared_wait, by_token);
    struct fs_shared_wait *wait = outer;
    fairsem_shared_t *h = wait->handle;
    struct fs_section section;
    bool canceled;

    (void)deferred;
    if (fs_shared_enter(h, &section) != 0)
        return false;       /* the waiting thread will get the same error */
    canceled = cancel_inside(wait, reason, &section);
    fs_section_end(h, &section);
    return canceled;
}

int fs_shared_wait_begin(struct fs_shared_wait *wait, fairsem_shared_t *h,
                         const struct fs_deadline *deadline, const fairsem_token_t *token)
{
    /* Member by member: clearing the whole costs more than an acquire that need not wait. */
    wait->handle = h;
    wait->deadline = deadline;
    wait->slot = FS_NOBODY;
    atomic_init(&wait->reason, 0);
    wait->result = FS_NOT_OVER;
    wait->by_token.token = NULL;
    if (token == NULL)
        return 0;
    wait->by_token.token = fs_token_inside(token);
    wait->by_token.cancel = cancel;
    return fs_token_attach(&wait->by_token);
}

/* ---- Join ---- */

static void count_wait(fairsem_shared_t *h)
{
    struct fs_shared_counters *count = &h->segment->count;
    int64_t waiters = FS_GET(&h->segment->waiters);

    FS_COUNT_UP(&count->waits, 1);
    if (waiters > FS_GET(&count->waiters_max))
        FS_PUT(&count->waiters_max, waiters);
}

static void fill_in(struct fs_shared_wait *wait, struct fs_slot *slot, int64_t n, int priority,
                    int64_t now)
{
    wait->joined_ns = now;
    wait->core = wait->handle->spins ? fs_cpu_current() : FS_NO_CORE;
    FS_PUT(&slot->process, FS_GET(&wait->handle->self));
    FS_PUT(&slot->units, n);
    FS_PUT(&slot->seq, wait->seq);
    FS_PUT(&slot->priority, priority);
    FS_PUT(&slot->joined_ns, now);
    FS_PUT(&slot->granted_ns, 0);
}

/*
 * What is likely to pay off?  learn() maintains the doubts, and the granter the time of a turn.  No
 * thread is woken early here.
 */
static enum fs_spin_kind begin_awake(const struct fs_shared_wait *wait, int64_t n)
{
    const fairsem_shared_t *h = wait->handle;
    const struct fs_stay_awake *doubts = &h->segment->doubts;

    if (!h->spins)
        return FS_SPIN_NOT;
    if (wait->as_head && doubts->as_head < FS_DOUBT_HIGH
        && fs_cores_suffice(h->unbounded ? n : h->capacity, n))
        return FS_SPIN_AS_HEAD;
    if (!fs_yields_pay(wait->joined_ns))
        return FS_SPIN_NOT;
    if (wait->as_head)
        return doubts->as_head_here < FS_DOUBT_HIGH ? FS_YIELD_AS_HEAD : FS_SPIN_NOT;
    return fs_turn_is_near(doubts, FS_GET(&h->segment->waiters)) ? FS_YIELD_IN_QUEUE : FS_SPIN_NOT;
}

int fs_shared_wait_join(struct fs_shared_wait *wait, struct fs_section *section, int64_t n,
                        int priority)
{
    fairsem_shared_t *h = wait->handle;
    const int index = fs_slot_find_free(h);
    int error;

    if (index == FS_NOBODY) {
        FS_COUNT_UP(&h->segment->count.refused, 1);
        return ENOBUFS;
    }
    wait->seq = FS_GET(&h->segment->next_seq);
    if (wait->seq < 0 || wait->seq == INT64_MAX)
        return fs_shared_is_damaged(h);
    FS_PUT(&h->segment->next_seq, wait->seq + 1);
    fill_in(wait, &h->slots[index], n, priority, fs_section_now(section));
    FS_COMMIT(&h->slots[index].state, FS_SLOT_WAITING);
    wait->slot = index;
    error = fs_queue_join(h, index);
    if (error != 0)
        return error;
    wait->as_head = FS_GET(&h->segment->head) == index;
    wait->spin = begin_awake(wait, n);
    count_wait(h);
    fs_probe_shared_wait_begin(h, h->file.inode, n, wait->seq, priority);
    return 0;
}

/* ---- Leave ---- */

/*
 * Learn whether staying awake would have paid off: see stay_awake.h.  In the core the granter
 * learns.  Here the waiter does, because the granter's process may never have had a thread woken,
 * and then does not know how long a wake-up takes.
 */
static void learn(struct fs_shared_wait *wait)
{
    fairsem_shared_t *h = wait->handle;
    const struct fs_slot *slot = &h->slots[wait->slot];
    struct fs_stay_awake doubts = h->segment->doubts;
    int64_t head_ns = fs_since(FS_GET(&slot->granted_ns), wait->joined_ns);
    bool same_core = FS_GET(&slot->core) == wait->core;

    if (!h->spins || !wait->as_head)
        return;
    fs_stay_awake_learn(&doubts, true, head_ns, same_core ? fs_cpu_current() : FS_NO_CORE);
    h->segment->doubts = doubts;
}

/* Why the thread takes the lock.  A granted slot is received, except in ABANDON. */
enum ending { RECEIVE, EXPIRE, ABANDON };

static int leave_queue(struct fs_shared_wait *wait, enum ending ending)
{
    fairsem_shared_t *h = wait->handle;
    struct fs_shared_counters *count = &h->segment->count;
    int error = fs_queue_leave(h, wait->slot);

    if (error != 0)
        return error;
    fs_shared_free_slot(h, wait->slot);
    if (ending == EXPIRE)
        FS_COUNT_UP(&count->timeouts, 1);
    else
        FS_COUNT_UP(&count->cancels, 1);
    probe_end(wait, ending == EXPIRE);
    return ending == EXPIRE ? ETIMEDOUT : ECANCELED;
}

static int leave_granted(struct fs_shared_wait *wait, enum ending ending)
{
    fairsem_shared_t *h = wait->handle;

    if (ending == ABANDON)
        return fs_shared_return_grant(h, wait->slot);
    learn(wait);
    return fs_shared_receive(h, wait->slot, FS_GET(&h->slots[wait->slot].granted_ns));
}

/* Take the lock; leave if the wait has ended or must end.  The result, or FS_NOT_OVER. */
static int come_and_leave(struct fs_shared_wait *wait, enum ending ending)
{
    fairsem_shared_t *h = wait->handle;
    struct fs_section section;
    int error = fs_shared_enter(h, &section), result = FS_NOT_OVER;

    if (error != 0)
        return error;
    if (is_in(wait, FS_SLOT_GRANTED)) {
        result = leave_granted(wait, ending);
    } else if (is_in(wait, FS_SLOT_CANCELED)) {
        fs_shared_free_slot(h, wait->slot);
        result = FS_GET(&wait->reason);
    } else if (!is_in(wait, FS_SLOT_WAITING)) {
        result = EBADF;     /* others took us for dead: our byte was free */
    } else if (ending != RECEIVE) {
        result = leave_queue(wait, ending);
    }
    error = fs_section_end(h, &section);
    /* Units that we have received are ours, even if granting the next in the queue has failed. */
    return result == FS_NOT_OVER && error != 0 ? error : result;
}

/* The lock is held.  R4: must this waiter check all processes? */
static int should_inspect(const struct fs_shared_wait *wait, struct fs_section *section, bool *yes)
{
    fairsem_shared_t *h = wait->handle;
    int head, process, error = fs_queue_head(h, &head);
    bool alive = true;

    *yes = head == wait->slot
           || fs_long_ago(fs_section_now(section), FS_GET(&h->segment->inspected_ns), INSPECT_NS);
    if (error != 0 || *yes || head == FS_NOBODY)
        return error;
    error = fs_slot_process(h, head, &process);
    if (error == 0)
        error = fs_shared_alive(h, process, &alive);
    *yes = !alive;
    return error;
}

/*
 * R4: the head of the queue checks all processes.  The others check whether the head lives, and all
 * processes if the head does not, because its process is stopped.
 */
static int inspect(struct fs_shared_wait *wait)
{
    fairsem_shared_t *h = wait->handle;
    struct fs_section section;
    int error = fs_shared_enter(h, &section);
    bool all;

    if (error != 0)
        return error;
    error = should_inspect(wait, &section, &all);
    if (error == 0 && all)
        error = fs_shared_inspect(h);
    return error == 0 ? fs_section_end(h, &section) : fs_section_fail(h, &section, error);
}

/* ---- Wait ---- */

static void forget_token(struct fs_shared_wait *wait)
{
    if (wait->by_token.token != NULL && decide(wait, FS_OVER))
        fs_token_detach(&wait->by_token);
}

static void abandon(void *arg)
{
    struct fs_shared_wait *wait = arg;

    come_and_leave(wait, ABANDON);
    forget_token(wait);
}

/* Sleep in the queue, and look for the dead (R4).  Returns the result, or FS_NOT_OVER. */
static int sleep_and_inspect(struct fs_shared_wait *wait, int64_t *inspected_ns)
{
    struct fs_slot *slot = &wait->handle->slots[wait->slot];
    int64_t ns = wait->deadline != NULL ? fs_deadline_rest(wait->deadline, INSPECT_NS) : INSPECT_NS;
    int error;

    if (ns == 0)
        return come_and_leave(wait, EXPIRE);
    FS_STEP("sleep");
    fs_shared_sleep(&slot->state, FS_SLOT_WAITING, ns, true);
    if (fs_slot_state_of(slot) != FS_SLOT_WAITING || fs_now_ns() - *inspected_ns < INSPECT_NS)
        return FS_NOT_OVER;
    error = inspect(wait);
    *inspected_ns = fs_now_ns();
    return error != 0 ? error : FS_NOT_OVER;
}

static void wait_until_over(struct fs_shared_wait *wait)
{
    fairsem_shared_t *h = wait->handle;
    struct fs_slot *slot = &h->slots[wait->slot];
    int64_t inspected_ns = wait->joined_ns, granted_ns;
    bool slept = false;

    if (wait->spin != FS_SPIN_NOT && !fs_yields_past(wait->spin, wait->deadline))
        fs_spin(&slot->state, FS_SLOT_WAITING, wait->spin, inspected_ns);
    while (wait->result == FS_NOT_OVER) {
        if (fs_slot_state_of(slot) == FS_SLOT_WAITING) {
            slept = true;
            wait->result = sleep_and_inspect(wait, &inspected_ns);
            continue;
        }
        granted_ns = FS_GET(&slot->granted_ns);
        if (slept && h->spins && granted_ns >= wait->joined_ns && granted_ns <= fs_now_ns())
            fs_spin_woken(granted_ns);
        wait->result = come_and_leave(wait, RECEIVE);
    }
}

int fs_shared_wait_for(struct fs_shared_wait *wait)
{
    if (wait->result == FS_NOT_OVER) {
        pthread_cleanup_push(abandon, wait);
        wait_until_over(wait);
        pthread_cleanup_pop(0);
    }
    forget_token(wait);
    return wait->result;
}
