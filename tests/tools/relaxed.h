/* SPDX-License-Identifier: MIT */
/*
 * relaxed.h - every memory order in the library turned into relaxed: a library that is broken,
 * for canary_order.  On x86 it works all the same, so only a tool can tell.
 */
#ifndef RELAXED_H
#define RELAXED_H

/* As the sources that need it say it; here it must be said before the first header. */
#define _GNU_SOURCE

#include <stdatomic.h>

#define memory_order_acquire memory_order_relaxed
#define memory_order_release memory_order_relaxed
#define memory_order_acq_rel memory_order_relaxed
#define memory_order_seq_cst memory_order_relaxed

#endif
