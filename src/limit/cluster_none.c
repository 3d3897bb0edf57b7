/* SPDX-License-Identifier: MIT */
/* cluster_none.c - in place of cluster_exec.c, where libcurl or the JSON library were missing. */
#include "cluster_exec.h"

#include "request.h"

#include <err.h>

int cluster_exec(char **argv)
{
    (void)argv;
    warnx("--cluster: this fairsem-limit was built without libfairsem-cluster");
    return OWN_FAILURE;
}
