/* SPDX-License-Identifier: MIT */
/* endpoints.h - which of the endpoints is in use. */
#ifndef CLUSTER_ENDPOINTS_H
#define CLUSTER_ENDPOINTS_H

#include "http.h"

struct fs_endpoints {
    struct fs_http *http;
    struct fs_options *options;
    unsigned generation;    /* one more each time that another comes into use */
};

/*
 * Send a body, from malloc or NULL, to the endpoint that is in use; it is freed.  0 or ENOMEM, as
 * fs_http_start.
 */
int fs_endpoints_post(struct fs_endpoints *endpoints, struct fs_exchange *exchange,
                      const char *path, const char *token, char *body, long timeout_ms);

/* What was sent in a generation has failed: use the next, if there is one, and it is not in use. */
void fs_endpoints_failed(struct fs_endpoints *endpoints, unsigned generation);

/*
 * How long a question waits for its answer, in milliseconds, when each endpoint has had it so often
 * already; less if a lease depends on it.
 */
long fs_endpoints_patience(const struct fs_endpoints *endpoints, bool has_lease, unsigned rounds);

#endif
