/* SPDX-License-Identifier: MIT */
/* calls.h - the calls of the library that the verbs stand for; each player includes it once. */
#ifndef CALLS_H
#define CALLS_H

#include "language.h"

#include <string.h>
#include <time.h>

/* The arguments of a call: its objects, and how it waits. */
struct parameters {
    fairsem_t             *sem;
    fairsem_ticket_t      *ticket;
    fairsem_token_t       *token;
    fairsem_units_t       *guard;
    const fairsem_wait_t  *how;
    const struct timespec *at;
    int64_t                timeout_ns;
    void                 (*callback)(fairsem_ticket_t *ticket, void *arg);
    void                  *arg;
    fairsem_share_t       *share;
    int64_t                held;       /* units, for `give` */
};

/* Returns the usual fairsem_wait_t of an operation.  A time limit becomes a deadline or a timeout. */
static inline fairsem_wait_t how_of(const struct op *op, fairsem_token_t *token,
                                    const struct timespec *at, int64_t timeout_ns)
{
    fairsem_wait_t how = {
        .clock = CLOCK_MONOTONIC, .priority = op->priority, .token = op->token ? token : NULL,
        .share = share_of(op),
    };

    if (has_deadline(op) && (op->ticket + op->n % 2) % 2 != 0)
        how.timeout_ns = timeout_ns;
    else if (has_deadline(op))
        how.deadline = at;
    return how;
}

static int64_t acquire(const struct op *op, const struct parameters *with)
{
    if (op->token || op->priority != 0 || op->share != 0)
        return fairsem_acquire_with(with->sem, op->n, with->how);
    return has_deadline(op) ? fairsem_acquire_until(with->sem, op->n, with->how->clock, with->at)
                            : fairsem_acquire(with->sem, op->n);
}

static int64_t take(const struct op *op, const struct parameters *with)
{
    const fairsem_request_t request = { .sem = with->sem, .units = op->n, .share = with->share };
    void (*const callback)(fairsem_ticket_t *, void *) = op->calls ? with->callback : NULL;

    if (op->share != 0)
        return fairsem_ticket_take_with(with->ticket, &request, op->priority, callback, with->arg);
    return fairsem_ticket_take(with->ticket, with->sem, op->n, op->priority, callback, with->arg);
}

/* Result of a verb that reads a statistic.  `stat` encodes the state as a number; if counters contradict each
 * other, the number is one that no state has. */
static int64_t stat_of(enum verb verb, fairsem_t *sem)
{
    fairsem_stat_t stat;

    fairsem_stat(sem, &stat);
    switch (verb) {
    case STAT_WAITING_UNITS: return stat.waiting_units;
    case STAT_WAITERS_MAX:   return stat.waiters_max;
    case STAT_WAITS:         return stat.waits;
    case STAT_GRANTS:        return stat.grants;
    case STAT_TIMEOUTS:      return stat.timeouts;
    case STAT_CANCELS:       return stat.cancels;
    case STAT_REFUSED:       return stat.refused;
    case STAT_OVER_RELEASES: return stat.over_releases;
    case STAT_AGED:          return stat.aged;
    case STAT_SHARES:        return stat.shares;
    default:
        return stat.cancels < 0 || stat.wait_ns_total < 0 ? INT64_MAX
                                                          : stat.available * 16 + stat.waiters;
    }
}

static int64_t result_of_call(const struct op *op, const struct parameters *with)
{
    fairsem_ticket_t *ticket = with->ticket;
    fairsem_t *s = with->sem;

    switch (op->verb) {
    case ACQUIRE: case TIMED: return acquire(op, with);
    case FOR:       return fairsem_acquire_for(s, op->n, with->timeout_ns);
    case TRY:       return fairsem_tryacquire(s, op->n);
    case UPTO:      return fairsem_tryacquire_upto(s, op->n);
    case RELEASE:   return fairsem_release(s, op->n);
    case GIVE:      return with->held > 0 ? fairsem_release(s, with->held) : 0;
    case CLOSE:     return fairsem_close(s, (int)op->n);
    case DRAIN:     return fairsem_drain(s, op->n, with->how);
    case CAPACITY:  return fairsem_set_capacity(s, op->n);
    case CONSUME:   return fairsem_consume(s, op->n);
    case DESTROY:   return fairsem_destroy(s);
    case WOULD:     return fairsem_would_block(s, op->n);
    case STAT: case STAT_WAITING_UNITS: case STAT_WAITERS_MAX: case STAT_WAITS: case STAT_GRANTS:
    case STAT_TIMEOUTS: case STAT_CANCELS: case STAT_REFUSED: case STAT_OVER_RELEASES: case STAT_AGED:
    case STAT_SHARES:
        return stat_of(op->verb, s);
    case AVAILABLE: return fairsem_available(s);
    case WAITERS:   return fairsem_waiters(s);
    case SIZE:      return fairsem_capacity(s);
    case IS_CLOSED: return fairsem_closed(s);
    case STATE:     return (int64_t)fairsem_ticket_state(ticket);
    case CANCEL:    return fairsem_token_cancel(with->token, (int)op->n);
    case REASON:    return fairsem_token_reason(with->token);
    case TAKE:      return take(op, with);
    case CLAIM:     return fairsem_ticket_claim(ticket, with->guard);
    case RETURN:    return fairsem_ticket_return(ticket);
    case WATCH:     return fairsem_ticket_wait(ticket, with->how);
    case CHARGE:    return fairsem_share_charge(with->share, op->n);
    case UNSHARE:   return fairsem_share_destroy(with->share);
    default:        return 0;
    }
}

/* Initialize the semaphore, and give it the state that it has when the threads start. */
static inline bool make_semaphore(const struct scenario *what, fairsem_t *s)
{
    const unsigned bypass = what->bypass_ns != 0 ? FAIRSEM_BOUNDED_BYPASS : 0;
    const fairsem_attr_t attr = { .capacity = what->capacity, .flags = what->flags | bypass,
                                  .bypass_ns = what->bypass_ns, .aging_ns = what->aging_ns,
                                  .max_waiters = what->max_waiters };

    memset(s, 0, sizeof *s);
    return fairsem_init(s, what->units, &attr) == 0
           && (!what->paused || fairsem_set_capacity(s, 0) == 0)
           && fairsem_consume(s, what->debt) == 0
           && (what->closed == 0 || fairsem_close(s, what->closed) == 0);
}

#endif
