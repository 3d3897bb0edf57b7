/* SPDX-License-Identifier: MIT */
/* request.c - see request.h. */
#include "request.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A watch that fails within WATCH_SHORT is repeated only after a back-off, which starts at BACKOFF_FIRST. */
#define WATCH_SHORT FS_NS_PER_S
#define BACKOFF_FIRST (50 * FS_NS_PER_MS)

static void take_step_until(struct fs_request *request, enum fs_step step, int64_t until)
{
    request->step_at = FS_NEVER;
    fs_engine_call(request->handle->engine, &request->step, step, &request->record, until);
}

/* Take a step.  A waiting request retries until its lease ends, because giving up loses its position. */
static void take_step(struct fs_request *request, enum fs_step step)
{
    bool waits = request->state == FS_WAITING && !request->only_try;

    take_step_until(request, step, waits ? fs_lease_end(&request->lease) : fs_boot_now() + FS_RETRY_BUDGET);
}

/* Report the result of the request to the caller, unless a result was reported before. */
static void notify_decision(struct fs_request *request, int result)
{
    if (request->is_decided)
        return;
    request->is_decided = true;
    request->result = result;
    fairsem_release(&request->decided, 1);
    fs_loop_notify(request->handle);
}

/* Report the end to the caller, but only once: the caller waits only for the first result of FS_END. */
static void notify_end(struct fs_request *request, int result)
{
    if (request->is_over)
        return;
    request->is_over = true;
    request->end_result = result;
    fairsem_release(&request->over, 1);
}

static void request_over(struct fs_request *request, int result)
{
    request->state = FS_REQUEST_ENDED;
    request->step_at = FS_NEVER;
    notify_end(request, result);
}

static void request_leaves(struct fs_request *request)
{
    if (request->state == FS_ENDING || request->state == FS_REQUEST_ENDED)
        return;
    fs_engine_stop(&request->step);
    if (request->state == FS_GRANTING) {
        request_over(request, 0);       /* the request has no key yet */
        return;
    }
    fs_lease_stop(&request->lease);
    request->state = FS_ENDING;
    take_step(request, FS_END);
}

static void request_fails(struct fs_request *request, int error)
{
    notify_decision(request, error);
    request_leaves(request);
}

static void request_ended(struct fs_request *request, int error)
{
    int64_t now = fs_boot_now();

    notify_end(request, error);
    if (error == 0 || now >= fs_lease_end(&request->lease))
        request_over(request, error);
    else
        request->step_at = now + FS_RETRY_DELAY;
}

static void request_granted(struct fs_request *request, const struct fs_answer *answer)
{
    fs_lease_begin(&request->lease, request->handle->engine, &request->record, answer->sent,
                   answer->ttl_s);
    request->state = FS_JOINING;
    take_step(request, FS_JOIN);
}

static void request_begun(struct fs_request *request, int64_t fence)
{
    int lost = fs_lease_lost(&request->lease, fs_boot_now());

    if (lost != 0) {
        request_fails(request, lost);    /* the lease was over before the answer came */
        return;
    }
    request->fence = fence;
    request->state = FS_RUNNING;
    request->step_at = FS_NEVER;
    /* Confirmations now check the request's own key, because an operator may delete the key. */
    strcpy(request->record.predecessor, fs_keys_of(&request->record).runs);
    request->record.watched = 1;
    notify_decision(request, 0);
}

static void take_watch(struct fs_request *request)
{
    request->watch_began = fs_boot_now();
    take_step_until(request, FS_WATCH, FS_NEVER);
}

/* Begin, wait or fail, according to a view. */
static void consider_view(struct fs_request *request, const struct fs_answer *view)
{
    struct fs_record *record = &request->record;

    if (view->began != 0) {
        request_begun(request, view->began);    /* the answer to FS_BEGIN was lost */
        return;
    }
    if (view->joined == 0 || (record->joined != 0 && view->joined != record->joined)) {
        request_fails(request, ESTALE);
        return;
    }
    if (view->first == 0) {
        request_fails(request, EPROTO);  /* no valid step removes the limit while this request waits */
        return;
    }
    record->joined = view->joined;
    record->seen_revision = view->revision;
    strcpy(record->predecessor, view->predecessor);
    record->watched = record->predecessor[0] != '\0' ? 1 : view->runs + 1;
    request->watches_again = false;
    if (record->predecessor[0] == '\0' && record->units <= view->limit - view->held)
        take_step(request, FS_BEGIN);
    else if (request->only_try)
        request_fails(request, ETIMEDOUT);
    else
        take_watch(request);
}

/*
 * Join with the limits of the answer.  Fails if the request must set the limit, but the name is in use or
 * paused; or if the request is for more units than the limit.
 */
static void join_again(struct fs_request *request, const struct fs_answer *answer)
{
    struct fs_record *record = &request->record;
    bool as_expected = answer->limit == record->now && answer->first == record->first;

    record->now = answer->limit;
    record->first = answer->first;
    if (as_expected || (record->now == 0 && !fs_record_accepts_limit(record)))
        request_fails(request, EINVAL);
    else if (record->now != 0 && record->units > record->now && fs_record_accepts_limit(record))
        request_fails(request, E2BIG);
    else
        take_step(request, FS_JOIN);
}

static void request_joined(struct fs_request *request, const struct fs_answer *answer)
{
    if (answer->began == 0 && answer->joined == 0) {
        join_again(request, answer);
        return;
    }
    request->state = FS_WAITING;
    if (answer->done || answer->began != 0) {
        consider_view(request, answer);
    } else {
        /*
         * An earlier attempt of FS_JOIN has put the key.  The view in this answer was made without the key's
         * revision, and may name a request behind this one as the predecessor: take a new view.
         */
        request->record.joined = answer->joined;
        take_step(request, FS_VIEW);
    }
}

