/* SPDX-License-Identifier: MIT */
/* endpoints.c - see endpoints.h. */
#include "endpoints.h"

#include "clock.h"
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A question that is not answered is asked elsewhere after this. */
#define ANSWER_MS 1700L

/* It doubles so often, at most: fs_endpoints_patience(). */
enum { ROUNDS_MAX = 3 };

int fs_endpoints_post(struct fs_endpoints *endpoints, struct fs_exchange *exchange,
                      const char *path, const char *token, char *body, long timeout_ms)
{
    const struct fs_options *options = endpoints->options;
    const char *base = options->endpoints[endpoints->generation % options->endpoint_count];
    char *url = malloc(strlen(base) + strlen(path) + 1);
    int error = ENOMEM;

    if (url != NULL && body != NULL)
        error = fs_http_start(endpoints->http, exchange, strcat(strcpy(url, base), path), token,
                              body, timeout_ms);
    else
        fs_http_forget(body);
    free(url);
    return error;
}

void fs_endpoints_failed(struct fs_endpoints *endpoints, unsigned generation)
{
    /* With one endpoint nothing else would come of it than that all watches begin again. */
    if (generation == endpoints->generation && endpoints->options->endpoint_count > 1)
        endpoints->generation++;
}

/*
 * All endpoints are asked once within the time for a question.  A renewal is due after a third of the
 * lease, and three quarters are the end; so 5/12 of it are for all, and a sixth for one of two.
 *
 * It doubles from round to round.  An engine that is overloaded does what it was asked also when
 * nobody waits for the answer any more; asked again and again, it would never get through.
 */
long fs_endpoints_patience(const struct fs_endpoints *endpoints, bool has_lease, unsigned rounds)
{
    int64_t count = endpoints->options->endpoint_count, all = FS_PATIENCE / FS_NS_PER_MS, first;

    if (has_lease)
        all = fs_earlier(all, endpoints->options->ttl_ns / FS_NS_PER_MS * 5 / 12);
    first = fs_earlier(ANSWER_MS, count <= 2 ? all * 2 / 5 : all / count);
    return (long)first << (rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX);
}
