/* SPDX-License-Identifier: MIT */
/* peer_bounded.h - fairsem with a bypass of 10 ms, as a peer. */
#ifndef BENCH_PEER_BOUNDED_H
#define BENCH_PEER_BOUNDED_H

#include "peer_fairsem.h"

/* No thread at the head of the queue is passed for longer than this. */
#define BYPASS_NS INT64_C(10000000)

static inline int bounded_peer_init(void *sem, int64_t units)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = BYPASS_NS };

    return fairsem_init(sem, units, &attr);
}

static const struct sem_ops ops_bounded = {
    .name = "fairsem bounded",
    .size = sizeof(fairsem_t),
    .many = true,
    .init = bounded_peer_init,
    .acquire = fairsem_peer_acquire,
    .release = fairsem_peer_release,
    .try_acquire = fairsem_peer_try,
    .acquire_until = fairsem_peer_until,
    .acquire_for = fairsem_peer_for,
    .destroy = fairsem_peer_destroy,
};

#endif /* BENCH_PEER_BOUNDED_H */
