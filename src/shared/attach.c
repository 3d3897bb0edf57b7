/* SPDX-License-Identifier: MIT */
/* attach.c - gets this process an entry in the table of processes; see attach.h and liveness.h. */
#include "shared/attach.h"

#include "shared/change.h"
#include "shared/liveness.h"
#include "shared/lock.h"
#include "shared/repair.h"
#include "system/deadline.h"
#include "system/fork.h"
#include "tools/invariant.h"

#include <errno.h>

/* Another thread of the parent may have held the mutex, because it was attaching. */
static void attach_reset_in_child(void *handle)
{
    fairsem_shared_t *h = handle;

    h->attaching = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store_explicit(&h->acquires, 0, memory_order_relaxed);
    atomic_store_explicit(&h->attached, false, memory_order_relaxed);
    atomic_store_explicit(&h->self, FS_NOBODY, memory_order_relaxed);
}

void fs_shared_check_fork(fairsem_shared_t *h)
{
    fs_fork_check(&h->generation, attach_reset_in_child, h);
}

/* ---- Which entry ---- */

/*
 * Did this process have the entry before an exec?  The liveness lock decides (R3).  The comparison of
 * pids only saves the system call for most entries of other processes.
 */
static bool is_kept(const fairsem_shared_t *h, int index)
{
    const struct fs_process *p = &h->processes[index];

    return FS_GET(&p->state) == FS_PROCESS_USED && FS_GET(&p->keeps) != 0
           && FS_GET(&p->pid) == fs_process_id() && fs_liveness_is_ours(h->fd, index, 1);
}

static bool is_free(const fairsem_shared_t *h, int index)
{
    return FS_GET(&h->processes[index].state) == FS_PROCESS_FREE;
}

/* Accept any entry: if the liveness lock of an entry in use can be taken, its process is dead. */
static bool is_any(const fairsem_shared_t *h, int index)
{
    (void)h;
    (void)index;
    return true;
}

#define ATTACH_LIMIT_NS INT64_C(20000000)   /* time limit of find_entry() and fs_shared_detach() */
#define POLL_NS         1000000             /* between two looks at what other processes do */

/* Returns a number that changes with each process that attaches. */
static uint32_t attachments(const fairsem_shared_t *h)
{
    uint32_t sum = 0;

    for (int i = 0; i < h->max_processes; i++)
        sum += FS_GET(&h->processes[i].incarnation);
    return sum;
}

#define SCANS 100

/*
 * Take the liveness lock of an entry that is free, or whose process is dead.  One scan without success does
 * not show that the table is full: entries behind the scan may have become free, and entries ahead of the
 * scan may have been taken.  But if two scans in a row fail, and no process attaches during these two scans,
 * all entries were in use at one time.
 *
 * The first scan does not count as one of the two: for that, attachments() would have to load the whole table
 * before the first scan, which nearly always succeeds.
 *
 * If another process has the liveness lock of a free entry, that process is attaching or detaching.  The
 * entry may become available, so wait, and count failed scans from 0 again.
 */
static int find_entry(fairsem_shared_t *h, int *index)
{
    const struct fs_deadline end = fs_deadline_after(ATTACH_LIMIT_NS);
    uint32_t known = 0;
    int error = EUSERS;

    for (int i = 0, failed = 0; i < SCANS && failed < 2; i++) {
        bool moving = false, others, over = fs_deadline_passed(&end);
        uint32_t before = known;

        error = fs_shared_register_process(h, is_free, index, &moving);
        if (error == EUSERS)
            error = fs_shared_register_process(h, is_any, index, &others);
        if (error != EUSERS)
            return error;
        known = attachments(h);
        failed = i > 0 && known == before ? failed + 1 : 0;
        if (moving && !over) {
            fs_sleep_shortly(POLL_NS);
            failed = 0;
        }
    }
    return error;
}

/* Find the entry that this process kept over an exec.  `keepers` usually saves the search. */
static bool find_kept_entry(fairsem_shared_t *h, int *index)
{
    bool others;

    return FS_GET(&h->segment->keepers) != 0
           && fs_shared_register_process(h, is_kept, index, &others) == 0;
}

