/* SPDX-License-Identifier: MIT */
/* request.c - see request.h. */
#include "request.h"

#include "clock.h"
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How long an engine that does not answer is asked for a lease, or to end one, at most. */
#define PATIENCE_LONGEST (5 * FS_NS_PER_S)

/* A renewal, or an end, that failed is tried again after this. */
#define RETRY (300 * FS_NS_PER_MS)

/* A watch that breaks sooner is followed by a pause. */
#define WATCH_SHORT FS_NS_PER_S

static void took_step(struct fs_call *call, struct fs_answer *answer);
static void took_renewal(struct fs_call *call, struct fs_answer *answer);

static int64_t patience(const struct fs_request *request)
{
    return fs_earlier(request->lease_ns / 2, PATIENCE_LONGEST);
}

static int64_t lease_end(const struct fs_request *request)
{
    return request->renewed + request->lease_ns;
}

static void call(struct fs_request *request, enum fs_step step, int64_t until)
{
    fs_engine_call(request->keeper->engine, &request->step, step, &request->place, until);
}

/* ======================================================================== *
 *  The end
 * ======================================================================== */

/* Tell the caller how the request went. */
static void decide(struct fs_request *request, int result)
{
    if (request->is_decided)
        return;
    request->is_decided = true;
    request->result = result;
    fairsem_release(&request->decided, 1);
    fs_keeper_tell(request->keeper);
}

/* Tell the caller how the end went. */
static void tell_end(struct fs_request *request, int result)
{
    if (request->is_over)
        return;
    request->is_over = true;
    request->end_result = result;
    fairsem_release(&request->over, 1);
}

static void over(struct fs_request *request, int result)
{
    request->state = FS_ENDED;
    tell_end(request, result);
}

/* End the lease, which is tried until it is over by our own clock. */
static void end(struct fs_request *request)
{
    bool has_keys = request->state != FS_GRANTING;

    if (request->state == FS_ENDING || request->state == FS_ENDED)
        return;
    fs_engine_stop(&request->step);
    fs_engine_stop(&request->renewal);
    request->state = FS_ENDING;
    request->step_at = FS_NEVER;
    if (has_keys)
        call(request, FS_END, fs_boot_now() + patience(request));
    else
        over(request, 0);
}

static void fail(struct fs_request *request, int error)
{
    decide(request, error);
    end(request);
}

static void lose(struct fs_request *request, int error)
{
    int none = 0;

    atomic_compare_exchange_strong(&request->lost, &none, error);
    request->state = FS_LOST;
    fs_engine_stop(&request->renewal);
    fs_keeper_tell(request->keeper);
}

/* The lease is over, or renewals are refused. */
static void end_of_lease(struct fs_request *request, int error)
{
    if (request->state == FS_RUNNING)
        lose(request, error);
    else if (request->state < FS_RUNNING)
        fail(request, error);
}

/* ======================================================================== *
 *  The way to the units
 * ======================================================================== */

static void begun(struct fs_request *request, int64_t fence)
{
    int64_t good_until = request->renewed + request->lease_ns / 4 * 3;

    if (fs_boot_now() >= good_until) {
        fail(request, ENETUNREACH);     /* the answer has come too late */
        return;
    }
    request->fence = fence;
    request->state = FS_RUNNING;
    request->step_at = FS_NEVER;
    atomic_store(&request->good_until, good_until);
    decide(request, 0);
}

/* What a view means: begin, wait, or leave. */
static void consider(struct fs_request *request, const struct fs_answer *view)
{
    struct fs_place *place = &request->place;

    if (view->began != 0) {
        begun(request, view->began);    /* an answer had been lost */
        return;
    }
    if (view->joined == 0 || (place->joined != 0 && view->joined != place->joined)) {
        fail(request, ESTALE);
        return;
    }
    if (view->limit != place->limit) {
        fail(request, EPROTO);          /* nobody may change it while this waits */
        return;
    }
    place->joined = view->joined;
    place->seen = view->revision;
    strcpy(place->ahead, view->ahead);
    if (place->ahead[0] == '\0' && place->units <= place->limit - view->held) {
        call(request, FS_BEGIN, lease_end(request));
    } else if (request->only_try) {
        fail(request, ETIMEDOUT);
    } else {
        request->watch_began = fs_boot_now();
        call(request, FS_WATCH, FS_NEVER);
    }
}

static void joined(struct fs_request *request, const struct fs_answer *answer)
{
    if (answer->began == 0 && answer->joined == 0) {
        fail(request, EINVAL);          /* another limit */
        return;
    }
    request->state = FS_WAITING;
    if (answer->done || answer->began != 0) {
        consider(request, answer);
    } else {
        /* It had joined by an earlier attempt, and the view does not know since when. */
        request->place.joined = answer->joined;
        call(request, FS_VIEW, lease_end(request));
    }
}

/* A watch has ended: what was watched is gone, or the watch is broken.  Either way, view again. */
static void watched(struct fs_request *request, const struct fs_answer *answer)
{
    int64_t now = fs_boot_now();

    if (answer->error == 0 || now - request->watch_began > WATCH_SHORT)
        request->watch_pause = 0;
    else
        request->watch_pause = fs_earlier(2 * request->watch_pause + 50 * FS_NS_PER_MS, FS_NS_PER_S);
    request->step_at = now + request->watch_pause;
}

static void granted(struct fs_request *request, const struct fs_answer *answer)
{
    request->renewed = answer->sent;
    request->lease_ns = fs_earlier(request->lease_ns, answer->ttl_s * FS_NS_PER_S);
    request->renew_at = request->renewed + request->lease_ns / 3;
    request->state = FS_JOINING;
    call(request, FS_JOIN, lease_end(request));
}

