/* SPDX-License-Identifier: MIT */
/*
 * event-loop.c - a server with one thread that limits the requests in flight (Linux).
 *
 * A request takes a unit with a ticket.  If the ticket is not granted at once, it waits in the
 * queue and the loop goes on.  When the ticket is granted, its callback wakes the loop through an eventfd.
 * The callback runs in the thread that released the unit.  In this program the loop's thread releases
 * all units, but any thread could.
 *
 *   Overload   attr.max_waiters: when the queue is full, the answer is BUSY.
 *   Hang-up    A request that is canceled while it waits returns its ticket.
 *   Shutdown   fairsem_close ends all waits: CLOSING.  Requests in flight are finished.
 *
 * The server has a socket to its clients and one to its upstream, which does the work.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fairsem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIMIT = 4, QUEUE = 16, SHED = 10, CLOSE_AFTER = 8 };
enum { REQUESTS = LIMIT + QUEUE + SHED + 1 /* that comes when the server is closing */ };
enum kind { GET, HANG_UP, DONE, GONE, BUSY, CLOSING, KINDS };

struct message { enum kind kind; int request; };

static fairsem_t limit;
static fairsem_ticket_t ticket[REQUESTS]; /* one per request, in order of arrival */
static fairsem_units_t units[REQUESTS];   /* held by the requests in flight */
static int arrived, looked_at, started, most, answers[KINDS];
static int epoll, wake, clients[2], upstream[2]; /* sockets: our end, their end */

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "event-loop: FAILED: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static void post(int fd, enum kind kind, int request)
{
    struct message m = { kind, request };

    check(send(fd, &m, sizeof(m), MSG_NOSIGNAL) == sizeof(m), "send");
}

/* End a request.  The request gives back what it has: its place in the queue, or its unit. */
static void answer(int request, enum kind kind)
{
    answers[kind]++;
    post(clients[0], kind, request);
    fairsem_ticket_return(&ticket[request]);
    fairsem_units_release(&units[request]);
}

static void on_ticket(fairsem_ticket_t *which, void *arg)
{
    (void)which;
    eventfd_write(*(int *)arg, 1);
}

/* Start the requests that were granted.  Tickets are granted in order: stop at the first that waits. */
static void look_at_tickets(void)
{
    for (; looked_at < arrived; looked_at++) {
        int err = fairsem_ticket_claim(&ticket[looked_at], &units[looked_at]);

        if (err == EAGAIN)
            break;
        if (err == ESHUTDOWN)
            answer(looked_at, CLOSING);
        if (err != 0)
            continue; /* the request has its answer already */
        started++;
        most = started - answers[DONE] > most ? started - answers[DONE] : most;
        post(upstream[1], DONE, looked_at); /* a real upstream would send this itself */
    }
}

static void on_message(enum kind kind, int request)
{
    check(request >= 0 && request <= arrived && request < REQUESTS, "number of a request");
    if (kind == GET) {
        int err = fairsem_ticket_take(&ticket[request], &limit, 1, 0, on_ticket, &wake);

        arrived++;
        if (err != 0 && err != EINPROGRESS)
            answer(request, err == ENOBUFS ? BUSY : CLOSING);
    } else if (kind == DONE) {
        answer(request, DONE);
        if (answers[DONE] == CLOSE_AFTER) { /* as if the server had been told to end */
            fairsem_close(&limit, 0);
            post(clients[1], GET, REQUESTS - 1);
        }
    } else if (fairsem_ticket_state(&ticket[request]) == FAIRSEM_TICKET_WAITING) {
        answer(request, GONE); /* only a waiting request is canceled; one in flight is finished */
    }
}

static void watch(int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

    check(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

int main(void)
{
    fairsem_attr_t attr = { .name = "in flight", .capacity = LIMIT, .max_waiters = QUEUE };
    int got[KINDS] = { 0 }, type = SOCK_SEQPACKET | SOCK_CLOEXEC;
    struct epoll_event event;
    struct message m;

    check(fairsem_init(&limit, LIMIT, &attr) == 0, "fairsem_init");
    check(socketpair(AF_UNIX, type, 0, clients) == 0, "socketpair");
    check(socketpair(AF_UNIX, type, 0, upstream) == 0, "socketpair");
    epoll = epoll_create1(EPOLL_CLOEXEC);
    watch(clients[0]);
    watch(upstream[0]);
    watch(wake = eventfd(0, EFD_CLOEXEC));
    for (int i = 0; i < REQUESTS - 1; i++)
        post(clients[1], GET, i);
    post(clients[1], HANG_UP, LIMIT);

    while (answers[DONE] + answers[GONE] + answers[BUSY] + answers[CLOSING] < REQUESTS) {
        if (epoll_wait(epoll, &event, 1, -1) < 1)
            continue;
        if (event.data.fd == wake)
            eventfd_read(wake, &(eventfd_t){ 0 });
        else
            while (recv(event.data.fd, &m, sizeof(m), MSG_DONTWAIT) == sizeof(m))
                on_message(m.kind, m.request);
        look_at_tickets();
    }
    while (recv(clients[1], &m, sizeof(m), MSG_DONTWAIT) == sizeof(m))
        got[m.kind]++;
    printf("served %d\nshed %d\nhung up %d\nrefused at shutdown %d\nmost in flight %d\n",
           got[DONE], got[BUSY], got[GONE], got[CLOSING], most);
    check(got[DONE] == LIMIT + CLOSE_AFTER && got[BUSY] == SHED && got[GONE] == 1, "answers");
    check(got[CLOSING] == QUEUE - 1 - CLOSE_AFTER + 1, "answers at shutdown");
    check(most == LIMIT && fairsem_available(&limit) == LIMIT, "units");
    return 0;
}
