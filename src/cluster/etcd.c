/* SPDX-License-Identifier: MIT */
/*
 * etcd.c - the engine that is etcd: where each question is sent, and when again; see engine.h.
 *
 * All calls use one endpoint until a question to it fails; then all go to the next.  So do watches,
 * because they hear nothing from a member that hangs.  A renewal finds that out, at the latest.
 *
 *     FS_IDLE --fs_engine_call--> FS_SENT --call_answered--> FS_IDLE
 *     FS_SENT --call_failed, wait_for_memory--> FS_PAUSED --fs_engine_turn--> FS_SENT
 *     FS_SENT, a watch, --fs_engine_turn: another endpoint is in use--> FS_IDLE
 *     any --send_call: there is no token--> FS_NEEDS_TOKEN --token_came--> FS_SENT
 */
#include "engine.h"

#include "clock.h"
#include "etcd_answer.h"
#include "etcd_ask.h"
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* After each round of all endpoints there is a pause, which doubles from the one to the other. */
#define PAUSE_FIRST (50 * FS_NS_PER_MS)
#define PAUSE_LONGEST (500 * FS_NS_PER_MS)

/* A token that was just given and is refused is asked for again so often. */
enum { TOKENS_MAX = 3 };

struct fs_engine {
    struct fs_session session;
    struct fs_call *calls;      /* that are not idle */
};

/* ======================================================================== *
 *  Calls
 * ======================================================================== */

static void unlink_call(struct fs_call *call)
{
    *call->link = call->next;
    if (call->next != NULL)
        call->next->link = call->link;
    call->state = FS_IDLE;
}

void fs_engine_stop(struct fs_call *call)
{
    if (call->state == FS_IDLE)
        return;
    fs_http_stop(&call->exchange);
    unlink_call(call);
}

/* Hand call->answer over. */
static void finish_call(struct fs_call *call, int error)
{
    call->answer.final = error == EACCES || error == ESTALE || error == EBADMSG;
    call->answer.error = error == EPERM ? EACCES : error == EBADMSG || error == EXDEV ? EPROTO : error;
    call->answer.sent = call->sent;
    /* An earlier attempt may be the one that made the lease. */
    if (call->step == FS_GRANT)
        call->answer.sent = call->first;
    unlink_call(call);
    call->done(call, &call->answer);
}

/* How often it has failed at each endpoint. */
static unsigned rounds_of_call(const struct fs_call *call)
{
    return call->tries / call->engine->session.options->endpoint_count;
}

/* A question got no answer, or none that makes sense. */
static void call_failed(struct fs_call *call, int error, int64_t now)
{
    struct fs_engine *engine = call->engine;
    unsigned count = engine->session.options->endpoint_count, rounds;
    int64_t pause = 0;

    fs_session_endpoint_failed(&engine->session, call->generation);
    if (error == EPERM)
        fs_session_read_files(&engine->session);
    call->tries++;
    rounds = rounds_of_call(call);
    if (call->tries % count == 0)
        pause = rounds > 4 ? PAUSE_LONGEST : fs_earlier(PAUSE_FIRST << (rounds - 1), PAUSE_LONGEST);
    /* What makes no sense, or is refused by something else, is not asked for longer than two rounds. */
    if (call->step == FS_WATCH || now + pause >= call->until
        || (rounds >= 2 && error != ENETUNREACH)) {
        finish_call(call, error);
        return;
    }
    call->state = FS_PAUSED;
    call->again = now + pause;
}

/* How long an answer is waited for, in milliseconds: never past the end of the call. */
static long patience_of_call(const struct fs_call *call, int64_t now)
{
    bool has_lease = call->step != FS_GRANT && call->step != FS_LIST;
    long most = fs_session_patience(&call->engine->session, has_lease, rounds_of_call(call));
    int64_t left = (call->until - now) / FS_NS_PER_MS;

    return left < 1 ? 1 : left < most ? (long)left : most;
}

/* A question could not be sent.  The keeper has to be told, if it has planned already when to wake. */
static void wait_for_memory(struct fs_call *call, int64_t now)
{
    call->answer.error = ENOMEM;
    call->state = FS_PAUSED;
    call->again = now + PAUSE_LONGEST;
    fs_engine_wake(call->engine);
}