static void took_step(struct fs_call *step, struct fs_answer *answer)
{
    struct fs_request *request = step->owner;

    if (request->state == FS_ENDING) {
        if (answer->error == 0 || fs_boot_now() >= lease_end(request))
            over(request, answer->error);
        else
            request->step_at = fs_boot_now() + RETRY;
        tell_end(request, answer->error);
    } else if (step->step == FS_WATCH) {
        watched(request, answer);
    } else if (answer->error != 0) {
        fail(request, answer->error);
    } else if (step->step == FS_GRANT) {
        granted(request, answer);
    } else if (step->step == FS_JOIN) {
        joined(request, answer);
    } else if (step->step == FS_BEGIN && answer->done) {
        begun(request, answer->revision);
    } else {
        consider(request, answer);
    }
}

/* ======================================================================== *
 *  The lease
 * ======================================================================== */

static void took_renewal(struct fs_call *renewal, struct fs_answer *answer)
{
    struct fs_request *request = renewal->owner;

    atomic_store(&request->last_error, answer->error);
    if (answer->error == ESTALE) {
        end_of_lease(request, ESTALE);
    } else if (answer->error != 0) {
        request->renew_at = fs_boot_now() + RETRY;
    } else {
        request->renewed = answer->sent;
        request->renew_at = answer->sent + request->lease_ns / 3;
        if (request->state == FS_RUNNING)
            atomic_store(&request->good_until, request->renewed + request->lease_ns / 4 * 3);
    }
}

int fs_request_lost(struct fs_request *request, int64_t now)
{
    int lost = atomic_load(&request->lost);
    int why = atomic_load(&request->last_error);

    if (lost != 0 || now < atomic_load(&request->good_until))
        return lost;
    /* Once it is said it stays so, even if a renewal is answered now. */
    if (atomic_compare_exchange_strong(&request->lost, &lost, why != 0 ? why : ENETUNREACH))
        return why != 0 ? why : ENETUNREACH;
    return lost;
}

/* Renew, and notice that it is too late.  It returns the time of the next. */
static int64_t keep_lease(struct fs_request *request, int64_t now)
{
    int why = atomic_load(&request->last_error);

    if (request->state == FS_RUNNING && fs_request_lost(request, now) != 0) {
        lose(request, ENETUNREACH);
        return FS_NEVER;
    }
    if (request->state != FS_RUNNING && now >= lease_end(request)) {
        fail(request, why != 0 ? why : ENETUNREACH);
        return FS_NEVER;
    }
    if (request->renew_at <= now) {
        request->renew_at = FS_NEVER;
        fs_engine_call(request->keeper->engine, &request->renewal, FS_RENEW, &request->place, now);
    }
    return fs_earlier(request->renew_at, request->state == FS_RUNNING
        ? atomic_load(&request->good_until) : lease_end(request));
}

static int64_t turn(struct fs_job *job, int64_t now)
{
    struct fs_request *request = (struct fs_request *)(void *)job;
    int64_t next = FS_NEVER;

    if (request->leaves)
        end(request);
    if (request->keeper->quits && request->state != FS_ENDED) {
        fs_engine_stop(&request->step);
        over(request, ENETUNREACH);     /* the lease ends by itself */
    }
    if (request->step_at <= now) {
        request->step_at = FS_NEVER;
        if (request->state == FS_GRANTING)
            call(request, FS_GRANT, now + patience(request));
        else if (request->state == FS_WAITING)
            call(request, FS_VIEW, lease_end(request));
        else if (request->state == FS_ENDING)
            call(request, FS_END, now);
    }
    if (request->state == FS_JOINING || request->state == FS_WAITING
        || request->state == FS_RUNNING)
        next = keep_lease(request, now);
    if (request->state == FS_ENDED) {
        fs_request_drop(request);
        return FS_JOB_OVER;
    }
    return fs_earlier(next, request->step_at);
}

/* ======================================================================== *
 *  The caller's side
 * ======================================================================== */

struct fs_request *fs_request_new(struct fs_keeper *keeper, const char *prefix, int64_t units,
                                  int priority, bool only_try)
{
    struct fs_request *request = calloc(1, sizeof *request);

    if (request == NULL)
        return NULL;
    if (!fs_place_fill(&request->place)) {
        free(request);
        return NULL;
    }
    request->job.turn = turn;
    request->keeper = keeper;
    request->only_try = only_try;
    request->owners = 1;
    request->lease_ns = keeper->options.ttl_ns;
    request->renew_at = FS_NEVER;
    request->place.units = units;
    request->place.priority = priority;
    request->place.limit = keeper->options.limit;
    request->place.ttl_s = keeper->options.ttl_ns / FS_NS_PER_S;
    strcpy(request->place.prefix, prefix);
    request->step.done = took_step;
    request->renewal.done = took_renewal;
    request->step.owner = request->renewal.owner = request;
    if (fairsem_init(&request->decided, 0, NULL) != 0 || fairsem_init(&request->over, 0, NULL) != 0) {
        free(request);
        return NULL;
    }
    return request;
}

bool fs_request_has_lease(const struct fs_job *job, int64_t lease)
{
    return job->turn == turn && ((const struct fs_request *)(const void *)job)->place.lease == lease;
}

void fs_request_drop(struct fs_request *request)
{
    if (--request->owners == 0) {
        fairsem_destroy(&request->decided);
        fairsem_destroy(&request->over);
        free(request);
    }
}
