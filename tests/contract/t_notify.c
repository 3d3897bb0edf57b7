/* SPDX-License-Identifier: MIT */
/*
 * t_notify.c - the callback of a ticket runs once, without locks, and may call every function.
 * (U20, U48: user code under the lock: tokio 5429, .NET 34036, Photon 1650.)
 */
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <stdio.h>

/* A record of what a callback saw, written by the thread that runs the callback.  The test reads it after
 * joining that thread, or runs the callback itself. */
struct note {
    fairsem_t                *sem;
    fairsem_ticket_t         *ticket;
    int                       calls, strange;
    enum fairsem_ticket_state state;    /* at the last call */
    pthread_t                 thread;   /* of the last call */
    fairsem_units_t           units;    /* claimed in the callback */
    fairsem_ticket_t         *other;    /* another ticket, which the callback uses */
};

static void noted(fairsem_ticket_t *ticket, void *arg)
{
    struct note *note = arg;

    note->calls++;
    note->state = fairsem_ticket_state(ticket);
    note->thread = pthread_self();
    note->strange += note->ticket != ticket;
}

static void take_noted(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n,
                       fairsem_notify_fn *notify, struct note *note)
{
    note->sem = sem;
    note->ticket = ticket;
    ck_assert(was_taken(fairsem_ticket_take(ticket, sem, n, 0, notify, note)));
}

START_TEST(a_ticket_that_waited_calls_back_once_in_the_thread_that_ended_its_wait)
{
    static const enum fairsem_ticket_state states[] = {
        FAIRSEM_TICKET_GRANTED, FAIRSEM_TICKET_CANCELED, FAIRSEM_TICKET_CLOSED
    };

    for (int way = 0; way < 3; way++) {
        fairsem_t sem;
        fairsem_attr_t attr = { .capacity = 5 };
        fairsem_ticket_t tickets[3] = { { { 0 } } };
        struct note notes[3] = { { .calls = 0 } };

        ck_assert_int_eq(fairsem_init(&sem, 1, &attr), 0);
        for (int i = 0; i < 3; i++)
            take_noted(&tickets[i], &sem, 5 - i, noted, &notes[i]);
        ck_assert_int_eq(notes[0].calls, 0);
        if (way == 0) {
            ck_assert_int_eq(fairsem_release(&sem, 4), 0);
        } else if (way == 1) {
            ck_assert_int_eq(fairsem_set_capacity(&sem, 4), 0);
            ck_assert_int_eq(notes[0].calls, 1);
            ck_assert_int_eq(notes[1].calls, 0);
            ck_assert_int_eq(fairsem_set_capacity(&sem, 2), 0);
        } else {
            ck_assert_int_eq(fairsem_close(&sem, 0), 0);
        }
        for (int i = 0; i < (way == 0 ? 1 : 3); i++) {
            ck_assert_int_eq(notes[i].calls, 1);
            ck_assert_int_eq(notes[i].strange, 0);
            ck_assert_int_eq(notes[i].state, states[way]);
            ck_assert(pthread_equal(notes[i].thread, pthread_self()));
        }
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(fairsem_ticket_return(&tickets[2 - i]), 0);
            ck_assert_int_eq(notes[2 - i].calls, way == 0 && i < 2 ? 0 : 1);
        }
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
}
END_TEST

/* ---------------------------------------------------------------- re-entry */

static void add_up(void *arg)
{
    ++*(int *)arg;
}

