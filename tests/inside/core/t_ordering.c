/* SPDX-License-Identifier: MIT */
/*
 * t_ordering.c - a thread that takes units sees what their releaser wrote, on each path from a release to an
 * acquire.
 *
 * Nothing else orders the two threads: the test uses relaxed loads until there is a unit to take.
 * So ThreadSanitizer reports a race if the library does not order the threads.
 */
#include "suite.h"
#include "workers.h"

#include "queue.h"
#include "section.h"
#include "wait.h"


#define TEXT 4711

struct message {
    fairsem_t        sem;
    fairsem_ticket_t held;      /* the only unit, before it is sent */
    fairsem_ticket_t taken;
    int              text;      /* not atomic */
};

/* ---- How the unit is sent ---- */

static void *release_it(void *arg)
{
    struct message *m = arg;

    m->text = TEXT;
    fairsem_release(&m->sem, 1);
    return NULL;
}

/* Release in the critical section, with no waiter to grant. */
static void *return_it(void *arg)
{
    struct message *m = arg;

    m->text = TEXT;
    fairsem_ticket_return(&m->held);
    return NULL;
}

/* ---- How it is taken ---- */

static void try(struct message *m)
{
    ck_assert_int_eq(fairsem_tryacquire(&m->sem, 1), 0);
}

static void take_upto(struct message *m)
{
    ck_assert_int_eq(fairsem_tryacquire_upto(&m->sem, 1), 1);
}

/* Take in the critical section, after a release outside it. */
static void take_ticket(struct message *m)
{
    ck_assert_int_eq(fairsem_ticket_take(&m->taken, &m->sem, 1, 0, NULL, NULL), 0);
}

static void message_comes(void *(*send)(void *), void (*take)(struct message *))
{
    for (int round = 0; round < 100; round++) {
        struct message m = { .text = 0 };
        _Atomic int64_t *word = &fs_inside(&m.sem)->word;
        pthread_t sender;

        ck_assert_int_eq(fairsem_init(&m.sem, 1, NULL), 0);
        ck_assert_int_eq(fairsem_ticket_take(&m.held, &m.sem, 1, 0, NULL, NULL), 0);
        start_thread(&sender, send, &m);
        while (atomic_load_explicit(word, memory_order_relaxed) != 2)   /* one unit, not CONTENDED */
            moment();
        take(&m);
        ck_assert_int_eq(m.text, TEXT);
        pthread_join(sender, NULL);
        fairsem_ticket_return(&m.held);
        fairsem_ticket_return(&m.taken);
        ck_assert_int_eq(fairsem_destroy(&m.sem), 0);
    }
}

START_TEST(a_fast_release_orders_before_a_fast_acquire)
{
    message_comes(release_it, try);
}
END_TEST

START_TEST(a_fast_release_orders_before_an_acquire_of_up_to_n_units)
{
    message_comes(release_it, take_upto);
}
END_TEST

START_TEST(a_fast_release_orders_before_a_grant_in_the_section)
{
    message_comes(release_it, take_ticket);
}
END_TEST

START_TEST(a_release_in_the_section_orders_before_a_fast_acquire)
{
    message_comes(return_it, try);
}
END_TEST

/*
 * A queued waiter is still awake when it is granted, so only its state orders the waiter after the releaser.
 * (The load in fs_in_queue() is relaxed, and orders nothing.)
 */
START_TEST(a_grant_orders_before_a_waiter_that_is_awake)
{
    for (int round = 0; round < 100; round++) {
        struct message m = { .text = 0 };
        struct fs_sem *s = fs_inside(&m.sem);
        struct fs_wait wait = { .waiter.units = 1, .sem = s, .abort = fs_abort_request };
        struct fs_section in;
        pthread_t sender;

        ck_assert_int_eq(fairsem_init(&m.sem, 0, NULL), 0);
        ck_assert_int_eq(fs_wait_begin(&wait, NULL), 0);
        fs_section_begin(&in, s);
        fs_enqueue_thread(&in, &wait.waiter, 0);
        fs_section_end(&in);
        start_thread(&sender, release_it, &m);
        while (fs_in_queue(&wait.waiter))
            moment();
        ck_assert_int_eq(fs_sleep(&wait), FS_GRANTED);
        ck_assert_int_eq(m.text, TEXT);
        pthread_join(sender, NULL);
        ck_assert_int_eq(fairsem_destroy(&m.sem), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("ordering", a_fast_release_orders_before_a_fast_acquire,
              a_fast_release_orders_before_an_acquire_of_up_to_n_units,
              a_fast_release_orders_before_a_grant_in_the_section,
              a_release_in_the_section_orders_before_a_fast_acquire,
              a_grant_orders_before_a_waiter_that_is_awake);
}
