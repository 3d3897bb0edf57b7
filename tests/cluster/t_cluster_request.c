/* SPDX-License-Identifier: MIT */
/*
 * t_cluster_request.c - a request between its caller, the clock, and an engine that the test plays.
 *
 * This program defines the functions of engine.h, in place of etcd.c.  Each test sets the engine's answer to a
 * step, or makes the engine silent, and lets the clock jump.
 */
#include "suite.h"

#include "clock.h"
#include "engine.h"
#include "workers.h"

#include <fairsem/cluster.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* ======================================================================== *
 *  The engine
 * ======================================================================== */

struct fs_engine { struct fs_call *calls; int wakes; };

static struct {
    _Atomic int64_t jump;           /* added to the time of the clock */
    _Atomic int     asked[FS_LIST + 1];     /* number of requests for each step */
    _Atomic int     answered[FS_LIST + 1];
    _Atomic bool    silent[FS_LIST + 1];    /* no answer to this step */
    _Atomic int     watches_end;    /* number of watches that end although FS_WATCH is silent */
    _Atomic int     error[FS_LIST + 1];     /* the error in the answer, or 0 */
    _Atomic bool    may_pass;       /* the error may be temporary */
    _Atomic int64_t others;         /* units that other requests hold */
    _Atomic int64_t limit;          /* the limit in force, or 0 for the limit of the request */
    _Atomic bool    no_limit;       /* the limit was removed */
    _Atomic int64_t term;           /* the leader's term in a confirmation; a renewal has the term 0 */
    _Atomic bool    late_grant;     /* the grant was sent long ago */
    _Atomic bool    joined_before;  /* an earlier attempt to join succeeded */
    _Atomic bool    began_before;   /* an earlier attempt to begin succeeded, too */
    _Atomic bool    forgotten;      /* the engine has forgotten the request */
    _Atomic bool    watched_gone;   /* at least one watched key is gone */
    _Atomic int64_t viewed_since;   /* record->joined of the last view */
} world;

int64_t __wrap_fs_boot_now(void);
int64_t __real_fs_boot_now(void);

int64_t __wrap_fs_boot_now(void)
{
    return __real_fs_boot_now() + world.jump;
}

int fs_engine_open(struct fs_engine **engine, struct fs_options *options)
{
    (void)options;
    *engine = calloc(1, sizeof **engine);
    (*engine)->wakes = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return 0;
}

void fs_engine_close(struct fs_engine *engine)
{
    close(engine->wakes);
    free(engine);
}

void fs_engine_call(struct fs_engine *engine, struct fs_call *call, enum fs_step step,
                    const struct fs_record *record, int64_t until)
{
    if (call->state != FS_IDLE)
        abort();
    call->engine = engine;
    call->step = step;
    call->record = record;
    call->until = until;
    call->sent = fs_boot_now() - (world.late_grant && step == FS_GRANT ? 8 * FS_NS_PER_S : 0);
    call->state = FS_SENT;
    call->retry_at = record->seen_revision;
    call->next = engine->calls;
    engine->calls = call;
    if (step == FS_VIEW)
        world.viewed_since = record->joined;
    if (++world.asked[step] > 1000)
        abort();                /* endless requests */
}

void fs_engine_stop(struct fs_call *call)
{
    struct fs_call **link;

    if (call->state == FS_IDLE)
        return;
    for (link = &call->engine->calls; *link != call; link = &(*link)->next)
        continue;
    *link = call->next;
    call->state = FS_IDLE;
}

void fs_engine_wait(struct fs_engine *engine, int alarm)
{
    struct pollfd events[2] = { { .fd = alarm, .events = POLLIN },
                                { .fd = engine->wakes, .events = POLLIN } };
    eventfd_t count;

    /* Wait for at most 5 ms: the test may have changed the answers. */
    poll(events, 2, 5);
    eventfd_read(engine->wakes, &count);
}

void fs_engine_wake(struct fs_engine *engine)
{
    eventfd_write(engine->wakes, 1);
}

