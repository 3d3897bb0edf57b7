/* SPDX-License-Identifier: MIT */
/* place.c - how a thread waits in a line between processes; see place.h. */
#include "cleanup.h"            /* before <pthread.h> */
#include "shared/place.h"

#include "cpu.h"
#include "deferred.h"
#include "invariant.h"
#include "probes.h"
#include "shared/attach.h"
#include "shared/change.h"
#include "shared/life.h"
#include "shared/line.h"
#include "shared/repair.h"

#include <errno.h>
#include <pthread.h>

#define LOOK_NS 100000000       /* R4, R6 */

/* The lock is held, and the slot still belongs to this place. */
static void probe_end(const struct fs_place *place, bool expired)
{
    if (FS_HAS_PROBES) {
        const fairsem_shared_t *h = place->handle;
        int64_t units = FS_GET(&h->slots[place->slot].units);
        int64_t waited_ns = fs_since(fs_now_ns(), place->joined_ns);

        if (expired)
            fs_probe_shared_timeout(h, h->file.inode, units, place->seq, waited_ns);
        else
            fs_probe_shared_cancel(h, h->file.inode, units, place->seq, waited_ns);
    }
}

/* ---- A token cancels it ---- */

/* Is the slot still the one that we joined with, and in this state?  The lock is held. */
static bool is_in(const struct fs_place *place, enum fs_slot_state state)
{
    const fairsem_shared_t *h = place->handle;
    const struct fs_slot *slot = &h->slots[place->slot];

    return FS_GET(&slot->state) == (int)state && FS_GET(&slot->seq) == place->seq
           && FS_GET(&slot->process) == FS_GET(&h->self);
}

/* A token's cancel and the end of the wait may race: the first of the two stores `reason`. */
static bool decide(struct fs_place *place, int reason)
{
    int undecided = 0;

    return atomic_compare_exchange_strong_explicit(&place->reason, &undecided, reason,
                                                   memory_order_relaxed, memory_order_relaxed);
}

/* True: it is canceled.  The lock is held. */
static bool cancel_inside(struct fs_place *place, int reason, struct fs_visit *visit)
{
    fairsem_shared_t *h = place->handle;

    if (place->slot == FS_NOBODY)
        return decide(place, reason);
    if (!is_in(place, FS_SLOT_WAITING) || !decide(place, reason))
        return false;
    /* If the line is damaged, the waiting thread will also find that. */
    if (fs_line_remove(h, place->slot) == 0) {
        FS_COUNT_UP(&h->segment->count.cancels, 1);
        probe_end(place, false);
        FS_COMMIT(&h->slots[place->slot].state, FS_SLOT_CANCELED);
        fs_visit_will_wake(h, visit, place->slot);
    }
    return true;
}

/* After the unlock the place may be gone. */
static bool cancel(struct fs_cancelable *by_token, int reason, struct fs_deferred *deferred)
{
    struct fs_place *place = (struct fs_place *)(void *)((char *)by_token
                                                         - offsetof(struct fs_place, by_token));
    fairsem_shared_t *h = place->handle;
    struct fs_visit visit;
    bool canceled;

    (void)deferred;
    if (fs_shared_enter(h, &visit) != 0)
        return false;       /* the waiting thread will get the same error */
    canceled = cancel_inside(place, reason, &visit);
    fs_visit_end(h, &visit);
    return canceled;
}

