/* SPDX-License-Identifier: MIT */
/* etcd_answer.h - from the bytes of an answer of etcd to what they say, whatever they are. */
#ifndef CLUSTER_ETCD_ANSWER_H
#define CLUSTER_ETCD_ANSWER_H

#include "engine.h"

/*
 * Read an answer to a step; `status` is HTTP's; "" is any cluster.  0, and *answer is filled in; or
 *
 * ESTALE       there is no such lease
 * EACCES, ENOSPC   as the engine says
 * EBADMSG      keys are damaged
 * ENETUNREACH  it cannot answer now: ask again elsewhere
 * EPROTO       it makes no sense, or is older than place->seen: likewise
 * EPERM        something else than etcd refuses us: likewise
 * EXDEV        another cluster has answered: likewise
 * EKEYEXPIRED  it wants another token
 */
int fs_etcd_read_answer(enum fs_step step, long status, const char *bytes, size_t n,
                        const char *cluster, const struct fs_place *place, struct fs_answer *answer);

/*
 * Read a line of a watch.  0: there is news of what was watched; EAGAIN: nothing yet; ECANCELED: etcd has
 * ended the watch, for a compaction or a token; else as above.
 */
int fs_etcd_read_event(const char *bytes, size_t n, const struct fs_place *place);

/* Read the answer to fs_etcd_token_question: *header, from malloc, has the token.  0, or as above. */
int fs_etcd_read_token(long status, const char *bytes, size_t n, char **header);

#endif
