/* SPDX-License-Identifier: MIT */
/*
 * http.h - questions by HTTP/1.1, many at a time, in one thread.
 *
 * Not HTTP/2: there one connection carries all, so after a question that a server has left without
 * an answer the next would be sent to where this one hangs.
 */
#ifndef CLUSTER_HTTP_H
#define CLUSTER_HTTP_H

#include "options.h"

#include <curl/curl.h>

/* The most that an answer, and a line of a stream, can be long. */
enum { FS_ANSWER_MAX = 32 << 20, FS_LINE_MAX = 1 << 20 };

struct fs_http;

/* One question and its answer, in memory of the caller's. */
struct fs_exchange {
    /* The answer is there; or the errno value why not: ENETUNREACH, EPERM (TLS refuses), EPROTO. */
    void (*ended)(struct fs_exchange *exchange, int error);
    /* For a stream: a line of it.  False: that is all; then `ended` comes.  Else NULL. */
    bool (*line)(struct fs_exchange *exchange, const char *bytes, size_t n);
    void *owner;

    struct fs_http *http;       /* NULL: it is not under way */
    CURL *easy;
    struct curl_slist *headers;
    char *body;                 /* the question: curl reads it while it is under way */
    char *bytes;
    size_t used, size;
    bool too_long, enough;
    unsigned pass, passed;      /* of the addresses of the name: to be passed over, and have been */
    long status;                /* of HTTP, when it has ended; 0: it never came so far */
    char why[CURL_ERROR_SIZE];  /* what curl says of an error */
};

int fs_http_open(struct fs_http **http, const struct fs_options *options);
void fs_http_close(struct fs_http *http);

/*
 * Send a question; `authorization`, a header, may be NULL; `body`, from malloc, is freed in any case.
 * timeout_ms is for all of it; 0: none.  ENOMEM: it was not sent, and `ended` does not come.
 */
int fs_http_start(struct fs_http *http, struct fs_exchange *exchange, const char *url,
                  const char *authorization, char *body, long timeout_ms);

/* Free a question that is not sent.  All are wiped: some have a password in them. */
void fs_http_free_question(char *body);

/* In `ended`, for people: who has answered, and `what`; NULL: what has come. */
void fs_http_describe(const struct fs_exchange *exchange, const char *what, char *text, size_t size);

/* Forget it. */
void fs_http_stop(struct fs_exchange *exchange);

/* Sleep until there is work, or the descriptor is readable. */
void fs_http_wait(struct fs_http *http, int descriptor);

/* End fs_http_wait, from any thread. */
void fs_http_wake(struct fs_http *http);

/* Do the work. */
void fs_http_turn(struct fs_http *http);

#endif
