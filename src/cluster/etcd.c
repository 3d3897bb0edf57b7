/* SPDX-License-Identifier: MIT */
/*
 * etcd.c - the engine that is etcd: where each question is sent, and when again, and the token for a
 * user; see engine.h.
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

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* After each round of all endpoints there is a pause, which doubles from the one to the other. */
#define PAUSE_FIRST (50 * FS_NS_PER_MS)
#define PAUSE_LONGEST (500 * FS_NS_PER_MS)

/* A token that was just given and is refused is asked for again so often. */
enum { TOKENS_MAX = 3 };

/* Files that are being read again are looked at after this. */
#define FILES_PAUSE (50 * FS_NS_PER_MS)

struct fs_engine {
    struct fs_http *http;
    struct fs_options *options;
    struct fs_call *calls;  /* that are not idle */
    unsigned generation;    /* one more each time that another endpoint comes into use */

    char     why[256];      /* what the last question got that had no good answer, for people */

    char     cluster[24];   /* the number of the cluster that has answered last, */
    int64_t  cluster_at;    /* and when */
    uint32_t others;        /* a bit for each endpoint at which another one has */

    char    *token;         /* the header with that for the user; NULL: there is none */
    unsigned token_number;  /* from 1 */
    bool     asks_token;
    struct fs_exchange token_exchange;
    struct fs_files *again; /* the files while they are read again; else NULL */
    bool     was_refused;   /* the password was, and the next token waits for that */
};

/* ---- Calls ---- */

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
    return call->tries / call->engine->options->endpoint_count;
}

/* Read the files again: they were refused, and others may be there by now. */
static void read_files_again(struct fs_engine *engine)
{
    if (engine->again == NULL)
        engine->again = fs_files_again(engine->options->files);
}

