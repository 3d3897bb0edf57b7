/* SPDX-License-Identifier: MIT */
/*
 * fairsem/cluster.h - a fair limit between machines, kept by etcd.
 *
 * THE PROMISE.  All programs on all machines that use a name together hold at most `limit` units.
 * The oldest request is served first.  If a program dies, or loses its connection to the engine, its
 * units go to the next request when its lease ends.
 *
 * Example:
 *
 *     #include <fairsem/cluster.h>
 *
 *     int main(void)
 *     {
 *         const fairsem_cluster_attr_t attr = { .endpoints = "http://10.0.0.1:2379", .limit = 2 };
 *         fairsem_cluster_t *backups;
 *         fairsem_cluster_hold_t hold = { { 0 } };
 *
 *         if (fairsem_cluster_open(&backups, "backup", &attr) != 0
 *             || fairsem_cluster_acquire_with(backups, 1, NULL, &hold) != 0)
 *             return 1;
 *         // at most two programs of the fleet are here, while fairsem_cluster_lost(&hold) is 0
 *         fairsem_cluster_release(&hold);
 *         return fairsem_cluster_close(backups);
 *     }
 *
 * To build it:  cc prog.c $(pkg-config --cflags --libs fairsem-cluster)
 *
 * ALL FUNCTIONS.  This header is the contract; fairsem_cluster(7) has the reasons, the requirements of
 * the engine, and the limits of the promise.
 *
 *     1  open, close
 *         fairsem_cluster_open            a handle for one name, at one engine
 *         fairsem_cluster_close           the end of a handle
 *     2  acquire and release
 *         fairsem_cluster_acquire_with    take units; wait in the queue until they are free
 *         fairsem_cluster_release         give units back
 *         fairsem_cluster_lost            may a hold still be used?
 *         fairsem_cluster_left            for how long may a hold still be used?
 *         fairsem_cluster_fence           a number that only grows from holder to holder
 *         fairsem_cluster_fd              a descriptor to poll
 *     3  inspect, change, remove
 *         fairsem_cluster_users           who holds units, and who waits
 *         fairsem_cluster_limit           the limit of the name
 *         fairsem_cluster_set_limit       change the limit, even while the name is used
 *         fairsem_cluster_next            the next name that the engine keeps
 *         fairsem_cluster_remove          remove a name that is no longer used
 *         fairsem_cluster_why             the last bad answer, for a message
 *
 * WHAT HOLDS FOR EVERY FUNCTION is what fairsem.h says of results, units and time, and this:
 *
 * Engine.    The engine is etcd, which has its own users, certificates and storage.
 * Lease.     A request lives as long as its lease at the engine.  A thread of the handle renews the
 *            lease; the thread exists while a request waits or holds units.
 * Lost.      A hold must no longer be used when three quarters of its lease have passed without a
 *            renewal; the engine gives the units away when the lease ends.  A machine that was
 *            suspended notices the loss when it resumes.
 * Fence.     A resource that refuses a fence below the largest fence that it has seen is safe even
 *            from a holder that was stopped for an hour.  No other resource is.
 * Results.   Functions that talk to the engine may also return
 *            ENETUNREACH  no endpoint answers
 *            EACCES       the engine refuses the user, or one side refuses the other's certificate
 *            EPROTO       the answer is not from etcd, or is from another cluster; or keys are damaged
 *            ENOSPC       the engine's disk is full
 *            ESTALE       the lease has ended at the engine
 *            ENOMEM, EAGAIN   no memory, no thread
 * Threads.   All threads may share a handle.  A hold is for one thread at a time, but until its release
 *            other threads may call fairsem_cluster_lost and fairsem_cluster_fence.
 * Child.     After fork the child cannot use the parent's handles and holds: EINVAL.
 * Trust.     A user who may write to the keys below "fairsem/" can damage them: use roles of etcd.
 */
#ifndef FAIRSEM_CLUSTER_H
#define FAIRSEM_CLUSTER_H

#include <fairsem.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

FAIRSEM_CHECK_LAYOUT_(fairsem_cluster);

/* ======================================================================== *
 *  1  Open, close
 *     fairsem_cluster(7)
 * ======================================================================== */

/* One name at one engine.  Threads may share it. */
typedef struct fairsem_cluster fairsem_cluster_t;

