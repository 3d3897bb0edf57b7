/* SPDX-License-Identifier: MIT */
/* etcd_answer.h - parsing of etcd's answers, which may be any bytes. */
#ifndef CLUSTER_ETCD_ANSWER_H
#define CLUSTER_ETCD_ANSWER_H

#include "engine.h"

/*
 * Read an answer to a step.  `status` is the HTTP status; `cluster` is the expected cluster ID, or "" for any.
 * Returns 0 and fills in *answer, or returns
 *
 * ESTALE       no such lease
 * EACCES, ENOSPC   refused by etcd
 * EBADMSG      damaged keys
 * EKEYEXPIRED  retry with a new token
 * ENOMEM
 *
 * or, for a retry at another endpoint,
 *
 * ENETUNREACH  the endpoint cannot answer now
 * EPROTO       an invalid answer, or an answer older than record->seen_revision
 * EPERM        refused by something other than etcd
 * EXDEV        an answer from another cluster
 */
int fs_etcd_read_answer(enum fs_step step, long status, const char *bytes, size_t n,
                        const char *cluster, const struct fs_record *record, struct fs_answer *answer);

/*
 * Read a line of a watch.  Returns 0 if a watched key was deleted or the limit was set, and EAGAIN if not.
 * Returns ECANCELED if etcd has ended the watch, for instance after a compaction, or an error of
 * fs_etcd_read_answer.
 */
int fs_etcd_read_event(const char *bytes, size_t n, const struct fs_record *record);

/*
 * Read the answer to fs_etcd_token_question.  Returns 0 and sets *header, allocated with malloc(), to the
 * header with the token; or returns an error of fs_etcd_read_answer.
 */
int fs_etcd_read_token(long status, const char *bytes, size_t n, char **header);

#endif
