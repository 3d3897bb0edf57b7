/* SPDX-License-Identifier: MIT */
/* endpoints.c - see endpoints.h. */
#include "endpoints.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A question that is not answered is asked elsewhere after this.  A renewal is due after a third of
 * the lease, and three quarters are the end: with a sixth there is time for two more endpoints.
 */
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
    free(url);
    free(body);
    return error;
}

void fs_endpoints_failed(struct fs_endpoints *endpoints, unsigned generation)
{
    /* With one endpoint nothing else would come of it than that all watches begin again. */
    if (generation == endpoints->generation && endpoints->options->endpoint_count > 1)
        endpoints->generation++;
}

/*
 * It doubles from round to round.  An engine that is overloaded does what it was asked also when
 * nobody waits for the answer any more; asked again and again, it would never get through.
 */
long fs_endpoints_patience(const struct fs_endpoints *endpoints, bool has_lease, unsigned rounds)
{
    int64_t sixth = endpoints->options->ttl_ns / FS_NS_PER_MS / 6;
    long first = has_lease && sixth < ANSWER_MS ? (long)sixth : ANSWER_MS;

    return first << (rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX);
}
