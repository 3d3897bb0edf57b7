/* SPDX-License-Identifier: MIT */
/*
 * fairsem/shared.h - a fair semaphore between processes, which survives its users.
 *
 * THE PROMISE.  A unit that becomes free goes to the waiter that has waited longest, in any process.
 * If a process dies, at any instruction and by any signal, its units go to the next requests, and
 * its own requests leave the queue.
 *
 * Example:
 *
 *     #include <fairsem/shared.h>
 *     #include <sys/wait.h>
 *     #include <unistd.h>
 *
 *     int main(void)
 *     {
 *         const fairsem_shared_attr_t attr = { .units = 2 };
 *         fairsem_shared_t *slots;
 *
 *         if (fairsem_shared_open(&slots, NULL, 0, 0, &attr) != 0)
 *             return 1;
 *         for (int i = 0; i < 8; i++)
 *             if (fork() == 0) {
 *                 if (fairsem_shared_acquire(slots, 1) != 0)
 *                     _exit(1);
 *                 // at most two processes are here
 *                 _exit(0);                   // returns the unit, as any other end does
 *             }
 *         while (wait(NULL) > 0)
 *             continue;
 *         return fairsem_shared_close(slots);
 *     }
 *
 * To build it:  cc prog.c $(pkg-config --cflags --libs fairsem)
 *
 * ALL FUNCTIONS.  This header is the contract.  Each function has a manual page under its own name,
 * with the reasons, the fine print and more examples; fairsem_shared(7) is about all of them.
 *
 *     1  open, close, remove
 *         fairsem_shared_open             open a segment, or create one
 *         fairsem_shared_close            give the process's units back, and close a segment
 *         fairsem_shared_unlink           remove a segment's name
 *         fairsem_shared_unlink_unused    remove a name, unless another process uses the segment
 *         fairsem_shared_keep_name        let a name stay when its segment is unused
 *         fairsem_shared_keep_on_exec     let the next program hold the units
 *     2  acquire and release
 *         fairsem_shared_acquire          take units; wait in the queue until they are free
 *         fairsem_shared_tryacquire       take units now or not at all
 *         fairsem_shared_acquire_for      wait for at most a time in nanoseconds
 *         fairsem_shared_acquire_until    wait until a time on a clock
 *         fairsem_shared_acquire_with     with a time limit, a priority, a token, a share
 *         fairsem_shared_release          give units back; the oldest waiters get them
 *         fairsem_shared_set_units        change the number of units
 *     3  inspect
 *         fairsem_shared_available        free units
 *         fairsem_shared_waiters          requests in the queue
 *         fairsem_shared_stat             figures, all of one moment
 *         fairsem_shared_stat_histogram   the number of waits of each length
 *         fairsem_shared_users            who holds units, and who waits
 *         fairsem_shared_dump             holders and waiters, as text
 *
 * WHAT HOLDS FOR EVERY FUNCTION is what fairsem.h says of results, units, time, memory order and
 * cancellation, and this:
 *
 * Results.   Each function below that returns an errno value may also return
 *            ENOTRECOVERABLE  the segment was damaged, for good
 *            EBADF            the handle's descriptor was closed
 *            EUSERS, ENOLCK   in the first call of a forked child, as fairsem_shared_open
 *            ENOSYS           without Linux
 * Owner.     A process owns the units that it has acquired; each of its threads may release them.
 * Death.     Exit, exec and signals end a process; a stopped process is alive.  If a request waits, the
 *            units of a dead process are free within 50 ms, as a rule.  If no request waits, they are free
 *            at the next call that needs them.
 * Stopped.   A process that is stopped in a call may hold the segment's lock.  Then an acquire with a
 *            time limit, or a tryacquire, returns at most 20 ms late, as if the units were not free.
 * Child.     After fork, the child can use the handle, without the parent's units.  After _Fork, vfork
 *            or clone, the child must not use the handle.
 * File.      A process that closes descriptors that it does not know seems dead.  Open a segment only
 *            with this library, and with one copy of the library.
 * Trust.     A user who may write to a segment can damage it; fairsem_shared(7) lists the effects.
 * malloc.    Only open and dump allocate.
 * Signals.   A signal ends no wait, and no function is for signal handlers.
 * Since.     1.0, unless a comment names a later version.
 */
#ifndef FAIRSEM_SHARED_H
#define FAIRSEM_SHARED_H

#include <fairsem.h>

#include <fcntl.h>      /* O_CREAT, O_EXCL */

