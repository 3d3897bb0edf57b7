/* SPDX-License-Identifier: MIT */
/* http.c - see http.h. */
#define _GNU_SOURCE             /* explicit_bzero */
#include "http.h"

#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time-out for connecting, in milliseconds. */
#define CONNECT_MS 900L

struct fs_http {
    CURLM *multi;
    const struct fs_options *options;
    unsigned pass;      /* number of the host's addresses to skip, because they hung */
    bool fresh;         /* use new connections, because a question timed out and none has succeeded since */
};

int fs_http_open(struct fs_http **http, const struct fs_options *options)
{
    struct fs_http *made = calloc(1, sizeof *made);

    if (made == NULL || (made->multi = curl_multi_init()) == NULL) {
        free(made);
        return ENOMEM;
    }
    made->options = options;
    *http = made;
    return 0;
}

void fs_http_close(struct fs_http *http)
{
    curl_multi_cleanup(http->multi);
    free(http);
}

/* Pass the complete lines of a stream to exchange->line.  Returns false to end the exchange. */
static bool hand_lines_on(struct fs_exchange *exchange)
{
    char *at = exchange->bytes, *end = exchange->bytes + exchange->used, *stop;

    while ((stop = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        if (stop > at && !exchange->line(exchange, at, (size_t)(stop - at))) {
            exchange->enough = true;
            return false;
        }
        at = stop + 1;
    }
    exchange->used = (size_t)(end - at);
    memmove(exchange->bytes, at, exchange->used);
    exchange->too_long = exchange->used > FS_LINE_MAX;
    return !exchange->too_long;
}

/* curl's callback for received bytes.  A result other than n ends the exchange. */
static size_t receive_bytes(char *bytes, size_t one, size_t n, void *arg)
{
    struct fs_exchange *exchange = arg;

    (void)one;
    exchange->too_long = exchange->used + n > FS_ANSWER_MAX;
    if (exchange->too_long)
        return 0;
    if (exchange->used + n > exchange->size) {
        size_t size = 2 * (exchange->used + n) + 1024;
        char *more = realloc(exchange->bytes, size);

        if (more == NULL)
            return 0;
        exchange->bytes = more;
        exchange->size = size;
    }
    memcpy(exchange->bytes + exchange->used, bytes, n);
    exchange->used += n;
    return exchange->line == NULL || hand_lines_on(exchange) ? n : 0;
}

/* Returns false if memory runs out. */
static bool add_headers(struct fs_exchange *exchange, const char *authorization)
{
    const char *const headers[] = { "Content-Type: application/json", "Expect:", authorization };

    for (size_t i = 0; i < 3 && headers[i] != NULL; i++) {
        struct curl_slist *longer = curl_slist_append(exchange->headers, headers[i]);

        if (longer == NULL)
            return false;
        exchange->headers = longer;
    }
    return true;
}

/*
 * curl's callback that opens a socket, or skips an address.  curl tries the next address of a host only if a
 * connect fails, so this function must skip an address that accepts connections and then hangs.
 */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct fs_exchange *exchange = arg;

    (void)purpose;
    if (exchange->passed < exchange->pass) {
        exchange->passed++;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Returns true for an endpoint on this machine.  Like etcdctl, we use no proxy for such an endpoint. */
static bool is_of_this_machine(const char *url)
{
    const char *host = strstr(url, "://") + 3;

    return (strncmp(host, "localhost", 9) == 0 && (host[9] == ':' || host[9] == '/'))
           || strncmp(host, "127.", 4) == 0 || strncmp(host, "[::1]", 5) == 0;
}

/* Returns false if memory runs out. */
static bool set_curl_options(struct fs_http *http, struct fs_exchange *exchange, const char *url,
                             long timeout_ms)
{
    CURL *easy = exchange->easy;
    CURLcode bad = CURLE_OK;

#define SET(option, value) (bad = bad != CURLE_OK ? bad : curl_easy_setopt(easy, option, value))
    SET(CURLOPT_URL, url);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_HTTPHEADER, exchange->headers);
    SET(CURLOPT_POSTFIELDS, exchange->body);
    SET(CURLOPT_USERAGENT, "fairsem");
    SET(CURLOPT_WRITEFUNCTION, receive_bytes);
    SET(CURLOPT_WRITEDATA, exchange);
    SET(CURLOPT_PRIVATE, exchange);
    SET(CURLOPT_ERRORBUFFER, exchange->why);
    SET(CURLOPT_NOSIGNAL, 1L);
    if (is_of_this_machine(url))
        SET(CURLOPT_PROXY, "");
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(CURLOPT_OPENSOCKETDATA, exchange);
    SET(CURLOPT_FRESH_CONNECT, (long)http->fresh);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* curl_easy_cleanup must not wait for a resolver thread: a hung name server would delay all renewals. */
    SET(CURLOPT_QUICK_EXIT, 1L);
#endif
    SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    SET(CURLOPT_TIMEOUT_MS, timeout_ms);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    for (int i = FS_CA; i < FS_FILES; i++) {
        static const CURLoption file_options[FS_FILES] = {
            [FS_CA] = CURLOPT_CAINFO, [FS_CERT] = CURLOPT_SSLCERT, [FS_KEY] = CURLOPT_SSLKEY,
        };
        char copy[40];

        snprintf(copy, sizeof copy, "/proc/self/fd/%d", http->options->files->copies[i]);
        if (http->options->files->copies[i] >= 0)
            SET(file_options[i], copy);
    }
#undef SET
    return bad == CURLE_OK;
}

void fs_http_free_question(char *body)
{
    if (body != NULL)
        explicit_bzero(body, strlen(body));
    free(body);
}

static void clear_exchange(struct fs_exchange *exchange)
{
    curl_easy_cleanup(exchange->easy);
    fs_http_free_question(exchange->body);
    curl_slist_free_all(exchange->headers);
    free(exchange->bytes);
    exchange->http = NULL;
}

int fs_http_start(struct fs_http *http, struct fs_exchange *exchange, const char *url,
                  const char *authorization, char *body, long timeout_ms)
{
    *exchange = (struct fs_exchange){
        .ended = exchange->ended, .line = exchange->line, .owner = exchange->owner,
        .easy = curl_easy_init(), .body = body, .pass = http->pass,
    };
    if (exchange->easy == NULL || !add_headers(exchange, authorization)
        || !set_curl_options(http, exchange, url, timeout_ms)
        || curl_multi_add_handle(http->multi, exchange->easy) != CURLM_OK) {
        clear_exchange(exchange);
        return ENOMEM;
    }
    exchange->http = http;
    return 0;
}

void fs_http_describe(const struct fs_exchange *exchange, const char *what, char *text, size_t size)
{
    size_t n = exchange->used < 90 ? exchange->used : 90;
    char *url = NULL, *host;

    curl_easy_getinfo(exchange->easy, CURLINFO_EFFECTIVE_URL, &url);
    host = strchr(url, '@') != NULL ? strchr(url, '@') + 1 : strstr(url, "://") + 3;
    if (what == NULL && exchange->why[0] != '\0')
        what = exchange->why;
    if (what != NULL)
        snprintf(text, size, "%.*s: %s", (int)strcspn(host, "/"), host, what);
    else
        snprintf(text, size, "%.*s: HTTP %ld: %.*s", (int)strcspn(host, "/"), host, exchange->status,
                 (int)n, exchange->bytes);
    text[strcspn(text, "\r\n")] = '\0';
    fs_copy_printable(text, size, text);
}

void fs_http_stop(struct fs_exchange *exchange)
{
    if (exchange->http == NULL)
        return;
    curl_multi_remove_handle(exchange->http->multi, exchange->easy);
    clear_exchange(exchange);
}

void fs_http_wait(struct fs_http *http, int descriptor)
{
    struct curl_waitfd extra = { .fd = descriptor, .events = CURL_WAIT_POLLIN };

    curl_multi_poll(http->multi, &extra, 1, 60000, NULL);
}

void fs_http_wake(struct fs_http *http)
{
    curl_multi_wakeup(http->multi);
}

static int error_of_curl(const struct fs_exchange *exchange, CURLcode code)
{
    if (exchange->too_long)
        return EPROTO;
    if (code == CURLE_OK || exchange->enough)
        return 0;
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
        return EPERM;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
        /* A TLS alert, which in TLS 1.3 comes after the handshake, means that our certificate is refused. */
        return strstr(exchange->why, "alert") != NULL ? EPERM : ENETUNREACH;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        return EPROTO;
    default:
        return ENETUNREACH;
    }
}

