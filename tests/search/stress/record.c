/* SPDX-License-Identifier: MIT */
/*
 * record.c - tells order.c who joins and who leaves the queue of one semaphore.
 *
 * The linker sends fs_join_thread(), fs_join_ticket() and fs_leave() here first.  Their callers hold
 * the semaphore's mutex, so the judge sees the queue's own order.  That takes no lock, and orders no
 * threads that were not ordered already, except that a thread that is about to take units sees the
 * joins before it.  A data race might hide behind that, so nothing is watched under ThreadSanitizer.
 *
 * It also sends pthread_mutex_lock() and _unlock(), as a second check of threads that take or
 * release beside the queue: while the queue is not empty, the word belongs to the holder of the
 * mutex.  So each critical section must find the word as the last one has left it, if the queue is
 * not empty.  Every change from outside is seen that way, unless it has been undone.
 */
#include "record.h"

#include "order.h"
#include "suite.h"

#include "queue.h"
#include "section.h"

static struct fs_sem   *watched;        /* r/o while threads use it; NULL: nothing */
static bool             reversed;       /* r/o */
static struct order     order;
static int64_t          word_left;      /* under its mutex: the word after the last section */
static int64_t          changes;        /* under its mutex */
static _Atomic int64_t  beside, passes_beside;

/* Of the call that this thread is in. */
static _Thread_local bool has_joined;

#if !defined(LINKER_WITHOUT_WRAP)
#define CAN_WATCH !UNDER_TSAN

static int given_priority(const struct fs_section *in, int priority)
{
    return in->sem == watched && reversed ? -(int)watched->queue.next_seq : priority;
}

static void note_join(const struct fs_section *in, const struct fs_waiter *w, int priority)
{
    if (in->sem == watched) {
        has_joined = true;
        order_join(&order, w->in_queue.seq, priority);
    }
}

void __real_fs_join_thread(struct fs_section *in, struct fs_waiter *w, int priority);
void __wrap_fs_join_thread(struct fs_section *in, struct fs_waiter *w, int priority);
void __wrap_fs_join_thread(struct fs_section *in, struct fs_waiter *w, int priority)
{
    __real_fs_join_thread(in, w, given_priority(in, priority));
    note_join(in, w, priority);
}

void __real_fs_join_ticket(struct fs_section *in, struct fs_waiter *w, int priority);
void __wrap_fs_join_ticket(struct fs_section *in, struct fs_waiter *w, int priority);
void __wrap_fs_join_ticket(struct fs_section *in, struct fs_waiter *w, int priority)
{
    __real_fs_join_ticket(in, w, given_priority(in, priority));
    note_join(in, w, priority);
}

/* Before the call: afterwards the waiter may be gone. */
void __real_fs_leave(struct fs_section *in, struct fs_waiter *w, enum fs_end end);
void __wrap_fs_leave(struct fs_section *in, struct fs_waiter *w, enum fs_end end);
void __wrap_fs_leave(struct fs_section *in, struct fs_waiter *w, enum fs_end end)
{
    if (watched != NULL && in->sem == watched)
        order_leave(&order, w->in_queue.seq, end == FS_BY_GRANT);
    __real_fs_leave(in, w, end);
}

static int locked(const pthread_mutex_t *mutex, int result)
{
    if (result == 0 && watched != NULL && mutex == &watched->mutex && !fs_waitq_empty(&watched->queue)
        && atomic_load_explicit(&watched->word, memory_order_relaxed) != word_left)
        changes++;
    return result;
}

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return locked(mutex, __real_pthread_mutex_lock(mutex));
}

int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return locked(mutex, __real_pthread_mutex_trylock(mutex));
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (watched != NULL && mutex == &watched->mutex)
        word_left = atomic_load_explicit(&watched->word, memory_order_relaxed);
    return __real_pthread_mutex_unlock(mutex);
}
#else
#define CAN_WATCH false
#endif

bool record_watches(void)
{
    return watched != NULL;
}

void record_begin(const fairsem_t *sem, bool reverse)
{
    order_begin(&order);
    changes = 0;
    atomic_store(&beside, 0);
    atomic_store(&passes_beside, 0);
    reversed = reverse;
    watched = CAN_WATCH ? fs_inside(sem) : NULL;
}

uint64_t record_before(void)
{
    has_joined = false;
    return watched == NULL ? 0 : order_before(&order);
}

void record_took(const fairsem_t *sem, uint64_t before, int priority)
{
    if (watched == NULL || fs_inside(sem) != watched || has_joined)
        return;
    atomic_fetch_add_explicit(&beside, 1, memory_order_relaxed);
    if (order_passed(&order, before, priority))
        atomic_fetch_add_explicit(&passes_beside, 1, memory_order_relaxed);
}

struct record record_so_far(void)
{
    if (watched == NULL)
        return (struct record){ .joined = 0 };
    return (struct record){
        .joined = (int64_t)order_before(&order),
        .waiting = order.length,
        .beside = atomic_load(&beside),
        .passes_in_queue = order.passes_in_queue,
        .passes_beside = atomic_load(&passes_beside),
        .changes = changes,
        .malformed = order.malformed,
    };
}

void record_end(void)
{
    watched = NULL;
}