const char *fs_engine_why(const struct fs_engine *engine)
{
    (void)engine;
    return "somewhere: nothing";
}

static void answer(struct fs_call *call)
{
    struct fs_answer answer = { .error = world.error[call->step], .sent = call->sent,
                                .final = !world.may_pass,
                                .revision = 10 + world.asked[call->step], .ttl_s = 10 };
    const struct fs_record *record = call->record;
    enum fs_step answered = call->step;

    answer.term = call->step == FS_CONFIRM ? world.term : 0;
    answer.first = world.no_limit ? 0 : record->limit;
    answer.limit = world.limit != 0 ? world.limit : record->limit;
    answer.held = world.others;
    if (!world.forgotten)
        answer.joined = 7;
    if (world.began_before)
        answer.began = 9;
    answer.runs = world.others != 0;
    answer.done = call->step == FS_JOIN ? !world.joined_before && !world.forgotten
        : call->step == FS_CONFIRM ? record->watched == 0 || !world.watched_gone
        : call->step == FS_BEGIN && world.others + record->units <= answer.limit;
    if (world.forgotten || world.began_before)
        answer.done = false;
    /* If the record has seen a newer revision since the call was sent, etcd.c refuses the older data. */
    if (call->step == FS_CONFIRM && record->seen_revision > call->retry_at)
        answer.error = EPROTO;
    fs_engine_stop(call);
    call->done(call, &answer);
    world.answered[answered]++;
}

int64_t fs_engine_iterate(struct fs_engine *engine, int64_t now)
{
    struct fs_call *call = engine->calls;

    (void)now;
    while (call != NULL)
        if (world.silent[call->step] && (call->step != FS_WATCH || world.watches_end == 0)) {
            call = call->next;
        } else {
            if (world.silent[call->step])
                world.watches_end--;
            answer(call);
            call = engine->calls;
        }
    return FS_NEVER;
}

/* ======================================================================== *
 *  The tests
 * ======================================================================== */

static const fairsem_cluster_attr_t three = { .endpoints = "http://nowhere", .limit = 3 };

/* Open a handle at an engine that answers all steps, but whose watches do not end. */
static fairsem_cluster_t *open_handle(void)
{
    fairsem_cluster_t *handle;

    memset(&world, 0, sizeof world);
    world.silent[FS_WATCH] = true;
    ck_assert_int_eq(fairsem_cluster_open(&handle, "name", &three), 0);
    return handle;
}

static void await(_Atomic int *count, int wanted)
{
    while (*count < wanted)
        poll(NULL, 0, 1);
}

START_TEST(a_hold_is_lost_at_three_quarters_of_its_lease)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } };
    struct pollfd event = { .fd = fairsem_cluster_fd(handle), .events = POLLIN };
    uint64_t read_it;

    world.silent[FS_RENEW] = true;
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), 0);
    ck_assert_int_eq(fairsem_cluster_fence(&hold), 11);
    ck_assert_int_eq(fairsem_cluster_lost(&hold), 0);
    ck_assert_int_eq(read(event.fd, &read_it, sizeof read_it), sizeof read_it);
    world.jump = 7 * FS_NS_PER_S;
    ck_assert_int_eq(fairsem_cluster_lost(&hold), 0);
    await(&world.asked[FS_RENEW], 1);
    world.jump = FS_NS_PER_S * 15 / 2;
    ck_assert_int_eq(fairsem_cluster_lost(&hold), ENETUNREACH);
    /* An answer that comes after the loss changes nothing. */
    world.silent[FS_RENEW] = false;
    ck_assert_int_eq(poll(&event, 1, -1), 1);
    ck_assert_int_eq(fairsem_cluster_lost(&hold), ENETUNREACH);
    ck_assert_int_eq(fairsem_cluster_close(handle), EBUSY);
    ck_assert_int_eq(fairsem_cluster_release(&hold), 0);
    ck_assert_int_eq(world.asked[FS_END], 1);
    ck_assert_int_eq(fairsem_cluster_lost(&hold), EINVAL);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

