/* SPDX-License-Identifier: MIT */
/*
 * shared_flow.h - order between clients, as share.h has it in one process: requests with one key and one priority
 * are a flow, and units go round between the flows of a priority.
 *
 * A slot has its start tag from the moment when it is enqueued, so the queue is in order of the tags.  When
 * a request leaves without a grant, those behind it in its flow get smaller tags, and move: it costs its
 * client nothing.  Requests without a share are flows with weight 1.
 *
 * The table of flows has as many entries as there are slots.  An entry is good for one epoch, which ends when
 * the queue is empty; if all are in use, one without requests is forgotten.  segment->epoch is 0 as long as no
 * request with a share has been enqueued since the queue was empty: then nothing here is used.
 *
 * Nothing here is authoritative (R1).  If a process dies in the middle of a change, or somebody changes
 * the numbers, requests are granted in another order, and that is all.
 *
 * All functions need the lock.
 */
#ifndef FS_SHARED_FLOW_H
#define FS_SHARED_FLOW_H

#include "shared/trust.h"

/* What a request says of its share.  weight 0: it has none. */
struct fs_shared_share {
    uint64_t key;
    uint32_t weight;
};

/* Store the tag of a slot that is about to be enqueued, without aging_ns. */
void fs_flow_tag(struct fs_shared_section *in, int index, const struct fs_shared_share *share);

/* This slot has left the queue, with its units or without. */
void fs_flow_granted(struct fs_shared_section *in, int index, int64_t units);
void fs_flow_left(struct fs_shared_section *in, int index);

/*
 * Slots have left the queue without their units (in->gaps): give the others of their flows the tags that they
 * would have without these.  Returns true if one has moved.
 */
bool fs_flow_close_gaps(struct fs_shared_section *in);

/* The same in a repair, which does not know who has left. */
void fs_flow_recount(struct fs_shared_section *in);

#endif
