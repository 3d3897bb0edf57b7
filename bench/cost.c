/* SPDX-License-Identifier: MIT */
/*
 * cost.c - operations whose instructions callgrind counts, for cost.sh.
 *
 * callgrind counts the instructions inside the functions named count_..., in all threads, with those
 * of the C library.  Times differ from run to run, so a regression of a few percent does not show in
 * them; the number of instructions is the same in each run.
 *
 * A hand-off is the whole way of a unit to a sleeping thread: the acquire, which joins the queue
 * and falls asleep, the release that grants the unit, and the return of the acquire.  The releaser waits
 * until the other thread is in the queue.  valgrind runs one thread at a time: it then lets the other
 * thread go on until that sleeps.  Both threads are on one core, where no thread spins.
 */
#define _POSIX_C_SOURCE 200809L

#include "machine.h"
#include "pin.h"

#include <errno.h>
#include <fairsem.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 10, OPERATIONS = 2000 };

static fairsem_t sem;
static atomic_int returned; /* how many waits of the sleeper have returned */

static void check(int error)
{
    if (error)
        abort();
}

__attribute__((noinline)) void count_pairs(int n);
__attribute__((noinline)) void count_pairs(int n)
{
    for (int i = 0; i < n; i++) {
        check(fairsem_acquire(&sem, 1));
        check(fairsem_release(&sem, 1));
    }
}

__attribute__((noinline)) void count_acquire(void);
__attribute__((noinline)) void count_acquire(void)
{
    check(fairsem_acquire(&sem, 1));
}

__attribute__((noinline)) void count_release(void);
__attribute__((noinline)) void count_release(void)
{
    check(fairsem_release(&sem, 1));
}

__attribute__((noinline)) void count_tickets(int n);
__attribute__((noinline)) void count_tickets(int n)
{
    fairsem_ticket_t ticket;
    fairsem_units_t units = { 0 };

    memset(&ticket, 0, sizeof(ticket));
    for (int i = 0; i < n; i++) {
        check(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL) != EINPROGRESS);
        check(fairsem_release(&sem, 1));
        check(fairsem_ticket_claim(&ticket, &units));
        fairsem_units_forget(&units);
    }
}

static void *sleeper(void *arg)
{
    for (int i = 0; i < WARM_UP + OPERATIONS; i++) {
        if (i < WARM_UP)
            check(fairsem_acquire(&sem, 1)); /* allocates the memory that a thread needs to sleep */
        else
            count_acquire();
        atomic_store(&returned, i + 1);
    }
    return arg;
}

static void hand_off(void)
{
    pthread_t thread;

    /* The waiter must sleep at once: a waiter that yields loads its state any number of times. */
    check(fairsem_init(&sem, 0, &(fairsem_attr_t){ .flags = FAIRSEM_NO_SPIN }));
    check(pthread_create(&thread, NULL, sleeper, NULL));
    for (int i = 0; i < WARM_UP + OPERATIONS; i++) {
        while (atomic_load(&returned) != i || fairsem_waiters(&sem) == 0)
            sched_yield();
        if (i < WARM_UP)
            check(fairsem_release(&sem, 1));
        else
            count_release();
    }
    check(pthread_join(thread, NULL));
}

static void conditions(void)
{
    struct machine m;

    machine_look(&m);
    printf("%s; %s; %s; fairsem on POSIX condition variables\n", strrchr(m.kernel, ' ') + 1, m.libc,
           m.compiler);
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";

    pin_self(0);
    check(fairsem_init(&sem, 1, NULL));
    if (strcmp(what, "conditions") == 0)
        conditions();
    else if (strcmp(what, "operations") == 0)
        printf("%d\n", OPERATIONS);
    else if (strcmp(what, "pair") == 0)
        count_pairs(OPERATIONS);
    else if (strcmp(what, "hand-off") == 0)
        hand_off();
    else if (strcmp(what, "ticket") == 0 && fairsem_tryacquire(&sem, 1) == 0)
        count_tickets(OPERATIONS);
    else
        return 2;
    return 0;
}