START_TEST(renewals_keep_a_hold)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } };

    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 3, NULL, &hold), 0);
    for (int i = 1; i <= 5; i++) {
        world.jump += 4 * FS_NS_PER_S;
        await(&world.answered[FS_CONFIRM], i);
        ck_assert_int_eq(fairsem_cluster_lost(&hold), 0);
    }
    world.error[FS_RENEW] = ESTALE;
    world.jump += 4 * FS_NS_PER_S;
    while (fairsem_cluster_lost(&hold) == 0)
        poll(NULL, 0, 1);
    ck_assert_int_eq(fairsem_cluster_lost(&hold), ESTALE);
    ck_assert_int_eq(world.asked[FS_END], 0);
    ck_assert_int_eq(fairsem_cluster_release(&hold), 0);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

/*
 * A renewal is sent at 4 s, answered at 5 s, and confirmed at 6 s.  The hold is then valid for three quarters
 * of its lease from 4 s on: until 11.5 s.
 */
START_TEST(a_renewal_counts_from_when_it_was_sent)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } };

    world.silent[FS_RENEW] = world.silent[FS_CONFIRM] = true;
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), 0);
    world.jump = 4 * FS_NS_PER_S;
    await(&world.asked[FS_RENEW], 1);
    world.jump = 5 * FS_NS_PER_S;
    world.silent[FS_RENEW] = false;
    await(&world.asked[FS_CONFIRM], 1);
    world.silent[FS_RENEW] = true;
    world.jump = 6 * FS_NS_PER_S;
    world.silent[FS_CONFIRM] = false;
    await(&world.answered[FS_CONFIRM], 1);
    world.jump = 10 * FS_NS_PER_S;
    ck_assert_int_eq(fairsem_cluster_lost(&hold), 0);
    world.jump = FS_NS_PER_S * 23 / 2;
    ck_assert_int_eq(fairsem_cluster_lost(&hold), ENETUNREACH);
    ck_assert_int_eq(fairsem_cluster_release(&hold), 0);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

/* A member that was stopped may answer as if it were still the leader, but it renews nothing. */
START_TEST(a_renewal_by_a_former_leader_does_not_count)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } };

    world.term = 1;
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), 0);
    world.jump += 4 * FS_NS_PER_S;
    await(&world.answered[FS_CONFIRM], 2);
    ck_assert_int_eq(fairsem_cluster_lost(&hold), 0);
    world.jump += 4 * FS_NS_PER_S;
    ck_assert_int_eq(fairsem_cluster_lost(&hold), ENETUNREACH);
    ck_assert_int_eq(fairsem_cluster_left(&hold), 0);
    ck_assert_int_eq(fairsem_cluster_release(&hold), 0);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

/* The lease counts from when the request was sent, 8 s ago.  So the units would already be lost. */
START_TEST(a_grant_that_comes_too_late_does_not_count)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } };

    world.late_grant = true;
    world.silent[FS_RENEW] = true;
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), ENETUNREACH);
    ck_assert_int_eq(world.asked[FS_END], 1);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

START_TEST(lost_answers_are_detected)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } };

    world.joined_before = true;
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), 0);
    ck_assert_int_eq(world.asked[FS_VIEW], 1);
    ck_assert_int_eq(world.viewed_since, 7);
    ck_assert_int_eq(fairsem_cluster_release(&hold), 0);
    world.began_before = true;
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), 0);
    ck_assert_int_eq(fairsem_cluster_fence(&hold), 9);
    ck_assert_int_eq(fairsem_cluster_release(&hold), 0);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

