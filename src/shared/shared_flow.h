/* SPDX-License-Identifier: MIT */
/*
 * shared_flow.h - order between clients, as in share.h for one process.  A flow is the requests with one
 * key and one priority; units go round between the flows of a priority.  The requests of a priority that
 * have no share are one flow, of weight 1.
 *
 * A slot gets its start tag before it is enqueued, and within a priority the queue is in the order of the
 * tags.  When a request leaves the queue without a grant, the later requests of its flow get smaller tags,
 * and move forward.  So a request that is given up costs its client nothing.
 *
 * The table of flows has one entry for each slot.  An entry is valid for one epoch, which ends when the
 * queue is empty.  Until a request with a share begins an epoch, segment->epoch is 0, and flows are not
 * used.
 *
 * Flows are not authoritative (R1).  If a process dies in the middle of a change, or damages the numbers,
 * only the order of grants suffers.
 *
 * All functions need the lock.
 */
#ifndef FS_SHARED_FLOW_H
#define FS_SHARED_FLOW_H

#include "shared/trust.h"

/* The share of a request; weight 0 means none. */
struct fs_shared_share {
    uint64_t key;
    uint32_t weight;
};

/* Store the tag of a slot that is about to be enqueued.  Never called with aging_ns, which excludes shares. */
void fs_flow_tag(struct fs_shared_section *in, int index, const struct fs_shared_share *share);

/* Called after a slot has left the queue with a grant. */
void fs_flow_granted(struct fs_shared_section *in, int index, int64_t units);
/* Called after a slot has left the queue without a grant. */
void fs_flow_left(struct fs_shared_section *in, int index);

/*
 * Called after slots have left the queue without a grant (in->gaps).  Lowers the tags of the later slots of
 * their flows, as if the slots that left had never been enqueued.  Returns true if a slot has moved.
 */
bool fs_flow_close_gaps(struct fs_shared_section *in);

/* As fs_flow_close_gaps(), for a repair, which does not know the slots that have left. */
void fs_flow_recount(struct fs_shared_section *in);

#endif
