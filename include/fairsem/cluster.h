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
 *         fairsem_cluster_open            one name, at one engine
 *         fairsem_cluster_close           the end of a handle
 *     2  acquire and release
 *         fairsem_cluster_acquire_with    take units; wait in the queue until they are free
 *         fairsem_cluster_release         give them back
 *         fairsem_cluster_lost            may the hold still be used?
 *         fairsem_cluster_left            for how long?
 *         fairsem_cluster_fence           a number that only grows from holder to holder
 *         fairsem_cluster_fd              a descriptor to poll
 *     3  inspect, change, remove
 *         fairsem_cluster_users           who holds units, and who waits
 *         fairsem_cluster_limit           the limit of the name
 *         fairsem_cluster_set_limit       another limit, while the name is used
 *         fairsem_cluster_next            the next name that the engine keeps
 *         fairsem_cluster_remove          remove a name that is no longer used
 *         fairsem_cluster_why             the last bad answer, for a message
 *
 * WHAT HOLDS FOR EVERY FUNCTION is what fairsem.h says of results, units and time, and this:
 *
 * Engine.    It is etcd, which has its own users, certificates and storage.
 * Lease.     A request lives as long as its lease at the engine.  A thread of the handle renews it,
 *            which exists while a request waits or holds units.
 * Lost.      A hold whose lease was not renewed for three quarters of its time must no longer be
 *            used; the engine gives its units away a quarter later.  A machine that was suspended
 *            notices when it resumes.
 * Fence.     A resource that refuses a fence below the largest that it has seen is safe even from a
 *            holder that was stopped for an hour.  No other resource is.
 * Results.   Those that talk to the engine may return
 *            ENETUNREACH  no endpoint answers
 *            EACCES       it refuses the user, or one side refuses the other's certificate
 *            EPROTO       the answer is not etcd's, or another cluster's; or keys are damaged
 *            ENOSPC       the engine's disk is full
 *            ESTALE       the lease has ended at the engine
 *            ENOMEM, EAGAIN   no memory, no thread
 * Threads.   All may share a handle.  A hold is for one thread at a time, but until its release
 *            others may call fairsem_cluster_lost and fairsem_cluster_fence.
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
    const char *endpoints;      /* "http://HOST:PORT,https://...": the next is used if one fails;
                                 * "srv://DOMAIN": those that DNS has, see fairsem_cluster(7) */
    const char *user;           /* NULL: none */
    const char *password_file;  /* its first line is the user's password */
    const char *ca_file;        /* authorities of the servers; NULL means those that curl trusts */
    const char *cert_file;      /* the client's certificate, or NULL */
    const char *key_file;       /* and its key */
    const char *program;        /* shown in the list of users; NULL means this program's name */
    int64_t     limit;          /* units; 0 is only to inspect */
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
 * ENODATA, ENETUNREACH, ENOTSUP   srv://: DNS has no endpoints; no name server answers, for which it
 *          waits up to six seconds; this system has no resolver for that
 * EACCES, ENOENT, EISDIR ...   as the kernel says of a file; EFBIG: it has more than 16 MiB
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_open(fairsem_cluster_t **handle, const char *name,
                                     const fairsem_cluster_attr_t *attr)
    FAIRSEM_NONNULL_(1, 2, 3);

/*
 * Close a handle.  No other thread may be using it.  First it gives back the units that canceled threads
 * have left, and waits for that as fairsem_cluster_release does.
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

/* Units that are held.  { { 0 } } is an empty one.  Do not copy it while it is not empty. */
typedef struct fairsem_cluster_hold { uintptr_t fairsem_reserved_[8]; } fairsem_cluster_hold_t;

/*
 * Take n units into an empty hold; wait in the queue while that is impossible.  `how` is that of
 * fairsem_acquire_with, or NULL.  A try queries the engine once.
 *
 * 0        the units are yours
 * EINVAL   n < 1 or n > FAIRSEM_MAX_UNITS; `how`, as fairsem_acquire_with; attr.limit is neither the
 *          limit nor the name's first limit, while units are held, a request waits, or the limit is 0
 * E2BIG    n exceeds attr.limit, or the limit, unless that is 0
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
 * Give the units back.  The hold is empty then, whatever the result.
 *
 * 0        the engine has them, or had ended the lease already
 * EINVAL   an empty hold; or in a forked child
 * ENETUNREACH  it does not answer; the library goes on trying, and the units are free when the lease
 *          ends, at the latest
 */
