/* SPDX-License-Identifier: MIT */
/* lock.c - the lock of a segment; see lock.h. */
#include "shared/lock.h"

#include "shared/liveness.h"
#include "system/system.h"

#include <errno.h>

#define INDEX_MASK       0xfffu
#define INCARNATION_MASK 0x1ffffu
#define ORDERED          (1u << 29)
#define HELD             (1u << 30)
#define CONTENDED        (1u << 31)
#define RESERVED         (ORDERED | CONTENDED)

#define BARGE_NS     1000000    /* a thread that has waited for this time waits in order: see lock.h */
#define CHECK_NS     10000000   /* first sleep of a thread that waits in order; it then checks the owner */
#define LONGEST_NS   160000000  /* the sleeps double up to this time */
#define RESERVED_NS  3000000    /* time without a hand-over after which a reserved lock may be taken */
#define LOADS        100        /* spin limit: most sections are over by then */
#define RETRY_BUDGET 4
#define TRIES        100        /* in fs_shared_unlock(); more are needed only if the lock word is damaged */

static_assert(FAIRSEM_SHARED_MAX <= INDEX_MASK + 1, "an index does not fit");

static uint32_t word_of(int index, uint32_t incarnation)
{
    return HELD | (incarnation & INCARNATION_MASK) << 12 | (uint32_t)index;
}

static uint32_t own_word(const fairsem_shared_t *h)
{
    return word_of(FS_GET(&h->self), FS_GET(&h->incarnation));
}

/* Acquire order: we must see what the last owner wrote. */
static bool swap(_Atomic uint32_t *lock, uint32_t *from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(lock, from, to, memory_order_acquire,
                                                   memory_order_relaxed);
}

/*
 * Returns EOWNERDEAD if the owner in this word is dead, 0 if the owner is alive or the lock is only reserved,
 * or another error.
 */
static int judge(fairsem_shared_t *h, uint32_t word)
{
    int index = (int)(word & INDEX_MASK);
    bool alive;
    int error;

    if ((word & ~CONTENDED) == ORDERED)
        return 0;
    if ((word & HELD) == 0 || !fs_index_valid(index, h->max_processes))
        return ENOTRECOVERABLE;
    if (((word ^ word_of(index, FS_GET(&h->processes[index].incarnation)))
         & ~(CONTENDED | ORDERED)) != 0)
        return EOWNERDEAD;      /* another process has registered in the owner's entry since */
    error = fs_shared_alive(h, index, &alive);
    return error != 0 || alive ? error : EOWNERDEAD;
}

/* ---- Lock ---- */

/* A thread that waits for the lock. */
struct attempt {
    fairsem_shared_t         *handle;
    enum fs_lock_mode         mode;
    const struct fs_deadline *deadline;
    int64_t  begun_ns;
    int64_t  sleep_ns;          /* limit of the next sleep */
    uint32_t mark;              /* CONTENDED after a sleep; stored with the lock, as others may still sleep */
    bool     waits_in_order;    /* BARGE_NS have passed */
    bool     woken;             /* woken for a hand-over, but the waker may not have unlocked yet */
    uint32_t waker;             /* the lock word of the waker, or 0 if not known yet */
    int      retries;           /* waits for the waker that are still allowed after the deadline */
    bool     may_take_reserved; /* the thread was woken, or there was no hand-over for RESERVED_NS */
    int      handover;          /* the value of the segment's `handover` on which the thread last slept */
    int64_t  handover_ns;       /* when the thread first slept on that value */
};

/* Returns 0 or EOWNERDEAD with the lock, EAGAIN if the lock is not free, or an error. */
static int try_to_take(struct attempt *a, uint32_t *word, int *dead_owner)
{
    _Atomic uint32_t *lock = &a->handle->segment->lock;
    const uint32_t own = own_word(a->handle) | a->mark;
    int error;

    if (*word == 0)
        return swap(lock, word, own) ? 0 : EAGAIN;
    if ((*word & ~CONTENDED) == ORDERED && a->may_take_reserved)
        return swap(lock, word, own | RESERVED) ? 0 : EAGAIN;
    if (a->sleep_ns == 0)
        return EAGAIN;          /* the owner is checked only after a sleep */
    error = judge(a->handle, *word);
    if (error != EOWNERDEAD)
        return error != 0 ? error : EAGAIN;
    *dead_owner = (int)(*word & INDEX_MASK);
    return swap(lock, word, own | RESERVED) ? EOWNERDEAD : EAGAIN;
}

/* Returns how long the thread may sleep now, or 0 if it must give up. */
static int64_t lock_sleep_limit(struct attempt *a)
{
    int64_t waited_ns = fs_since(fs_now_ns(), a->begun_ns), rest_ns = 0;

    if (a->mode == FS_LOCK_TRY)
        return 0;
    if (a->sleep_ns == 0) {
        a->sleep_ns = BARGE_NS;
    } else if (!a->waits_in_order) {
        a->waits_in_order = waited_ns >= BARGE_NS;
        a->sleep_ns = a->waits_in_order ? CHECK_NS : BARGE_NS;
    }
    if (a->mode == FS_LOCK_WAIT)
        rest_ns = a->deadline != NULL ? fs_deadline_rest(a->deadline, a->sleep_ns) : a->sleep_ns;
    if (rest_ns < FS_LOCK_GRACE_NS - waited_ns)
        rest_ns = FS_LOCK_GRACE_NS - waited_ns;
    return rest_ns < a->sleep_ns ? rest_ns : a->sleep_ns;
}