/*
 * Schedule a view if a watched key has changed or the engine has ended the watch.  After a broken connection,
 * schedule the same watch once more: if an endpoint fails, all waiters retry at once.  Their views, whose cost
 * grows with the number of waiters, would overload the next endpoint.
 */
static void watch_ended(struct fs_request *request, int error)
{
    int64_t now = fs_boot_now();

    if (error == 0 || now - request->watch_began > WATCH_SHORT)
        request->watch_backoff = 0;
    else
        request->watch_backoff = fs_earlier(2 * request->watch_backoff + BACKOFF_FIRST, FS_NS_PER_S);
    request->watches_again = error == ENETUNREACH && !request->watches_again;
    request->step_at = now + request->watch_backoff;
}

static void step_answered(struct fs_call *step, struct fs_answer *answer)
{
    struct fs_request *request = step->owner;

    if (step->step == FS_END)
        request_ended(request, answer->error);
    else if (step->step == FS_WATCH)
        watch_ended(request, answer->error);
    else if (answer->error != 0 && request->state == FS_WAITING && !request->only_try && !answer->final)
        request->step_at = fs_boot_now() + FS_RETRY_DELAY;  /* keep the position until the lease ends */
    else if (answer->error != 0)
        request_fails(request, answer->error);
    else if (step->step == FS_GRANT)
        request_granted(request, answer);
    else if (step->step == FS_JOIN)
        request_joined(request, answer);
    else if (step->step == FS_BEGIN && answer->done)
        request_begun(request, answer->revision);
    else
        consider_view(request, answer);
}

static void request_lost(struct fs_request *request)
{
    request->state = FS_LOST;
    fs_lease_stop(&request->lease);
    fs_loop_notify(request->handle);
}

/* A watched key is missing or has changed.  A waiting request takes a view; a running request is lost. */
static void handle_key_change(struct fs_request *request, int64_t now)
{
    request->lease.key_changed = false;
    if (request->state == FS_RUNNING)
        atomic_store(&request->lease.last_error, ESTALE);
    if (request->state != FS_WAITING || request->step.step != FS_WATCH)
        return;
    fs_engine_stop(&request->step);
    request->watches_again = false;
    request->step_at = now;
}

/* Renew the lease, and detect its loss.  Returns the time at which to call this function again. */
static int64_t keep_lease(struct fs_request *request, int64_t now)
{
    int64_t next = FS_NEVER;
    int over_because;

    if (request->state == FS_RUNNING && fs_lease_lost(&request->lease, now) != 0)
        request_lost(request);
    if (request->state < FS_JOINING || request->state > FS_RUNNING)
        return FS_NEVER;
    over_because = fs_lease_iterate(&request->lease, now, &next);
    if (over_because != 0)
        request_fails(request, over_because);
    else if (request->state == FS_RUNNING)
        next = fs_earlier(next, atomic_load(&request->lease.good_until));
    return next;
}

static void take_next_step(struct fs_request *request)
{
    if (request->state == FS_GRANTING)
        take_step(request, FS_GRANT);
    else if (request->state == FS_WAITING && request->watches_again)
        take_watch(request);
    else if (request->state == FS_WAITING)
        take_step(request, FS_VIEW);
    else
        take_step(request, FS_END);
}

static int64_t iterate_request(struct fs_task *task, int64_t now)
{
    struct fs_request *request = (struct fs_request *)(void *)task;
    int64_t next;

    if (request->leaves)
        request_leaves(request);
    /* Like a release, fairsem_cluster_close waits only for the first result of FS_END.  Cancel later ones. */
    if (request->handle->quits && request->is_over && request->state != FS_REQUEST_ENDED) {
        fs_engine_stop(&request->step);
        request_over(request, ENETUNREACH); /* the lease ends by itself */
    }
    if (request->lease.key_changed)
        handle_key_change(request, now);
    if (request->step_at <= now)
        take_next_step(request);
    next = keep_lease(request, now);
    if (request->state == FS_REQUEST_ENDED) {
        fs_request_drop(request);
        return FS_TASK_OVER;
    }
    return fs_earlier(next, request->step_at);
}

struct fs_request *fs_request_new(fairsem_cluster_t *handle, int64_t units, int priority,
                                  bool only_try)
{
    struct fs_request *request = calloc(1, sizeof *request);

    if (request == NULL || !fs_record_fill(&request->record, handle->options.program)
        || fairsem_init(&request->decided, 0, NULL) != 0
        || fairsem_init(&request->over, 0, NULL) != 0) {
        free(request);
        return NULL;
    }
    request->task.iterate = iterate_request;
    request->handle = handle;
    request->only_try = only_try;
    request->owners = 1;
    strcpy(request->record.prefix, handle->prefix);
    request->record.units = units;
    request->record.priority = priority;
    request->record.limit = request->record.now = request->record.first = handle->options.limit;
    request->record.ttl_s = handle->options.ttl_ns / FS_NS_PER_S;
    request->step.done = step_answered;
    request->step.owner = request;
    return request;
}

void fs_request_drop(struct fs_request *request)
{
    if (--request->owners != 0)
        return;
    (void)!fairsem_destroy(&request->decided);
    (void)!fairsem_destroy(&request->over);
    free(request);
}

bool fs_request_has_lease(const struct fs_task *task, int64_t lease)
{
    const struct fs_request *request = (const struct fs_request *)(const void *)task;

    return task->iterate == iterate_request && request->record.lease == lease;
}
