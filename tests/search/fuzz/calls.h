/* SPDX-License-Identifier: MIT */
/* calls.h - the checks around each call of the library, and the callback. */
#ifndef CALLS_H
#define CALLS_H

#include "threads.h"
#include "words.h"
#include "world.h"

enum { CALL_ERRNO = 4711 };     /* errno before each call, and so after it */

struct call {
    int line, sem, ticket;
    struct thread_call outer;
};

/* Before a call, which `line` prints.  After this the model makes it, then the library. */
void call_begin(struct call *call, int line, int sem, int ticket);
/* The call may wait; the model says so in *wait, now or later. */
void call_may_wait(struct model_wait *wait, const fairsem_wait_t *how);
/* The call has returned: its result, and all that can be observed, must be as the model says. */
void call_end(struct call *call, enum words_kind kind, long long result, long long expected);
void call_wait_ends(struct call *call, struct model_wait *wait, int result);

/* The callback of all tickets; `arg` points to the ticket's place in world.ticket. */
void call_back(fairsem_ticket_t *ticket, void *arg);

/* Are calls nested so deep that there must be no more? */
bool calls_deep(void);

#endif
