/* SPDX-License-Identifier: MIT */
/*
 * ticket_wait.c - a thread waits for a ticket.
 *
 * A WATCHER is a thread that waits for a ticket.  A watcher is in the ticket's ring, not in a queue, and is
 * never pre-woken:
 *
 *      NOT_QUEUED -- watch --> QUEUED <-- fs_sleep --> PARKED
 *       |                        |                        |
 *       |                        +-----------+------------+
 *       |                                    |
 *       +-- watch --> GRANTED, ENDED         +-- resolve_ticket --> GRANTED, ENDED
 *       +-- abort_watch --> ENDED            +-- abort_watch ------> ENDED
 *
 * When a ticket is returned, its watchers become ENDED, with ECANCELED.  Watchers have the states of waiters,
 * because watchers and waiters sleep by the same code (wait.c).
 */
#include "ticket.h"

#include "age.h"
#include "section.h"

#include <errno.h>

/* Remove the watcher from the ring.  The ticket keeps its place in the queue, whatever ends the watch. */
static bool abort_watch(struct fs_wait *wait, enum fs_end end, int reason, struct fs_section *in)
{
    struct fs_watcher *watcher = (struct fs_watcher *)wait;
    struct fs_waiter *w = &wait->waiter;
    bool aborts;
    int state;

    fs_section_lock(in, wait->sem);
    state = fs_waiter_state(w);
    aborts = fs_state_in_queue(state) || state == FS_NOT_QUEUED;
    if (aborts) {
        if (state != FS_NOT_QUEUED && !fs_wait_is_copied(wait))
            fs_ring_remove(&watcher->ticket->watchers, &watcher->in_ring);
        fs_wait_set_end(wait, end, reason);
        fs_resolve(w, FS_ENDED, in);
    }
    fs_section_unlock(in);
    return aborts;
}

/* Append the watcher to the ticket's ring, or, if the ticket is not in the queue of s, end the wait. */
static void watch(struct fs_sem *s, struct fs_watcher *watcher)
{
    struct fs_ticket *t = watcher->ticket;
    struct fs_waiter *w = &watcher->wait.waiter;
    int state = fs_ticket_state(t), error;

    fs_assert_held(s);
    if (fs_ticket_waits_in(s, t)) {
        if ((s->options & FS_AGING) != 0)
            watcher->wait.competes_at_ns = fs_ages_at_ns(s, &t->callback.waiter);
        fs_ring_append(&t->watchers, &watcher->in_ring);
        fs_set_state(w, FS_QUEUED, memory_order_relaxed);
        return;
    }
    /*
     * If the state is QUEUED, the ticket is in the queue of another semaphore: since this call began, the
     * ticket has become idle, and has been taken again.
     */
    error = state == FS_QUEUED ? EINVAL : fs_ticket_outcome(t, state);
    fs_set_reason(w, error);
    fs_set_state(w, error != 0 ? FS_ENDED : FS_GRANTED, memory_order_relaxed);
}

static int watch_and_wait(struct fs_watcher *watcher)
{
    struct fs_wait *wait = &watcher->wait;
    struct fs_section in;

    fs_section_begin(&in, wait->sem);
    /* The token may have ended the wait while this thread was on its way to the mutex. */
    if (fs_waiter_state(&wait->waiter) == FS_NOT_QUEUED)
        watch(wait->sem, watcher);
    return fs_section_end_and_wait(&in, wait);
}

int fairsem_ticket_wait(fairsem_ticket_t *ticket, const fairsem_wait_t *how)
{
    static const fairsem_wait_t for_ever;
    struct fs_ticket *t = fs_ticket_inside(ticket);
    struct fs_deadline deadline;
    struct fs_watcher watcher = {
        .ticket = t,
        .wait.abort = abort_watch,
    };
    int error, state;

    if (how == NULL)
        how = &for_ever;
    if (!fs_wait_valid(how) || how->priority != 0 || how->share != NULL)
        return EINVAL;
    state = fs_ticket_state(t);
    if (state != FS_QUEUED)
        return fs_ticket_outcome(t, state);
    watcher.wait.sem = fs_ticket_sem(t);    /* loaded after the state: a QUEUED ticket has a semaphore */
    if (fs_wait_deadline(how, &deadline))
        watcher.wait.deadline = &deadline;
    error = fs_wait_begin(&watcher.wait, how->token);
    return error != 0 ? error : watch_and_wait(&watcher);
}
