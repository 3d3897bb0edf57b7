/* SPDX-License-Identifier: MIT */
/* etcd_ask.h - the questions to etcd, as its gateway wants them: a path, and a text in JSON. */
#ifndef CLUSTER_ETCD_ASK_H
#define CLUSTER_ETCD_ASK_H

#include "engine.h"

/*
 * The order of the answers within that to a transaction which looks at the queue: FS_VIEW, FS_BEGIN
 * if it fails, and FS_JOIN either way, which has one more behind them.
 */
enum { FS_SAW_RUNNING, FS_SAW_MINE, FS_SAW_BETTER, FS_SAW_EQUAL, FS_SAW_COUNT };

/* The most requests, and the most holders, that FS_LIST reads. */
enum { FS_LIST_MAX = 16384 };

/* The text, from malloc, and the path to send it to.  NULL: no memory. */
char *fs_etcd_question(enum fs_step step, const struct fs_place *place, const char **path);

/*
 * How long a question waits for its answer, in milliseconds, when each endpoint has had it so often
 * already; less if a lease depends on it.
 */
long fs_etcd_patience(const struct fs_options *options, bool has_lease, unsigned rounds);

/* The question for a token, with the password: whoever frees it wipes it first. */
char *fs_etcd_token_question(const struct fs_options *options);

#endif
