/* SPDX-License-Identifier: MIT */
/*
 * fairsem/cluster.h - a fair limit between machines, which etcd keeps.
 *
 * THE PROMISE.  All programs on all machines that use a name together hold at most `limit` units.
 * Whoever came first is served first.  What a program held that died, or that lost the engine, goes
 * to the next when its lease ends.
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
 * ALL FUNCTIONS.  This header is the contract; fairsem_cluster(7) has the reasons, what the engine
 * must be, and what is not promised.
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
 *         fairsem_cluster_fd              what to poll
 *     3  inspect, change, remove
 *         fairsem_cluster_users           who holds units, and who waits
 *         fairsem_cluster_limit           the limit that the name has
 *         fairsem_cluster_set_limit       another limit, while the name is used
 *         fairsem_cluster_next            the next name that the engine keeps
 *         fairsem_cluster_remove          the name is not used any more
 *         fairsem_cluster_why             what the engine, or something else, has answered
 *
 * WHAT HOLDS FOR EVERY FUNCTION is what fairsem.h says of results, units and time, and this:
 *
 * Engine.    It is etcd.  Its users, certificates and storage are not ours.
 * Lease.     A request lives as long as its lease at the engine, which one thread for each handle
 *            renews; the thread is there while something is held or waited for.
 * Lost.      A hold whose lease was not renewed for three quarters of its time must no longer be
 *            used; the engine gives its units away a quarter later.  A machine that was suspended
 *            notices when it wakes.
 * Fence.     A resource that refuses a fence below the largest that it has seen is safe even from a
 *            holder that was stopped for an hour.  Nothing else is.
 * Results.   Those that talk to the engine may return
 *            ENETUNREACH  no endpoint answers
 *            EACCES       it refuses the user, or one side the other's certificate
 *            EPROTO       the answer is not etcd's, or another cluster's; or keys are damaged
 *            ENOSPC       the engine's disk is full
 *            ESTALE       the lease has ended at the engine
 *            ENOMEM, EAGAIN   no memory, no thread
 * Threads.   All may share a handle.  A hold is for one thread at a time, but until its release
 *            others may call fairsem_cluster_lost and fairsem_cluster_fence.
 * Child.     After fork the child cannot use the parent's handles and holds: EINVAL.
 * Trust.     Who may write the keys below "fairsem/" can damage them; the roles of etcd say who.
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

/* Which engine, and which limit.  Strings are copied; files are read by fairsem_cluster_open. */
typedef struct fairsem_cluster_attr {
    const char *endpoints;      /* "http://HOST:PORT,https://...": the next is used if one fails;
                                 * "srv://DOMAIN": those that DNS has, see fairsem_cluster(7) */
    const char *user;           /* NULL: none */
    const char *password_file;  /* its first line is the user's password */
    const char *ca_file;        /* who signs for the servers; NULL: those that curl trusts */
    const char *cert_file;      /* the client's certificate; NULL: none */
    const char *key_file;       /* and its key */
    const char *program;        /* what people see in the list of users; NULL: this program's name */
    int64_t     limit;          /* units; 0: only to inspect */
    int64_t     ttl_ns;         /* of a lease: 2 s to 1 h, whole seconds; 0: 10 s */
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
 * Close a handle.  No other thread may be using it.  Before, what a canceled thread has left is
 * given back, for which it waits as fairsem_cluster_release does.
 *
 * 0        the handle is gone
 * EBUSY    something is held or waited for; nothing was changed
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
 * fairsem_acquire_with, or NULL.  Only to try is to ask the engine once.
 *
 * 0        the units are yours
 * EINVAL   n < 1 or n > FAIRSEM_MAX_UNITS; `how`, as fairsem_acquire_with; attr.limit is neither the
 *          limit nor the one with which the name was made, while anybody holds units or waits, or the
 *          limit is 0
 * E2BIG    n exceeds attr.limit, or the limit, unless that is 0
 * EBUSY    the hold is not empty
 * ETIMEDOUT  the units did not come in time; or others have them, when it only tries
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
 * ENETUNREACH  it does not answer; the library goes on trying, and in the worst case they come back
 *          when the lease ends
 */
FAIRSEM_API int fairsem_cluster_release(fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * May the hold be used?  It looks at the clock, and does not wait.
 *
 * 0        it may, at this moment
 * ENETUNREACH  no renewal was answered for three quarters of the lease
 * ESTALE   the engine has ended the lease
 * EINVAL   an empty hold
 * EACCES, EPROTO   no renewal was answered in time, and this is what the last answer was
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_lost(const fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * Nanoseconds for which the hold may still be used if no renewal is answered; 0: it is lost, or
 * empty.  Whoever needs time to stop must begin while this is not 0.
 */
FAIRSEM_API int64_t fairsem_cluster_left(const fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * The fence: larger than that of each hold of this name that began before, for as long as the engine
 * keeps its data.  0: an empty hold.
 */
FAIRSEM_API int64_t fairsem_cluster_fence(const fairsem_cluster_hold_t *hold) FAIRSEM_NONNULL_(1);

/*
 * A descriptor that is readable when a hold was lost or a request was granted.  Read 8 bytes from
 * it, and then check each hold.  It belongs to the handle, which closes it.
 */
FAIRSEM_API int fairsem_cluster_fd(const fairsem_cluster_t *handle) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  3  Inspect, change, remove
 *     fairsem_cluster(7)
 * ======================================================================== */

/* A holder of units, or a request in the queue. */
typedef struct fairsem_cluster_user {
    int64_t units;          /* that it holds, or asks for; -1: its key is damaged */
    int64_t place;          /* in the queue, from 1; 0: it holds them */
    int64_t priority;
    int64_t fence;          /* of a holder; else 0 */
    int64_t since;          /* when it began or joined, by its machine: seconds since 1970, or 0 */
    int64_t pid;            /* on its machine */
    int64_t mine;           /* 1: of this handle; else 0 */
    int64_t reserved_[5];
    char    host[64];       /* cut, if longer; what is not printable is '?' */
    char    program[64];    /* or the end of the damaged key */
} fairsem_cluster_user_t;

/*
 * Fill in up to `size` of them, holders first, then the queue in its order, all of one moment, and
 * set *count to how many there are.  It reads no more than 16384 holders, and as many requests, and
 * leaves out those whose place it does not know then.
 *
 * 0        the array is filled in
 * EINVAL   in a forked child
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_users(fairsem_cluster_t *handle, fairsem_cluster_user_t users[],
                                      size_t size, size_t *count) FAIRSEM_NONNULL_(1, 4);

/*
 * The limit: that of the first to use the name, or what fairsem_cluster_set_limit has set.
 *
 * 0        *limit is set
 * ENOENT   nobody has used the name, or it was removed
 * EINVAL   in a forked child
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_limit(fairsem_cluster_t *handle, int64_t *limit)
    FAIRSEM_NONNULL_(1, 2);

/*
 * Change the limit of the name, used or not, until it is removed; 0 is a pause, in which requests wait.
 * Nothing is taken back: if more are held, none is granted until enough have come back.  Requests in
 * the queue for more than the limit now stay there.
 *
 * 0        it is set; the head of the queue is told
 * ENOENT   nobody has used the name, or it was removed
 * EINVAL   limit < 0 or limit > FAIRSEM_MAX_UNITS; or in a forked child
 */
FAIRSEM_API int fairsem_cluster_set_limit(fairsem_cluster_t *handle, int64_t limit)
    FAIRSEM_NONNULL_(1);

/*
 * Find the first name behind `name`, in the order of the engine's keys, or the first of all if that is
 * empty; and let the handle be one of that name, to inspect it.  What is held or waited for is not
 * affected.  No other thread may be using the handle.
 *
 * 0        name is filled in
 * ENOENT   there is none
 * EACCES   also if the user may not read all that is below "fairsem/"
 * EINVAL   a name that is too long; or in a forked child
 */
FAIRSEM_MUST_CHECK_
FAIRSEM_API int fairsem_cluster_next(fairsem_cluster_t *handle,
                                     char name[FAIRSEM_CLUSTER_NAME_MAX + 1]) FAIRSEM_NONNULL_(1, 2);

/*
 * Forget the limit: then nothing of the name is left at the engine.
 *
 * 0        it is forgotten
 * EBUSY    somebody holds units, or waits, or sets the limit at this moment
 * ENOENT   nobody has used the name, or it was removed
 * EINVAL   in a forked child
 */
FAIRSEM_API int fairsem_cluster_remove(fairsem_cluster_t *handle) FAIRSEM_NONNULL_(1);

/*
 * For people: what the last question got that had no good answer, such as "10.0.0.1:80: HTTP 404: 404
 * page not found", cut to `size` with its NUL; "": there was none.  It does not ask.
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