/* ---- Attach ---- */

/* Initialize an entry whose liveness lock we have; if the entry is in use, first reap its dead process (R3). */
static int initialize_entry(fairsem_shared_t *h, int index, enum fs_lock_mode mode,
                            const struct fs_deadline *deadline)
{
    static const struct fs_dead nobody;
    struct fs_process *self = &h->processes[index];
    struct fs_shared_section in;
    int error = 0;

    /* Acquire order: see what the process that freed the entry wrote into it. */
    if (atomic_load_explicit(&self->state, memory_order_acquire) != FS_PROCESS_FREE) {
        error = fs_shared_section_begin(&in, h, mode, deadline);
        if (error != 0)
            return error;
        if (FS_GET(&self->state) != FS_PROCESS_FREE) {
            fs_shared_reap(&in, index);
            fs_shared_section_repair(&in, &nobody);
        }
        error = fs_shared_section_end(&in);
    }
    if (error != 0)
        return error;
    FS_PUT(&self->held, 0);
    fs_shared_set_keeps(h, index, false);
    FS_PUT(&self->pid, fs_process_id());
    FS_PUT(&self->state, FS_PROCESS_USED);
    return 0;
}

static int attach(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline)
{
    bool kept;
    int index, error = fs_shared_check_file(h);

    /* Clear `attached` first: the next `self` may be a dead process's entry, which no thread may use yet. */
    atomic_store_explicit(&h->attached, false, memory_order_relaxed);
    /*
     * Undo an earlier fairsem_shared_keep_on_exec().  After a fork, the kept units are the parent's; after
     * we were reaped, the kept units have been freed.
     */
    if (error == 0)
        error = fs_file_keep_on_exec(h->fd, false);
    if (error != 0)
        return error;
    kept = find_kept_entry(h, &index);
    if (!kept)
        error = find_entry(h, &index);
    if (error != 0)
        return error;
    FS_PUT(&h->incarnation, FS_GET(&h->processes[index].incarnation));
    FS_PUT(&h->self, index);
    if (FS_GET(&h->segment->damaged) != 0)
        error = ENOTRECOVERABLE;
    else if (kept)
        fs_shared_set_keeps(h, index, false);
    else
        error = initialize_entry(h, index, mode, deadline);
    if (error == 0) {
        atomic_store_explicit(&h->attached, true, memory_order_release);
        return 0;
    }
    fs_liveness_unlock(h->fd, index);
    return error;
}

/* Is entry `self` still ours?  Returns false if we have been reaped, or if another thread is attaching. */
static bool is_still_ours(const fairsem_shared_t *h)
{
    const struct fs_process *self
        = &h->processes[atomic_load_explicit(&h->self, memory_order_acquire)];

    return FS_GET(&self->state) == FS_PROCESS_USED
           && FS_GET(&self->incarnation) == FS_GET(&h->incarnation)
           && atomic_load_explicit(&h->attached, memory_order_acquire);
}

/*
 * Lock the mutex `attaching`, by polling, because its owner may wait for the segment's lock until a later
 * deadline than ours.  Returns 0 or ETIMEDOUT, as fs_shared_lock().
 */
static int wait_to_attach(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline)
{
    const struct fs_deadline grace = fs_deadline_after(FS_LOCK_GRACE_NS);

    while (pthread_mutex_trylock(&h->attaching) != 0) {
        bool over = mode != FS_LOCK_WAIT || (deadline != NULL && fs_deadline_passed(deadline));

        if (mode == FS_LOCK_TRY || (over && fs_deadline_passed(&grace)))
            return ETIMEDOUT;
        fs_sleep_shortly(POLL_NS);
    }
    return 0;
}

/* May sleep, but is not a cancellation point: the mutex would stay locked. */
static int attach_under_mutex(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline)
{
    int error, cancelable, ignored;

    fs_shared_check_fork(h);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    error = wait_to_attach(h, mode, deadline);
    if (error == 0) {
        if (!atomic_load_explicit(&h->attached, memory_order_acquire) || !is_still_ours(h))
            error = attach(h, mode, deadline);
        FS_MUST(pthread_mutex_unlock(&h->attaching));
    }
    pthread_setcancelstate(cancelable, &ignored);
    return error;
}