/*
 * A thread that was woken for a hand-over polls until its waker has unlocked: the unlock itself wakes no
 * thread.  Returns false if the lock has a new owner.
 */
static bool wait_for_waker(struct attempt *a, uint32_t word)
{
    _Atomic uint32_t *lock = &a->handle->segment->lock;
    const uint32_t owner = word & ~RESERVED;

    if (a->waker != 0 && a->waker != owner)
        return a->woken = false;
    a->waker = owner;
    for (int i = 0; i < LOADS && FS_GET(lock) == word; i++)
        fs_cpu_pause();
    if (FS_GET(lock) == word)
        fs_shared_sleep((const _Atomic int *)lock, (int)word, BARGE_NS, false);
    return true;
}

/*
 * A thread that waits in order loads `handover`, then makes sure that ORDERED is set, then sleeps.  An owner
 * that finds ORDERED set changes the segment's `handover` before it unlocks, so no wake is lost.
 */
static void sleep_for_lock(struct attempt *a, uint32_t word, int handover, int64_t ns)
{
    struct fs_segment *s = a->handle->segment;
    uint32_t bits = a->waits_in_order ? RESERVED : CONTENDED;
    enum fs_sleep end;

    if ((word & bits) != bits && !swap(&s->lock, &word, word | bits))
        return;
    a->mark = CONTENDED;
    a->may_take_reserved = false;
    if (!a->waits_in_order) {
        fs_shared_sleep((const _Atomic int *)&s->lock, (int)(word | bits), ns, false);
        return;
    }
    if (a->handover_ns == 0 || a->handover != handover) {
        a->handover = handover;
        a->handover_ns = fs_now_ns();
    }
    end = fs_shared_sleep(&s->handover, handover, ns, false);
    a->waker = 0;
    a->woken = end == FS_SLEEP_WOKEN;
    /* Signals may end each sleep, so measure the time since the last hand-over. */
    a->may_take_reserved = a->woken || (end == FS_SLEEP_TIME_OUT && ns >= RESERVED_NS)
                           || (FS_GET(&s->handover) == handover
                               && fs_since(fs_now_ns(), a->handover_ns) >= RESERVED_NS);
    if (end == FS_SLEEP_TIME_OUT && a->sleep_ns < LONGEST_NS)
        a->sleep_ns *= 2;
}

static int lock_slowly(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline,
                       int *dead_owner)
{
    struct attempt a = { .handle = h, .mode = mode, .deadline = deadline, .begun_ns = fs_now_ns(),
                         .retries = RETRY_BUDGET };
    _Atomic uint32_t *lock = &h->segment->lock;

    for (;;) {
        for (int i = 0; i < LOADS && FS_GET(lock) != 0; i++)
            fs_cpu_pause();
        /* Acquire order: the word is loaded after `handover`. */
        int handover = atomic_load_explicit(&h->segment->handover, memory_order_acquire);
        uint32_t word = FS_GET(lock);
        int error = try_to_take(&a, &word, dead_owner);

        if (error != EAGAIN)
            return error;
        if (word == 0)
            continue;
        int64_t ns = lock_sleep_limit(&a);

        /* Do not give up during a hand-over: the lock would stay reserved for this thread. */
        if (a.woken && (ns > 0 || a.retries-- > 0) && wait_for_waker(&a, word))
            continue;
        if (ns <= 0)
            return ETIMEDOUT;
        sleep_for_lock(&a, word, handover, ns);
    }
}

int fs_shared_lock(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline,
                   int *dead_owner)
{
    uint32_t word = 0;
    int error = 0;

    if (!swap(&h->segment->lock, &word, own_word(h)))
        error = lock_slowly(h, mode, deadline, dead_owner);
    FS_STEP("locked");
    return error;
}

/* ---- Unlock ---- */

/* Release order: the next owner must see what we wrote. */
static bool swap_out(_Atomic uint32_t *lock, uint32_t *from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(lock, from, to, memory_order_release,
                                                   memory_order_relaxed);
}

/*
 * Returns true if a thread was woken.  ORDERED has been cleared: a thread that is about to sleep sets
 * ORDERED again, or finds that `handover` has changed.
 */
static bool hand_over_lock(struct fs_segment *s)
{
    FS_STEP("hand over the lock");
    atomic_fetch_add_explicit(&s->handover, 1, memory_order_release);
    return fs_shared_wake(&s->handover, 1) != 0;
}

/*
 * If we die before a wake, a sleeper finds the lock free, or its owner dead, when the sleep times out.  The
 * hand-over comes before the exchange that unlocks, because another thread may close the handle after that
 * exchange: see wake_slot() in shared_section.c.
 */
void fs_shared_unlock(fairsem_shared_t *h)
{
    struct fs_segment *s = h->segment;
    uint32_t word = FS_GET(&s->lock), next = 0;

    FS_STEP("unlock");
    for (int i = 0;; i++) {
        if ((word & ORDERED) == 0 || next != 0 || i >= TRIES) {
            if (swap_out(&s->lock, &word, next))
                break;
        } else if (swap_out(&s->lock, &word, word & ~ORDERED)) {
            word &= ~ORDERED;
            if (hand_over_lock(s))
                next = RESERVED;
        }
    }
    if (next == 0 && (word & CONTENDED) != 0) {
        FS_STEP("wake for the lock");
        fs_shared_wake((const _Atomic int *)&s->lock, 1);
    }
}

bool fs_shared_lock_is_orphaned(fairsem_shared_t *h)
{
    uint32_t word = FS_GET(&h->segment->lock);

    return word != 0 && judge(h, word) != 0;
}
