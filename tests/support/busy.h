/* SPDX-License-Identifier: MIT */
/* busy.h - a granted ticket: one thread runs its callback, until end_busy(), and another thread returns the ticket. */
#ifndef BUSY_H
#define BUSY_H

#include "moment.h"
#include "workers.h"

#include <check.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

struct busy {
    fairsem_t        sem;
    fairsem_ticket_t ticket;
    _Atomic bool     in_callback, let_go;
    pthread_t        releaser, returner;    /* the test starts `returner` */
};

static inline void stay_in_callback(fairsem_ticket_t *ticket, void *arg)
{
    struct busy *b = arg;

    (void)ticket;
    atomic_store(&b->in_callback, true);
    while (!atomic_load(&b->let_go))
        moment();
}

static inline void *release_it(void *arg)
{
    insist(0, fairsem_release(&((struct busy *)arg)->sem, 1));
    return NULL;
}

/* Returns when the callback runs. */
static inline void begin_callback(struct busy *b)
{
    *b = (struct busy){ .sem = FAIRSEM_INITIALIZER(0) };
    ck_assert_int_eq(fairsem_ticket_take(&b->ticket, &b->sem, 1, 0, stay_in_callback, b), EINPROGRESS);
    start_thread(&b->releaser, release_it, b);
    while (!atomic_load(&b->in_callback))
        moment();
}

static inline void end_busy(struct busy *b)
{
    atomic_store(&b->let_go, true);
    pthread_join(b->releaser, NULL);
    pthread_join(b->returner, NULL);
}

#endif
