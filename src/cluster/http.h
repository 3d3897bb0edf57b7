/* SPDX-License-Identifier: MIT */
/*
 * http.h - concurrent HTTP/1.1 requests in one thread.
 *
 * Not HTTP/2, whose requests share one connection: after a time-out, the next request would use the hung
 * connection again.
 */
#ifndef CLUSTER_HTTP_H
#define CLUSTER_HTTP_H

#include "options.h"

#include <curl/curl.h>

/* Maximum sizes of an answer and of a line of a stream. */
enum { FS_ANSWER_MAX = 32 << 20, FS_LINE_MAX = 1 << 20 };

struct fs_http;

/* One question and its answer, in the caller's memory. */
struct fs_exchange {
    /* Called at the end.  `error` is 0 for an answer; or ENETUNREACH, EPROTO, EPERM (refused by TLS). */
    void (*ended)(struct fs_exchange *exchange, int error);
    /* Called for each line of a stream, or NULL.  A result of false ends the exchange, and calls `ended`. */
    bool (*line)(struct fs_exchange *exchange, const char *bytes, size_t n);
    void *owner;

    struct fs_http *http;       /* NULL if the exchange is idle */
    CURL *easy;
    struct curl_slist *headers;
    char *body;                 /* the question, which curl reads until the exchange ends */
    char *bytes;
    size_t used, size;
    bool too_long, enough;
    unsigned pass, passed;      /* how many addresses of the host to skip, and how many were skipped */
    long status;                /* HTTP status at the end, or 0 if none was received */
    char why[CURL_ERROR_SIZE];  /* curl's message for an error */
};

int fs_http_open(struct fs_http **http, const struct fs_options *options);
void fs_http_close(struct fs_http *http);

/*
 * Send a question.  `authorization` is a header or NULL.  Takes ownership of `body`, allocated with malloc().
 * timeout_ms is for the whole exchange; 0 means no time-out.  Returns 0; or ENOMEM, without a call of `ended`.
 */
int fs_http_start(struct fs_http *http, struct fs_exchange *exchange, const char *url,
                  const char *authorization, char *body, long timeout_ms);

/* Wipe a question, which may contain a password, and free it. */
void fs_http_free_question(char *body);

/*
 * Write a text for people: the server's name, and `what`.  A NULL `what` stands for curl's error message or, if
 * there is none, the server's answer.  To be called in `ended`.
 */
void fs_http_describe(const struct fs_exchange *exchange, const char *what, char *text, size_t size);

/* Cancel an exchange; `ended` is not called. */
void fs_http_stop(struct fs_exchange *exchange);

/* Sleep until there is work for fs_http_iterate, or the descriptor is readable. */
void fs_http_wait(struct fs_http *http, int descriptor);

/* End fs_http_wait, from any thread. */
void fs_http_wake(struct fs_http *http);

/* Do the pending work, and call `ended` for each exchange that has ended. */
void fs_http_iterate(struct fs_http *http);

#endif
