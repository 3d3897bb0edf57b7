/* SPDX-License-Identifier: MIT */
/* cluster_none.c - in place of cluster.c, where libcurl or the JSON library were missing. */
#include "cluster.h"

#include <err.h>

int cluster_main(const struct request *request)
{
    (void)request;
    warnx("--cluster: this fairsem-limit was built without libfairsem-cluster");
    return OWN_FAILURE;
}