/*
 * Choose the address for the next question.  Returns true to retry this exchange at the first address, because
 * addresses were skipped, and no other address accepted the connection.
 */
static bool ran_out_of_addresses(struct fs_http *http, struct fs_exchange *exchange, CURLcode code)
{
    if (code == CURLE_COULDNT_CONNECT && exchange->passed > 0) {
        http->pass = exchange->pass = exchange->passed = 0;
        return true;
    }
    if (code == CURLE_OPERATION_TIMEDOUT && exchange->pass == http->pass)
        http->pass++;
    http->fresh = code == CURLE_OPERATION_TIMEDOUT || (http->fresh && code != CURLE_OK);
    return false;
}

void fs_http_iterate(struct fs_http *http)
{
    int running, left;
    CURLMsg *message;

    curl_multi_perform(http->multi, &running);
    while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
        CURLcode code = message->data.result;
        CURL *easy = message->easy_handle;
        struct fs_exchange *exchange, old;
        char *mine = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &mine);
        exchange = (struct fs_exchange *)(void *)mine;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &exchange->status);
        curl_multi_remove_handle(http->multi, easy);
        if (ran_out_of_addresses(http, exchange, code)
            && curl_multi_add_handle(http->multi, easy) == CURLM_OK)
            continue;
        exchange->http = NULL;
        /* Free a copy of the exchange, because `ended` may start the exchange again. */
        old = *exchange;
        exchange->ended(exchange, error_of_curl(&old, code));
        clear_exchange(&old);
    }
}