/* ---- Use ---- */

int fs_shared_ensure_attached(fairsem_shared_t *h, enum fs_lock_mode mode, const struct fs_deadline *deadline)
{
    fs_shared_check_fork(h);
    if (atomic_load_explicit(&h->attached, memory_order_acquire))
        return 0;
    return attach_under_mutex(h, mode, deadline);
}

/*
 * The program may have closed our descriptor, as daemons do with descriptors that they do not know.  Then
 * our liveness lock is gone, and with undo other processes will free our units.  So check the descriptor,
 * but only once in a tick of the kernel's clock: a check costs as much as the rest of an acquire.
 */
int fs_shared_look_at_file(fairsem_shared_t *h)
{
    int64_t tick_ns = fs_tick_ns();
    int error;

    if (!h->undo || FS_GET(&h->looked_ns) == tick_ns)
        return 0;
    FS_PUT(&h->looked_ns, tick_ns);
    error = fs_shared_check_file(h);
    /* Later calls will attach, and fail with the same error. */
    if (error == EBADF)
        atomic_store_explicit(&h->attached, false, memory_order_relaxed);
    return error;
}

#define TRIES 20        /* limit if the liveness lock is lost again and again */

int fs_shared_enter(struct fs_shared_section *in, fairsem_shared_t *h,
                    enum fs_lock_mode mode, const struct fs_deadline *deadline)
{
    int error = fs_shared_ensure_attached(h, mode, deadline);

    for (int i = 0; error == 0; i++) {
        error = fs_shared_section_begin(in, h, mode, deadline);
        if (error != 0 || is_still_ours(h))
            return error;
        fs_shared_section_unlock(in);
        error = i < TRIES ? attach_under_mutex(h, mode, deadline) : EBADF;
    }
    return error;
}

int fs_shared_enter_soon(struct fs_shared_section *in, fairsem_shared_t *h)
{
    const struct fs_deadline soon = fs_deadline_after(1000000000);

    return fs_shared_enter(in, h, FS_LOCK_WAIT, &soon);
}

bool fs_shared_has_slots(const fairsem_shared_t *h)
{
    for (int i = 0; i < h->max_waiters; i++) {
        int state = FS_GET(&h->slots[i].state);

        if (state != FS_SLOT_FREE && state <= FS_SLOT_CANCELED
            && FS_GET(&h->slots[i].process) == FS_GET(&h->self))
            return true;
    }
    return false;
}

/*
 * Release our liveness lock last, because the owner of the segment's lock must have a liveness lock.  If
 * the segment's lock is not free in time, do nothing: the caller closes the descriptor, which releases our
 * liveness lock, and other processes reap us.
 */
int fs_shared_detach(fairsem_shared_t *h)
{
    const struct fs_deadline deadline = fs_deadline_after(ATTACH_LIMIT_NS);
    struct fs_shared_section in;
    int index;

    fs_shared_check_fork(h);
    /* Acquire order: an acquire's last access to the handle must come before the handle is freed. */
    if (atomic_load_explicit(&h->acquires, memory_order_acquire) != 0)
        return EBUSY;
    index = FS_GET(&h->self);
    if (!atomic_load_explicit(&h->attached, memory_order_acquire) || fs_shared_check_file(h) != 0)
        return 0;
    if (fs_shared_section_begin(&in, h, FS_LOCK_WAIT, &deadline) != 0)
        return 0;
    /* Check again: an acquire may have been enqueued before we had the lock. */
    if (FS_GET(&h->acquires) != 0) {
        fs_shared_section_end(&in);
        return EBUSY;
    }
    if (is_still_ours(h)) {
        if (h->undo)
            fs_shared_give_back(&in, fs_load_units(&in, &h->processes[index].held));
        fs_shared_set_keeps(h, index, false);
        FS_COMMIT(&in, &h->processes[index].state, FS_PROCESS_FREE);
    }
    fs_shared_section_end(&in);
    fs_liveness_unlock(h->fd, index);
    atomic_store_explicit(&h->attached, false, memory_order_relaxed);
    return 0;
}
