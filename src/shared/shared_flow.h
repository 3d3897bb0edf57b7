/* SPDX-License-Identifier: MIT */
/*
 * shared_flow.h - order between clients, as in share.h for one process: the requests with one key and one
 * priority are a flow, and units go round between the flows of a priority.
 *
 * A slot has its start tag from the moment when it is enqueued, so the queue is in order of the tags.  When
 * a request leaves without a grant, the requests behind it in its flow get smaller tags, and move forward,
 * so the request costs its client nothing.  The requests of a priority that have no share are one flow, of
 * weight 1.
 *
 * The table of flows has as many entries as there are slots.  An entry is valid for one epoch, which ends
 * when the queue is empty; if all entries are in use, a new flow gets that of a flow without requests.  As
 * long as no request with a share has been enqueued since the queue was empty, segment->epoch is 0, and
 * flows are not used.
 *
 * Nothing here is authoritative (R1).  If a process dies in the middle of a change, or damages the numbers,
 * requests are granted in another order, and nothing else happens.
 *
 * All functions need the lock.
 */
#ifndef FS_SHARED_FLOW_H
#define FS_SHARED_FLOW_H

#include "shared/trust.h"

/* The share of a request; weight 0 means that it has none. */
struct fs_shared_share {
    uint64_t key;
    uint32_t weight;
};

/* Store the tag of a slot that is about to be enqueued, without aging_ns. */
void fs_flow_tag(struct fs_shared_section *in, int index, const struct fs_shared_share *share);

/* Called when this slot has left the queue: fs_flow_granted() with its units, fs_flow_left() without them. */
void fs_flow_granted(struct fs_shared_section *in, int index, int64_t units);
void fs_flow_left(struct fs_shared_section *in, int index);

/*
 * Called when slots have left the queue without units (in->gaps).  Gives the other slots of their flows the
 * tags that they would have if these had never been enqueued.  Returns true if a slot has moved.
 */
bool fs_flow_close_gaps(struct fs_shared_section *in);

/* As fs_flow_close_gaps(), for a repair, which does not know which slots have left. */
void fs_flow_recount(struct fs_shared_section *in);

#endif
