/* SPDX-License-Identifier: MIT */
/*
 * fairsem/shared.h - a fair semaphore between processes, which survives its users.
 *
 * THE PROMISE.  A unit that becomes free goes to the waiter that has waited longest, in whatever
 * process it is.  A process that dies, at any instruction and by any signal, takes no units with
 * it: they go to the next in the queue, and its own requests leave the queue.
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
 *                 _exit(0);                   // gives the unit back, as any other end does
 *             }
 *         while (wait(NULL) > 0)
 *             continue;
 *         return fairsem_shared_close(slots);
 *     }
 *
 * To build it:  cc prog.c $(pkg-config --cflags --libs fairsem)
 *
 * Sections of this header.  Each begins with a complete example.
 *     1  open, close, remove
 *     2  acquire and release
 *     3  units that nobody owns: producers and consumers
 *     4  fork and exec
 *     5  inspect
 *
 * WHAT HOLDS FOR EVERY FUNCTION, unless its comment says otherwise.  The rules of fairsem.h for
 * results, units, time, memory order and cancellation hold here, too.
 *
 * Segment.   The semaphore lies in a segment of memory that processes share.  It is a file in
 *            /dev/shm and has a name, or it has none and is inherited by fork.  Where systemd has
 *            RemoveIPC=yes, it removes the names of a user, other than of the system's own users,
 *            when the user's last session ends.
 * Handle.    A process has one handle for each segment, however often it opens it.  Any number of
 *            threads may use it.
 * Units      belong to the process that has acquired them, not to the thread: any thread of it
 *            may release them.  (Not with FAIRSEM_SHARED_NO_UNDO.)
 * Life.      A process lives until the kernel has closed its descriptors: exit, _exit, any signal
 *            and exec end its life.  It does not matter who its parent is, or whether the parent
 *            has waited for it.  A stopped process lives.  If it is stopped inside a call while
 *            it holds the segment's lock, the others wait until it goes on.  If it is stopped in
 *            its first call while it takes the place of a dead process, because attr.max_processes
 *            are in use, that one seems to live until it goes on.
 * How soon.  While somebody waits, the dead are found within 100 ms; within 200 ms while the first
 *            in the queue is stopped.  Otherwise the next call that would have to wait, or that
 *            inspects the semaphore, finds them.
 * Results.   Each function below that returns an errno value may also return
 *            ENOTRECOVERABLE  the segment is damaged: somebody has written to it.  It stays so for
 *                             all who use it; fairsem_shared_unlink removes its name
 *            EBADF            this program has closed the descriptor that belongs to the handle
 *            EUSERS, ENOLCK   in the first call of a forked child, as fairsem_shared_open
 *            ENOSYS           this system is not Linux
 * malloc.    Only open and dump allocate.
 * Signals.   No function is async-signal-safe.  A signal does not end a wait.  Do not fork in a
 *            signal handler that interrupted one of these functions.
 * _Fork.     A child of _Fork, vfork or clone acts as its parent, and must call no function.
 * Trust.     A process that may write to the segment can damage it.  The others then get
 *            ENOTRECOVERABLE, and nothing worse, with three exceptions.  If it makes the file of a
 *            named segment shorter, SIGBUS can end the others.  (The size of a segment without a
 *            name is sealed.)  If it locks bytes of the file, dead processes seem alive for as
 *            long as it holds those locks.  If it writes that a living process has the segment's
 *            lock, the others wait until that process ends.
 * Since.     Every function has existed since 1.0, unless its comment names a later version.
 *
 * Do not open the file of a segment by other means: the kernel drops a process's locks on a file
 * when the process closes any descriptor of it, and then the process counts as dead.  The same
 * happens in a program that closes all descriptors that it does not know; if other threads of it
 * are in a call at that moment, the segment may be damaged for all.  It also happens when two
 * copies of this library in one process have a segment open, and one of them closes it: they do
 * not know of each other.
 */
#ifndef FAIRSEM_SHARED_H
#define FAIRSEM_SHARED_H

#include <fairsem.h>

#include <fcntl.h>      /* O_CREAT, O_EXCL */

