/* SPDX-License-Identifier: MIT */
/* cluster_library.c - see cluster_library.h. */
#include "cluster_library.h"

#include <dlfcn.h>
#include <err.h>
#include <string.h>

#define FILE_NAME "libfairsem-cluster.so.0"

static struct cluster_library library;

/* A function, and where its address goes.  The size is that of either: the compiler compares them. */
#define FUNCTION(function, member) \
    { #function, &library.member, sizeof(1 ? &function : library.member) }

static const struct { const char *name; void *member; size_t size; } functions[] = {
    FUNCTION(fairsem_cluster_open, open),
    FUNCTION(fairsem_cluster_close, close),
    FUNCTION(fairsem_cluster_acquire_with, acquire_with),
    FUNCTION(fairsem_cluster_release, release),
    FUNCTION(fairsem_cluster_lost, lost),
    FUNCTION(fairsem_cluster_left, left),
    FUNCTION(fairsem_cluster_fence, fence),
    FUNCTION(fairsem_cluster_fd, fd),
    FUNCTION(fairsem_cluster_users, users),
    FUNCTION(fairsem_cluster_limit, limit),
    FUNCTION(fairsem_cluster_remove, remove),
    FUNCTION(fairsem_token_cancel, token_cancel),
    FUNCTION(fairsem_token_destroy, token_destroy),
};

/* Where the loader searches, or where `make install` has put it, which the loader may not know. */
static void *open_library(void)
{
    void *file = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);

    return file != NULL ? file : dlopen(FAIRSEM_LIBRARY_DIRECTORY "/" FILE_NAME,
                                        RTLD_NOW | RTLD_LOCAL);
}

const struct cluster_library *cluster_library(void)
{
    void *file = open_library();

    if (file == NULL) {
        warnx("--cluster needs libfairsem-cluster: %s", dlerror());
        return NULL;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(file, functions[i].name);

        if (address == NULL) {
            warnx("--cluster needs another libfairsem-cluster: %s", dlerror());
            return NULL;
        }
        memcpy(functions[i].member, &address, functions[i].size);
    }
    return &library;
}
