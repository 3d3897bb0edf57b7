/* SPDX-License-Identifier: MIT */
/* etcd_ask.h - questions to etcd's gateway: a path, and a text in JSON. */
#ifndef CLUSTER_ETCD_ASK_H
#define CLUSTER_ETCD_ASK_H

#include "engine.h"

/*
 * Indices of the parts in the answer to a transaction that reads the queue: FS_VIEW, a failed FS_BEGIN, and
 * FS_JOIN.  The answer to FS_JOIN has one more part at the end.
 */
enum { FS_SAW_RUNNING, FS_SAW_MINE, FS_SAW_BETTER, FS_SAW_EQUAL, FS_SAW_COUNT };

/* FS_LIST reads at most this number of waiting requests, and of running ones. */
enum { FS_LIST_MAX = 16384 };

/* Returns the text, allocated with malloc(), and sets *path; or NULL without memory. */
char *fs_etcd_question(enum fs_step step, const struct fs_record *record, const char **path);

/*
 * Returns the time-out for an answer, in milliseconds, after `rounds` failures at each endpoint.  It is
 * shorter if a lease depends on the answer.
 */
long fs_etcd_timeout_ms(const struct fs_options *options, bool has_lease, unsigned rounds);

/* Returns the request for a token.  It contains the password: the caller must wipe it before freeing it. */
char *fs_etcd_token_question(const struct fs_options *options);

#endif
