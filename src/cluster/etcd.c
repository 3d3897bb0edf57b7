/* SPDX-License-Identifier: MIT */
/*
 * etcd.c - etcd as the engine: endpoints, retries, and the token of a user; see engine.h.
 *
 * All calls use one endpoint until a question fails there; then all calls use the next endpoint.  A watch at
 * the old endpoint ends, because a hung member would never report an event.  If only watches are in flight, the
 * next renewal of a lease detects a hung member.
 *
 *     FS_IDLE --fs_engine_call--> FS_SENT --call_answered--> FS_IDLE
 *     FS_SENT --call_failed, wait_for_memory--> FS_BACKS_OFF --fs_engine_iterate--> FS_SENT
 *     FS_SENT, a watch, --fs_engine_iterate: another endpoint is in use--> FS_IDLE
 *     any --send_call: there is no token--> FS_NEEDS_TOKEN --token_came--> FS_SENT
 */
#include "engine.h"

#include "clock.h"
#include "etcd_answer.h"
#include "etcd_ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Exponential back-off after each round of attempts at all endpoints. */
#define BACKOFF_FIRST (50 * FS_NS_PER_MS)
#define BACKOFF_LONGEST (500 * FS_NS_PER_MS)

/* A call fails if etcd refuses more than TOKENS_MAX tokens. */
enum { TOKENS_MAX = 3 };

/* Interval of checks whether the thread that reads the files has ended. */
#define FILES_POLL (50 * FS_NS_PER_MS)

struct fs_engine {
    struct fs_http *http;
    struct fs_options *options;
    struct fs_call *calls;  /* list of the calls that are not idle */
    unsigned generation;    /* number of endpoint changes; modulo endpoint_count: index of the endpoint */

    char     why[256];

    char     cluster[24];   /* ID of the cluster whose answer was accepted last */
    int64_t  cluster_at;    /* time of the last accepted answer */
    uint32_t others;        /* bit mask of the endpoints that belong to a different cluster */