/* The engine and the limit.  fairsem_cluster_open copies strings and reads files. */
typedef struct fairsem_cluster_attr {
    const char *endpoints;      /* "http://HOST:PORT,https://...": if one fails, the next is used;
                                 * "srv://DOMAIN": the endpoints in DNS, see fairsem_cluster(7) */
    const char *user;           /* NULL: none */
    const char *password_file;  /* its first line is the user's password */
    const char *ca_file;        /* authorities of the servers; NULL means those that curl trusts */
    const char *cert_file;      /* the client's certificate, or NULL */
    const char *key_file;       /* the key of the client's certificate, or NULL */
    const char *program;        /* shown in the list of users; NULL means this program's name */
    int64_t     limit;          /* units; 0 for a handle that only inspects */
    int64_t     ttl_ns;         /* of a lease: 2 s to 1 h, whole seconds; 0 means 10 s */
    unsigned    flags;          /* 0 */
    uintptr_t   reserved_[8];   /* must be zero */
} fairsem_cluster_attr_t;

/* Leases, in nanoseconds. */
#define FAIRSEM_CLUSTER_TTL_MIN INT64_C(2000000000)
#define FAIRSEM_CLUSTER_TTL     INT64_C(10000000000)
#define FAIRSEM_CLUSTER_TTL_MAX INT64_C(3600000000000)

/* The longest name, in bytes. */
#define FAIRSEM_CLUSTER_NAME_MAX 255

/*
 * Make a handle for a name, which is any string that is not empty.  Nothing is sent to the engine.
 *
 * 0        *handle can be used
 * EINVAL   an empty name or one that is too long; no endpoint, or one that is no URL; a member of
 *          attr that is out of range; a user without a password file, or the reverse; a certificate
 *          without a key, or the reverse
 * ENOMEM, EMFILE, ENFILE
 * ENODATA, ENETUNREACH, ENOTSUP   srv://, in this order: DNS has no endpoints; no name server answers, for
 *          up to six seconds; this system has no resolver for SRV records
 * EACCES, ENOENT, EISDIR ...   as the kernel says of a file; EFBIG: the file has more than 16 MiB
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_open(fairsem_cluster_t **handle, const char *name,
                                     const fairsem_cluster_attr_t *attr)
    FAIRSEM_NONNULL_(1, 2, 3);

/*
 * Close a handle.  No other thread may be using it.  The call first gives back the units that canceled
 * threads have left, and waits for the engine as fairsem_cluster_release does.
 *
 * 0        the handle is gone
 * EBUSY    a request waits or holds units; nothing was changed
 * EINVAL   in a forked child
 */
FAIRSEM_API int fairsem_cluster_close(fairsem_cluster_t *handle) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  2  Acquire and release
 *     fairsem_cluster(7)
 * ======================================================================== */

/* Units that are held.  { { 0 } } is an empty hold.  Do not copy a hold that is not empty. */
typedef struct fairsem_cluster_hold { uintptr_t fairsem_reserved_[8]; } fairsem_cluster_hold_t;

/*
 * Take n units into an empty hold.  If that is not possible now, wait in the queue.  `how` is as in
 * fairsem_acquire_with, or NULL.  A call that only tries queries the engine once.
 *
 * 0        the units are yours
 * EINVAL   n < 1 or n > FAIRSEM_MAX_UNITS; `how` has a share, or is invalid, as in fairsem_acquire_with;
 *          attr.limit is neither the name's limit nor its first limit, and cannot replace them: units are
 *          held, a request waits, or the name's limit is 0
 * E2BIG    n exceeds attr.limit, or the name's limit if that is not 0
 * EBUSY    the hold is not empty
 * ETIMEDOUT  the units did not come in time; or a try did not get them
 * the token's reason, before the wait or during it
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_acquire_with(fairsem_cluster_t *handle, int64_t n,
                                             const fairsem_wait_t *how,
                                             fairsem_cluster_hold_t *hold)
    FAIRSEM_TIME64_(fairsem_cluster_acquire_with) FAIRSEM_NONNULL_(1, 4);

/*
 * Give the units back.  After the call the hold is empty, whatever the result.
 *
 * 0        the engine has the units, or had ended the lease already
 * EINVAL   an empty hold; or in a forked child
 * ENETUNREACH  the engine does not answer; the library goes on trying, and the units are free when the
 *          lease ends, at the latest
 */
