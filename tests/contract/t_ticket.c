/* SPDX-License-Identifier: MIT */
/* t_ticket.c - a ticket is a place in the queue without a thread: its states and its order. */
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define REASON 4711

static void take(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n)
{
    ck_assert(was_taken(fairsem_ticket_take(ticket, sem, n, 0, NULL, NULL)));
}

static void state_is(const fairsem_ticket_t *ticket, enum fairsem_ticket_state state)
{
    ck_assert_int_eq(fairsem_ticket_state(ticket), state);
}

/* Claim a granted ticket and release what it held. */
static void claim_and_release(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n)
{
    fairsem_units_t units = { 0 };

    state_is(ticket, FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_ticket_claim(ticket, &units), 0);
    ck_assert_ptr_eq(units.sem, sem);
    ck_assert_int_eq(units.n, n);
    state_is(ticket, FAIRSEM_TICKET_IDLE);
    ck_assert_int_eq(fairsem_units_release(&units), 0);
}

START_TEST(a_ticket_goes_from_idle_to_waiting_to_granted_to_idle)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };

    state_is(&ticket, FAIRSEM_TICKET_IDLE);
    ck_assert_int_eq(fairsem_ticket_claim(&ticket, &units), EINVAL);
    take(&ticket, &sem, 2);
    state_is(&ticket, FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_destroy(&sem), EBUSY);
    ck_assert_int_eq(fairsem_ticket_claim(&ticket, &units), EAGAIN);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), EINVAL);
    ck_assert_int_eq(units.n, 0);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    state_is(&ticket, FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_waiters(&sem), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);   /* the other two belong to the ticket */
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), EINVAL);
    claim_and_release(&ticket, &sem, 2);
    ck_assert_int_eq(fairsem_available(&sem), 3);

    take(&ticket, &sem, 3);     /* at once */
    ck_assert_int_eq(fairsem_available(&sem), 0);
    claim_and_release(&ticket, &sem, 3);
    take(&ticket, &sem, 0);
    state_is(&ticket, FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    state_is(&ticket, FAIRSEM_TICKET_IDLE);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(a_ticket_that_cannot_be_taken_stays_idle)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .capacity = 4, .max_waiters = 1 };
    fairsem_ticket_t ticket = { 0 }, waiting = { 0 };

    ck_assert_int_eq(fairsem_init(&sem, 2, &attr), 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, -1, 0, NULL, NULL), EINVAL);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, FAIRSEM_MAX_UNITS + 1, 0, NULL, NULL),
                     EINVAL);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 5, 0, NULL, NULL), E2BIG);
    take(&waiting, &sem, 3);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), ENOBUFS);
    state_is(&ticket, FAIRSEM_TICKET_IDLE);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_ticket_return(&waiting), 0);
    ck_assert_int_eq(fairsem_close(&sem, REASON), 0);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), REASON);
    state_is(&ticket, FAIRSEM_TICKET_IDLE);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(tickets_and_threads_wait_in_one_queue)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t first = { 0 }, third = { 0 }, better = { 0 };
    struct worker second = { 0 }, fourth = { 0 };

    take(&first, &sem, 1);
    worker_queue(&second, &sem, 1, 2);
    take(&third, &sem, 2);
    worker_queue(&fourth, &sem, 1, 4);
    ck_assert_int_eq(fairsem_ticket_take(&better, &sem, 1, -1, NULL, NULL), EINPROGRESS);

    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    state_is(&better, FAIRSEM_TICKET_GRANTED);
    state_is(&first, FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    state_is(&first, FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(worker_join(&second), 0);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    state_is(&third, FAIRSEM_TICKET_WAITING);       /* it holds up the queue */
    ck_assert(worker_waits(&fourth));
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    state_is(&third, FAIRSEM_TICKET_GRANTED);
    ck_assert(worker_waits(&fourth));
    ck_assert_int_eq(fairsem_ticket_return(&better), 0);
    ck_assert_int_eq(worker_join(&fourth), 0);
    claim_and_release(&first, &sem, 1);
    claim_and_release(&third, &sem, 2);
    ck_assert_int_eq(fairsem_available(&sem), 3);
}
END_TEST

/* U10, U14: when the head leaves, the waiters behind it that fit are granted, and no other. */
START_TEST(a_returned_ticket_leaves_the_queue_or_passes_its_units_on)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(5);
    fairsem_ticket_t head = { 0 }, middle = { 0 }, last = { 0 };
    struct worker fits = { 0 };

    take(&head, &sem, 8);
    take(&middle, &sem, 6);
    worker_queue(&fits, &sem, 3, 3);
    take(&last, &sem, 5);
    ck_assert_int_eq(fairsem_ticket_return(&middle), 0);
    state_is(&middle, FAIRSEM_TICKET_IDLE);
    ck_assert_int_eq(fairsem_waiters(&sem), 3);
    ck_assert_int_eq(fairsem_available(&sem), 5);
    ck_assert_int_eq(fairsem_ticket_return(&head), 0);
    ck_assert_int_eq(worker_join(&fits), 0);
    ck_assert_int_eq(fairsem_waiters(&sem), 1);
    ck_assert_int_eq(fairsem_available(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 3), 0);
    state_is(&last, FAIRSEM_TICKET_GRANTED);
    take(&head, &sem, 4);
    ck_assert_int_eq(fairsem_ticket_return(&last), 0);
    state_is(&last, FAIRSEM_TICKET_IDLE);
    state_is(&head, FAIRSEM_TICKET_GRANTED);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fairsem_ticket_return(&last), 0);      /* nothing happens */
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_ticket_return(&head), 0);
    ck_assert_int_eq(fairsem_available(&sem), 5);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(a_ticket_that_left_the_queue_without_units_says_why_until_it_is_returned)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .capacity = 4 };
    fairsem_ticket_t large = { 0 }, small = { 0 };
    fairsem_units_t units = { 0 };

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    take(&large, &sem, 4);
    take(&small, &sem, 1);
    ck_assert_int_eq(fairsem_set_capacity(&sem, 3), 0);
    state_is(&large, FAIRSEM_TICKET_CANCELED);
    state_is(&small, FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_close(&sem, REASON), 0);
    state_is(&large, FAIRSEM_TICKET_CANCELED);
    state_is(&small, FAIRSEM_TICKET_CLOSED);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fairsem_ticket_claim(&large, &units), E2BIG);
        ck_assert_int_eq(fairsem_ticket_claim(&small, &units), REASON);
        ck_assert_int_eq(fairsem_ticket_wait(&large, NULL), E2BIG);
        ck_assert_int_eq(fairsem_ticket_wait(&small, NULL), REASON);
        ck_assert_int_eq(fairsem_ticket_take(&large, &sem, 1, 0, NULL, NULL), EINVAL);
        ck_assert_int_eq(fairsem_ticket_take(&small, &sem, 1, 0, NULL, NULL), EINVAL);
        ck_assert_int_eq(units.n, 0);
    }
    ck_assert_int_eq(fairsem_ticket_return(&large), 0);
    ck_assert_int_eq(fairsem_ticket_return(&small), 0);
    state_is(&large, FAIRSEM_TICKET_IDLE);
    state_is(&small, FAIRSEM_TICKET_IDLE);
    ck_assert_int_eq(fairsem_available(&sem), -1);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* ---------------------------------------------------------------- many, and none */