START_TEST(a_waiter_begins_when_enough_units_are_free)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } };
    const struct timespec past = { 1, 0 };
    fairsem_wait_t too_late = { .deadline = &past };

    world.others = 2;
    world.silent[FS_VIEW] = true;
    world.silent[FS_WATCH] = false;     /* the watch ends at once, but the view is not answered */
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 2, &(fairsem_wait_t){ .timeout_ns = 1 },
                                                  &hold), ETIMEDOUT);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 2, &(fairsem_wait_t){ .timeout_ns = -1 },
                                                  &hold), ETIMEDOUT);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 2, &too_late, &hold), ETIMEDOUT);
    ck_assert_int_eq(world.asked[FS_BEGIN], 0);
    ck_assert_int_eq(world.asked[FS_END], world.asked[FS_JOIN]);
    world.others = 1;
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 2, &too_late, &hold), 0);
    ck_assert_int_eq(fairsem_cluster_release(&hold), 0);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 2, &(fairsem_wait_t){ .timeout_ns = -1 },
                                                  &hold), 0);
    ck_assert_int_eq(fairsem_cluster_release(&hold), 0);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

struct waiter {
    fairsem_cluster_t *handle;
    fairsem_token_t *token;
    fairsem_cluster_hold_t hold;
    _Atomic int result;
};

static void *wait_for_it(void *arg)
{
    struct waiter *waiter = arg;
    fairsem_wait_t how = { .token = waiter->token };

    waiter->result = STILL_WAITING;
    waiter->result = fairsem_cluster_acquire_with(waiter->handle, 2, &how, &waiter->hold);
    return NULL;
}

static void finish(struct waiter *waiter, pthread_t thread)
{
    pthread_join(thread, NULL);
    ck_assert_int_eq(waiter->result, 0);
    ck_assert_int_eq(fairsem_cluster_release(&waiter->hold), 0);
    ck_assert_int_eq(fairsem_cluster_close(waiter->handle), 0);
}

/* A waiter uses the limit of its last view, not the limit of its handle. */
START_TEST(a_waiter_begins_when_the_limit_is_raised)
{
    struct waiter waiter = { .handle = open_handle() };
    pthread_t thread;

    world.others = 3;
    world.limit = 4;
    start_thread(&thread, wait_for_it, &waiter);
    await(&world.asked[FS_WATCH], 1);
    ck_assert_int_eq(world.asked[FS_BEGIN], 0);
    world.limit = 5;
    world.watches_end = 1;
    finish(&waiter, thread);
}
END_TEST

/* The connection of the watch is dead, but does not show an error. */
START_TEST(a_renewal_reports_changes_that_the_watch_misses)
{
    struct waiter waiter = { .handle = open_handle() };
    pthread_t thread;

    world.others = 2;
    start_thread(&thread, wait_for_it, &waiter);
    await(&world.asked[FS_WATCH], 1);
    world.jump += 4 * FS_NS_PER_S;
    await(&world.answered[FS_CONFIRM], 1);
    world.jump += 4 * FS_NS_PER_S;
    await(&world.answered[FS_CONFIRM], 2);
    ck_assert_int_eq(world.asked[FS_VIEW], 0);

    /* One watched key is gone, but too few units are free: the waiter watches the other keys. */
    world.watched_gone = true;
    world.jump += 4 * FS_NS_PER_S;
    await(&world.asked[FS_WATCH], 2);
    ck_assert_int_eq(world.asked[FS_VIEW], 1);
    world.others = 0;
    world.jump += 4 * FS_NS_PER_S;
    finish(&waiter, thread);
}
END_TEST

/*
 * A new watch begins at the revision of the last view, and misses nothing.  If that watch breaks, too, a new
 * view is needed.
 */
START_TEST(a_watch_that_breaks_is_begun_again_once)
{
    struct waiter waiter = { .handle = open_handle() };
    pthread_t thread;

    world.others = 2;
    world.error[FS_WATCH] = ENETUNREACH;
    world.watches_end = 2;
    start_thread(&thread, wait_for_it, &waiter);
    await(&world.asked[FS_WATCH], 3);
    ck_assert_int_eq(world.asked[FS_VIEW], 1);

    /* The engine has compacted the history since the view. */
    world.error[FS_WATCH] = ECANCELED;
    world.watches_end = 1;
    await(&world.asked[FS_WATCH], 4);
    ck_assert_int_eq(world.asked[FS_VIEW], 2);

    /* The new watch is dead, but does not show an error: a renewal must find the change. */
    world.error[FS_WATCH] = ENETUNREACH;
    world.watches_end = 1;
    await(&world.asked[FS_WATCH], 5);
    ck_assert_int_eq(world.asked[FS_VIEW], 2);
    world.watched_gone = true;
    world.others = 0;
    world.jump += 4 * FS_NS_PER_S;
    finish(&waiter, thread);
}
END_TEST

