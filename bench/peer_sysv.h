/* SPDX-License-Identifier: MIT */
/* peer_sysv.h - a System V semaphore as a peer of the benchmarks. */
#ifndef BENCH_PEER_SYSV_H
#define BENCH_PEER_SYSV_H

#include "sem_ops.h"
#include "sysv_sem.h"

/* Linux grants equal requests in order of arrival; no standard says so. */
static const struct sem_ops ops_sysv = {
    .name = "System V",
    .size = sizeof(struct sysv_sem),
    .many = true,
    .in_order = true,
    .init = sysv_init,
    .acquire = sysv_acquire,
    .release = sysv_release,
    .try_acquire = sysv_try,
    .destroy = sysv_destroy,
};

#endif /* BENCH_PEER_SYSV_H */