#ifdef __cplusplus
extern "C" {
#endif

/* ======================================================================== *
 *  1  Open, close, remove
 * ======================================================================== */

/*
 * Example:
 *
 *     #include <errno.h>
 *     #include <fairsem/shared.h>
 *     #include <stdio.h>
 *     #include <unistd.h>
 *
 *     int main(void)
 *     {
 *         const fairsem_shared_attr_t attr = { .units = 4 };
 *         fairsem_shared_t *slots;
 *         char name[40];
 *         int error;
 *
 *         snprintf(name, sizeof name, "/example-%ld", (long)getpid());
 *         error = fairsem_shared_open(&slots, name, O_CREAT, 0600, &attr);
 *         if (error != 0)
 *             return error == ENOSYS ? 0 : 1;
 *         if (fairsem_shared_acquire(slots, 1) != 0)
 *             return 2;
 *         fairsem_shared_close(slots);            // gives the unit back
 *         return fairsem_shared_unlink(name);     // who has it open may go on
 *     }
 */

typedef struct fairsem_shared fairsem_shared_t;

/*
 * attr.flags: units belong to nobody.  Any process may release units that another one has
 * acquired, or that are new.  So units that a dead process had acquired stay taken.  Its requests
 * still leave the queue, and units that were granted to them but not yet received go to the next
 * in the queue.  While nobody waits, an acquire or release is one compare-and-swap.
 */
#define FAIRSEM_SHARED_NO_UNDO 1u

/* attr.flags: waiting threads go to sleep at once, as FAIRSEM_NO_SPIN. */
#define FAIRSEM_SHARED_NO_SPIN 2u

/* The most that attr.max_waiters and attr.max_processes can be. */
#define FAIRSEM_SHARED_MAX 4096

/* The properties of a new segment.  Each member except units has its default if it is zero. */
typedef struct fairsem_shared_attr {
    int64_t  units;         /* free at the beginning */
    int64_t  capacity;      /* 0, or with FAIRSEM_SHARED_NO_UNDO the most that can be free */
    int      max_waiters;   /* requests in the queue, of all processes; 0: 256 */
    int      max_processes; /* that have it open; 0: 64 */
    unsigned flags;         /* 0, or those above, combined by | */
    unsigned reserved_[8];  /* must be zero */
} fairsem_shared_attr_t;

/*
 * Open a segment, or make one.  `name` begins with a slash and has no other, as for shm_open.
 * oflag is 0 or a combination of
 *
 *     O_CREAT  make the segment if there is none of this name, with the properties in attr and the
 *              permissions `mode` (less the umask).  If it exists already, it stays as it is, and
 *              the call reads only the flags of attr: they must be those of the segment
 *     O_EXCL   with O_CREAT: fail if it exists already
 *     O_RDWR   changes nothing: a segment is always opened for reading and writing
 *
 * If name is NULL, the call makes a new segment without a name, which children inherit.  It ignores
 * oflag and mode then.
 *
 * A segment appears under its name when it is complete.  Its memory is allocated at once, 24 KiB by
 * default.  If this process has the segment open already, the call returns the same handle, which
 * you must then close once more.
 *
 * 0        *handle can be used
 * EINVAL   a name that is not valid, or that of a directory; an unknown oflag; O_CREAT without
 *          attr, or an attr with units or capacity < 0 or above FAIRSEM_MAX_UNITS, units above the
 *          capacity, a capacity other than 0 or units without FAIRSEM_SHARED_NO_UNDO, max_waiters
 *          or max_processes < 0 or above FAIRSEM_SHARED_MAX, an unknown flag, a reserved field
 *          that is not zero; flags that an existing segment does not have
 * ENOENT   there is no such name, and O_CREAT was not given
 * EEXIST   there is such a name, and O_EXCL was given
 * EUSERS   attr.max_processes processes have it open already
 * EAGAIN   others make and remove this name again and again
 * ENOTSUP  the segment was made by a version of this library with another layout
 * ENOTRECOVERABLE  the file is not a segment, was never completed, or is damaged
 * EACCES, EFBIG, ELOOP, EMFILE, ENAMETOOLONG, ENFILE, ENOLCK, ENOMEM, ENOSPC, EPERM, EROFS   as
 *          the kernel says; EFBIG: a limit of the size of files, as by ulimit -f
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_open(fairsem_shared_t **handle, const char *name, int oflag,
                                    mode_t mode, const fairsem_shared_attr_t *attr)
    FAIRSEM_NONNULL_(1);

/*
 * Close a handle.  When a process has closed it as often as it has opened it, the units that the
 * process holds go to the next in the queue, as if it had ended.  No other thread may be in a call
 * with this handle.
 *
 * 0        you must not use the handle any more.  This is also the result if the segment is damaged
 * EBUSY    a thread of this process waits; nothing was changed
 */
FAIRSEM_API int fairsem_shared_close(fairsem_shared_t *handle) FAIRSEM_NONNULL_(1);

/*
 * Remove a name.  Processes that have the segment open, and their children, may go on.  A later
 * open does not find the name, or makes another segment.
 *
 * 0        the name is gone
 * EINVAL   the name is not valid, or is that of a directory
 * ENOENT   there is no such name
 * EACCES, ENAMETOOLONG, EPERM, EROFS   as the kernel says
 */
FAIRSEM_API int fairsem_shared_unlink(const char *name) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  2  Acquire and release
 * ======================================================================== */

/*
 * These work like the functions of fairsem.h, but between processes.
 *
 * Example:
 *
 *     #include <errno.h>
 *     #include <fairsem/shared.h>
 *
 *     int main(void)
 *     {
 *         const fairsem_shared_attr_t attr = { .units = 2 };
 *         const fairsem_wait_t urgent = { .priority = -1 };
 *         fairsem_shared_t *slots;
 *
 *         if (fairsem_shared_open(&slots, NULL, 0, 0, &attr) != 0
 *             || fairsem_shared_acquire_with(slots, 2, &urgent) != 0)
 *             return 1;
 *         if (fairsem_shared_acquire_for(slots, 1, 1000000) != ETIMEDOUT)
 *             return 2;
 *         if (fairsem_shared_release(slots, 3) != EPERM)      // we hold two
 *             return 3;
 *         if (fairsem_shared_release(slots, 2) != 0)
 *             return 4;
 *         return fairsem_shared_close(slots);
 *     }
 */

/*
 * Take n units; wait in the queue until they are free.
 *
 * 0        the units are this process's
 * EINVAL   n < 0 or n > FAIRSEM_MAX_UNITS
 * E2BIG    n is more than can ever be free: attr.units, or attr.capacity
 * ENOBUFS  it would have to wait, and attr.max_waiters requests already do.  A request counts until
 *          its thread has received its units
 * EBUSY    it would have to wait, and this process has called fairsem_shared_keep_on_exec
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_acquire(fairsem_shared_t *handle, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Take them if that is possible now, as fairsem_tryacquire.
 *
 * EAGAIN   it would have to wait
 * EINVAL, E2BIG   as fairsem_shared_acquire
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_tryacquire(fairsem_shared_t *handle, int64_t n) FAIRSEM_NONNULL_(1);

/*
 * Wait at most timeout_ns nanoseconds, which is measured as in fairsem_acquire_for.
 *
 * As fairsem_shared_acquire, and
 * ETIMEDOUT  the time has passed
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_acquire_for(fairsem_shared_t *handle, int64_t n,
                                           int64_t timeout_ns) FAIRSEM_NONNULL_(1);

/*
 * Wait until an absolute time, with the clock rule of fairsem.h.
 *
 * As fairsem_shared_acquire, and
 * ETIMEDOUT  the deadline has passed
 * EINVAL     as fairsem_acquire_until
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_acquire_until(fairsem_shared_t *handle, int64_t n, clockid_t clock,
                                             const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_shared_acquire_until) FAIRSEM_NONNULL_(1);

/*
 * The general acquire, as fairsem_acquire_with.  The order by priority holds between processes.  A
 * token belongs to this process and cancels only waits of this process.
 *
 * As fairsem_shared_acquire_until, and
 * EINVAL     as fairsem_acquire_with
 * the token's reason, before or while it waits
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_acquire_with(fairsem_shared_t *handle, int64_t n,
                                            const fairsem_wait_t *how)
    FAIRSEM_TIME64_(fairsem_shared_acquire_with) FAIRSEM_NONNULL_(1);

/*
 * Give n units back.  Before the call returns, it grants the requests at the head of the queue, one
 * after the other, as long as the next one fits.
 *
 * 0          the units are free or granted
 * EINVAL     n < 0 or n > FAIRSEM_MAX_UNITS
 * EPERM      this process holds fewer than n units
 * EOVERFLOW  FAIRSEM_SHARED_NO_UNDO: more would be free than attr.capacity (0: than
 *            FAIRSEM_MAX_UNITS)
 */
FAIRSEM_API int fairsem_shared_release(fairsem_shared_t *handle, int64_t n) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  3  Units that nobody owns: producers and consumers
 * ======================================================================== */

/*
 * This needs no functions of its own: see FAIRSEM_SHARED_NO_UNDO.
 *
 * Example:
 *
 *     #include <fairsem/shared.h>
 *     #include <sys/wait.h>
 *     #include <unistd.h>
 *
 *     int main(void)
 *     {
 *         const fairsem_shared_attr_t attr = { .flags = FAIRSEM_SHARED_NO_UNDO };
 *         fairsem_shared_t *items;
 *
 *         if (fairsem_shared_open(&items, NULL, 0, 0, &attr) != 0)
 *             return 1;
 *         if (fork() == 0) {
 *             for (int i = 0; i < 3; i++)
 *                 fairsem_shared_release(items, 1);       // an item is ready
 *             _exit(0);                                   // they stay, this process does not
 *         }
 *         for (int i = 0; i < 3; i++)
 *             if (fairsem_shared_acquire(items, 1) != 0)
 *                 return 2;
 *         wait(NULL);
 *         return fairsem_shared_close(items);
 *     }
 */

/* ======================================================================== *
 *  4  Fork and exec
 * ======================================================================== */

/*
 * A child inherits the handle.  It holds no units, and counts as a user of the segment
 * (attr.max_processes) from its first call on.  Exec ends a user's life, as exit does.  The
 * function below makes an exception, for a program that acquires units and then execs another
 * program, which knows nothing of them.
 *
 * Example:
 *
 *     #include <fairsem/shared.h>
 *     #include <unistd.h>
 *
 *     int main(void)
 *     {
 *         const fairsem_shared_attr_t attr = { .units = 1 };
 *         fairsem_shared_t *slots;
 *
 *         if (fairsem_shared_open(&slots, NULL, 0, 0, &attr) != 0
 *             || fairsem_shared_acquire(slots, 1) != 0
 *             || fairsem_shared_keep_on_exec(slots, true) != 0)
 *             return 1;
 *         execl("/bin/true", "true", (char *)NULL);   // it holds the unit until it ends
 *         return 127;
 *     }
 */

/*
 * If keep is true, this process keeps its units across exec: the descriptor stays open, and the
 * units stay with the process until it ends or closes that descriptor.  The new program may open
 * the segment, and then owns the units.  If keep is false, an earlier call is undone.  A forked
 * child does not keep what it acquires, unless it calls this function, too.
 *
 * From this call to the exec, no call of this process can wait (EBUSY).  No other thread may be in
 * a call at the moment of the exec.  Before Linux 5.11 the process must have only one thread, or
 * the kernel drops the lock that shows that the process lives.
 *
 * 0        done
 * EBUSY    a thread of this process waits; nothing was changed
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_keep_on_exec(fairsem_shared_t *handle, bool keep)
    FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  5  Inspect
 * ======================================================================== */

/*
 * These functions first look for processes that have died, and free the units that those held.
 *
 * Example:
 *
 *     #include <fairsem/shared.h>
 *     #include <inttypes.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         const fairsem_shared_attr_t attr = { .units = 4 };
 *         fairsem_shared_user_t users[16];
 *         fairsem_shared_stat_t stat;
 *         fairsem_shared_t *slots;
 *         int count = 16;
 *
 *         if (fairsem_shared_open(&slots, NULL, 0, 0, &attr) != 0
 *             || fairsem_shared_acquire(slots, 3) != 0)
 *             return 1;
 *         if (fairsem_shared_stat(slots, &stat) != 0 || stat.available != 1 || stat.mine != 3)
 *             return 2;
 *         if (fairsem_shared_users(slots, users, &count) != 0 || count != 1)
 *             return 3;
 *         printf("%" PRId64 " holds %" PRId64 "\n", users[0].pid, users[0].units);
 *         return fairsem_shared_dump(slots, stdout);
 *     }
 */

/* Units that are free; they may all be for the head of the queue.  -1: an error. */
FAIRSEM_API int64_t fairsem_shared_available(fairsem_shared_t *handle) FAIRSEM_NONNULL_(1);

/* Requests in the queue, of all processes.  -1: an error. */
FAIRSEM_API int64_t fairsem_shared_waiters(fairsem_shared_t *handle) FAIRSEM_NONNULL_(1);

/*
 * A segment at one moment, and what has happened since it was made.  A process that dies inside a
 * call may leave a counter of the past one too high or too low.
 */
typedef struct {
    int64_t available;      /* free units */
    int64_t capacity;       /* attr.units, or attr.capacity; -1: unbounded */
    int64_t held;           /* units that living processes hold; 0 with FAIRSEM_SHARED_NO_UNDO */
    int64_t mine;           /* of these: units that this process holds */
    int64_t processes;      /* that have it open */
    int64_t max_processes;
    int64_t waiters;        /* requests in the queue */
    int64_t max_waiters;
    int64_t waiting_units;  /* units that they ask for together, or INT64_MAX */
    int64_t oldest_wait_ns; /* how long the oldest of them has waited, nanoseconds */

    int64_t waits;          /* requests that joined the queue */
    int64_t grants;         /* of these: granted */
    int64_t timeouts;       /* of these: left the queue at their deadline */
    int64_t cancels;        /* of these: left otherwise, by a token or pthread_cancel */
    int64_t lost;           /* of these: vanished with their process */
    int64_t wait_ns_total;  /* how long those that were granted had waited, nanoseconds */
    int64_t wait_ns_max;    /* the longest of these waits, nanoseconds */
    int64_t waiters_max;    /* the most requests that were in the queue */
    int64_t refused;        /* requests refused with ENOBUFS */
    int64_t over_releases;  /* releases refused with EPERM or EOVERFLOW */
    int64_t deaths;         /* processes that ended without closing their handle */
    int64_t returned;       /* units that dead processes had held, or been granted */
    int64_t repairs;        /* of a critical section that a dead process left unfinished */
    int64_t reserved_[9];
} fairsem_shared_stat_t;

/* Fill in *stat, all of it at one moment. */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_stat(fairsem_shared_t *handle, fairsem_shared_stat_t *stat)
    FAIRSEM_NONNULL_(1, 2);

/*
 * A process that holds units, or a request in the queue.  A request that was granted holds its
 * units by itself until its thread has received them: for long, if the process is stopped.
 */
typedef struct fairsem_shared_user {
    int64_t pid;            /* in the pid namespace of that process */
    int64_t units;          /* that it holds, or asks for */
    int64_t place;          /* in the queue, from 1; 0: it holds them */
    int64_t ns;             /* nanoseconds since the process held none, or the request was
                             * granted or joined */
    int64_t priority;       /* of a request; else 0 */
    int64_t mine;           /* 1: of this process; else 0 */
    int64_t reserved_[2];
} fairsem_shared_user_t;

/*
 * Fill in users[0] and so on: first what holds units (processes, and requests that were granted),
 * the oldest first; then the requests in the queue, in order.  Pass the size of the array in
 * *count; the call sets *count to the number of users, which may be larger.
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_shared_users(fairsem_shared_t *handle, fairsem_shared_user_t *users,
                                     int *count) FAIRSEM_NONNULL_(1, 3);

/*
 * Write the same as text for people: which process holds what, and which waits.
 *
 * 0        it was written
 * EIO      not all of it could be written
 * ENOMEM   there is no memory for the list; the totals were written
 */
FAIRSEM_API int fairsem_shared_dump(fairsem_shared_t *handle, FILE *file) FAIRSEM_NONNULL_(1, 2);

#ifdef __cplusplus
}
#endif

#endif
