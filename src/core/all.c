/* SPDX-License-Identifier: MIT */
/*
 * all.c - units of several semaphores, all of them or none: a client of the public semaphore.
 *
 * NO DEADLOCK.  A call acquires its semaphores in the order of their addresses: while it holds units of one
 * semaphore, it waits only at semaphores with higher addresses.  Among all semaphores at which calls wait,
 * look at the one with the highest address: the calls that hold its units do not wait, and will end.
 *
 * A waiting call keeps the units that it has.  Otherwise it would have to find all its units free at one
 * moment, and other calls would pass it until that moment.
 *
 * NO MEMORY.  The array is not copied and sorted.  Each step scans it for the next address, in quadratic
 * time, but the array is short.
 */
#include "tools/cleanup.h"            /* before <pthread.h> */
#include "tools/compiler.h"
#include "system/deadline.h"
#include "share.h"
#include "wait.h"
#include "word.h"

#include <errno.h>

/* The progress of a call.  A semaphore in several requests is acquired once, with the sum of their units. */
struct progress {
    const fairsem_request_t *requests;
    size_t                   count;
    fairsem_t               *newest;    /* the last semaphore that was acquired; NULL: none */
};

static bool is_before(const fairsem_t *a, const fairsem_t *b)
{
    return (uintptr_t)a < (uintptr_t)b;
}

/* Returns the semaphore with the lowest address above `sem`, which may be NULL; or NULL if there is none. */
static fairsem_t *next_behind(const struct progress *at, const fairsem_t *sem)
{
    fairsem_t *next = NULL;

    for (size_t i = 0; i < at->count; i++) {
        fairsem_t *one = at->requests[i].sem;

        if (is_before(sem, one) && (next == NULL || is_before(one, next)))
            next = one;
    }
    return next;
}

/* Returns the semaphore with the highest address below `sem`, or NULL. */
static fairsem_t *last_before(const struct progress *at, const fairsem_t *sem)
{
    fairsem_t *last = NULL;

    for (size_t i = 0; i < at->count; i++) {
        fairsem_t *one = at->requests[i].sem;

        if (is_before(one, sem) && (last == NULL || is_before(last, one)))
            last = one;
    }
    return last;
}

static fairsem_share_t *share_for(const struct progress *at, const fairsem_t *sem)
{
    fairsem_share_t *share = NULL;

    for (size_t i = 0; i < at->count && share == NULL; i++) {
        if (at->requests[i].sem == sem)
            share = at->requests[i].share;
    }
    return share;
}

/*
 * Returns the sum of the requests for this semaphore, or -1 if the sum is too large or a request is
 * invalid.
 */
static int64_t sum_of(const struct progress *at, const fairsem_t *sem)
{
    int64_t sum = 0;

    for (size_t i = 0; i < at->count; i++) {
        int64_t n = at->requests[i].units;

        if (at->requests[i].sem != sem)
            continue;
        if (!fs_count_valid(n) || n > FAIRSEM_MAX_UNITS - sum)
            return -1;
        sum += n;
    }
    return sum;
}

static bool requests_valid(const struct progress *at)
{
    for (size_t i = 0; i < at->count; i++) {
        fairsem_t *sem = at->requests[i].sem;
        fairsem_share_t *share = at->requests[i].share;

        if (sem == NULL)
            return false;
        if (share != NULL && (share != share_for(at, sem) || fs_share_check(fs_inside(sem), share) != 0))
            return false;
    }
    for (const fairsem_t *sem = NULL; (sem = next_behind(at, sem)) != NULL;) {
        if (sum_of(at, sem) < 0)
            return false;
    }
    return true;
}

/*
 * Release all units that the call holds, in reverse order.  at->newest changes before each release: if the
 * release runs a callback that throws, this function runs again, as the clean-up, for the remaining units.
 */
FS_REALIGN_STACK static void give_back(void *progress)
{
    struct progress *at = progress;
    fairsem_t *sem;

    pthread_cleanup_push(give_back, at);
    while ((sem = at->newest) != NULL) {
        at->newest = last_before(at, sem);
        (void)fairsem_release(sem, sum_of(at, sem));
    }
    pthread_cleanup_pop(0);
}

static int acquire_each(struct progress *at, fairsem_wait_t *how)
{
    fairsem_t *sem = NULL;
    int error = 0;

    while (error == 0 && (sem = next_behind(at, sem)) != NULL) {
        how->share = share_for(at, sem);
        error = fairsem_acquire_with(sem, sum_of(at, sem), how);
        if (error == 0)
            at->newest = sem;
    }
    return error;
}

/* The thread may be canceled in any of the waits. */
static int acquire_or_give_back(struct progress *at, fairsem_wait_t *how)
{
    int error;

    pthread_cleanup_push(give_back, at);
    error = acquire_each(at, how);
    pthread_cleanup_pop(error);
    return error;
}

/* A time-out becomes a deadline before the first wait: the deadline limits all waits together. */
int fairsem_acquire_all(const fairsem_request_t requests[], size_t count,
                        const fairsem_wait_t *how)
{
    struct progress at = { .requests = requests, .count = count };
    struct fs_deadline deadline;
    fairsem_wait_t until = { .timeout_ns = 0 };

    if ((how != NULL && (!fs_wait_valid(how) || how->share != NULL)) || !requests_valid(&at))
        return EINVAL;
    if (how != NULL)
        fs_wait_from_now(&until, &deadline, how);
    return acquire_or_give_back(&at, &until);
}

/* ---- Release ---- */

struct rest {
    const fairsem_request_t *next, *end;
    int                      error;     /* of the first release that failed, or 0 */
};

/* If a callback throws, this function runs again as the clean-up, and releases the rest. */
FS_REALIGN_STACK static void release_rest(void *rest_of_them)
{
    struct rest *rest = rest_of_them;

    pthread_cleanup_push(release_rest, rest);
    while (rest->next != rest->end) {
        const fairsem_request_t *one = rest->next++;
        int error = one->sem != NULL ? fairsem_release(one->sem, one->units) : EINVAL;

        if (rest->error == 0)
            rest->error = error;
    }
    pthread_cleanup_pop(0);
}

int fairsem_release_all(const fairsem_request_t requests[], size_t count)
{
    struct rest rest = { requests, requests, 0 };

    if (count != 0)
        rest.end = &requests[count];
    release_rest(&rest);
    return rest.error;
}
