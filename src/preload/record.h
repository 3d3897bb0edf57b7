/* SPDX-License-Identifier: MIT */
/*
 * record.h - functions by which the interposer writes the statistics while the program runs; see records.h.
 *
 * A signal handler may count or record a wait, so FS_COUNT() and fs_record_wait() use no lock.
 */
#ifndef FS_RECORD_H
#define FS_RECORD_H

#include "records.h"

#include <semaphore.h>
#include <stddef.h>

extern struct fs_records *fs_records;   /* r/o after fs_records_map(); NULL without statistics */

/* FS_COUNT() increments these counters if there are no statistics.  They are never read. */
extern struct fs_uncounted {
    _Atomic uint64_t created, shared, named, unknown, dangling, passed;
} fs_uncounted;

#define FS_COUNT(what)                                                                         \
    atomic_fetch_add_explicit(fs_records != NULL ? &fs_records->what : &fs_uncounted.what, 1,  \
                              memory_order_relaxed)

/* Are semaphores only measured, and left to libc (--libc)? */
static inline int fs_only_counts(void)
{
    return fs_records != NULL && fs_records->only_count != 0;
}

/* Map the file of the statistics, if fairsem-run has created one. */
void fs_records_map(void);

/* Returns the number of a new record for a semaphore that `caller` makes, or 0 if there is no record for it. */
uint64_t fs_record_new(const sem_t *sem, const void *caller);

/* Returns the record with this number, or NULL if the record is of another sem_t: `sem` may be a copy. */
struct fs_record *fs_record_of(const sem_t *sem, uint64_t number);

/* Returns the time in ns, or 0 without statistics. */
uint64_t fs_record_start(void);

/* Record that a wait which began at `start` has ended with a unit.  record may be NULL. */
void fs_record_wait(struct fs_record *record, uint64_t start);

#endif
