/* SPDX-License-Identifier: MIT */
/* coverage.h - the counts that coverage.c makes and promises.c checks. */
#ifndef XP_COVERAGE_H
#define XP_COVERAGE_H

#include "explorer.h"

/* These tell an operation from others with the same verb. */
enum variant { PLAIN, WITH_TOKEN, WITH_CALLBACK, VARIANTS };

/* The state of its semaphore, its ticket or its token when an operation begins. */
enum state {
    UNITS_FREE, NONE_FREE, IN_DEBT, SOMEBODY_WAITS, LINE_FULL, PAUSED, CLOSED,
    TICKET_IDLE, TICKET_WAITING, TICKET_GRANTED, TICKET_CANCELED, TICKET_CLOSED,
    TOKEN_OPEN, TOKEN_WAITED_WITH, TOKEN_CANCELED, STATES
};

/* The kinds of operations that meet: the verb, the variant, and whether it failed. */
enum { KINDS = VERBS * VARIANTS * 2 };

extern long seen[VERBS][VARIANTS][STATES][RESULTS];
extern long met[KINDS][KINDS];

extern const char *const state_name[STATES], *const result_name[RESULTS];
enum variant variant_of(const struct op *op);
const char *kind_words(int kind, char text[40]);

/* promises.c: false if something that include/fairsem.h lists has not been seen. */
bool print_promises(void);

#endif
