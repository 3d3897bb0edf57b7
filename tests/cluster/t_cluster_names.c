/* SPDX-License-Identifier: MIT */
/*
 * t_cluster_names.c - a name server that hangs, and a name with an address whose server hangs.
 *
 * This program defines getaddrinfo, and libcurl uses this definition.
 */
#define _GNU_SOURCE             /* memfd_create */
#include "suite.h"

#include "http.h"
#include "workers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static sem_t answers;                   /* number of look-ups that may end while the name server hangs */
static _Atomic bool hangs, gave_up;     /* the name server hangs; a look-up has timed out */
static _Atomic int names;               /* number of look-ups */

/* Each name has two addresses: 127.0.0.1, and then 127.0.0.2. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    struct timespec end;

    (void)name;
    names++;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    if (hangs && sem_timedwait(&answers, &end) != 0)
        gave_up = true;
    *out = NULL;
    for (uint32_t host = 2; host > 0; host--) {
        struct addrinfo *info = calloc(1, sizeof *info + sizeof(struct sockaddr_in));
        struct sockaddr_in *address = (struct sockaddr_in *)(void *)(info + 1);

        address->sin_family = AF_INET;
        address->sin_addr.s_addr = htonl(0x7f000000 + host);
        address->sin_port = htons((uint16_t)(service != NULL ? atoi(service) : 0));
        *info = (struct addrinfo){ .ai_family = AF_INET, .ai_next = *out, .ai_protocol = IPPROTO_TCP,
                                   .ai_socktype = hints != NULL ? hints->ai_socktype : SOCK_STREAM,
                                   .ai_addr = (struct sockaddr *)address,
                                   .ai_addrlen = sizeof *address };
        *out = info;
    }
    return 0;
}

void freeaddrinfo(struct addrinfo *info)
{
    while (info != NULL) {
        struct addrinfo *next = info->ai_next;

        free(info);
        info = next;
    }
}

/* Listen at 127.0.0.HOST, on the port in *address; if that is 0, on a free port, which is stored. */
static int listen_at(uint32_t host, struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(0x7f000000 + host);
    ck_assert_int_eq(bind(server, (struct sockaddr *)address, size), 0);
    ck_assert_int_eq(listen(server, 100), 0);
    ck_assert_int_eq(getsockname(server, (struct sockaddr *)address, &size), 0);
    return server;
}

/* Answer once on each connection. */
static void *serve(void *arg)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
    int server = *(int *)arg, client;
    char bytes[1000];

    while ((client = accept(server, NULL, NULL)) >= 0) {
        if (read(client, bytes, sizeof bytes) > 0)
            (void)!write(client, text, sizeof text - 1);
        close(client);
    }
    return NULL;
}

static int result;
static bool over;

static void ended(struct fs_exchange *exchange, int error)
{
    (void)exchange;
    result = error;
    over = true;
}

/* Send a request to SCHEME://two:PORT, and wait for its end, with or without an answer. */
static int ask_by(const char *scheme, struct fs_http *http, int port, long timeout_ms)
{
    struct fs_exchange exchange = { .ended = ended };
    char url[40];

    over = false;
    snprintf(url, sizeof url, "%s://two:%d/", scheme, port);
    ck_assert_int_eq(fs_http_start(http, &exchange, url, NULL, strdup("{}"), timeout_ms), 0);
    while (!over) {
        fs_http_wait(http, -1);
        fs_http_iterate(http);
    }
    return result;
}

static int ask(struct fs_http *http, int port, long timeout_ms)
{
    return ask_by("http", http, port, timeout_ms);
}

/* Seven bytes that answer each connection; or "", to close each connection in the handshake. */
static const char *bytes_of_tls;

static void *serve_tls(void *arg)
{
    int server = *(int *)arg, client;
    char bytes[1000];

    while ((client = accept(server, NULL, NULL)) >= 0) {
        if (read(client, bytes, sizeof bytes) > 0)
            (void)!write(client, bytes_of_tls, bytes_of_tls[0] != '\0' ? 7 : 0);
        close(client);
    }
    return NULL;
}

static struct fs_files files = { .copies = { -1, -1, -1, -1 } };
static struct fs_options options = { .files = &files };
static struct fs_http *http;
static struct sockaddr_in address;

