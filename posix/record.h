/* SPDX-License-Identifier: MIT */
/*
 * record.h - the interposer's statistics: written while the program runs, see records.h.
 *
 * Counting and recording a wait may happen in signal handlers: they use no lock.
 */
#ifndef FS_RECORD_H
#define FS_RECORD_H

#include "records.h"

#include <semaphore.h>
#include <stddef.h>

extern struct fs_records *fs_records;   /* r/o after fs_records_map(); NULL: nobody asks */

/* Then the few counters still need a place. */
extern struct fs_uncounted {
    _Atomic uint64_t created, shared, named, foreign, dead;
} fs_uncounted;

#define FS_COUNT(what)                                                                         \
    atomic_fetch_add_explicit(fs_records != NULL ? &fs_records->what : &fs_uncounted.what, 1,  \
                              memory_order_relaxed)

/* If fairsem-run has asked for statistics. */
void fs_records_map(void);

/* A record for a semaphore that `caller` makes; NULL: without. */
struct fs_record *fs_record_new(const sem_t *sem, const void *caller);

/* The time, or 0 if nobody asks. */
uint64_t fs_record_start(void);

/* A wait that began at `start` has taken a unit.  record may be NULL. */
void fs_record_wait(struct fs_record *record, uint64_t start);

#endif
