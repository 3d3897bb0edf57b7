/* SPDX-License-Identifier: MIT */
/* users.c - the public functions that list a name's users, read and change its limit, and find names. */
#include "clock.h"
#include "request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A question, and the wait for its answer.  On the caller's stack. */
struct inquiry {
    struct fs_task task;
    fairsem_cluster_t *handle;
    enum fs_step step;
    struct fs_record record;
    struct fs_call call;
    struct fs_answer *answer;       /* valid once `answered` has a unit */
    fairsem_t answered;
};

static void inquiry_answered(struct fs_call *call, struct fs_answer *answer)
{
    struct inquiry *inquiry = call->owner;

    *inquiry->answer = *answer;
}

static int64_t iterate_inquiry(struct fs_task *task, int64_t now)
{
    struct inquiry *inquiry = (struct inquiry *)(void *)task;

    if (inquiry->call.engine == NULL)
        fs_engine_call(inquiry->handle->engine, &inquiry->call, inquiry->step, &inquiry->record,
                       now + FS_RETRY_BUDGET);
    if (inquiry->call.state != FS_IDLE)
        return FS_NEVER;
    fairsem_release(&inquiry->answered, 1);     /* from here on, the inquiry may be gone */
    return FS_TASK_OVER;
}

/* Mark the requests of this handle, and clear all leases, which are private. */
static void mark_mine(const fairsem_cluster_t *handle, fairsem_cluster_user_t users[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (const struct fs_task *task = handle->tasks; task != NULL; task = task->next)
            if (fs_request_has_lease(task, users[i].reserved_[0]))
                users[i].mine = 1;
        users[i].reserved_[0] = 0;
    }
}

/* Record of a question that needs only the name. */
static const struct fs_record nobody;

/* Ask a question, and wait for the answer.  The caller must free answer->users. */
static int inquire(fairsem_cluster_t *handle, enum fs_step step, const struct fs_record *record,
                   struct fs_answer *answer)
{
    struct inquiry inquiry = {
        .task.iterate = iterate_inquiry, .handle = handle, .step = step, .record = *record, .answer = answer,
        .call = { .done = inquiry_answered, .owner = &inquiry },
    };
    int saved = errno, error, state;

    memset(answer, 0, sizeof *answer);
    if (fs_loop_is_inherited(handle))
        return EINVAL;
    if (fairsem_init(&inquiry.answered, 0, NULL) != 0)
        return ENOMEM;
    strcpy(inquiry.record.prefix, handle->prefix);
    fs_loop_lock(handle, &state);
    error = fs_loop_add(handle, &inquiry.task);
    fs_loop_unlock(handle, PTHREAD_CANCEL_DISABLE);
    if (error == 0) {
        (void)!fairsem_acquire(&inquiry.answered, 1);
        error = answer->error;
    }
    (void)!fairsem_destroy(&inquiry.answered);
    pthread_setcancelstate(state, &state);
    errno = saved;
    return error;
}

int fairsem_cluster_users(fairsem_cluster_t *handle, fairsem_cluster_user_t users[], size_t size,
                          size_t *count)
{
    struct fs_answer answer;
    int saved = errno, error = inquire(handle, FS_LIST, &nobody, &answer), state;

    if (error == 0) {
        size_t filled = answer.user_count < size ? answer.user_count : size;

        if (filled > 0)
            memcpy(users, answer.users, filled * sizeof *users);
        fs_loop_lock(handle, &state);
        mark_mine(handle, users, filled);
        fs_loop_unlock(handle, state);
        *count = answer.user_total;
    }
    free(answer.users);
    errno = saved;
    return error;
}

/* Returns 0, ENOENT if the name has no limit, or another error. */
static int view_limit(fairsem_cluster_t *handle, struct fs_answer *answer)
{
    int error = inquire(handle, FS_VIEW, &nobody, answer);

    return error == 0 && answer->first == 0 ? ENOENT : error;
}

int fairsem_cluster_limit(fairsem_cluster_t *handle, int64_t *limit)
{
    struct fs_answer answer;
    int error = view_limit(handle, &answer);

    if (error == 0)
        *limit = answer.limit;
    return error;
}

/* View the limit, then take FS_LIMIT or FS_REMOVE.  Sets *done to false if the engine refuses that step. */
static int change_limit(fairsem_cluster_t *handle, enum fs_step step, int64_t limit, bool *done)
{
    struct fs_answer answer;
    int error = view_limit(handle, &answer);

    if (error == 0) {
        const struct fs_record record = { .limit = limit, .first = answer.first, .seen_revision = answer.revision };

        error = inquire(handle, step, &record, &answer);
    }
    *done = answer.done;
    return error;
}

int fairsem_cluster_set_limit(fairsem_cluster_t *handle, int64_t limit)
{
    bool done = limit < 0 || limit > FAIRSEM_MAX_UNITS;
    int error = done ? EINVAL : 0;

    while (error == 0 && !done)
        error = change_limit(handle, FS_LIMIT, limit, &done);
    return error;
}

int fairsem_cluster_remove(fairsem_cluster_t *handle)
{
    bool done;
    int error = change_limit(handle, FS_REMOVE, 0, &done);

    return error == 0 && !done ? EBUSY : error;
}

int fairsem_cluster_next(fairsem_cluster_t *handle, char name[FAIRSEM_CLUSTER_NAME_MAX + 1])
{
    struct fs_record from = { .predecessor = "fairsem/" };
    struct fs_answer answer = { .predecessor = "" };
    int error = 0;

    if (name[0] != '\0' && !fs_key_prefix(from.predecessor, name))
        return EINVAL;
    if (name[0] != '\0')
        from.predecessor[strlen(from.predecessor) - 1] = '0';   /* "0" follows "/": skip all keys of the name */
    while (error == 0 && !fs_key_name(answer.predecessor, name)) {
        error = inquire(handle, FS_NEXT, &from, &answer);
        if (error == 0 && answer.predecessor[0] == '\0')
            error = ENOENT;
        else if (error == 0 && (strcmp(answer.predecessor, from.predecessor) < 0
                                || strlen(answer.predecessor) + 2 > sizeof from.predecessor))
            error = EPROTO;
        if (error == 0)
            strcat(strcpy(from.predecessor, answer.predecessor), "\1");     /* skip a key without a name */
    }
    if (error == 0)
        fs_key_prefix(handle->prefix, name);
    return error;
}