FAIRSEM_API int fairsem_cluster_release(fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * Tells whether the hold may be used, by the clock and without waiting.
 *
 * 0        the hold may be used, at this moment
 * ENETUNREACH  no renewal was answered for three quarters of the lease
 * ESTALE   the engine has ended the lease
 * EINVAL   an empty hold
 * EACCES, EPROTO   no renewal succeeded in time, and the last answer was this error
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_lost(const fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * Returns for how many nanoseconds the hold may still be used if no renewal is answered, or 0 if the hold
 * is lost or empty.  Work that needs time to stop must be stopped before this number is 0.
 */
FAIRSEM_API int64_t fairsem_cluster_left(const fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * Returns the fence of the hold, or 0 for an empty hold.  As long as the engine keeps its data, the fence is
 * larger than the fences of all earlier holds of this name.
 */
FAIRSEM_API int64_t fairsem_cluster_fence(const fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * Returns a descriptor that is readable when a hold was lost or a request was granted.  Read 8 bytes
 * from it, and then check each hold.  fairsem_cluster_close closes the descriptor.
 */
FAIRSEM_API int fairsem_cluster_fd(const fairsem_cluster_t *handle) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  3  Inspect, change, remove
 *     fairsem_cluster(7)
 * ======================================================================== */

/* A holder of units, or a request in the queue. */
typedef struct fairsem_cluster_user {
    int64_t units;          /* units of the holder, or of the request; -1 if the key is damaged */
    int64_t place;          /* in the queue, from 1; 0 for a holder */
    int64_t priority;
    int64_t fence;          /* of a holder, otherwise 0 */
    int64_t since;          /* when the hold began, or the request joined the queue, by the clock of the
                             * user's machine: seconds since 1970, or 0 */
    int64_t pid;            /* on the user's machine */
    int64_t mine;           /* 1 for a holder or a request of this handle, otherwise 0 */
    int64_t reserved_[5];
    char    host[64];       /* cut if longer, with '?' for bytes that are not printable */
    char    program[64];    /* as host; if the key is damaged, the end of the key */
} fairsem_cluster_user_t;

/*
 * Fill in up to `size` users, holders first, then the queue in its order, all of one moment, and set *count
 * to the number of all users.  The call reads at most 16384 holders and as many requests.  If there are
 * more requests, those of unknown place are left out.
 *
 * 0        the array is filled in
 * EINVAL   in a forked child
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_users(fairsem_cluster_t *handle, fairsem_cluster_user_t users[],
                                      size_t size, size_t *count) FAIRSEM_NONNULL_(1, 4);

/*
 * Read the name's limit, which the first request or fairsem_cluster_set_limit has set.
 *
 * 0        *limit is set
 * ENOENT   the name has never been used, or was removed
 * EINVAL   in a forked child
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_limit(fairsem_cluster_t *handle, int64_t *limit)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Change the limit of the name, used or not.  The limit stays until the name is removed, or until a request
 * with another attr.limit replaces it: see fairsem_cluster_acquire_with.  0 is a pause, in which requests wait.
 * Holders keep their units: if they hold more than the limit, no unit is granted until enough have been
 * released.  Requests in the queue for more than the limit stay in the queue.
 *
 * 0        the limit is set; the front of the queue is notified
 * ENOENT   the name has never been used, or was removed
 * EINVAL   limit < 0 or limit > FAIRSEM_MAX_UNITS; or in a forked child
 */
FAIRSEM_API int fairsem_cluster_set_limit(fairsem_cluster_t *handle, int64_t limit)
    FAIRSEM_NONNULL_(1);

/*
 * Find the name after `name`, in the order of the engine's keys, or the first name if `name` is empty.  From
 * then on the handle is a handle of the new name, to inspect the new name.  Holds and waiting requests are not
 * affected.  No other thread may be using the handle.
 *
 * 0        name is filled in
 * ENOENT   there is no next name
 * EACCES   also if the user may not read all keys below "fairsem/"
 * EINVAL   a name that is too long; or in a forked child
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_next(fairsem_cluster_t *handle,
                                     char name[FAIRSEM_CLUSTER_NAME_MAX + 1]) FAIRSEM_NONNULL_(1, 2);

/*
 * Remove an unused name, and with it the last key of the name at the engine, its limit.
 *
 * 0        the name is removed
 * EBUSY    units are held, a request waits, or the limit is being set at this moment
 * ENOENT   the name has never been used, or was removed
 * EINVAL   in a forked child
 */
FAIRSEM_API int fairsem_cluster_remove(fairsem_cluster_t *handle) FAIRSEM_NONNULL_(1);

/*
 * Copy the last bad answer as readable text, for instance "10.0.0.1:80: HTTP 404: 404 page not found", or ""
 * if there was no bad answer.  The text is cut to `size` bytes with its NUL.  The call sends no query.
 *
 * 0        the text is filled in
 * EINVAL   size is 0; or in a forked child
 */
FAIRSEM_API int fairsem_cluster_why(fairsem_cluster_t *handle, char *text, size_t size)
    FAIRSEM_NONNULL_(1, 2);

#ifdef __cplusplus
}
#endif

#endif