    char    *token;         /* header with the user's token, or NULL */
    unsigned token_number;  /* number of the last token */
    bool     asks_token;
    struct fs_exchange token_exchange;
    struct fs_files *again; /* new copy of the files, while a thread makes it, or NULL */
    bool     was_refused;   /* etcd refused the password: wait for `again` before the next token request */
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

static void finish_call(struct fs_call *call, int error)
{
    call->answer.final = error == EACCES || error == ESTALE || error == EBADMSG;
    call->answer.error = error == EPERM ? EACCES : error == EBADMSG || error == EXDEV ? EPROTO : error;
    call->answer.sent = call->sent;
    /* The first attempt may have created the lease although the answer was lost: count from that attempt. */
    if (call->step == FS_GRANT)
        call->answer.sent = call->first;
    unlink_call(call);
    call->done(call, &call->answer);
}

/* Returns how often the call has failed at all endpoints. */
static unsigned rounds_of_call(const struct fs_call *call)
{
    return call->tries / call->engine->options->endpoint_count;
}

/* Read the files again after etcd refused a password or certificate: someone may have replaced the files. */
static void read_files_again(struct fs_engine *engine)
{
    if (engine->again == NULL)
        engine->again = fs_files_again(engine->options->files);
}

/* Schedule a retry at the next endpoint, or fail the call. */
static void call_failed(struct fs_call *call, int error, int64_t now)
{
    struct fs_engine *engine = call->engine;
    unsigned count = engine->options->endpoint_count, rounds;
    int64_t backoff = 0;

    /* Move to the next endpoint.  With a single endpoint, a new generation would only restart all watches. */
    if (call->generation == engine->generation && count > 1)
        engine->generation++;
    if (error == EPERM)
        read_files_again(engine);
    call->tries++;
    rounds = rounds_of_call(call);
    if (call->tries % count == 0)
        backoff = rounds > 4 ? BACKOFF_LONGEST : fs_earlier(BACKOFF_FIRST << (rounds - 1), BACKOFF_LONGEST);
    /* After two rounds, retry only ENETUNREACH: invalid answers and refusals are likely to repeat. */
    if (call->step == FS_WATCH || now + backoff >= call->until
        || (rounds >= 2 && error != ENETUNREACH)) {
        finish_call(call, error);
        return;
    }
    call->state = FS_BACKS_OFF;
    call->retry_at = now + backoff;
}

/* Returns the time-out for an answer in milliseconds, which ends before the call's deadline. */
static long timeout_of_call(const struct fs_call *call, int64_t now)
{
    bool has_lease = call->step != FS_GRANT && call->step != FS_LIST;
    long most = fs_etcd_timeout_ms(call->engine->options, has_lease, rounds_of_call(call));
    int64_t left = (call->until - now) / FS_NS_PER_MS;

    return left < 1 ? 1 : left < most ? (long)left : most;
}

/* Retry later, for lack of memory.  Wakes the event loop, because its alarm may be later than retry_at. */
static void wait_for_memory(struct fs_call *call, int64_t now)
{
    call->answer.error = ENOMEM;
    call->state = FS_BACKS_OFF;
    call->retry_at = now + BACKOFF_LONGEST;
    fs_engine_wake(call->engine);
}

/*
 * Returns true if a call that waits for a token or for memory is past its deadline.  A question in flight has a
 * time-out instead.
 */
static bool call_is_late(const struct fs_call *call)
{
    return (call->state == FS_NEEDS_TOKEN
            || (call->state == FS_BACKS_OFF && call->answer.error == ENOMEM))
        && fs_boot_now() >= call->until;
}

/*
 * Send a question, with the token, to the endpoint in use.  Takes ownership of the question, which is NULL if
 * memory ran out.  Returns 0 or ENOMEM.
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

/* Callback for a line of a watch.  Only records the result, because a callback of curl must not call curl. */
static bool take_event_of_watch(struct fs_exchange *exchange, const char *bytes, size_t n)
{
    struct fs_call *call = exchange->owner;

    call->answer.error = fs_etcd_read_event(bytes, n, call->record);
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
    question = fs_etcd_question(call->step, call->record, &path);
    if (post(engine, &call->exchange, path, question, streams ? 0 : timeout_of_call(call, now)) != 0)
        wait_for_memory(call, now);
}

void fs_engine_call(struct fs_engine *engine, struct fs_call *call, enum fs_step step,
                    const struct fs_record *record, int64_t until)
{
    call->engine = engine;
    call->step = step;
    call->record = record;
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

/*
 * Retry with another token than the refused one, which is most likely too old.  Another call may already have
 * replaced the refused token.
 */
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
 * Read an answer.  All answers must come from one cluster, because two clusters in one list of endpoints would
 * each grant all units.  If the cluster in use has not answered for the length of a lease, this handle's leases
 * there have ended, and any cluster is accepted.
 *
 * An error answer names no cluster: take_answer() assumes the cluster that the endpoint named last
 * (engine->others).
 */
static int take_answer(struct fs_call *call, int64_t now)
{
    struct fs_engine *engine = call->engine;
    const struct fs_exchange *exchange = &call->exchange;
    uint32_t endpoint = UINT32_C(1) << call->generation % engine->options->endpoint_count;
    bool any = now - engine->cluster_at >= engine->options->ttl_ns;
    int error = fs_etcd_read_answer(call->step, exchange->status, exchange->bytes, exchange->used,
                                    any ? "" : engine->cluster, call->record, &call->answer);

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

static bool call_watches_elsewhere(const struct fs_call *call)
{
    return call->step == FS_WATCH && call->state == FS_SENT
        && call->generation != call->engine->generation;
}

/* Returns the first call that fulfills a predicate, or NULL.  Handling that call changes the list. */
static struct fs_call *next_call_that(struct fs_engine *engine, bool is_so(const struct fs_call *))
{
    struct fs_call *call = engine->calls;

    while (call != NULL && !is_so(call))
        call = call->next;
    return call;
}

/* Resume the calls that wait for a token.  EACCES fails the calls; other errors are for call_failed(). */
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
    /* The password may have been changed since we read it, both in etcd and in the file. */
    if (error == EACCES)
        read_files_again(engine);
    if (error == EACCES && engine->again != NULL)
        engine->asks_token = engine->was_refused = true;
    else
        token_came(engine, error);
}

static void ask_token(struct fs_engine *engine)
{
    /* A password check takes long.  With few endpoints, use the time-out of the second round, twice as long. */
    unsigned rounds = engine->options->endpoint_count <= 2;

    if (engine->asks_token)
        return;
    engine->token_exchange.ended = token_answered;
    engine->token_exchange.owner = engine;
    engine->asks_token = post(engine, &engine->token_exchange, "/v3/auth/authenticate",
                              fs_etcd_token_question(engine->options),
                              fs_etcd_timeout_ms(engine->options, false, rounds)) == 0;
}

/* Use the new copy of the files once it is complete.  Returns the time of the next check. */
static int64_t use_files(struct fs_engine *engine, int64_t now)
{
    struct fs_files *again = engine->again, **files = &engine->options->files;
    bool whole, is_other;

    if (again == NULL)
        return FS_NEVER;
    if (atomic_load(&again->error) == EINPROGRESS)
        return now + FILES_POLL;
    engine->again = NULL;
    /* An empty password means that the password file is just being written: keep the old files. */
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

/* ---- For the event loop ---- */

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

int64_t fs_engine_iterate(struct fs_engine *engine, int64_t now)
{
    struct fs_call *call;
    int64_t next;

    fs_http_iterate(engine->http);
    next = use_files(engine, now);
    while ((call = next_call_that(engine, call_watches_elsewhere)) != NULL) {
        fs_http_stop(&call->exchange);
        finish_call(call, ENETUNREACH);
    }
    while ((call = next_call_that(engine, call_is_late)) != NULL)
        finish_call(call, call->state == FS_BACKS_OFF ? ENOMEM : ENETUNREACH);
    for (call = engine->calls; call != NULL; call = call->next) {
        if (call->state == FS_BACKS_OFF && call->retry_at <= now)
            send_call(call, now);
        if (call->state == FS_BACKS_OFF)
            next = fs_earlier(next, call->retry_at);
        if (call->state == FS_NEEDS_TOKEN)
            next = fs_earlier(next, call->until);
    }
    return next;
}
