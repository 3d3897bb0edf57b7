/* SPDX-License-Identifier: MIT */
/* srv_absent.c - in place of srv.c, on a system whose resolver has no res_nquery(), such as musl's. */
#include "srv.h"

#include <errno.h>

int fs_srv_find(const char *domain, int (*take)(void *arg, const char *url, size_t length), void *arg)
{
    (void)domain;
    (void)take;
    (void)arg;
    return ENOTSUP;
}
