/* SPDX-License-Identifier: MIT */
/*
 * world.h - the objects that the tests of the library share, what is there at first, and what the
 * threads of several tests do.
 *
 * What a thread says: a digit is the value of `data`, which is 1 once it has been written, or a
 * number; `-` it got nothing, and so does not look; a capital is the state of a waiter; `e` and
 * `f`: a call has failed that must not, or that may.
 */
#ifndef LITMUS_WORLD_H
#define LITMUS_WORLD_H

#include "explorer.h"

#include "acquire.h"
#include "bypass.h"
#include "fast_path.h"
#include "section.h"
#include "ticket.h"
#include "wait.h"

#include <errno.h>

struct world {
    fairsem_t        sem, other;
    struct fs_wait   wait, behind;  /* of threads in the queue of sem */
    fairsem_ticket_t ticket;
    fairsem_token_t  token;
    int64_t          data, more;
    _Atomic int64_t  units;
    union {
        struct fs_parker parker;
        char             room[400];     /* for struct fs_cond_parker */
    } parks;
};

static struct world *const w = (struct world *)(void *)shared;

static inline struct fs_sem *s(void)
{
    return fs_inside(&w->sem);
}

/* ---- What is there at first, and where one thread finds it otherwise ---- */

void none(void);
void one(void);
void none_of_two(void);
void two_of_three(void);
void queued(void);
void two_queued(void);
void parked(void);
void queued_nowhere(void);
void with_parker(void);
void open_queue(void);
void ticket_waits(void);
void ticket_waits_elsewhere(void);
void ticket_before_a_sleeper(void);
void ticket_granted(void);
void copied(void);
void finds_queue_empty(int thread);

/* ---- What threads do ---- */

void say_data(void);
void say_if(bool got);
void writes_and_releases(int thread);
void calls_release(int thread);
void destroys(void);
void say_state(int state);
void sleeps(int thread);
void closes(int thread);
int claim(void);
void joins_by_ticket(int thread);

#endif
