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

/* FS_LIST reads at most FS_LIST_MAX running requests, and as many waiting ones. */
enum { FS_LIST_MAX = 16384 };

/* Returns the text of a question, allocated with malloc(), or NULL if memory runs out.  Sets *path. */
char *fs_etcd_question(enum fs_step step, const struct fs_record *record, const char **path);

/*
 * Returns the time-out for an answer, in milliseconds, after `rounds` failures at each endpoint.  The time-out
 * is limited further if a lease depends on the answer (has_lease).
 */
long fs_etcd_timeout_ms(const struct fs_options *options, bool has_lease, unsigned rounds);

/*
 * Returns a question for a token, or NULL if memory runs out.  The question contains the password: free it with
 * fs_http_free_question().
 */
char *fs_etcd_token_question(const struct fs_options *options);

#endif
