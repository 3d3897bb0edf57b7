/* SPDX-License-Identifier: MIT */
/*
 * cluster.c - the limit between machines: the public functions.  Start reading here.
 *
 * Downwards: hold.c is acquire and release; request.c one request's states, and lease.c its life;
 * keeper.c the thread that moves all requests; engine.h what an engine is asked, and etcd.c the
 * only one, with etcd_ask.c for the questions (the protocol is there), etcd_answer.c for the
 * answers, and http.c.
 */
#include "handle.h"
#include "hold.h"
#include "users.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>

/* The request of a hold is in its first word. */
static struct fs_request *held(const fairsem_cluster_hold_t *hold)
{
    return (struct fs_request *)hold->fairsem_reserved_[0];
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode curl_state;

static void start_curl(void)
{
    curl_state = curl_global_init(CURL_GLOBAL_DEFAULT);
}

int fairsem_cluster_open(fairsem_cluster_t **handle, const char *name,
                         const fairsem_cluster_attr_t *attr)
{
    int saved = errno, error, cancel;
    struct fs_options options;
    fairsem_cluster_t *made = calloc(1, sizeof *made);

    if (made == NULL) {
        errno = saved;
        return ENOMEM;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_once(&once, start_curl);
    error = curl_state != CURLE_OK ? ENOMEM : fs_key_prefix(made->prefix, name) ? 0 : EINVAL;
    if (error == 0)
        error = fs_options_read(&options, attr);
    if (error == 0) {
        error = fs_keeper_open(&made->keeper, &options);
        if (error != 0)
            fs_options_free(&options);
    }
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
    size_t claims;

    if (fs_keeper_is_foreign(&handle->keeper))
        return EINVAL;
    fs_keeper_lock(&handle->keeper, &state);
    claims = handle->keeper.claims;
    fs_keeper_unlock(&handle->keeper, state);
    if (claims != 0)
        return EBUSY;
    fs_keeper_close(&handle->keeper);
    free(handle);
    errno = saved;
    return 0;
}

int fairsem_cluster_acquire_with(fairsem_cluster_t *handle, int64_t n, const fairsem_wait_t *how,
                                 fairsem_cluster_hold_t *hold)
{
    struct fs_request *request = NULL;
    int saved = errno, error;

    if (fs_keeper_is_foreign(&handle->keeper) || n < 1 || n > FAIRSEM_MAX_UNITS)
        return EINVAL;
    if (held(hold) != NULL)
        return EBUSY;
    if (n > handle->keeper.options.limit)
        return E2BIG;
    error = fs_hold_acquire(handle, n, how, &request);
    hold->fairsem_reserved_[0] = (uintptr_t)request;
    errno = saved;
    return error;
}

int fairsem_cluster_release(fairsem_cluster_hold_t *hold)
{
    int saved = errno, error;
    struct fs_request *request = held(hold);

    if (request == NULL || fs_keeper_is_foreign(request->keeper))
        return EINVAL;
    hold->fairsem_reserved_[0] = 0;
    error = fs_hold_release(request);
    errno = saved;
    return error;
}

int fairsem_cluster_lost(const fairsem_cluster_hold_t *hold)
{
    struct fs_request *request = held(hold);

    if (request == NULL || fs_keeper_is_foreign(request->keeper))
        return EINVAL;
    return fs_hold_lost(request);
}

int64_t fairsem_cluster_left(const fairsem_cluster_hold_t *hold)
{
    struct fs_request *request = held(hold);

    return request != NULL && !fs_keeper_is_foreign(request->keeper) ? fs_hold_left(request) : 0;
}

int64_t fairsem_cluster_fence(const fairsem_cluster_hold_t *hold)
{
    return held(hold) != NULL ? held(hold)->fence : 0;
}

int fairsem_cluster_fd(const fairsem_cluster_t *handle)
{
    return handle->keeper.event;
}

int fairsem_cluster_users(fairsem_cluster_t *handle, fairsem_cluster_user_t users[], size_t size,
                          size_t *count)
{
    int saved = errno, error;

    if (fs_keeper_is_foreign(&handle->keeper))
        return EINVAL;
    error = fs_users_ask(handle, users, size, count);
    errno = saved;
    return error;
}

int fairsem_cluster_limit(fairsem_cluster_t *handle, int64_t *limit)
{
    int saved = errno, error;

    if (fs_keeper_is_foreign(&handle->keeper))
        return EINVAL;
    error = fs_limit_ask(handle, limit);
    errno = saved;
    return error;
}

int fairsem_cluster_remove(fairsem_cluster_t *handle)
{
    int saved = errno, error;

    if (fs_keeper_is_foreign(&handle->keeper))
        return EINVAL;
    error = fs_limit_remove(handle);
    errno = saved;
    return error;
}
