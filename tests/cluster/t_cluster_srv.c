/* SPDX-License-Identifier: MIT */
/*
 * t_cluster_srv.c - endpoints from DNS: the system's resolver asks a name server that runs in this program.
 */
#define _GNU_SOURCE             /* the resolver */
#include "suite.h"

#include "options.h"
#include "workers.h"

#include <netinet/in.h>
#include <arpa/inet.h>
#include <errno.h>
#include <resolv.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in name_server;

/* As res_ninit(), but with the name server of this program, whatever /etc/resolv.conf says. */
static int init_at_loopback(struct __res_state *state)
{
    int result = res_ninit(state);

    state->nscount = 1;
    state->nsaddr_list[0] = name_server;
    return result;
}

#undef res_ninit
#define res_ninit init_at_loopback
#include "../../src/cluster/srv.c"

/* ---- The name server ---- */

struct record { const char *service, *host; int priority, weight, port; };

static const struct record *records;    /* the last record has no service */
static _Atomic int questions;
static _Atomic bool is_silent;
static const char *cut;                 /* the length at which the answer is cut, as a number; or NULL */

static size_t put_16(unsigned char *to, int number)
{
    to[0] = (unsigned char)(number >> 8);
    to[1] = (unsigned char)number;
    return 2;
}

/* Write a name such as "a.b": each label behind its length. */
static size_t put_name(unsigned char *to, const char *name)
{
    size_t used = 0;

    while (*name != '\0') {
        size_t length = strcspn(name, ".");

        to[used++] = (unsigned char)length;
        memcpy(to + used, name, length);
        used += length;
        name += length + (name[length] == '.');
    }
    to[used++] = 0;
    return used;
}

/* Answer with the records whose service the question begins with; or that the domain does not exist. */
static size_t make_answer(unsigned char *text, const char *name, size_t size)
{
    int count = 0;

    for (const struct record *at = records; at->service != NULL; at++) {
        size_t length;

        if (strncmp(name, at->service, strlen(at->service)) != 0)
            continue;
        count++;
        size += put_16(text + size, 0xc000 + 12);       /* the name of the question */
        size += put_16(text + size, ns_t_srv);
        size += put_16(text + size, ns_c_in);
        size += put_16(text + size, 0);
        size += put_16(text + size, 60);                /* the time to live */
        length = size;
        size += 2;
        size += put_16(text + size, at->priority);
        size += put_16(text + size, at->weight);
        size += put_16(text + size, at->port);
        size += put_name(text + size, at->host);
        put_16(text + length, (int)(size - length - 2));
    }
    put_16(text + 2, count > 0 ? 0x8180 : 0x8183);
    put_16(text + 6, count);
    put_16(text + 8, 0);
    put_16(text + 10, 0);
    return size;
}

static void *answer_questions(void *arg)
{
    unsigned char text[4096];
    struct sockaddr_in from;
    socklen_t from_size = sizeof from;
    char name[NS_MAXDNAME];
    ssize_t size;

    while ((size = recvfrom(*(int *)arg, text, 512, 0, (struct sockaddr *)&from, &from_size)) > 0) {
        size_t length = 12 + strlen((char *)text + 12) + 1 + 4;

        questions++;
        if (is_silent)
            continue;
        ck_assert_int_gt(dn_expand(text, text + size, text + 12, name, sizeof name), 0);
        length = make_answer(text, name, length);
        if (cut != NULL)
            length = (size_t)atoi(cut);
        sendto(*(int *)arg, text, length, 0, (struct sockaddr *)&from, from_size);
    }
    return NULL;
}

/* ---- What becomes of it ---- */

/*
 * Read a list of endpoints, while the name server knows these records.  Stores the URLs, with spaces between
 * them.  Returns 0 or the error.
 */
static int find(const struct record *known, const char *list, char urls[2000], const char *bytes)
{
    const fairsem_cluster_attr_t attr = { .endpoints = list, .limit = 1 };
    struct fs_options options;
    socklen_t size = sizeof name_server;
    int at = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), result;
    pthread_t thread;

    name_server = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    ck_assert_int_eq(bind(at, (struct sockaddr *)&name_server, size), 0);
    ck_assert_int_eq(getsockname(at, (struct sockaddr *)&name_server, &size), 0);
    records = known;
    cut = bytes;
    questions = 0;
    start_thread(&thread, answer_questions, &at);
    memset(&options, 0, sizeof options);
    result = fs_options_read(&options, &attr);
    *urls = '\0';
    for (unsigned i = 0; result == 0 && i < options.endpoint_count; i++)
        sprintf(urls + strlen(urls), "%s%s", i > 0 ? " " : "", options.endpoints[i]);
    if (result == 0)
        fs_options_free(&options);
    /* An empty message ends the thread. */
    sendto(at, "", 0, 0, (struct sockaddr *)&name_server, size);
    pthread_join(thread, NULL);
    close(at);
    return result;
}

static char found[2000];

