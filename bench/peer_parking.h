/* SPDX-License-Identifier: MIT */
/* peer_parking.h - fairsem whose waiters go to sleep at once, as a peer. */
#ifndef BENCH_PEER_PARKING_H
#define BENCH_PEER_PARKING_H

#include "peer_fairsem.h"

static inline int parking_peer_init(void *sem, int64_t units)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN };

    return fairsem_init(sem, units, &attr);
}

static const struct sem_ops ops_parking = {
    .name = "fairsem no spin",
    .size = sizeof(fairsem_t),
    .many = true,
    .init = parking_peer_init,
    .acquire = fairsem_peer_acquire,
    .release = fairsem_peer_release,
    .try_acquire = fairsem_peer_try,
    .destroy = fairsem_peer_destroy,
};

#endif /* BENCH_PEER_PARKING_H */