/* Such an answer says nothing about the keys that the request watches since its newer view. */
START_TEST(a_renewal_is_answered_after_a_newer_view)
{
    struct waiter waiter = { .handle = open_handle() };
    pthread_t thread;

    world.others = 2;
    world.silent[FS_CONFIRM] = true;
    start_thread(&thread, wait_for_it, &waiter);
    await(&world.asked[FS_WATCH], 1);
    world.jump += 4 * FS_NS_PER_S;
    await(&world.asked[FS_CONFIRM], 1);
    world.silent[FS_RENEW] = true;
    world.silent[FS_WATCH] = false;
    await(&world.asked[FS_VIEW], 3);
    world.silent[FS_WATCH] = true;
    world.silent[FS_CONFIRM] = false;
    await(&world.answered[FS_CONFIRM], 1);
    /* Without that renewal the lease would be over. */
    world.jump += 7 * FS_NS_PER_S;
    await(&world.asked[FS_RENEW], 2);
    world.others = 0;
    world.silent[FS_WATCH] = false;
    finish(&waiter, thread);
}
END_TEST

START_TEST(a_wait_fails_with_its_reason)
{
    static const struct { enum fs_step step; int error, result; bool no_limit, forgotten; }
    cases[] = {
        { FS_JOIN, EACCES, EACCES, false, false }, { FS_JOIN, ENOSPC, ENOSPC, false, false },
        { FS_JOIN, 0, EINVAL, false, true }, { FS_BEGIN, ENETUNREACH, ENETUNREACH, false, false },
        { FS_BEGIN, ESTALE, ESTALE, false, false }, { FS_JOIN, 0, EPROTO, true, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fairsem_cluster_t *handle = open_handle();
        fairsem_cluster_hold_t hold = { { 0 } };

        world.error[cases[i].step] = cases[i].error;
        world.no_limit = cases[i].no_limit;
        world.forgotten = cases[i].forgotten;
        ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), cases[i].result);
        ck_assert_int_eq(world.asked[FS_END], 1);
        ck_assert_int_eq(fairsem_cluster_fence(&hold), 0);
        ck_assert_int_eq(fairsem_cluster_close(handle), 0);
    }
}
END_TEST

/* While the lease lives, only the engine's own answer ends a wait: not TLS, a proxy, or a full disk. */
START_TEST(a_place_lasts_as_long_as_its_lease)
{
    static const struct { enum fs_step step; int error; } cases[] = {
        { FS_VIEW, EACCES }, { FS_VIEW, EPROTO }, { FS_VIEW, ENETUNREACH }, { FS_BEGIN, ENOSPC },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct waiter waiter = { .handle = open_handle() };
        enum fs_step step = cases[i].step;
        pthread_t thread;

        world.may_pass = true;
        world.error[step] = cases[i].error;
        world.others = 2;
        start_thread(&thread, wait_for_it, &waiter);
        await(&world.asked[FS_WATCH], 1);
        world.others = 0;
        world.watches_end = 1;
        await(&world.answered[step], 1);
        ck_assert_int_eq(world.asked[FS_END], 0);
        world.jump += FS_NS_PER_S;
        await(&world.answered[step], 2);
        ck_assert_int_eq(waiter.result, STILL_WAITING);
        world.error[step] = 0;
        world.jump += FS_NS_PER_S;
        finish(&waiter, thread);
        ck_assert_int_eq(world.asked[FS_END], 1);
    }
}
END_TEST

