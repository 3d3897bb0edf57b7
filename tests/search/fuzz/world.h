/* SPDX-License-Identifier: MIT */
/*
 * world.h - the objects of a sequence, each beside its model.
 *
 * They are on the heap and freed as soon as the contract allows it, so that a sanitizer reports a
 * late access by the library.
 */
#ifndef WORLD_H
#define WORLD_H

#include "model.h"

enum { SEMS = 3, TICKETS = 10, TOKENS = 2, GUARDS = 3 };
enum { NO_SEM = -1, NO_TICKET = -1 };

struct world {
    fairsem_t           *sem[SEMS];
    struct model_sem     model_sem[SEMS];
    bool                 sem_is_new[SEMS];      /* fairsem_new made it */
    int                  sem_calls[SEMS];       /* in progress, except releases */

    fairsem_ticket_t    *ticket[TICKETS];
    struct model_request model_ticket[TICKETS];
    int                  ticket_calls[TICKETS]; /* in progress */
    int                  callback_steps[TICKETS];

    fairsem_token_t     *token[TOKENS];
    struct model_token   model_token[TOKENS];

    fairsem_units_t      guard[GUARDS];
    struct { int sem; int64_t n; } model_guard[GUARDS];
    bool                 guard_busy[GUARDS];    /* a call works on it */
};

extern struct world world;

void world_begin(void);     /* makes the semaphores as the input says */
void world_end(void);       /* releases all units and destroys all objects */

/* Check that all that can be observed is as the model says. */
void world_compare(void);

/* Make semaphore i, which does not exist, as the input says. */
void world_make_sem(int i);
/* Free the memory of an object that must not be used any more; the new memory is all zero. */
void *world_renew(void *old, size_t size);

/* The semaphore in whose queue a ticket is, or NO_SEM; the number of a model's ticket. */
int world_sem_of(int ticket);

#endif