struct message {
    fairsem_t sem;
    int       text;         /* not atomic: sent with the unit */
};

static void *send(void *arg)
{
    struct message *m = arg;

    m->text = REASON;
    fairsem_release(&m->sem, 1);
    return NULL;
}

START_TEST(the_claiming_thread_sees_what_the_releaser_wrote)
{
    for (int i = 0; i < 100; i++) {
        struct message m = { .text = 0 };
        fairsem_ticket_t ticket = { 0 };
        fairsem_units_t units = { 0 };
        pthread_t thread;

        ck_assert_int_eq(fairsem_init(&m.sem, 0, NULL), 0);
        take(&ticket, &m.sem, 1);
        start_thread(&thread, send, &m);
        while (fairsem_ticket_claim(&ticket, &units) == EAGAIN)
            moment();
        ck_assert_int_eq(m.text, REASON);
        pthread_join(thread, NULL);
        ck_assert_int_eq(units.n, 1);
        ck_assert_int_eq(fairsem_destroy(&m.sem), 0);
    }
}
END_TEST

/* A child asserts nothing.  Its exit status is 0, or tells which line failed. */
#define CHILD_CHECK(condition)   \
    do {                         \
        if (!(condition))        \
            _exit(__LINE__ % 255 + 1); \
    } while (0)