START_TEST(a_token_or_a_cancellation_ends_a_wait)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct waiter waiter = { .handle = handle, .token = &token };
    fairsem_cluster_hold_t hold = { { 0 } };
    pthread_t thread;

    world.others = 2;
    start_thread(&thread, wait_for_it, &waiter);
    await(&world.asked[FS_WATCH], 1);
    ck_assert_int_eq(fairsem_token_cancel(&token, ENODATA), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(waiter.result, ENODATA);
    ck_assert_int_eq(world.asked[FS_END], 1);
    /* The token is canceled before the wait. */
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, &(fairsem_wait_t){ .token = &token },
                                                  &hold), ENODATA);
    ck_assert_int_eq(world.asked[FS_GRANT], 1);

    waiter.token = NULL;
    start_thread(&thread, wait_for_it, &waiter);
    await(&world.asked[FS_WATCH], 2);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    ck_assert_int_eq(waiter.result, STILL_WAITING);
    await(&world.asked[FS_END], 2);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

static void *use_a_handle(void *arg)
{
    fairsem_cluster_attr_t attr = three;
    fairsem_cluster_hold_t hold = { { 0 } };
    fairsem_cluster_t *handle;
    _Atomic int *step = arg;
    int state;

    attr.user = "me";
    attr.password_file = "/dev/null";
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    if (fairsem_cluster_open(&handle, "name", &attr) != 0)
        return NULL;
    *step = 1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    if (fairsem_cluster_acquire_with(handle, 1, NULL, &hold) != 0)
        return NULL;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    if (fairsem_cluster_release(&hold) != 0)
        return NULL;
    *step = 2;
    if (fairsem_cluster_close(handle) != 0)
        return NULL;
    *step = 3;
    pthread_testcancel();
    return NULL;
}

/* During all calls a cancellation is pending.  LeakSanitizer finds memory that a canceled wait leaves. */
START_TEST(only_a_wait_is_a_cancellation_point)
{
    fairsem_cluster_t *handle = open_handle();
    struct waiter waiter = { .handle = handle };
    _Atomic int step = 0;
    pthread_t thread;
    void *result;

    start_thread(&thread, use_a_handle, (void *)&step);
    pthread_join(thread, &result);
    ck_assert_int_eq(step, 3);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);

    world.others = 2;
    start_thread(&thread, wait_for_it, &waiter);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

static void *close_it(void *handle)
{
    return fairsem_cluster_close(handle) == 0 ? NULL : handle;
}

/* A canceled thread does not wait until the engine has ended its request.  The close of the handle waits. */
START_TEST(a_close_waits_until_a_canceled_request_has_ended)
{
    fairsem_cluster_t *handle = open_handle();
    struct waiter waiter = { .handle = handle };
    pthread_t thread;
    void *result;

    world.others = 2;
    world.silent[FS_END] = true;
    start_thread(&thread, wait_for_it, &waiter);
    await(&world.asked[FS_WATCH], 1);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    start_thread(&thread, close_it, handle);
    poll(NULL, 0, 50);      /* most often the close waits by now */
    world.silent[FS_END] = false;
    pthread_join(thread, &result);
    ck_assert_ptr_null(result);
    ck_assert_int_eq(world.answered[FS_END], 1);
}
END_TEST

/* The begin succeeds, but the answer comes after the caller was canceled: the units are returned. */
START_TEST(units_that_come_too_late_are_returned)
{
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct waiter waiter = { .handle = open_handle(), .token = &token };
    pthread_t thread;

    world.silent[FS_BEGIN] = true;
    start_thread(&thread, wait_for_it, &waiter);
    await(&world.asked[FS_BEGIN], 1);
    ck_assert_int_eq(fairsem_token_cancel(&token, ENODATA), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(waiter.result, ENODATA);
    ck_assert_int_eq(world.asked[FS_BEGIN], 1);
    ck_assert_int_eq(world.asked[FS_END], 1);
    ck_assert_int_eq(fairsem_cluster_close(waiter.handle), 0);
}
END_TEST

START_TEST(an_end_that_is_not_answered_is_repeated_without_the_caller)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } };

    world.error[FS_END] = ENETUNREACH;
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), 0);
    ck_assert_int_eq(fairsem_cluster_release(&hold), ENETUNREACH);
    ck_assert_int_eq(fairsem_cluster_release(&hold), EINVAL);
    world.jump += FS_NS_PER_S;
    await(&world.answered[FS_END], 2);
    world.error[FS_END] = 0;
    world.jump += FS_NS_PER_S;
    await(&world.answered[FS_END], 3);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