#ifdef __cplusplus
extern "C" {
#endif

FAIRSEM_CHECK_LAYOUT_(fairsem_shared);

/* ======================================================================== *
 *  1  Open, close, remove
 *     fairsem_shared_open(3)
 * ======================================================================== */

/* A process has one handle for each segment, for all its threads. */
typedef struct fairsem_shared fairsem_shared_t;

/* attr.flags: any process may release units, and units stay taken when a process dies. */
#define FAIRSEM_SHARED_NO_UNDO 1u

/* attr.flags: as FAIRSEM_NO_SPIN. */
#define FAIRSEM_SHARED_NO_SPIN 2u

/*
 * oflag: fail if the segment exists, unless its file is the caller's own.  The effective user must own the
 * file, no other user may write to it, and it must have no other name.  The flag is for names in a directory
 * that other users may write to.  Since 1.1.
 */
#define FAIRSEM_SHARED_OWN 0x40000000

/* The most that attr.max_waiters and attr.max_processes can be. */
#define FAIRSEM_SHARED_MAX 4096

/* Properties of a segment.  All zero means the defaults, with no units. */
typedef struct fairsem_shared_attr {
    int64_t  units;         /* free at the beginning */
    int64_t  capacity;      /* with FAIRSEM_SHARED_NO_UNDO the most that can be free; else 0 */
    int      max_waiters;   /* the longest queue, of all processes; 0 means 256 */
    int      max_processes; /* how many can have the segment open; 0 means 64 */
    unsigned flags;         /* FAIRSEM_SHARED_NO_UNDO | ..., or 0 */
    unsigned reserved1_;    /* must be zero */
    int64_t  aging_ns;      /* as in fairsem_attr_t.  Since 1.1 */
    unsigned reserved_[5];  /* must be zero */
} fairsem_shared_attr_t;

/*
 * Open or create the segment `name`, which is "/" and a file name.  (Since 1.1, it may also be the path
 * of a file, with another slash.)  If the name is NULL, create a segment without a name, for children.
 *
 * oflag is 0, O_CREAT, or O_CREAT | O_EXCL, each also with FAIRSEM_SHARED_OWN.  mode and attr are for a new
 * segment.  Its file gets this mode, whatever the umask is, but no read permission without write permission.
 *
 * 0        *handle can be used
 * EINVAL   a bad name or oflag; O_CREAT without attr; a member of attr that is out of range or does
 *          not fit the others; flags that the existing segment does not have
 * ENOENT   there is no such name, and no O_CREAT; or no such directory
 * EEXIST   there is such a name, and O_EXCL
 * ENODEV   the file system cannot make a file without a name (O_TMPFILE), or cannot map it
 * EPERM    FAIRSEM_SHARED_OWN, and the file is not the caller's own
 * EUSERS   attr.max_processes processes have the segment open
 * EAGAIN   other processes create and remove the name all the time
 * ENOTSUP  another version of this library made the segment, with another layout
 * ENOTRECOVERABLE  the file is not a complete segment, or is damaged
 * EACCES, EFBIG, ELOOP, EMFILE, ENAMETOOLONG, ENFILE, ENOLCK, ENOMEM, ENOSPC, ENOTDIR, EPERM, EROFS
 *          as the kernel says
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_open(fairsem_shared_t **handle, const char *name, int oflag,
                                    mode_t mode, const fairsem_shared_attr_t *attr)
    FAIRSEM_NONNULL_(1);

/*
 * Close a handle, once for each time it was opened.  The last close gives the process's units back.  No
 * other thread may be using the handle.
 *
 * 0        the handle is gone, even if the segment is damaged, or its descriptor was closed
 * EBUSY    a thread of this process waits, or is in an acquire; nothing was changed
 */
FAIRSEM_API int fairsem_shared_close(fairsem_shared_t *handle) FAIRSEM_NONNULL_(1);

/*
 * Remove a name.  Processes that have the segment open can go on using it.
 *
 * 0        the name is gone
 * EINVAL   a bad name
 * ENOENT   there is no such name
 * EACCES, ELOOP, ENAMETOOLONG, ENOTDIR, EPERM, EROFS   as the kernel says
 */
FAIRSEM_API int fairsem_shared_unlink(const char *name) FAIRSEM_NONNULL_(1);

/*
 * Remove the name of this segment, unless another process holds units or waits.  With `kept` false, the name
 * also stays after fairsem_shared_keep_name, or while the number of units is not the initial one.
 * Since 1.1.
 *
 * The call checks the segment and removes the name with the segment's lock held.  So a process that has
 * acquired units, or has changed their number, can check that the name stays, by opening the name again.  If
 * fairsem_shared_open returns the same handle, the name stays as long as the process holds units, or the
 * number of units is not the initial one.
 *
 * 0        the name is gone
 * ENOENT   there is no such name, or it is the name of another file
 * EBUSY    the name stays, as above
 * EINVAL   a bad name; or FAIRSEM_SHARED_NO_UNDO
 * ETIMEDOUT  a stopped process has had the lock for a second
 * EACCES, ELOOP, ENAMETOOLONG, ENOTDIR, EPERM, EROFS   as the kernel says
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_unlink_unused(fairsem_shared_t *handle, const char *name, bool kept)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Let the name stay when the segment is unused, until fairsem_shared_unlink_unused is called with `kept`.
 * Since 1.1.
 *
 * 0        done
 * ETIMEDOUT  a stopped process has had the lock for a second
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_keep_name(fairsem_shared_t *handle) FAIRSEM_NONNULL_(1);

/*
 * If keep is true, this process's units outlast its next exec, and until the exec a call that would wait fails
 * with EBUSY.  If keep is false, undo an earlier call.
 *
 * 0        done
 * EBUSY    a thread of this process waits; nothing was changed
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_keep_on_exec(fairsem_shared_t *handle, bool keep)
    FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  2  Acquire and release
 *     fairsem_shared_acquire(3)
 * ======================================================================== */

/*
 * As fairsem_acquire, between processes.
 *
 * 0        the units are this process's
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS
 * E2BIG    n exceeds attr.capacity, or the number of units (in a pause: the largest number of units so far)
 * ENOBUFS  attr.max_waiters requests wait already
 * EBUSY    the request would wait, after fairsem_shared_keep_on_exec
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_acquire(fairsem_shared_t *handle, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Take n units now or not at all, as fairsem_tryacquire.
 *
 * EAGAIN   fairsem_shared_acquire would wait
 * EINVAL, E2BIG   as fairsem_shared_acquire
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_tryacquire(fairsem_shared_t *handle, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Wait at most timeout_ns nanoseconds, as fairsem_acquire_for.
 *
 * As fairsem_shared_acquire, and
 * ETIMEDOUT  the units did not come in time
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_acquire_for(fairsem_shared_t *handle, int64_t n,
                                           int64_t timeout_ns) FAIRSEM_NONNULL_(1);

/*
 * Wait until a deadline, as fairsem_acquire_until.
 *
 * As fairsem_shared_acquire, and
 * ETIMEDOUT  the units did not come in time
 * EINVAL     as fairsem_acquire_until
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_acquire_until(fairsem_shared_t *handle, int64_t n, clockid_t clock,
                                             const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_shared_acquire_until) FAIRSEM_NONNULL_(1);

/*
 * The general acquire, as fairsem_acquire_with.  Priorities apply in all processes, a token in one.
 *
 * If how->share_weight > 0, the request has a share.  All requests with one how->share_key, for instance a
 * user's number, have one share together, in all processes.  As with fairsem_share_t, units go round between
 * the shares that have requests in the queue, in proportion to their weights; all requests without a share
 * count as one share of weight 1.  When the queue is empty, the shares are forgotten.  Since 1.1.
 *
 * As fairsem_shared_acquire_until, and
 * EINVAL     as fairsem_acquire_with, but how->share must be NULL; share_weight > FAIRSEM_MAX_WEIGHT; a
 *            key without a weight; a share, and the segment has aging_ns
 * the token's reason, before the wait or during it
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_acquire_with(fairsem_shared_t *handle, int64_t n,
                                            const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_shared_acquire_with) FAIRSEM_NONNULL_(1);

/*
 * Give n units back, as fairsem_release.
 *
 * 0          the units are free or granted
 * EINVAL     n < 0 or n > FAIRSEM_MAX_UNITS
 * EPERM      this process holds fewer units
 * EOVERFLOW  with FAIRSEM_SHARED_NO_UNDO: more would be free than attr.capacity or
 *            FAIRSEM_MAX_UNITS
 */
FAIRSEM_API int fairsem_shared_release(fairsem_shared_t *handle, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Change the number of all units, free or not, to `units`; 0 is a pause, in which requests wait.  Holders
 * keep their units: if they hold more than `units`, no unit is granted until enough have been released.
 * Requests in the queue for more than `units` stay in the queue.  Since 1.1.
 *
 * 0        done; waiters for which there are enough units have them
 * EINVAL   units < 0 or units > FAIRSEM_MAX_UNITS; or FAIRSEM_SHARED_NO_UNDO
 * ETIMEDOUT  a stopped process has had the lock for a second
 */
FAIRSEM_API int fairsem_shared_set_units(fairsem_shared_t *handle, int64_t units)
    FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  3  Inspect
 *     fairsem_shared_stat(3)
 * ======================================================================== */

/*
 * Returns the number of free units, or -1 for an error.  Each function of this section first frees the
 * units of dead processes.  If a stopped process has the segment's lock for 20 ms, the function reads
 * without the lock, and its figures may be inconsistent.
 */
FAIRSEM_API int64_t fairsem_shared_available(fairsem_shared_t *handle) FAIRSEM_NONNULL_(1);

/* Returns the number of requests in the queue, or -1 for an error. */
FAIRSEM_API int64_t fairsem_shared_waiters(fairsem_shared_t *handle) FAIRSEM_NONNULL_(1);

/* The present state, and counters since the segment was created.  A death in a call makes counters inexact. */
typedef struct {
    int64_t available;      /* free units; below 0 after fairsem_shared_set_units */
    int64_t capacity;       /* all units, free or not; with FAIRSEM_SHARED_NO_UNDO attr.capacity, or -1 if
                             * attr.capacity is 0 */
    int64_t held;           /* units held by live processes; 0 with FAIRSEM_SHARED_NO_UNDO */
    int64_t mine;           /* units held by this process */
    int64_t processes;      /* processes that have the segment open */
    int64_t max_processes;
    int64_t waiters;        /* requests in the queue */
    int64_t max_waiters;
    int64_t waiting_units;  /* units that these requests ask for; at most INT64_MAX */
    int64_t oldest_wait_ns; /* the age of the oldest of these requests, nanoseconds */

    int64_t waits;          /* requests that joined the queue */
    int64_t grants;         /* requests that left the queue with their units */
    int64_t timeouts;       /* requests that timed out */
    int64_t cancels;        /* requests that a token or pthread_cancel ended */
    int64_t lost;           /* requests whose process died */
    int64_t wait_ns_total;  /* sum of the waits of granted requests, nanoseconds */
    int64_t wait_ns_max;    /* the longest of these waits */
    int64_t waiters_max;    /* the longest queue */
    int64_t refused;        /* requests that got ENOBUFS */
    int64_t over_releases;  /* releases that got EPERM or EOVERFLOW */
    int64_t deaths;         /* processes that ended without a close, also by exit() */
    int64_t returned;       /* units that came back from these processes */
    int64_t repairs;        /* repairs of work that these processes left unfinished */
    int64_t initial_units;  /* attr.units; since 1.1 */
    int64_t aged;           /* grants before better priorities, by aging_ns; since 1.1 */
    int64_t reserved_[7];
} fairsem_shared_stat_t;

/* Fill in *stat with figures of one moment. */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_stat(fairsem_shared_t *handle, fairsem_shared_stat_t *stat)
    FAIRSEM_NONNULL_(1, 2);

/* Count the waits that were granted, by length, as fairsem_stat_histogram.  Since 1.1. */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_stat_histogram(fairsem_shared_t *handle,
                                              uint64_t counts[FAIRSEM_WAIT_BUCKETS])
    FAIRSEM_NONNULL_(1, 2);

/* A holder, or a request: in the queue, or granted to a thread that has not received the units yet. */
typedef struct fairsem_shared_user {
    int64_t pid;            /* in the user's own pid namespace */
    int64_t units;          /* units of the holder, or of the request */
    int64_t place;          /* in the queue, from 1; 0 for a holder or a granted request */
    int64_t ns;             /* nanoseconds since the holder last held no units, since the request was granted,
                             * or, in the queue, since the request joined the queue */
    int64_t priority;       /* of a request in the queue, otherwise 0 */
    int64_t mine;           /* 1 for a holder or a request of this process, otherwise 0 */
    int64_t local_pid;      /* in this process's pid namespace, or 0.  Since 1.1 */
    int64_t reserved_[1];
} fairsem_shared_user_t;

/* Fill in up to *count users, holders first, and set *count to the number of all users. */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_users(fairsem_shared_t *handle, fairsem_shared_user_t *users,
                                     int *count) FAIRSEM_NONNULL_(1, 3);

/*
 * Write the holders and the waiters, as text.
 *
 * 0        all is written
 * EIO      not all is written
 * ENOMEM   only the totals are written
 */
FAIRSEM_API int fairsem_shared_dump(fairsem_shared_t *handle, FILE *file) FAIRSEM_NONNULL_(1, 2);

#ifdef __cplusplus
}
#endif

#endif
