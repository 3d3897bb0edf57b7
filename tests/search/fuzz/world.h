/* SPDX-License-Identifier: MIT */
/*
 * world.h - the objects of a sequence, each with its model.
 *
 * The objects are on the heap, and freed as soon as the contract allows, so that a sanitizer reports a late
 * access by the library.
 */
#ifndef WORLD_H
#define WORLD_H

#include "model.h"

enum { SEMS = 3, TICKETS = 10, TOKENS = 2, GUARDS = 3 };
enum { NO_SEM = -1, NO_TICKET = -1 };

struct model_guard {
    int     sem;
    int64_t n;
};

/* Numbers of calls in progress: with a semaphore, except releases; with a ticket; of acquire_all with a share. */
struct busy {
    int  sem[SEMS], ticket[TICKETS], share[SPEC_FLOWS];
    bool guard[GUARDS];
};

struct world {
    fairsem_t           *sem[SEMS];
    struct model_sem     model_sem[SEMS];
    bool                 sem_is_new[SEMS];      /* fairsem_new made it */
    bool                 sem_is_counted[SEMS];  /* fairsem_counted_init made it */

    fairsem_ticket_t    *ticket[TICKETS];
    struct model_request model_ticket[TICKETS];
    int                  callback_steps[TICKETS];

    fairsem_token_t     *token[TOKENS];
    int                  model_token[TOKENS];   /* the reason, or 0 if not canceled */

    fairsem_share_t     *share[SPEC_FLOWS];     /* from 1 on */

    fairsem_units_t      guard[GUARDS];
    struct model_guard   model_guard[GUARDS];

    struct busy          busy;
};

extern struct world world;

void world_begin(void);     /* makes semaphores with parameters from the input */
void world_end(void);       /* releases all units and destroys all objects */

/* Check that everything observable agrees with the model. */
void world_compare(void);

/* Make semaphore i, which does not exist, with parameters from the input. */
void world_make_sem(int i);
/* Make share i, which does not exist. */
void world_make_share(int i);
/* Free the memory of an object that must no longer be used.  Returns new memory, all zero. */
void *world_renew(void *old, size_t size);

/* The semaphore of a ticket that is not idle, or NO_SEM. */
int world_sem_of(int ticket);

#endif