/* The time for a call is over, without a question that would end by itself. */
static bool call_is_late(const struct fs_call *call)
{
    return (call->state == FS_NEEDS_TOKEN
            || (call->state == FS_PAUSED && call->answer.error == ENOMEM))
        && fs_boot_now() >= call->until;
}

static void call_answered(struct fs_exchange *exchange, int error);
static bool take_event_of_watch(struct fs_exchange *exchange, const char *bytes, size_t n);

static void send_call(struct fs_call *call, int64_t now)
{
    struct fs_engine *engine = call->engine;
    bool streams = call->step == FS_WATCH;
    const char *path;
    char *question;

    call->generation = engine->session.generation;
    if (engine->session.options->user != NULL && engine->session.token == NULL) {
        call->state = FS_NEEDS_TOKEN;
        fs_session_ask_token(&engine->session);
        if (!engine->session.asks_token)
            wait_for_memory(call, now);
        return;
    }
    call->token_number = engine->session.token_number;
    call->sent = now;
    if (call->first == 0)
        call->first = now;
    call->exchange.ended = call_answered;
    call->exchange.line = streams ? take_event_of_watch : NULL;
    call->exchange.owner = call;
    call->answer.error = EAGAIN;
    call->state = FS_SENT;
    question = fs_etcd_question(call->step, call->place, &path);
    if (fs_session_post(&engine->session, &call->exchange, path, question,
                        streams ? 0 : patience_of_call(call, now)) != 0)
        wait_for_memory(call, now);
}

void fs_engine_call(struct fs_engine *engine, struct fs_call *call, enum fs_step step,
                    const struct fs_place *place, int64_t until)
{
    call->engine = engine;
    call->step = step;
    call->place = place;
    call->until = until;
    call->tries = call->tokens = 0;
    call->first = 0;
    memset(&call->answer, 0, sizeof call->answer);
    call->next = engine->calls;
    call->link = &engine->calls;
    if (call->next != NULL)
        call->next->link = &call->next;
    engine->calls = call;
    send_call(call, fs_boot_now());
}

/* ======================================================================== *
 *  Answers
 * ======================================================================== */

/* The token was refused: most often it is too old. */
static void call_refused(struct fs_call *call, int64_t now)
{
    struct fs_engine *engine = call->engine;

    fs_session_token_refused(&engine->session, call->token_number);
    if (engine->session.options->user == NULL)
        finish_call(call, EACCES);
    else if (++call->tokens > TOKENS_MAX)
        finish_call(call, EPERM);
    else if (call->step == FS_WATCH)
        finish_call(call, ENETUNREACH);
    else
        send_call(call, now);
}

/* For http.c, in the middle of its work: a line of a watch.  It only takes a note. */
static bool take_event_of_watch(struct fs_exchange *exchange, const char *bytes, size_t n)
{
    struct fs_call *call = exchange->owner;

    call->answer.error = fs_etcd_read_event(bytes, n, call->place);
    return call->answer.error == EAGAIN;
}

/*
 * Read an answer, which must be of the cluster that has answered before: two behind one list of endpoints
 * would both give all units away.  When that one has not answered for the time of a lease, this handle has
 * no lease there, and any may answer.  The errors of etcd name no cluster.
 */
static int take_answer(struct fs_call *call, int64_t now)
{
    struct fs_session *session = &call->engine->session;
    const struct fs_exchange *exchange = &call->exchange;
    uint32_t endpoint = UINT32_C(1) << call->generation % session->options->endpoint_count;
    bool any = now - session->cluster_at >= session->options->ttl_ns;
    int error = fs_etcd_read_answer(call->step, exchange->status, exchange->bytes, exchange->used,
                                    any ? "" : session->cluster, call->place, &call->answer);

    if (error == EXDEV) {
        session->others |= endpoint;
    } else if (error == 0 && call->answer.cluster[0] != '\0') {
        session->others &= ~endpoint;
        strcpy(session->cluster, call->answer.cluster);
        session->cluster_at = now;
    } else if (!any && (session->others & endpoint) != 0) {
        error = EXDEV;
    }
    return error;
}

