/* SPDX-License-Identifier: MIT */
/*
 * cluster.c - a semaphore shared by machines: the public functions.  Start reading here.
 *
 * The layers below:
 *
 *     request.c        the states of one request;  lease.c  the request's lease
 *     users.c          lists the requests of a name, changes the name's limit
 *     loop.c           the event loop, a background thread that runs requests and questions of users.c
 *     engine.h         the interface to an engine, which keeps queues and leases
 *     etcd.c           etcd, the only engine: endpoints, retries;  http.c  the transport
 *     etcd_ask.c       the questions to etcd, and the protocol;  etcd_answer.c  the answers
 *
 * A caller waits on a fairsem_t inside its request, until the event loop releases a unit to that semaphore.  So
 * deadline, time-out, cancel token and thread cancellation work as in fairsem_acquire_with.
 */
#include "clock.h"
#include "request.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>

/* ---- A handle ---- */

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_state;

static void start_curl(void)
{
    curl_state = curl_global_init(CURL_GLOBAL_DEFAULT);
}

int fairsem_cluster_open(fairsem_cluster_t **handle, const char *name,
                         const fairsem_cluster_attr_t *attr)
{
    int saved = errno, error = ENOMEM, cancel;
    fairsem_cluster_t *made = calloc(1, sizeof *made);

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_once(&curl_once, start_curl);
    if (made != NULL && curl_state == CURLE_OK)
        error = fs_key_prefix(made->prefix, name) ? fs_options_read(&made->options, attr) : EINVAL;
    if (error == 0)
        error = fs_loop_open(made);
    if (error == 0)
        *handle = made;
    else
        free(made);
    pthread_setcancelstate(cancel, &cancel);
    errno = saved;
    return error;
}

int fairsem_cluster_close(fairsem_cluster_t *handle)
{
    int saved = errno, state;
    size_t callers;

    if (fs_loop_is_inherited(handle))
        return EINVAL;
    fs_loop_lock(handle, &state);
    callers = handle->callers;
    fs_loop_unlock(handle, state);
    if (callers != 0)
        return EBUSY;
    fs_loop_close(handle);
    free(handle);
    errno = saved;
    return 0;
}

int fairsem_cluster_fd(const fairsem_cluster_t *handle)
{
    return handle->event;
}

int fairsem_cluster_why(fairsem_cluster_t *handle, char *text, size_t size)
{
    int state;

    if (fs_loop_is_inherited(handle) || size == 0)
        return EINVAL;
    fs_loop_lock(handle, &state);
    fs_copy_printable(text, size, fs_engine_why(handle->engine));
    fs_loop_unlock(handle, state);
    return 0;
}

/* ---- Acquire and release ---- */

/* The first word of a hold is the pointer to its request, or 0 if the hold is empty. */
static struct fs_request *request_of(const fairsem_cluster_hold_t *hold)
{
    return (struct fs_request *)hold->fairsem_reserved_[0];
}

/* Returns true if the call must not wait: `how` asks for a try, or the deadline has passed. */
static bool wait_only_tries(const fairsem_wait_t *how)
{
    struct timespec now = { 0, 0 };

    if (how == NULL || how->timeout_ns < 0 || how->deadline == NULL)
        return how != NULL && how->timeout_ns < 0;
    clock_gettime(how->clock, &now);
    return now.tv_sec != how->deadline->tv_sec ? now.tv_sec > how->deadline->tv_sec
                                               : now.tv_nsec >= how->deadline->tv_nsec;
}

/* Pass a new request to the event loop.  Not a cancellation point, unlike wait_for_units. */
static int start_request(fairsem_cluster_t *handle, int64_t n, const fairsem_wait_t *how,
                         struct fs_request **out)
{
    struct fs_request *request;
    int error = ENOMEM, state, cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    request = fs_request_new(handle, n, how != NULL ? how->priority : 0, wait_only_tries(how));
    if (request != NULL) {
        /* Check `how`: an acquire of 0 units fails only if `how` is invalid or the token in it is canceled. */
        error = fairsem_acquire_with(&request->decided, 0, how);
        fs_loop_lock(handle, &state);
        if (error == 0)
            error = fs_loop_add(handle, &request->task);
        if (error == 0) {
            request->owners++;
            handle->callers++;
        } else {
            fs_request_drop(request);
        }
        fs_loop_unlock(handle, state);
    }
    pthread_setcancelstate(cancel, &cancel);
    *out = request;
    return error;
}

