/* SPDX-License-Identifier: MIT */
/*
 * relaxed.h - makes each memory order in the library relaxed, for canary.c.  That is wrong, but on x86 the
 * library still works, so only a tool can find the error.
 */
#ifndef RELAXED_H
#define RELAXED_H

/* Some sources define _GNU_SOURCE, but it must be defined before the first header. */
#define _GNU_SOURCE

#include <stdatomic.h>

#define memory_order_acquire memory_order_relaxed
#define memory_order_release memory_order_relaxed
#define memory_order_acq_rel memory_order_relaxed
#define memory_order_seq_cst memory_order_relaxed

#endif