FAIRSEM_API int fairsem_cluster_release(fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * Returns whether the hold may be used, by the clock, without waiting.
 *
 * 0        it may, at this moment
 * ENETUNREACH  no renewal was answered for three quarters of the lease
 * ESTALE   the engine has ended the lease
 * EINVAL   an empty hold
 * EACCES, EPROTO   no renewal was answered in time, and this was the last answer
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_lost(const fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * Returns for how many nanoseconds the hold may still be used if no renewal is answered, or 0 if it is
 * lost or empty.  Work that needs time to stop must be stopped before this is 0.
 */
FAIRSEM_API int64_t fairsem_cluster_left(const fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * Returns the fence, which is larger than that of each earlier hold of this name, for as long as the
 * engine keeps its data, or 0 for an empty hold.
 */
FAIRSEM_API int64_t fairsem_cluster_fence(const fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * Returns a descriptor that is readable when a hold was lost or a request was granted.  Read 8 bytes
 * from it, and then check each hold.  It belongs to the handle, which closes it.
 */
FAIRSEM_API int fairsem_cluster_fd(const fairsem_cluster_t *handle) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  3  Inspect, change, remove
 *     fairsem_cluster(7)
 * ======================================================================== */

/* A holder of units, or a request in the queue. */
typedef struct fairsem_cluster_user {
    int64_t units;          /* that it holds, or requests; -1 if its key is damaged */
    int64_t place;          /* in the queue, from 1, or 0 if it holds the units */
    int64_t priority;
    int64_t fence;          /* of a holder, otherwise 0 */
    int64_t since;          /* when it began or joined, by its machine, in seconds since 1970, or 0 */
    int64_t pid;            /* on its machine */
    int64_t mine;           /* 1 if it is of this handle, otherwise 0 */
    int64_t reserved_[5];
    char    host[64];       /* cut if longer, with '?' for bytes that are not printable */
    char    program[64];    /* or the end of the damaged key */
} fairsem_cluster_user_t;

/*
 * Fill in up to `size` of them, holders first, then the queue in its order, all of one moment, and
 * set *count to the number of all.  It reads at most 16384 holders and as many requests.  If there are
 * more, it leaves out those whose place it cannot know.
 *
 * 0        the array is filled in
 * EINVAL   in a forked child
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_users(fairsem_cluster_t *handle, fairsem_cluster_user_t users[],
                                      size_t size, size_t *count) FAIRSEM_NONNULL_(1, 4);

/*
 * Read the limit: that of the first request, or of fairsem_cluster_set_limit.
 *
 * 0        *limit is set
 * ENOENT   the name has never been used, or was removed
 * EINVAL   in a forked child
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_limit(fairsem_cluster_t *handle, int64_t *limit)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Change the limit of the name, used or not, until it is removed; 0 is a pause, in which requests wait.
 * Holders keep their units: if more are held, none is granted until enough have been released.
 * Requests in the queue for more than the limit stay there.
 *
 * 0        it is set; the front of the queue is notified
 * ENOENT   the name has never been used, or was removed
 * EINVAL   limit < 0 or limit > FAIRSEM_MAX_UNITS; or in a forked child
 */
FAIRSEM_API int fairsem_cluster_set_limit(fairsem_cluster_t *handle, int64_t limit)
    FAIRSEM_NONNULL_(1);

/*
 * Find the name after `name`, in the order of the engine's keys, or the first of all if that is empty;
 * the handle is then one of the new name, to inspect it.  Holds and waiting requests are not affected.
 * No other thread may be using the handle.
 *
 * 0        name is filled in
 * ENOENT   there is none
 * EACCES   also if the user may not read all keys below "fairsem/"
 * EINVAL   a name that is too long; or in a forked child
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_next(fairsem_cluster_t *handle,
                                     char name[FAIRSEM_CLUSTER_NAME_MAX + 1]) FAIRSEM_NONNULL_(1, 2);

/*
 * Remove an unused name: its limit is its last key at the engine.
 *
 * 0        it is removed
 * EBUSY    units are held, a request waits, or the limit is being set at this moment
 * ENOENT   the name has never been used, or was removed
 * EINVAL   in a forked child
 */
FAIRSEM_API int fairsem_cluster_remove(fairsem_cluster_t *handle) FAIRSEM_NONNULL_(1);

/*
 * Copy the last bad answer, for people, such as "10.0.0.1:80: HTTP 404: 404 page not found", cut to
 * `size` with its NUL, or "" if there was none.  It sends no query.
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