/* A question got no answer, or none that makes sense. */
static void call_failed(struct fs_call *call, int error, int64_t now)
{
    struct fs_engine *engine = call->engine;
    unsigned count = engine->options->endpoint_count, rounds;
    int64_t pause = 0;

    /* With one endpoint nothing else would come of it than that all watches begin again. */
    if (call->generation == engine->generation && count > 1)
        engine->generation++;
    if (error == EPERM)
        read_files_again(engine);
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
    long most = fs_etcd_patience(call->engine->options, has_lease, rounds_of_call(call));
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

/*
 * Send a question, from malloc or NULL, to the endpoint that is in use, with the token; it is freed.
 * 0 or ENOMEM, as fs_http_start.
 */
static int post(struct fs_engine *engine, struct fs_exchange *exchange, const char *path, char *question,
                long timeout_ms)
{
    const struct fs_options *options = engine->options;
    const char *base = options->endpoints[engine->generation % options->endpoint_count];
    char *url = malloc(strlen(base) + strlen(path) + 1);
    int error = ENOMEM;

    if (url != NULL && question != NULL)
        error = fs_http_start(engine->http, exchange, strcat(strcpy(url, base), path), engine->token,
                              question, timeout_ms);
    else
        fs_http_free_question(question);
    free(url);
    return error;
}

static void ask_token(struct fs_engine *engine);
static void call_answered(struct fs_exchange *exchange, int error);

/* For http.c, in the middle of its work: a line of a watch.  It only takes a note. */
static bool take_event_of_watch(struct fs_exchange *exchange, const char *bytes, size_t n)
{
    struct fs_call *call = exchange->owner;

    call->answer.error = fs_etcd_read_event(bytes, n, call->place);
    return call->answer.error == EAGAIN;
}

static void send_call(struct fs_call *call, int64_t now)
{
    struct fs_engine *engine = call->engine;
    bool streams = call->step == FS_WATCH;
    const char *path;
    char *question;

    call->generation = engine->generation;
    if (engine->options->user != NULL && engine->token == NULL) {
        call->state = FS_NEEDS_TOKEN;
        ask_token(engine);
        if (!engine->asks_token)
            wait_for_memory(call, now);
        return;
    }
    call->token_number = engine->token_number;
    call->sent = now;
    if (call->first == 0)
        call->first = now;
    call->exchange.ended = call_answered;
    call->exchange.line = streams ? take_event_of_watch : NULL;
    call->exchange.owner = call;
    call->answer.error = EAGAIN;
    call->state = FS_SENT;
    question = fs_etcd_question(call->step, call->place, &path);
    if (post(engine, &call->exchange, path, question, streams ? 0 : patience_of_call(call, now)) != 0)
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

/* ---- Answers ---- */

/* The token was refused: most often it is too old, and there may be another by now. */
static void call_refused(struct fs_call *call, int64_t now)
{
    struct fs_engine *engine = call->engine;

    if (call->token_number == engine->token_number) {
        free(engine->token);
        engine->token = NULL;
    }
    if (engine->options->user == NULL)
        finish_call(call, EACCES);
    else if (++call->tokens > TOKENS_MAX)
        finish_call(call, EPERM);
    else if (call->step == FS_WATCH)
        finish_call(call, ENETUNREACH);
    else
        send_call(call, now);
}

/*
 * Read an answer, which must be of the cluster that has answered before: two behind one list of endpoints
 * would both give all units away.  When that one has not answered for the time of a lease, this handle has
 * no lease there, and any may answer.  The errors of etcd name no cluster.
 */
static int take_answer(struct fs_call *call, int64_t now)
{
    struct fs_engine *engine = call->engine;
    const struct fs_exchange *exchange = &call->exchange;
    uint32_t endpoint = UINT32_C(1) << call->generation % engine->options->endpoint_count;
    bool any = now - engine->cluster_at >= engine->options->ttl_ns;
    int error = fs_etcd_read_answer(call->step, exchange->status, exchange->bytes, exchange->used,
                                    any ? "" : engine->cluster, call->place, &call->answer);

    if (error == EXDEV) {
        engine->others |= endpoint;
    } else if (error == 0 && call->answer.cluster[0] != '\0') {
        engine->others &= ~endpoint;
        strcpy(engine->cluster, call->answer.cluster);
        engine->cluster_at = now;
    } else if (!any && (engine->others & endpoint) != 0) {
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
                         call->engine->why, sizeof call->engine->why);
    if (error == EKEYEXPIRED)
        call_refused(call, now);
    else if (error == ENETUNREACH || error == EPROTO || error == EPERM || error == EXDEV)
        call_failed(call, error, now);
    else
        finish_call(call, error);
}

/* ---- Tokens ---- */

static bool call_needs_token(const struct fs_call *call)
{
    return call->state == FS_NEEDS_TOKEN;
}

/* A watch at an endpoint that is not in use any more. */
static bool call_watches_elsewhere(const struct fs_call *call)
{
    return call->step == FS_WATCH && call->state == FS_SENT
        && call->generation != call->engine->generation;
}

/* The first call that is so.  To do something with it may change the list. */
static struct fs_call *next_call_that(struct fs_engine *engine, bool is_so(const struct fs_call *))
{
    struct fs_call *call = engine->calls;

    while (call != NULL && !is_so(call))
        call = call->next;
    return call;
}

/* The token has come; or why not: EACCES, EPERM, ENETUNREACH, EPROTO, ENOMEM. */
static void token_came(struct fs_engine *engine, int error)
{
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

static void token_answered(struct fs_exchange *exchange, int error)
{
    struct fs_engine *engine = exchange->owner;

    engine->asks_token = false;
    if (error == 0)
        error = fs_etcd_read_token(exchange->status, exchange->bytes, exchange->used, &engine->token);
    if (error == 0)
        engine->token_number++;
    else
        fs_http_describe(exchange, exchange->status == 200 ? "no token" : NULL, engine->why,
                         sizeof engine->why);
    /* The password may have been changed meanwhile, in etcd and in its file. */
    if (error == EACCES)
        read_files_again(engine);
    if (error == EACCES && engine->again != NULL)
        engine->asks_token = engine->was_refused = true;
    else
        token_came(engine, error);
}

/* Ask for a new token, unless that is under way. */
static void ask_token(struct fs_engine *engine)
{
    /* To compare a password takes etcd longer. */
    unsigned rounds = engine->options->endpoint_count <= 2;

    if (engine->asks_token)
        return;
    engine->token_exchange.ended = token_answered;
    engine->token_exchange.owner = engine;
    engine->asks_token = post(engine, &engine->token_exchange, "/v3/auth/authenticate",
                              fs_etcd_token_question(engine->options),
                              fs_etcd_patience(engine->options, false, rounds)) == 0;
}

/* Use the files that have been read again.  It returns when to look again. */
static int64_t use_files(struct fs_engine *engine, int64_t now)
{
    struct fs_files *again = engine->again, **files = &engine->options->files;
    bool whole, is_other;

    if (again == NULL)
        return FS_NEVER;
    if (atomic_load(&again->error) == EINPROGRESS)
        return now + FILES_PAUSE;
    engine->again = NULL;
    /* A password that is empty is being written. */
    whole = again->error == 0 && (engine->options->user == NULL || again->password[0] != '\0');
    is_other = whole && strcmp(again->password, (*files)->password) != 0;
    fs_files_drop(whole ? *files : again);
    if (whole)
        *files = again;
    if (engine->was_refused) {
        engine->asks_token = engine->was_refused = false;
        if (is_other)
            ask_token(engine);
        if (!engine->asks_token)
            token_came(engine, EACCES);
    }
    return FS_NEVER;
}

/* ---- The keeper's side ---- */

int fs_engine_open(struct fs_engine **engine, struct fs_options *options)
{
    int error;

    *engine = calloc(1, sizeof **engine);
    if (*engine == NULL)
        return ENOMEM;
    (*engine)->options = options;
    error = fs_http_open(&(*engine)->http, options);
    if (error != 0)
        free(*engine);
    return error;
}

void fs_engine_close(struct fs_engine *engine)
{
    while (engine->calls != NULL)
        fs_engine_stop(engine->calls);
    fs_http_stop(&engine->token_exchange);
    fs_files_drop(engine->again);
    free(engine->token);
    fs_http_close(engine->http);
    free(engine);
}

void fs_engine_wait(struct fs_engine *engine, int alarm)
{
    fs_http_wait(engine->http, alarm);
}

void fs_engine_wake(struct fs_engine *engine)
{
    fs_http_wake(engine->http);
}

const char *fs_engine_why(const struct fs_engine *engine)
{
    return engine->why;
}

int64_t fs_engine_turn(struct fs_engine *engine, int64_t now)
{
    struct fs_call *call;
    int64_t next;

    fs_http_turn(engine->http);
    next = use_files(engine, now);
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