START_TEST(in_a_forked_child_a_ticket_that_waited_is_idle)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_ticket_t ticket = { 0 }, untouched = { 0 };
    fairsem_units_t units = { 0 };
    int status;
    pid_t child;

    if (UNDER_TSAN)
        NOT_HERE("ThreadSanitizer does not support a forked child with threads");
    take(&ticket, &sem, 2);
    take(&untouched, &sem, 1);
    child = fork();
    if (child == 0) {
        CHILD_CHECK(fairsem_ticket_state(&ticket) == FAIRSEM_TICKET_IDLE);
        CHILD_CHECK(fairsem_ticket_wait(&ticket, NULL) == EINVAL);
        CHILD_CHECK(fairsem_ticket_claim(&untouched, &units) == EINVAL);
        CHILD_CHECK(fairsem_ticket_return(&untouched) == 0);
        CHILD_CHECK(fairsem_waiters(&sem) == 0 && fairsem_available(&sem) == 1);
        CHILD_CHECK(fairsem_ticket_take(&ticket, &sem, 3, 0, NULL, NULL) == EINPROGRESS);
        CHILD_CHECK(fairsem_ticket_state(&ticket) == FAIRSEM_TICKET_WAITING);
        CHILD_CHECK(fairsem_release(&sem, 2) == 0);
        CHILD_CHECK(fairsem_ticket_claim(&ticket, &units) == 0 && units.n == 3);
        CHILD_CHECK(fairsem_destroy(&sem) == 0);
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    state_is(&ticket, FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_waiters(&sem), 2);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    claim_and_release(&ticket, &sem, 2);
    claim_and_release(&untouched, &sem, 1);
}
END_TEST

struct taker {
    pthread_t         thread;
    fairsem_ticket_t *ticket;
    fairsem_t        *sem;
    _Atomic int      *round;
    _Atomic int       result;
};

enum { ROUNDS = 1000, NOTHING_YET = -1 };

static void *take_each_round(void *arg)
{
    struct taker *t = arg;

    for (int i = 1; i <= ROUNDS; i++) {
        while (atomic_load(t->round) != i)
            moment();
        atomic_store(&t->result, fairsem_ticket_take(t->ticket, t->sem, 1, 0, NULL, NULL));
        while (atomic_load(&t->result) != NOTHING_YET)
            moment();
    }
    return NULL;
}

START_TEST(of_two_threads_that_take_a_ticket_one_succeeds)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = { 0 };
    _Atomic int round = 0;
    struct taker t[2];

    for (int i = 0; i < 2; i++) {
        t[i] = (struct taker){ .ticket = &ticket, .sem = &sem, .round = &round,
                               .result = NOTHING_YET };
        start_thread(&t[i].thread, take_each_round, &t[i]);
    }
    for (int i = 1; i <= ROUNDS; i++) {
        atomic_store(&round, i);
        while (atomic_load(&t[0].result) == NOTHING_YET
               || atomic_load(&t[1].result) == NOTHING_YET)
            moment();
        ck_assert_int_eq(t[0].result + t[1].result, EINPROGRESS + EINVAL);
        ck_assert(t[0].result == EINVAL || t[1].result == EINVAL);
        ck_assert_int_eq(fairsem_waiters(&sem), 1);
        ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
        ck_assert_int_eq(fairsem_waiters(&sem), 0);
        atomic_store(&t[0].result, NOTHING_YET);
        atomic_store(&t[1].result, NOTHING_YET);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i].thread, NULL);
}
END_TEST

struct claimer {
    fairsem_ticket_t *ticket;
    _Atomic int       stop;
};

static void *claim_all_the_time(void *arg)
{
    struct claimer *c = arg;
    fairsem_units_t units = { 0 };

    while (!atomic_load(&c->stop)) {
        if (fairsem_ticket_claim(c->ticket, &units) == 0)
            fairsem_units_release(&units);
    }
    return NULL;
}

/* Two threads claim, and one of them takes the ticket again for another number of units. */
START_TEST(a_claim_gets_the_units_that_the_ticket_was_taken_for)
{
    const fairsem_attr_t attr = { .capacity = 6 };
    fairsem_t sem;
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };
    struct claimer c = { .ticket = &ticket };
    pthread_t thread;

    ck_assert_int_eq(fairsem_init(&sem, 6, &attr), 0);
    start_thread(&thread, claim_all_the_time, &c);
    for (int i = 0; i < 100000; i++) {
        int error = fairsem_ticket_take(&ticket, &sem, 1 + i % 3, 0, NULL, NULL);

        ck_assert(error == 0 || error == EINVAL);
        if (fairsem_ticket_claim(&ticket, &units) == 0)
            ck_assert_int_eq(fairsem_units_release(&units), 0);
    }
    atomic_store(&c.stop, 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_available(&sem), 6);
}
END_TEST

int main(void)
{
    RUN_SUITE("ticket", a_ticket_goes_from_idle_to_waiting_to_granted_to_idle,
              a_ticket_that_cannot_be_taken_stays_idle, tickets_and_threads_wait_in_one_queue,
              a_returned_ticket_leaves_the_queue_or_passes_its_units_on,
              a_ticket_that_left_the_queue_without_units_says_why_until_it_is_returned,
              the_claiming_thread_sees_what_the_releaser_wrote,
              of_two_threads_that_take_a_ticket_one_succeeds,
              a_claim_gets_the_units_that_the_ticket_was_taken_for,
              in_a_forked_child_a_ticket_that_waited_is_idle);
}