START_TEST(endpoints_come_in_the_order_of_their_priorities)
{
    static const struct record both[] = {
        { "_etcd-client._tcp.example.com", "plain.example.com", 0, 0, 2379 },
        { "_etcd-client-ssl._tcp.example.com", "c.example.com", 20, 0, 2379 },
        { "_etcd-client-ssl._tcp.example.com", "b.example.com", 10, 1, 2378 },
        { "_etcd-client-ssl._tcp.example.com", "a.example.com", 10, 5, 65535 },
        { 0 }
    };

    ck_assert_int_eq(find(both, "srv://example.com", found, NULL), 0);
    ck_assert_str_eq(found, "https://a.example.com:65535 https://b.example.com:2378 https://c.example.com:2379");
    ck_assert_int_eq(questions, 1);
    ck_assert_int_eq(find(both, "http://x:1, SRV://example.com,y:2", found, NULL), 0);
    ck_assert_str_eq(found, "http://x:1 https://a.example.com:65535 https://b.example.com:2378 "
                            "https://c.example.com:2379 http://y:2");
}
END_TEST

START_TEST(endpoints_without_tls_are_used_if_there_are_no_others)
{
    static const struct record plain[] = {
        { "_etcd-client._tcp.example.com", "a", 0, 0, 2379 }, { 0 }
    };

    ck_assert_int_eq(find(plain, "srv://example.com", found, NULL), 0);
    ck_assert_str_eq(found, "http://a:2379");
    ck_assert_int_eq(questions, 2);
}
END_TEST

START_TEST(a_domain_without_records_has_no_endpoints)
{
    static const struct record none[] = { { 0 } };

    ck_assert_int_eq(find(none, "srv://example.com", found, NULL), ENODATA);
    ck_assert_int_eq(find(none, "http://x:1,srv://example.com", found, NULL), ENODATA);
    ck_assert_int_eq(questions, 2);
}
END_TEST

START_TEST(an_invalid_domain_is_not_looked_up)
{
    static const struct record none[] = { { 0 } };
    static char longer[1200];

    memset(longer, 'a', sizeof longer - 1);
    memcpy(longer, "srv://", 6);
    ck_assert_int_eq(find(none, "srv://", found, NULL), EINVAL);
    ck_assert_int_eq(find(none, "srv://example.com:2379", found, NULL), EINVAL);
    ck_assert_int_eq(find(none, longer, found, NULL), EINVAL);
    ck_assert_int_eq(questions, 0);
}
END_TEST

/* Each host becomes part of a URL. */
START_TEST(a_record_without_a_host_is_skipped)
{
    static const struct record odd[] = {
        { "_etcd-client-ssl._tcp.example.com", "", 0, 0, 2379 },        /* "not here", RFC 2782 */
        { "_etcd-client-ssl._tcp.example.com", "user@evil", 0, 0, 2379 },
        { "_etcd-client-ssl._tcp.example.com", "a/b", 0, 0, 2379 },
        { "_etcd-client-ssl._tcp.example.com", "good", 0, 0, 2379 },
        { 0 }
    };

    ck_assert_int_eq(find(odd, "srv://example.com", found, NULL), 0);
    ck_assert_str_eq(found, "https://good:2379");
}
END_TEST

START_TEST(endpoints_beyond_the_limit_are_left_out)
{
    static struct record many[FS_ENDPOINTS_MAX + 9];

    for (int i = 0; i < FS_ENDPOINTS_MAX + 8; i++)
        many[i] = (struct record){ "_etcd-client-ssl._tcp.example.com", "a", i, 0, i + 1 };
    ck_assert_int_eq(find(many, "srv://example.com", found, NULL), 0);
    ck_assert_ptr_nonnull(strstr(found, ":32"));
    ck_assert_ptr_null(strstr(found, ":33"));
}
END_TEST

/* The resolver asks the name server twice, and then gives up. */
START_TEST(a_name_server_that_does_not_answer_is_an_error)
{
    static const struct record none[] = { { 0 } };

    is_silent = true;
    ck_assert_int_eq(find(none, "srv://example.com", found, NULL), ENETUNREACH);
    ck_assert_int_eq(questions, 2);
    is_silent = false;
}
END_TEST

/* AddressSanitizer finds reads past the end of the answer. */
START_TEST(a_truncated_answer_names_no_host)
{
    static const struct record one[] = {
        { "_etcd-client-ssl._tcp.example.com", "a.example.com", 0, 0, 2379 }, { 0 }
    };
    char bytes[10];

    for (int length = 53; length < 83; length += 6) {
        snprintf(bytes, sizeof bytes, "%d", length);
        ck_assert_int_eq(find(one, "srv://example.com", found, bytes), ENODATA);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("cluster srv", endpoints_come_in_the_order_of_their_priorities,
              endpoints_without_tls_are_used_if_there_are_no_others,
              a_domain_without_records_has_no_endpoints,
              an_invalid_domain_is_not_looked_up,
              a_record_without_a_host_is_skipped,
              endpoints_beyond_the_limit_are_left_out,
              a_name_server_that_does_not_answer_is_an_error,
              a_truncated_answer_names_no_host);
}