/* Ask the event loop to end a request, and drop the caller's reference.  Also a cancellation handler. */
static void abandon_request(void *arg)
{
    struct fs_request *request = arg;
    fairsem_cluster_t *handle = request->handle;
    int state;

    fs_loop_lock(handle, &state);
    request->leaves = true;
    handle->callers--;
    fs_request_drop(request);
    fs_loop_unlock(handle, state);
}

/* Returns the request's result, or the error of the wait. */
static int wait_for_units(struct fs_request *request, const fairsem_wait_t *how)
{
    fairsem_wait_t plain = how != NULL ? *how : (fairsem_wait_t){ 0 };
    int error, result, state;

    plain.priority = 0;
    if (request->only_try) {
        plain.deadline = NULL;
        plain.timeout_ns = 0;
    }
    pthread_cleanup_push(abandon_request, request);
    error = fairsem_acquire_with(&request->decided, 1, &plain);
    pthread_cleanup_pop(0);
    fs_loop_lock(request->handle, &state);
    /* If units were granted just after the wait timed out, the call succeeds. */
    result = request->is_decided ? request->result : error;
    if (result != 0)
        request->leaves = true;
    fs_loop_unlock(request->handle, state);
    return result;
}

/* Wait until the event loop reports the end of the request, which takes at most about FS_RETRY_BUDGET. */
static int wait_for_end(struct fs_request *request)
{
    int result, state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    (void)!fairsem_acquire(&request->over, 1);
    result = request->end_result;
    abandon_request(request);
    pthread_setcancelstate(state, &state);
    return result;
}

int fairsem_cluster_acquire_with(fairsem_cluster_t *handle, int64_t n, const fairsem_wait_t *how,
                                 fairsem_cluster_hold_t *hold)
{
    struct fs_request *request;
    int saved = errno, error;

    if (fs_loop_is_inherited(handle) || n < 1 || n > FAIRSEM_MAX_UNITS)
        return EINVAL;
    if (how != NULL && how->share != NULL)  /* the engine orders by priority and arrival only */
        return EINVAL;
    if (request_of(hold) != NULL)
        return EBUSY;
    if (n > handle->options.limit)
        return E2BIG;
    error = start_request(handle, n, how, &request);
    if (error == 0) {
        error = wait_for_units(request, how);
        if (error != 0)
            (void)wait_for_end(request);
        else
            hold->fairsem_reserved_[0] = (uintptr_t)request;
    }
    errno = saved;
    return error;
}

int fairsem_cluster_release(fairsem_cluster_hold_t *hold)
{
    int saved = errno, error, state;
    struct fs_request *request = request_of(hold);

    if (request == NULL || fs_loop_is_inherited(request->handle))
        return EINVAL;
    hold->fairsem_reserved_[0] = 0;
    fs_loop_lock(request->handle, &state);
    request->leaves = true;
    fs_loop_unlock(request->handle, state);
    error = wait_for_end(request);
    errno = saved;
    return error;
}

/* ---- The state of a hold ---- */

int fairsem_cluster_lost(const fairsem_cluster_hold_t *hold)
{
    struct fs_request *request = request_of(hold);

    if (request == NULL || fs_loop_is_inherited(request->handle))
        return EINVAL;
    return fs_lease_lost(&request->lease, fs_boot_now());
}

int64_t fairsem_cluster_left(const fairsem_cluster_hold_t *hold)
{
    return fairsem_cluster_lost(hold) == 0 ? fs_lease_left(&request_of(hold)->lease, fs_boot_now()) : 0;
}

int64_t fairsem_cluster_fence(const fairsem_cluster_hold_t *hold)
{
    return request_of(hold) != NULL ? request_of(hold)->fence : 0;
}