static void begin(void)
{
    ck_assert_int_eq(fs_http_open(&http, &options), 0);
    memset(&address, 0, sizeof address);
    hangs = gave_up = false;
    names = 0;
}

/* The thread that renews leases must not wait for the name server. */
START_TEST(a_name_server_that_hangs_delays_nothing_else)
{
#if LIBCURL_VERSION_NUM >= 0x075700
    begin();
    sem_init(&answers, 0, 0);
    hangs = true;
    ck_assert_int_eq(ask(http, 1, 200), ENETUNREACH);
    fs_http_close(http);
    ck_assert_int_eq(names, 1);
    ck_assert(!gave_up);
    sem_post(&answers);
#endif
}
END_TEST

/* The server at the first address accepts a connection, and does not answer.  So the second address is used. */
START_TEST(the_next_address_of_a_name_is_tried)
{
    pthread_t thread;
    int silent, good;

    begin();
    silent = listen_at(1, &address);
    good = listen_at(2, &address);
    start_thread(&thread, serve, &good);
    ck_assert_int_eq(ask(http, ntohs(address.sin_port), 300), ENETUNREACH);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(ask(http, ntohs(address.sin_port), 100000), 0);
    shutdown(good, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(good);
    close(silent);
    fs_http_close(http);
}
END_TEST

START_TEST(the_only_address_is_tried_again)
{
    pthread_t thread;
    int only;

    begin();
    only = listen_at(1, &address);
    ck_assert_int_eq(ask(http, ntohs(address.sin_port), 300), ENETUNREACH);
    start_thread(&thread, serve, &only);
    ck_assert_int_eq(ask(http, ntohs(address.sin_port), 100000), 0);
    shutdown(only, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(only);
    fs_http_close(http);
}
END_TEST

/* An authority: curl begins no handshake without one, and a small machine may have none. */
static const char authority[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBejCCAR+gAwIBAgIUOfd0PqepOUo8wtvd7lv16yN+Z8YwCgYIKoZIzj0EAwIw\n"
    "ETEPMA0GA1UEAwwGbm9ib2R5MCAXDTI2MTEyODEzNDE0OVoYDzIxMjYxMTA0MTM0\n"
    "MTQ5WjARMQ8wDQYDVQQDDAZub2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC\n"
    "AAQqQMG2gdXQJttEFCbxD2ufskGnysx5RQuMKhq6HZ2WH/Nyuuicn2BVMZWgcvBV\n"
    "laY3mjvVfrgLv6c2Jxz3AFQEo1MwUTAdBgNVHQ4EFgQU6X97simYvD2SKUtm7M2/\n"
    "HWWum58wHwYDVR0jBBgwFoAU6X97simYvD2SKUtm7M2/HWWum58wDwYDVR0TAQH/\n"
    "BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA/zmQFHZMamHUhqUTsDwr5pmbCNCu\n"
    "adtlSQHsycvN/TYCIQC3pMUiGYDveeQ0+3QT4tw+GfCh1KfYsA+6JTqMx0B5AQ==\n"
    "-----END CERTIFICATE-----\n";

/* A stopped or overloaded server closes the connection in the handshake.  Only an alert is a refusal. */
START_TEST(a_closed_handshake_is_not_a_refusal)
{
    static const struct { const char *bytes; int error; } cases[] = {
        { "", ENETUNREACH }, { "\x15\x03\x03\x00\x02\x02\x2a", EPERM } /* bad certificate */
    };

    files.copies[FS_CA] = memfd_create("authority", MFD_CLOEXEC);
    ck_assert_int_eq(write(files.copies[FS_CA], authority, strlen(authority)), (int)strlen(authority));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pthread_t thread;
        int server;

        begin();
        server = listen_at(1, &address);
        bytes_of_tls = cases[i].bytes;
        start_thread(&thread, serve_tls, &server);
        ck_assert_int_eq(ask_by("https", http, ntohs(address.sin_port), 100000), cases[i].error);
        shutdown(server, SHUT_RDWR);
        pthread_join(thread, NULL);
        close(server);
        fs_http_close(http);
    }
}
END_TEST

int main(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    RUN_SUITE("cluster names", a_name_server_that_hangs_delays_nothing_else,
              the_next_address_of_a_name_is_tried, the_only_address_is_tried_again,
              a_closed_handshake_is_not_a_refusal);
}