/* Calls every function.  `other` waits in the same queue, behind this ticket. */
static void call_everything(fairsem_ticket_t *ticket, void *arg)
{
    struct note *note = arg;
    fairsem_t *sem = note->sem;
    const fairsem_wait_t how = { .priority = -5 };
    fairsem_units_t part = { 0 };
    fairsem_stat_t stat;
    fairsem_token_t token;
    FILE *file = tmpfile();
    int sum = 0, called = 0;

    noted(ticket, arg);
    if (note->calls > 1)
        return;
    /* Two units are free, this ticket holds one, and the other ticket waits for three. */
    sum += fairsem_ticket_wait(ticket, NULL) + fairsem_ticket_claim(ticket, &note->units);
    sum += fairsem_ticket_claim(ticket, &part) != EINVAL;
    sum += fairsem_tryacquire(sem, 1) != EAGAIN;
    sum += fairsem_acquire_for(sem, 2, 1000) != ETIMEDOUT;
    sum += fairsem_acquire_with(sem, 1, &how) + fairsem_release(sem, 1);
    sum += fairsem_available(sem) != 2 || fairsem_waiters(sem) != 1 || !fairsem_would_block(sem, 1);
    sum += fairsem_stat(sem, &stat) + (stat.waiters != 1);
    sum += file == NULL || fairsem_dump(sem, file) != 0 || fclose(file) != 0;
    sum += fairsem_destroy(sem) != EBUSY;
    sum += fairsem_ticket_return(note->other);      /* the callback of `other` must not run later */
    sum += fairsem_acquire(sem, 1) + fairsem_acquire_for(sem, 0, 1) + fairsem_tryacquire(sem, 0);
    sum += fairsem_acquire_until(sem, 1, CLOCK_REALTIME, NULL);
    sum += fairsem_tryacquire_upto(sem, 5) != 0;
    sum += fairsem_consume(sem, 2) + fairsem_release(sem, 4);
    sum += fairsem_set_capacity(sem, 6) + fairsem_set_capacity(sem, 5);
    sum += fairsem_capacity(sem) != 5 || fairsem_closed(sem) != 0;
    sum += fairsem_with(sem, 1, add_up, &called) + (called != 1);
    sum += fairsem_units_tryacquire(&part, sem, 1) + fairsem_units_merge(&note->units, &part);
    sum += fairsem_units_return(&note->units, 1);
    sum += fairsem_token_init(&token) + fairsem_token_cancel(&token, 0);
    sum += fairsem_token_destroy(&token);
    /* Take the same ticket again: first for a unit that is free, then for more than are free. */
    sum += fairsem_ticket_return(ticket);
    sum += fairsem_ticket_take(ticket, sem, 1, 0, call_everything, note);
    sum += fairsem_ticket_state(ticket) != FAIRSEM_TICKET_GRANTED;
    sum += fairsem_ticket_return(ticket);
    sum += fairsem_ticket_take(ticket, sem, 4, 0, call_everything, note) != EINPROGRESS;
    sum += fairsem_ticket_state(ticket) != FAIRSEM_TICKET_WAITING;
    note->strange += sum;
}

/* U48. */
START_TEST(a_callback_may_call_everything)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .capacity = 5 };
    fairsem_ticket_t ticket = { 0 }, other = { 0 };
    struct note note = { .other = &other }, unheard = { 0 };

    ck_assert_int_eq(fairsem_init(&sem, 3, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 3), 0);
    take_noted(&ticket, &sem, 1, call_everything, &note);
    take_noted(&other, &sem, 3, noted, &unheard);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    ck_assert_int_eq(note.calls, 1);
    ck_assert_int_eq(note.strange, 0);
    ck_assert_int_eq(unheard.calls, 0);
    ck_assert_int_eq(note.units.n, 1);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(note.calls, 2);
    ck_assert_int_eq(note.state, FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_units_release(&note.units), 0);
    ck_assert_int_eq(fairsem_available(&sem), 5);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* If the library uses the ticket after this, the library follows a bad pointer. */
static void wipe_and_free(fairsem_ticket_t *ticket)
{
    volatile unsigned char *bytes = (volatile unsigned char *)ticket;

    for (size_t i = 0; i < sizeof *ticket; i++)
        bytes[i] = 0xff;
    free(ticket);
}

static void claim_and_free(fairsem_ticket_t *ticket, void *arg)
{
    struct note *note = arg;

    noted(ticket, arg);
    note->strange += fairsem_ticket_claim(ticket, &note->units);
    wipe_and_free(ticket);
}

