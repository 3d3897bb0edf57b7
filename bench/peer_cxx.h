/* SPDX-License-Identifier: MIT */
/* peer_cxx.h - C++20's std::counting_semaphore as a peer of the benchmarks. */
#ifndef BENCH_PEER_CXX_H
#define BENCH_PEER_CXX_H

#include "cxx_sem.h"
#include "sem_ops.h"

#ifdef HAVE_CXX20_SEMAPHORE
#define IF_CXX(X) X(cxx)

static const struct sem_ops ops_cxx = {
    .name = "C++20",
    .size = CXX_SEM_SIZE,
    .many = false,
    .init = cxx_sem_init,
    .acquire = cxx_sem_acquire,
    .release = cxx_sem_release,
    .try_acquire = cxx_sem_try,
    .destroy = cxx_sem_destroy,
};

#else
#define IF_CXX(X)
#endif

#endif /* BENCH_PEER_CXX_H */