START_TEST(a_handle_is_closed_while_an_end_is_repeated)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } };

    world.error[FS_END] = ENETUNREACH;
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), 0);
    ck_assert_int_eq(fairsem_cluster_release(&hold), ENETUNREACH);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

static _Atomic int signals;

static void count(int number)
{
    (void)number;
    signals++;
}

/* A signal that all threads of the program have blocked stays pending. */
START_TEST(the_librarys_thread_takes_no_signals)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } };
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    signals = 0;
    sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = count }, NULL);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), 0);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    world.jump += 4 * FS_NS_PER_S;
    await(&world.answered[FS_CONFIRM], 1);
    ck_assert_int_eq(signals, 0);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    await(&signals, 1);
    ck_assert_int_eq(fairsem_cluster_release(&hold), 0);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

START_TEST(a_reason_is_cut_to_the_size_of_the_buffer)
{
    fairsem_cluster_t *handle = open_handle();
    char text[10];

    ck_assert_int_eq(fairsem_cluster_why(handle, text, 0), EINVAL);
    ck_assert_int_eq(fairsem_cluster_why(handle, text, sizeof text), 0);
    ck_assert_str_eq(text, "somewhere");
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

START_TEST(a_child_can_use_no_handle_of_its_parent)
{
    fairsem_cluster_t *handle = open_handle();
    fairsem_cluster_hold_t hold = { { 0 } }, another = { { 0 } };
    int status;
    pid_t child;

    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), 0);
    child = fork();
    if (child == 0) {
        size_t count;
        char text[10];

        _exit(fairsem_cluster_release(&hold) != EINVAL || fairsem_cluster_lost(&hold) != EINVAL
            || fairsem_cluster_acquire_with(handle, 1, NULL, &another) != EINVAL
            || fairsem_cluster_users(handle, NULL, 0, &count) != EINVAL
            || fairsem_cluster_set_limit(handle, 1) != EINVAL || fairsem_cluster_remove(handle) != EINVAL
            || fairsem_cluster_why(handle, text, sizeof text) != EINVAL
            || fairsem_cluster_close(handle) != EINVAL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(fairsem_cluster_release(&hold), 0);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("cluster request", a_hold_is_lost_at_three_quarters_of_its_lease, renewals_keep_a_hold,
              a_renewal_counts_from_when_it_was_sent,
              a_renewal_by_a_former_leader_does_not_count, a_grant_that_comes_too_late_does_not_count,
              lost_answers_are_detected, a_waiter_begins_when_enough_units_are_free,
              a_waiter_begins_when_the_limit_is_raised, a_renewal_reports_changes_that_the_watch_misses,
              a_watch_that_breaks_is_begun_again_once, a_renewal_is_answered_after_a_newer_view,
              a_wait_fails_with_its_reason, a_place_lasts_as_long_as_its_lease,
              a_token_or_a_cancellation_ends_a_wait,
              only_a_wait_is_a_cancellation_point, a_close_waits_until_a_canceled_request_has_ended,
              units_that_come_too_late_are_returned, an_end_that_is_not_answered_is_repeated_without_the_caller,
              a_handle_is_closed_while_an_end_is_repeated, the_librarys_thread_takes_no_signals,
              a_reason_is_cut_to_the_size_of_the_buffer, a_child_can_use_no_handle_of_its_parent);
}
