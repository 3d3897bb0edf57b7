/* SPDX-License-Identifier: MIT */
/* session.c - see session.h. */
#include "session.h"

#include "clock.h"
#include "etcd_answer.h"
#include "etcd_ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A question that is not answered is asked elsewhere after this. */
#define ANSWER_MS 1700L

/* Files that are being read again are looked at after this. */
#define FILES_PAUSE (50 * FS_NS_PER_MS)

/* It doubles so often, at most: fs_session_patience(). */
enum { ROUNDS_MAX = 3 };

int fs_session_open(struct fs_session *session, struct fs_options *options)
{
    session->options = options;
    return fs_http_open(&session->http, options);
}

void fs_session_close(struct fs_session *session)
{
    fs_http_stop(&session->token_exchange);
    fs_files_drop(session->again);
    free(session->token);
    fs_http_close(session->http);
}

int fs_session_post(struct fs_session *session, struct fs_exchange *exchange, const char *path,
                    char *body, long timeout_ms)
{
    const struct fs_options *options = session->options;
    const char *base = options->endpoints[session->generation % options->endpoint_count];
    char *url = malloc(strlen(base) + strlen(path) + 1);
    int error = ENOMEM;

    if (url != NULL && body != NULL)
        error = fs_http_start(session->http, exchange, strcat(strcpy(url, base), path),
                              session->token, body, timeout_ms);
    else
        fs_http_free_question(body);
    free(url);
    return error;
}

void fs_session_endpoint_failed(struct fs_session *session, unsigned generation)
{
    /* With one endpoint nothing else would come of it than that all watches begin again. */
    if (generation == session->generation && session->options->endpoint_count > 1)
        session->generation++;
}

/*
 * All endpoints are asked once within the time for a question.  A renewal is due after a third of the
 * lease, and three quarters are the end; so 5/12 of it are for all, and a sixth for one of two.
 *
 * It doubles from round to round.  An engine that is overloaded does what it was asked also when
 * nobody waits for the answer any more; asked again and again, it would never get through.
 */
long fs_session_patience(const struct fs_session *session, bool has_lease, unsigned rounds)
{
    int64_t count = session->options->endpoint_count, all = FS_PATIENCE / FS_NS_PER_MS, first;

    if (has_lease)
        all = fs_earlier(all, session->options->ttl_ns / FS_NS_PER_MS * 5 / 12);
    first = fs_earlier(ANSWER_MS, count <= 2 ? all * 2 / 5 : all / count);
    return (long)first << (rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX);
}

/* ======================================================================== *
 *  The token
 * ======================================================================== */

static void token_answered(struct fs_exchange *exchange, int error)
{
    struct fs_session *session = exchange->owner;

    session->asks_token = false;
    if (error == 0)
        error = fs_etcd_read_token(exchange->status, exchange->bytes, exchange->used, &session->token);
    if (error == 0)
        session->token_number++;
    else
        fs_http_describe(exchange, exchange->status == 200 ? "no token" : NULL, session->why, sizeof session->why);
    /* The password may have been changed meanwhile, in etcd and in its file. */
    if (error == EACCES)
        fs_session_read_files(session);
    if (error == EACCES && session->again != NULL)
        session->asks_token = session->was_refused = true;
    else
        session->token_came(session, error);
}

void fs_session_read_files(struct fs_session *session)
{
    if (session->again == NULL)
        session->again = fs_files_again(session->options->files);
}

int64_t fs_session_turn(struct fs_session *session, int64_t now)
{
    struct fs_files *again = session->again, **files = &session->options->files;
    bool whole, is_other;

    if (again == NULL)
        return FS_NEVER;
    if (atomic_load(&again->error) == EINPROGRESS)
        return now + FILES_PAUSE;
    session->again = NULL;
    /* A password that is empty is being written. */
    whole = again->error == 0 && (session->options->user == NULL || again->password[0] != '\0');
    is_other = whole && strcmp(again->password, (*files)->password) != 0;
    fs_files_drop(whole ? *files : again);
    if (whole)
        *files = again;
    if (session->was_refused) {
        session->asks_token = session->was_refused = false;
        if (is_other)
            fs_session_ask_token(session);
        if (!session->asks_token)
            session->token_came(session, EACCES);
    }
    return FS_NEVER;
}

void fs_session_ask_token(struct fs_session *session)
{
    unsigned few;

    if (session->asks_token)
        return;
    /* To compare a password takes etcd longer. */
    few = session->options->endpoint_count <= 2;
    session->token_exchange.ended = token_answered;
    session->token_exchange.line = NULL;
    session->token_exchange.owner = session;
    session->asks_token = fs_session_post(session, &session->token_exchange, "/v3/auth/authenticate",
                                          fs_etcd_token_question(session->options),
                                          fs_session_patience(session, false, few)) == 0;
}

void fs_session_token_refused(struct fs_session *session, unsigned number)
{
    if (number != session->token_number)
        return;
    free(session->token);
    session->token = NULL;
}