static void claim_and_destroy_all(fairsem_ticket_t *ticket, void *arg)
{
    struct note *note = arg;

    claim_and_free(ticket, arg);
    note->strange += fairsem_units_release(&note->units) + fairsem_destroy(note->sem);
    free(note->sem);
}

static void return_and_free_another(fairsem_ticket_t *ticket, void *arg)
{
    struct note *note = arg;

    noted(ticket, arg);
    note->strange += fairsem_ticket_return(note->other);
    wipe_and_free(note->other);
}

static fairsem_ticket_t *new_ticket(void)
{
    fairsem_ticket_t *ticket = aligned_alloc(_Alignof(fairsem_ticket_t), sizeof *ticket);

    ck_assert_ptr_nonnull(ticket);
    *ticket = (fairsem_ticket_t){ { 0 } };
    return ticket;
}

START_TEST(a_callback_may_free_its_ticket_and_its_semaphore)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_t *heap = aligned_alloc(_Alignof(fairsem_t), sizeof *heap);
    struct note notes[3] = { { .calls = 0 } }, last = { 0 };

    for (int i = 0; i < 3; i++)
        take_noted(new_ticket(), &sem, 1, claim_and_free, &notes[i]);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(notes[i].calls, 1);
        ck_assert_int_eq(notes[i].strange, 0);
        ck_assert_int_eq(fairsem_units_release(&notes[i].units), 0);
    }
    ck_assert_int_eq(fairsem_available(&sem), 3);

    ck_assert_ptr_nonnull(heap);
    ck_assert_int_eq(fairsem_init(heap, 0, NULL), 0);
    take_noted(new_ticket(), heap, 1, claim_and_destroy_all, &last);
    ck_assert_int_eq(fairsem_release(heap, 1), 0);
    ck_assert_int_eq(last.calls, 1);
    ck_assert_int_eq(last.strange, 0);
}
END_TEST

/* One release grants two tickets.  The callback of the first returns and frees the second, whose own
 * callback is pending and must not run.  The unit of the second ticket goes to the third. */
START_TEST(a_callback_may_return_a_ticket_whose_own_callback_is_pending)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t first = { 0 }, third = { 0 };
    struct note notes[3] = { { .other = new_ticket() } };

    take_noted(&first, &sem, 1, return_and_free_another, &notes[0]);
    take_noted(notes[0].other, &sem, 1, noted, &notes[1]);
    take_noted(&third, &sem, 1, noted, &notes[2]);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(notes[0].calls, 1);
    ck_assert_int_eq(notes[0].strange, 0);
    ck_assert_int_eq(notes[1].calls, 0);
    ck_assert_int_eq(notes[2].calls, 1);
    ck_assert_int_eq(fairsem_ticket_state(&third), FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_ticket_return(&first), 0);
    ck_assert_int_eq(fairsem_ticket_return(&third), 0);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

static void pass_it_on(fairsem_ticket_t *ticket, void *arg)
{
    noted(ticket, arg);
    fairsem_ticket_return(ticket);
}

START_TEST(a_unit_can_go_through_a_thousand_callbacks)
{
    enum { COUNT = 1000 };
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    static fairsem_ticket_t tickets[COUNT];
    static struct note notes[COUNT];

    for (int i = 0; i < COUNT; i++)
        take_noted(&tickets[i], &sem, 1, pass_it_on, &notes[i]);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    for (int i = 0; i < COUNT; i++) {
        ck_assert_int_eq(notes[i].calls, 1);
        ck_assert_int_eq(notes[i].state, FAIRSEM_TICKET_GRANTED);
    }
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("notify", a_ticket_that_waited_calls_back_once_in_the_thread_that_ended_its_wait,
              a_callback_may_call_everything, a_callback_may_free_its_ticket_and_its_semaphore,
              a_callback_may_return_a_ticket_whose_own_callback_is_pending,
              a_unit_can_go_through_a_thousand_callbacks);
}