static void call_answered(struct fs_exchange *exchange, int error)
{
    struct fs_call *call = exchange->owner;
    int64_t now = fs_boot_now();

    if (error == 0 && call->step == FS_WATCH)
        error = call->answer.error == EAGAIN ? ENETUNREACH : call->answer.error;
    else if (error == 0)
        error = take_answer(call, now);
    if (error != 0 && error != EKEYEXPIRED && call->step != FS_WATCH)
        fs_http_describe(exchange, error == EXDEV ? "another cluster of etcd has answered before"
                         : error == EBADMSG ? "a key of the name is damaged" : NULL,
                         call->engine->session.why, sizeof call->engine->session.why);
    if (error == EKEYEXPIRED)
        call_refused(call, now);
    else if (error == ENETUNREACH || error == EPROTO || error == EPERM || error == EXDEV)
        call_failed(call, error, now);
    else
        finish_call(call, error);
}

/* ======================================================================== *
 *  Tokens
 * ======================================================================== */

static bool call_needs_token(const struct fs_call *call)
{
    return call->state == FS_NEEDS_TOKEN;
}

/* A watch at an endpoint that is not in use any more. */
static bool call_watches_elsewhere(const struct fs_call *call)
{
    return call->step == FS_WATCH && call->state == FS_SENT
        && call->generation != call->engine->session.generation;
}

/* The first call that is so.  To do something with it may change the list. */
static struct fs_call *next_call_that(struct fs_engine *engine, bool is_so(const struct fs_call *))
{
    struct fs_call *call = engine->calls;

    while (call != NULL && !is_so(call))
        call = call->next;
    return call;
}

static void token_came(struct fs_session *session, int error)
{
    struct fs_engine *engine = session->owner;
    int64_t now = fs_boot_now();
    struct fs_call *call;

    while ((call = next_call_that(engine, call_needs_token)) != NULL)
        if (error == 0)
            send_call(call, now);
        else if (error == EACCES)
            finish_call(call, EACCES);
        else
            call_failed(call, error, now);
}

/* ======================================================================== *
 *  The keeper's side
 * ======================================================================== */

int fs_engine_open(struct fs_engine **engine, struct fs_options *options)
{
    int error;

    *engine = calloc(1, sizeof **engine);
    if (*engine == NULL)
        return ENOMEM;
    (*engine)->session.token_came = token_came;
    (*engine)->session.owner = *engine;
    error = fs_session_open(&(*engine)->session, options);
    if (error != 0)
        free(*engine);
    return error;
}

void fs_engine_close(struct fs_engine *engine)
{
    while (engine->calls != NULL)
        fs_engine_stop(engine->calls);
    fs_session_close(&engine->session);
    free(engine);
}

void fs_engine_wait(struct fs_engine *engine, int alarm)
{
    fs_http_wait(engine->session.http, alarm);
}

void fs_engine_wake(struct fs_engine *engine)
{
    fs_http_wake(engine->session.http);
}

const char *fs_engine_why(const struct fs_engine *engine)
{
    return engine->session.why;
}

int64_t fs_engine_turn(struct fs_engine *engine, int64_t now)
{
    struct fs_call *call;
    int64_t next;

    fs_http_turn(engine->session.http);
    next = fs_session_turn(&engine->session, now);
    while ((call = next_call_that(engine, call_watches_elsewhere)) != NULL) {
        fs_http_stop(&call->exchange);
        finish_call(call, ENETUNREACH);
    }
    while ((call = next_call_that(engine, call_is_late)) != NULL)
        finish_call(call, call->state == FS_PAUSED ? ENOMEM : ENETUNREACH);
    for (call = engine->calls; call != NULL; call = call->next) {
        if (call->state == FS_PAUSED && call->again <= now)
            send_call(call, now);
        if (call->state == FS_PAUSED)
            next = fs_earlier(next, call->again);
        if (call->state == FS_NEEDS_TOKEN)
            next = fs_earlier(next, call->until);
    }
    return next;
}
