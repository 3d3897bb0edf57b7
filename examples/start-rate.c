/* SPDX-License-Identifier: MIT */
/*
 * start-rate.c - a rate of starts, for requests that have tickets instead of threads.
 *
 * A unit is the right to start one request.  A request never gives its unit back.  Instead, a clock releases
 * one unit at each interval, for the oldest ticket.  The capacity is 1: while there are no requests, at most
 * one unit is saved up, so no burst follows.  A request that is given up returns its ticket, and uses up no
 * start.
 *
 * For a rate between processes see --rate of fairsem-limit(1).
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fairsem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REQUESTS = 8, GIVEN_UP = 3, INTERVAL_NS = 10000000 };       /* 100 starts per second */

static fairsem_t starts = FAIRSEM_INITIALIZER_BOUNDED(1, 1);
static fairsem_t nothing = FAIRSEM_INITIALIZER(0);      /* has no units: an acquire sleeps until its deadline */
static fairsem_ticket_t ticket[REQUESTS];
static int number[REQUESTS], started;

static void start(int request)
{
    printf("request %d starts\n", request);
    started++;
}

/* Runs in the thread of the clock, which has just released the unit. */
static void start_granted(fairsem_ticket_t *granted, void *request)
{
    fairsem_units_t right = { 0 };

    if (fairsem_ticket_claim(granted, &right) != 0)
        exit(EXIT_FAILURE);
    fairsem_units_forget(&right);       /* the right is used up */
    start(*(const int *)request);
}

static void arrive(int request)
{
    fairsem_units_t right = { 0 };
    int error;

    number[request] = request;
    error = fairsem_ticket_take(&ticket[request], &starts, 1, 0, start_granted, &number[request]);
    if (error == EINPROGRESS)
        return;                         /* start_granted() will be called */
    if (error != 0 || fairsem_ticket_claim(&ticket[request], &right) != 0)
        exit(EXIT_FAILURE);
    fairsem_units_forget(&right);
    start(request);
}

int main(void)
{
    struct timespec begun, now, next;
    int error, ticks = 0;

    clock_gettime(CLOCK_MONOTONIC, &begun);     /* a clock that nobody can set */
    for (int i = 0; i < REQUESTS; i++)
        arrive(i);
    fairsem_ticket_return(&ticket[GIVEN_UP]);
    for (next = begun; started < REQUESTS - 1; ticks++) {
        next.tv_nsec += INTERVAL_NS;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        if (fairsem_acquire_until(&nothing, 1, CLOCK_MONOTONIC, &next) != ETIMEDOUT)
            return EXIT_FAILURE;
        error = fairsem_release(&starts, 1);
        if (error != 0 && error != EOVERFLOW)   /* EOVERFLOW: the previous unit is still free */
            return EXIT_FAILURE;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("started %d in %d intervals%s\n", started, ticks,
           (now.tv_sec - begun.tv_sec) * 1000000000LL + now.tv_nsec - begun.tv_nsec >= (long long)ticks * INTERVAL_NS
           ? "" : ", which is TOO FAST");
    for (int i = 0; i < REQUESTS; i++)
        fairsem_ticket_return(&ticket[i]);
    return fairsem_destroy(&starts) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
