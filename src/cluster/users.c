/* SPDX-License-Identifier: MIT */
/* users.c - see users.h. */
#include "users.h"

#include "clock.h"
#include "request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One question, on its caller's stack until the keeper has told it the answer. */
struct inquiry {
    struct fs_job job;
    struct fs_keeper *keeper;
    enum fs_step step;
    struct fs_place place;
    struct fs_call call;
    bool began, over;               /* mutex */
    struct fs_answer answer;        /* valid with `told` */
    fairsem_t told;
};

static void answered(struct fs_call *call, struct fs_answer *answer)
{
    struct inquiry *inquiry = call->owner;

    inquiry->answer = *answer;
    inquiry->over = true;
}

static int64_t turn(struct fs_job *job, int64_t now)
{
    struct inquiry *inquiry = (struct inquiry *)(void *)job;
    struct fs_keeper *keeper = inquiry->keeper;

    if (!inquiry->began) {
        inquiry->began = true;
        fs_engine_call(keeper->engine, &inquiry->call, inquiry->step, &inquiry->place,
                       now + FS_PATIENCE);
    }
    if (!inquiry->over)
        return FS_NEVER;
    fairsem_release(&inquiry->told, 1);     /* the caller's stack may be gone now */
    return FS_JOB_OVER;
}

/* Which of them are requests of this handle?  Also, the lease is nobody else's business. */
static void find_mine(struct fs_keeper *keeper, fairsem_cluster_user_t users[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (const struct fs_job *job = keeper->jobs; job != NULL; job = job->next)
            if (fs_request_has_lease(job, users[i].reserved_[0]))
                users[i].mine = 1;
        users[i].reserved_[0] = 0;
    }
}

/* Ask, and wait for the answer, which is the caller's to free.  Returns its error. */
static int inquire(fairsem_cluster_t *handle, enum fs_step step, struct fs_answer *answer)
{
    struct fs_keeper *keeper = &handle->keeper;
    struct inquiry *inquiry = calloc(1, sizeof *inquiry);
    int error = ENOMEM, state;

    memset(answer, 0, sizeof *answer);
    if (inquiry == NULL)
        return ENOMEM;
    inquiry->job.turn = turn;
    inquiry->keeper = keeper;
    inquiry->step = step;
    inquiry->call.done = answered;
    inquiry->call.owner = inquiry;
    strcpy(inquiry->place.prefix, handle->prefix);
    if (fairsem_init(&inquiry->told, 0, NULL) == 0) {
        fs_keeper_lock(keeper, &state);
        error = fs_keeper_add(keeper, &inquiry->job);
        fs_keeper_unlock(keeper, state);
    }
    if (error == 0) {
        (void)!fairsem_acquire(&inquiry->told, 1);
        *answer = inquiry->answer;
        error = answer->error;
    }
    (void)!fairsem_destroy(&inquiry->told);
    free(inquiry);
    return error;
}

int fs_users_ask(fairsem_cluster_t *handle, fairsem_cluster_user_t users[], size_t size,
                 size_t *count)
{
    struct fs_answer answer;
    int error, cancel, state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = inquire(handle, FS_LIST, &answer);
    if (error == 0) {
        size_t filled = answer.user_count < size ? answer.user_count : size;

        if (filled > 0)
            memcpy(users, answer.users, filled * sizeof *users);
        fs_keeper_lock(&handle->keeper, &state);
        find_mine(&handle->keeper, users, filled);
        fs_keeper_unlock(&handle->keeper, state);
        *count = answer.user_total;
    }
    free(answer.users);
    pthread_setcancelstate(cancel, &cancel);
    return error;
}

int fs_limit_ask(fairsem_cluster_t *handle, int64_t *limit)
{
    struct fs_answer answer;
    int error, cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = inquire(handle, FS_VIEW, &answer);
    if (error == 0 && answer.limit == 0)
        error = ENOENT;
    if (error == 0)
        *limit = answer.limit;
    pthread_setcancelstate(cancel, &cancel);
    return error;
}

int fs_limit_remove(fairsem_cluster_t *handle)
{
    struct fs_answer answer;
    int error, cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = inquire(handle, FS_REMOVE, &answer);
    if (error == 0 && !answer.done)
        error = EBUSY;
    else if (error == 0 && answer.limit == 0)
        error = ENOENT;
    pthread_setcancelstate(cancel, &cancel);
    return error;
}
