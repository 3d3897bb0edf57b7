/* SPDX-License-Identifier: MIT */
/* srv.c - see srv.h. */
#define _GNU_SOURCE             /* the resolver */
#include "srv.h"

#include <netinet/in.h>
#include <arpa/nameser.h>
#include <errno.h>
#include <netdb.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_SIZE = 8192, RECORDS_MAX = 64, TRIES = 2, TRY_S = 1 };

struct server {
    unsigned priority, weight, port;
    char     host[NS_MAXDNAME];
};

/*
 * Lower priority first, then larger weight.  RFC 2782 has a random order by weight, to spread load over the
 * servers; but here, only one server of the list is used until it fails.
 */
static int by_preference(const void *a, const void *b)
{
    const struct server *x = a, *y = b;

    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return x->weight == y->weight ? 0 : x->weight > y->weight ? -1 : 1;
}

/* Returns true if a host's name is safe as part of a URL. */
static int is_host(const char *host)
{
    return *host != '\0' && strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")
                            == strlen(host);
}

/* Read the valid servers of an answer in order of preference.  Returns their number. */
static int read_servers(const unsigned char *answer, int size, struct server servers[RECORDS_MAX])
{
    int count = 0;
    ns_msg message;

    if (ns_initparse(answer, size, &message) != 0)
        return 0;
    for (int i = 0; i < ns_msg_count(message, ns_s_an) && count < RECORDS_MAX; i++) {
        struct server *server = &servers[count];
        const unsigned char *data;
        ns_rr record;

        if (ns_parserr(&message, ns_s_an, i, &record) != 0 || ns_rr_type(record) != ns_t_srv
            || ns_rr_rdlen(record) < 7)
            continue;
        data = ns_rr_rdata(record);
        server->priority = ns_get16(data);
        server->weight = ns_get16(data + 2);
        server->port = ns_get16(data + 4);
        if (dn_expand(ns_msg_base(message), ns_msg_end(message), data + 6, server->host, sizeof server->host) > 0
            && is_host(server->host))
            count++;
    }
    qsort(servers, (size_t)count, sizeof *servers, by_preference);
    return count;
}

/* Returns the size of the answer, or -1.  Sets *error to the resolver's error. */
static int ask_name_servers(const char *name, unsigned char answer[ANSWER_SIZE], int *error)
{
    struct __res_state state;
    int size;

    memset(&state, 0, sizeof state);
    *error = TRY_AGAIN;
    if (res_ninit(&state) != 0)
        return -1;
    state.retrans = TRY_S;
    state.retry = TRIES;
    state.options |= RES_USE_EDNS0 | RES_IGNTC;
    size = res_nquery(&state, name, ns_c_in, ns_t_srv, answer, ANSWER_SIZE);
    *error = state.res_h_errno;
    res_nclose(&state);
    return size < ANSWER_SIZE ? size : ANSWER_SIZE;
}

int fs_srv_find(const char *domain, int (*take)(void *arg, const char *url, size_t length), void *arg)
{
    static const struct { const char *service, *scheme; } kinds[] = {
        { "_etcd-client-ssl._tcp", "https" }, { "_etcd-client._tcp", "http" },
    };
    struct server *servers = calloc(RECORDS_MAX, sizeof *servers);
    unsigned char *answer = malloc(ANSWER_SIZE);
    int result = servers == NULL || answer == NULL ? ENOMEM : !is_host(domain) ? EINVAL : ENODATA;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && result == ENODATA; i++) {
        char name[NS_MAXDNAME], url[NS_MAXDNAME + 20];
        int error = 0, size, count;

        if (snprintf(name, sizeof name, "%s.%s", kinds[i].service, domain) >= (int)sizeof name) {
            result = EINVAL;
            break;
        }
        size = ask_name_servers(name, answer, &error);
        if (size < 0 && error != HOST_NOT_FOUND && error != NO_DATA) {
            result = ENETUNREACH;
            break;
        }
        count = size < 0 ? 0 : read_servers(answer, size, servers);
        for (int at = 0; at < count && (result == 0 || at == 0); at++) {
            int length = snprintf(url, sizeof url, "%s://%s:%u", kinds[i].scheme, servers[at].host, servers[at].port);

            result = take(arg, url, (size_t)length);
        }
    }
    free(answer);
    free(servers);
    return result;
}
