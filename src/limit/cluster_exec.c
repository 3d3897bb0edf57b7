/* SPDX-License-Identifier: MIT */
/* cluster_exec.c - see cluster_exec.h. */
#include "cluster_exec.h"

#include "request.h"

#include <err.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "fairsem-limit-cluster"

/*
 * It is beside this program, as in a build directory, or where `make install` has put it.  Who could
 * replace it there could replace this one, too: no variable and no directory of the caller's leads to
 * what root may run.
 */
int cluster_exec(char **argv)
{
    static const char installed[] = FAIRSEM_PROGRAM_DIRECTORY "/" PROGRAM;
    char beside[PATH_MAX + sizeof PROGRAM] = "";
    ssize_t length = readlink("/proc/self/exe", beside, PATH_MAX);

    if (length > 0 && length < PATH_MAX && beside[0] == '/') {
        strcpy(strrchr(beside, '/') + 1, PROGRAM);
        execv(beside, argv);
    }
    execv(installed, argv);
    warn("--cluster needs libfairsem-cluster: %s", installed);
    return OWN_FAILURE;
}
