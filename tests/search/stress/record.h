/* SPDX-License-Identifier: MIT */
/* record.h - watches the order of one semaphore, without holding up its threads; see record.c. */
#ifndef RECORD_H
#define RECORD_H

#include <fairsem.h>
#include <stdbool.h>
#include <stdint.h>

/* Begin to watch *sem, which no thread uses yet.  reversed: a fault, newcomers join before others. */
void record_begin(const fairsem_t *sem, bool reversed);

/* Around a call: how many had joined; and, if it took units of *sem, with which priority. */
uint64_t record_before(void);
void     record_took(const fairsem_t *sem, uint64_t before, int priority);

/* What was seen of it.  All zero: nothing is watched. */
struct record {
    int64_t joined, waiting, beside;    /* joined the queue; are in it; took units beside it */
    int64_t passes_in_queue, passes_beside;
    int64_t changes, malformed;         /* the word was changed from outside; what order.h says */
};
struct record record_so_far(void);

/* When no thread uses it any more. */
void record_end(void);

bool record_watches(void);

#endif
