/* SPDX-License-Identifier: MIT */
/*
 * hold.c - see hold.h.
 *
 * A caller waits for its request on a semaphore of one unit, which the keeper releases.  So the
 * deadline, the time-out, the token and the cancellation of a thread are those of
 * fairsem_acquire_with.
 */
#include "hold.h"

#include "clock.h"

#include <errno.h>

/* The time of `how` is over, or it is none: it only tries. */
static bool only_tries(const fairsem_wait_t *how)
{
    struct timespec now = { 0, 0 };

    if (how == NULL || how->timeout_ns < 0 || how->deadline == NULL)
        return how != NULL && how->timeout_ns < 0;
    clock_gettime(how->clock, &now);
    return now.tv_sec != how->deadline->tv_sec ? now.tv_sec > how->deadline->tv_sec
                                               : now.tv_nsec >= how->deadline->tv_nsec;
}

/* Take the request from its caller, and let it end. */
static void abandon(struct fs_request *request)
{
    struct fs_keeper *keeper = request->keeper;
    int state;

    fs_keeper_lock(keeper, &state);
    request->leaves = true;
    keeper->claims--;
    fs_request_drop(request);
    fs_keeper_unlock(keeper, state);
}

/* For a thread that is canceled while it waits. */
static void abandon_canceled(void *request)
{
    abandon(request);
}

/* Wait for the end, which the keeper tells in a time that is bounded. */
static int await_end(struct fs_request *request)
{
    int result, state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    (void)!fairsem_acquire(&request->over, 1);
    result = request->end_result;
    abandon(request);
    pthread_setcancelstate(state, &state);
    return result;
}

/* Wait until it is decided; then the result of the request, or that of the wait. */
static int await_units(struct fs_request *request, const fairsem_wait_t *how)
{
    fairsem_wait_t plain = how != NULL ? *how : (fairsem_wait_t){ 0 };
    int error, result, state;

    plain.priority = 0;
    if (request->only_try) {
        plain.deadline = NULL;
        plain.timeout_ns = 0;
    }
    pthread_cleanup_push(abandon_canceled, request);
    error = fairsem_acquire_with(&request->decided, 1, &plain);
    pthread_cleanup_pop(0);
    fs_keeper_lock(request->keeper, &state);
    /* What was decided before the lock counts: units that are there are taken. */
    result = request->is_decided ? request->result : error;
    if (result != 0)
        request->leaves = true;
    fs_keeper_unlock(request->keeper, state);
    return result;
}

int fs_hold_acquire(fairsem_cluster_t *handle, int64_t n, const fairsem_wait_t *how,
                    struct fs_request **out)
{
    struct fs_keeper *keeper = &handle->keeper;
    struct fs_request *request;
    int error, state, cancel;

    /* Only the wait is a cancellation point, and not what is read for the request. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    request = fs_request_new(keeper, handle->prefix, n, how != NULL ? how->priority : 0,
                             only_tries(how));
    if (request == NULL) {
        pthread_setcancelstate(cancel, &cancel);
        return ENOMEM;
    }
    /* No units: only to find out whether `how` is one, and whether its token is canceled. */
    error = fairsem_acquire_with(&request->decided, 0, how);
    fs_keeper_lock(keeper, &state);
    if (error == 0)
        error = fs_keeper_add(keeper, &request->job);
    if (error != 0) {
        fs_request_drop(request);
        fs_keeper_unlock(keeper, cancel);
        return error;
    }
    request->owners++;
    keeper->claims++;
    fs_keeper_unlock(keeper, cancel);

    error = await_units(request, how);
    if (error != 0)
        (void)await_end(request);
    else
        *out = request;
    return error;
}

int fs_hold_release(struct fs_request *request)
{
    int state;

    fs_keeper_lock(request->keeper, &state);
    request->leaves = true;
    fs_keeper_unlock(request->keeper, state);
    return await_end(request);
}

int fs_hold_lost(struct fs_request *request)
{
    return fs_lease_lost(&request->lease, fs_boot_now());
}

int64_t fs_hold_left(struct fs_request *request)
{
    int64_t left = fs_lease_left(&request->lease, fs_boot_now());

    return left > 0 ? left : 0;
}
