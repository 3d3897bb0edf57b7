/* SPDX-License-Identifier: MIT */
/*
 * prefork-server.c - a server of several processes that share one limit on connections upstream.
 *
 * The server forks its workers before the first request comes; all workers accept clients from
 * the same socket.  A request needs a connection to the upstream, which allows UPSTREAMS at once.
 * A worker that crashes holds a unit at that moment.  A counter in shared memory or a sem_t would lose
 * the unit for ever, and after the third crash the server would stand still.  fairsem gives the unit
 * to the worker that has waited longest.
 *
 * The program brings its own upstream and clients.  Some requests make the worker crash.
 */
#define _POSIX_C_SOURCE 200809L

#include <fairsem/shared.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UPSTREAMS = 3, WORKERS = 8, CLIENTS = 8, REQUESTS = 20, CRASHES = 2, MOST_OPEN = 64 };

/* Messages of the client to the worker, and of the worker to the upstream. */
enum message { GET = 'g', CRASH = 'c', STOP = 's', DONE = 'd' };

static fairsem_shared_t *upstreams;     /* a unit is the right to be connected */

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "prefork-server: FAILED: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

/* Fork a child that does not outlive the server.  Returns the result of fork. */
static pid_t start(void)
{
    pid_t pid = fork();

    check(pid >= 0, "fork");
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

/* ---- Sockets ---- */

/* bind() is given no address, so Linux chooses a free one. */
static int listen_somewhere(struct sockaddr_un *address, socklen_t *length)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    *length = sizeof *address;
    check(fd >= 0 && bind(fd, (struct sockaddr *)address, sizeof address->sun_family) == 0
          && listen(fd, 128) == 0 && getsockname(fd, (struct sockaddr *)address, length) == 0,
          "listen");
    return fd;
}

static int connect_to(const struct sockaddr_un *address, socklen_t length)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    check(fd >= 0 && connect(fd, (const struct sockaddr *)address, length) == 0, "connect");
    return fd;
}

/* Send a message, and return the answer; EOF if the other side has hung up. */
static int ask(int fd, enum message message)
{
    unsigned char byte = (unsigned char)message;

    check(write(fd, &byte, 1) == 1, "write");
    return read(fd, &byte, 1) == 1 ? byte : EOF;
}

/* ---- The upstream: counts its connections ---- */

/* Answer a readable connection.  Returns the change of the number in use. */
static int serve(struct pollfd *connection, int most)
{
    unsigned char byte;

    if (read(connection->fd, &byte, 1) != 1) {      /* hung up */
        close(connection->fd);
        connection->fd = -1;
        return 0;
    }
    if (byte == STOP)
        _exit(most);
    /* After this answer the connection counts as unused: the worker only closes it, or crashes. */
    byte = DONE;
    check(write(connection->fd, &byte, 1) == 1, "answer");
    return -1;
}

/* The exit status of the upstream is the largest number of connections in use at once. */
static void run_upstream(int listener)
{
    struct pollfd fds[MOST_OPEN] = { { .fd = listener, .events = POLLIN } };
    int in_use = 0, most = 0, count = 1;

    for (;;) {
        check(poll(fds, (nfds_t)count, -1) > 0, "poll");
        for (int i = 1; i < count; i++) {
            if (fds[i].revents != 0)
                in_use += serve(&fds[i], most);
            if (fds[i].fd < 0)
                fds[i--] = fds[--count];
        }
        if (fds[0].revents == 0 || count == MOST_OPEN)
            continue;
        fds[count++] = (struct pollfd){ .fd = accept(listener, NULL, NULL), .events = POLLIN };
        in_use++;
        most = in_use > most ? in_use : most;
    }
}

/* ---- A worker ---- */

static void handle(int client, const struct sockaddr_un *address, socklen_t length)
{
    static const struct timespec work = { .tv_nsec = 1000000 };
    unsigned char message;
    int upstream;

    check(read(client, &message, 1) == 1, "request");
    check(fairsem_shared_acquire(upstreams, 1) == 0, "acquire");
    upstream = connect_to(address, length);
    nanosleep(&work, NULL);
    check(ask(upstream, message) == DONE, "upstream");
    if (message == CRASH)
        raise(SIGKILL);     /* as after a bug, or by the OOM killer; this worker holds a unit */
    close(upstream);
    check(fairsem_shared_release(upstreams, 1) == 0, "release");
    message = DONE;
    check(write(client, &message, 1) == 1, "reply");
}

static pid_t start_worker(int listener, const struct sockaddr_un *address, socklen_t length)
{
    pid_t pid = start();

    while (pid == 0) {
        int client = accept(listener, NULL, NULL);

        handle(client, address, length);
        close(client);
    }
    return pid;
}

/* ---- A client ---- */

static void run_client(const struct sockaddr_un *address, socklen_t length)
{
    for (int i = 0; i < REQUESTS; i++) {
        enum message message = i % (REQUESTS / CRASHES) == 4 ? CRASH : GET;
        int fd = connect_to(address, length), answer = ask(fd, message);

        check(answer == (message == GET ? DONE : EOF), "the answer");
        close(fd);
    }
    _exit(EXIT_SUCCESS);
}

/* ---- The server ---- */

/* Replace workers that crash, until all clients have ended.  Returns how many crashed. */
static int supervise(pid_t *workers, int listener, const struct sockaddr_un *upstream,
                     socklen_t length)
{
    int crashes = 0, clients = CLIENTS, status;

    while (clients > 0) {
        pid_t pid = wait(&status);
        int i = 0;

        while (i < WORKERS && workers[i] != pid)
            i++;
        if (i < WORKERS) {
            check(WIFSIGNALED(status), "a worker");
            crashes++;
            workers[i] = start_worker(listener, upstream, length);
        } else {
            check(status == 0, "a client");
            clients--;
        }
    }
    return crashes;
}

int main(void)
{
    const fairsem_shared_attr_t attr = { .units = UPSTREAMS };
    struct sockaddr_un server, upstream;
    socklen_t server_length, upstream_length;
    int listener = listen_somewhere(&upstream, &upstream_length), most, crashes;
    pid_t workers[WORKERS], upstream_pid;
    fairsem_shared_stat_t stat;

    check(fairsem_shared_open(&upstreams, NULL, 0, 0, &attr) == 0, "open");
    upstream_pid = start();
    if (upstream_pid == 0)
        run_upstream(listener);
    close(listener);
    listener = listen_somewhere(&server, &server_length);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = start_worker(listener, &upstream, upstream_length);
    for (int i = 0; i < CLIENTS; i++) {
        if (start() == 0)
            run_client(&server, server_length);
    }
    crashes = supervise(workers, listener, &upstream, upstream_length);
    for (int i = 0; i < WORKERS; i++) {
        kill(workers[i], SIGTERM);
        waitpid(workers[i], NULL, 0);
    }
    ask(connect_to(&upstream, upstream_length), STOP);
    waitpid(upstream_pid, &most, 0);
    check(fairsem_shared_stat(upstreams, &stat) == 0, "stat");
    printf("requests %d\nworkers that crashed %d\nunits given back for them %lld\n"
           "most connections at once %d\nunits free at the end %lld\n", CLIENTS * REQUESTS, crashes,
           (long long)stat.returned, WEXITSTATUS(most), (long long)stat.available);
    check(crashes == CLIENTS * CRASHES && stat.returned == crashes, "units of the dead");
    check(WEXITSTATUS(most) <= UPSTREAMS && stat.available == UPSTREAMS, "the limit");
    return fairsem_shared_close(upstreams);
}
