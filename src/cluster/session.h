/* SPDX-License-Identifier: MIT */
/* session.h - a session with etcd: which endpoint is in use, and the token for a user. */
#ifndef CLUSTER_SESSION_H
#define CLUSTER_SESSION_H

#include "http.h"

struct fs_session {
    struct fs_http *http;
    struct fs_options *options;
    unsigned generation;    /* one more each time that another endpoint comes into use */

    char     why[256];      /* what the last question got that had no good answer, for people */

    char     cluster[24];   /* the number of the cluster that has answered last, */
    int64_t  cluster_at;    /* and when */
    uint32_t others;        /* a bit for each endpoint at which another one has */

    char    *token;         /* that etcd gives for a user and a password; NULL: there is none */
    unsigned token_number;  /* from 1 */
    bool     asks_token;
    struct fs_files *again; /* the files while they are read again; else NULL */
    bool     was_refused;   /* the password was, and the next token waits for that */
    struct fs_exchange token_exchange;
    /* The token has come; or why not: EACCES, EPERM, ENETUNREACH, EPROTO, ENOMEM. */
    void (*token_came)(struct fs_session *session, int error);
    void *owner;
};

/* 0 or ENOMEM.  The options must stay. */
int fs_session_open(struct fs_session *session, struct fs_options *options);
void fs_session_close(struct fs_session *session);

/*
 * Send a body, from malloc or NULL, to the endpoint that is in use, with the token; it is freed.
 * 0 or ENOMEM, as fs_http_start.
 */
int fs_session_post(struct fs_session *session, struct fs_exchange *exchange, const char *path,
                    char *body, long timeout_ms);

/* What was sent in a generation failed: leave its endpoint, if that is in use and there is another. */
void fs_session_endpoint_failed(struct fs_session *session, unsigned generation);

/*
 * How long a question waits for its answer, in milliseconds, when each endpoint has had it so often
 * already; less if a lease depends on it.
 */
long fs_session_patience(const struct fs_session *session, bool has_lease, unsigned rounds);

/* Read the files again: they were refused, and others may be there by now. */
void fs_session_read_files(struct fs_session *session);

/* Use what has been read.  It returns when to look again. */
int64_t fs_session_turn(struct fs_session *session, int64_t now);

/* Ask for a new token, unless that is under way. */
void fs_session_ask_token(struct fs_session *session);

/* A token of this number was refused: forget it, if it is not another by now. */
void fs_session_token_refused(struct fs_session *session, unsigned number);

#endif