int fs_place_begin(struct fs_place *place, fairsem_shared_t *h, const struct fs_deadline *deadline,
                   const fairsem_token_t *token)
{
    /* Member by member: clearing the whole costs more than an acquire that need not wait. */
    place->handle = h;
    place->deadline = deadline;
    place->slot = FS_NOBODY;
    atomic_init(&place->reason, 0);
    place->result = FS_NOT_OVER;
    place->by_token.token = NULL;
    if (token == NULL)
        return 0;
    place->by_token.token = fs_token_inside(token);
    place->by_token.cancel = cancel;
    return fs_token_attach(&place->by_token);
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

static void fill_in(struct fs_place *place, struct fs_slot *slot, int64_t n, int priority,
                    int64_t now)
{
    place->joined_ns = now;
    place->core = place->handle->spins ? fs_cpu_current() : FS_NO_CORE;
    FS_PUT(&slot->process, FS_GET(&place->handle->self));
    FS_PUT(&slot->units, n);
    FS_PUT(&slot->seq, place->seq);
    FS_PUT(&slot->priority, priority);
    FS_PUT(&slot->joined_ns, now);
    FS_PUT(&slot->granted_ns, 0);
}

/*
 * What is likely to pay off?  learn() maintains the doubts, and the granter the time of a turn.  No
 * thread is woken early here.
 */
static enum fs_spin_kind begin_awake(const struct fs_place *place, int64_t n)
{
    const fairsem_shared_t *h = place->handle;
    const struct fs_stay_awake *doubts = &h->segment->doubts;

    if (!h->spins)
        return FS_SPIN_NOT;
    if (place->as_head && doubts->as_head < FS_DOUBT_HIGH
        && fs_cores_suffice(h->unbounded ? n : h->capacity, n))
        return FS_SPIN_AS_HEAD;
    if (!fs_yields_pay(place->joined_ns))
        return FS_SPIN_NOT;
    if (place->as_head)
        return doubts->as_head_here < FS_DOUBT_HIGH ? FS_YIELD_AS_HEAD : FS_SPIN_NOT;
    return fs_turn_is_near(doubts, FS_GET(&h->segment->waiters)) ? FS_YIELD_IN_QUEUE : FS_SPIN_NOT;
}

int fs_place_join(struct fs_place *place, struct fs_visit *visit, int64_t n, int priority)
{
    fairsem_shared_t *h = place->handle;
    const int index = fs_slot_find_free(h);
    int error;

    if (index == FS_NOBODY) {
        FS_COUNT_UP(&h->segment->count.refused, 1);
        return ENOBUFS;
    }
    place->seq = FS_GET(&h->segment->next_seq);
    if (place->seq < 0 || place->seq == INT64_MAX)
        return fs_shared_is_damaged(h);
    FS_PUT(&h->segment->next_seq, place->seq + 1);
    fill_in(place, &h->slots[index], n, priority, fs_visit_now(visit));
    FS_COMMIT(&h->slots[index].state, FS_SLOT_WAITING);
    place->slot = index;
    error = fs_line_insert(h, index);
    if (error != 0)
        return error;
    place->as_head = FS_GET(&h->segment->head) == index;
    place->spin = begin_awake(place, n);
    count_wait(h);
    fs_probe_shared_wait_begin(h, h->file.inode, n, place->seq, priority);
    return 0;
}

/* ---- Leave ---- */

/*
 * Learn whether staying awake would have paid off: see stay_awake.h.  In the core the granter
 * learns.  Here the waiter does, because the granter's process may never have had a thread woken,
 * and then does not know how long a wake-up takes.
 */
static void learn(struct fs_place *place)
{
    fairsem_shared_t *h = place->handle;
    const struct fs_slot *slot = &h->slots[place->slot];
    struct fs_stay_awake doubts = h->segment->doubts;
    int64_t head_ns = fs_since(FS_GET(&slot->granted_ns), place->joined_ns);
    bool same_core = FS_GET(&slot->core) == place->core;

    if (!h->spins || !place->as_head)
        return;
    fs_stay_awake_learn(&doubts, true, head_ns, same_core ? fs_cpu_current() : FS_NO_CORE);
    h->segment->doubts = doubts;
}

/* Why the thread takes the lock.  A granted slot is received, except in ABANDON. */
enum ending { RECEIVE, EXPIRE, ABANDON };

static int leave_line(struct fs_place *place, enum ending ending)
{
    fairsem_shared_t *h = place->handle;
    struct fs_shared_counters *count = &h->segment->count;
    int error = fs_line_remove(h, place->slot);

    if (error != 0)
        return error;
    fs_shared_free_slot(h, place->slot);
    if (ending == EXPIRE)
        FS_COUNT_UP(&count->timeouts, 1);
    else
        FS_COUNT_UP(&count->cancels, 1);
    probe_end(place, ending == EXPIRE);
    return ending == EXPIRE ? ETIMEDOUT : ECANCELED;
}

static int leave_granted(struct fs_place *place, enum ending ending)
{
    fairsem_shared_t *h = place->handle;

    if (ending == ABANDON)
        return fs_shared_return_grant(h, place->slot);
    learn(place);
    return fs_shared_receive(h, place->slot, FS_GET(&h->slots[place->slot].granted_ns));
}

/* Take the lock; leave if the wait has ended or must end.  The result, or FS_NOT_OVER. */
static int come_and_leave(struct fs_place *place, enum ending ending)
{
    fairsem_shared_t *h = place->handle;
    struct fs_visit visit;
    int error = fs_shared_enter(h, &visit), result = FS_NOT_OVER;

    if (error != 0)
        return error;
    if (is_in(place, FS_SLOT_GRANTED)) {
        result = leave_granted(place, ending);
    } else if (is_in(place, FS_SLOT_CANCELED)) {
        fs_shared_free_slot(h, place->slot);
        result = FS_GET(&place->reason);
    } else if (!is_in(place, FS_SLOT_WAITING)) {
        result = EBADF;     /* others took us for dead: our byte was free */
    } else if (ending != RECEIVE) {
        result = leave_line(place, ending);
    }
    error = fs_visit_end(h, &visit);
    /* Units that we have received are ours, even if granting the next in line has failed. */
    return result == FS_NOT_OVER && error != 0 ? error : result;
}

/* The lock is held.  R4: must this waiter check all processes? */
static int should_look(const struct fs_place *place, struct fs_visit *visit, bool *yes)
{
    fairsem_shared_t *h = place->handle;
    int head, process, error = fs_line_head(h, &head);
    bool alive = true;

    *yes = head == place->slot
           || fs_long_ago(fs_visit_now(visit), FS_GET(&h->segment->looked_ns), LOOK_NS);
    if (error != 0 || *yes || head == FS_NOBODY)
        return error;
    error = fs_slot_process(h, head, &process);
    if (error == 0)
        error = fs_shared_alive(h, process, &alive);
    *yes = !alive;
    return error;
}

/*
 * R4: the head of the line checks all processes.  The others check whether the head lives, and all
 * processes if the head does not, because its process is stopped.
 */
static int look(struct fs_place *place)
{
    fairsem_shared_t *h = place->handle;
    struct fs_visit visit;
    int error = fs_shared_enter(h, &visit);
    bool all;

    if (error != 0)
        return error;
    error = should_look(place, &visit, &all);
    if (error == 0 && all)
        error = fs_shared_look(h);
    return error == 0 ? fs_visit_end(h, &visit) : fs_visit_fail(h, &visit, error);
}

/* ---- Wait ---- */

static void forget_token(struct fs_place *place)
{
    if (place->by_token.token != NULL && decide(place, FS_OVER))
        fs_token_detach(&place->by_token);
}

static void abandon(void *arg)
{
    struct fs_place *place = arg;

    come_and_leave(place, ABANDON);
    forget_token(place);
}

/* Sleep in line, and look for the dead (R4).  Returns the result, or FS_NOT_OVER. */
static int sleep_and_look(struct fs_place *place, int64_t *looked_ns)
{
    struct fs_slot *slot = &place->handle->slots[place->slot];
    int64_t ns = place->deadline != NULL ? fs_deadline_rest(place->deadline, LOOK_NS) : LOOK_NS;
    int error;

    if (ns == 0)
        return come_and_leave(place, EXPIRE);
    FS_STEP("sleep");
    fs_shared_sleep(&slot->state, FS_SLOT_WAITING, ns, true);
    if (fs_slot_state_of(slot) != FS_SLOT_WAITING || fs_now_ns() - *looked_ns < LOOK_NS)
        return FS_NOT_OVER;
    error = look(place);
    *looked_ns = fs_now_ns();
    return error != 0 ? error : FS_NOT_OVER;
}

static void wait_until_over(struct fs_place *place)
{
    fairsem_shared_t *h = place->handle;
    struct fs_slot *slot = &h->slots[place->slot];
    int64_t looked_ns = place->joined_ns, granted_ns;
    bool slept = false;

    if (place->spin != FS_SPIN_NOT && !fs_yields_past(place->spin, place->deadline))
        fs_spin(&slot->state, FS_SLOT_WAITING, place->spin, looked_ns);
    while (place->result == FS_NOT_OVER) {
        if (fs_slot_state_of(slot) == FS_SLOT_WAITING) {
            slept = true;
            place->result = sleep_and_look(place, &looked_ns);
            continue;
        }
        granted_ns = FS_GET(&slot->granted_ns);
        if (slept && h->spins && granted_ns >= place->joined_ns && granted_ns <= fs_now_ns())
            fs_spin_woken(granted_ns);
        place->result = come_and_leave(place, RECEIVE);
    }
}

int fs_place_wait(struct fs_place *place)
{
    if (place->result == FS_NOT_OVER) {
        pthread_cleanup_push(abandon, place);
        wait_until_over(place);
        pthread_cleanup_pop(0);
    }
    forget_token(place);
    return place->result;
}
