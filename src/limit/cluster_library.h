/* SPDX-License-Identifier: MIT */
/*
 * cluster_library.h - libfairsem-cluster, loaded when it is needed: a name of this machine need not
 * wait until the linker has loaded libcurl, and fairsem-limit can be installed without it.
 */
#ifndef LIMIT_CLUSTER_LIBRARY_H
#define LIMIT_CLUSTER_LIBRARY_H

#include <fairsem/cluster.h>

/*
 * Its functions, with their names.  The token's are those of the libfairsem that it uses; ours,
 * which is linked statically, may be another version.
 */
struct cluster_library {
    int (*open)(fairsem_cluster_t **, const char *, const fairsem_cluster_attr_t *);
    int (*close)(fairsem_cluster_t *);
    int (*acquire_with)(fairsem_cluster_t *, int64_t, const fairsem_wait_t *,
                        fairsem_cluster_hold_t *);
    int (*release)(fairsem_cluster_hold_t *);
    int (*lost)(const fairsem_cluster_hold_t *);
    int64_t (*left)(const fairsem_cluster_hold_t *);
    int64_t (*fence)(const fairsem_cluster_hold_t *);
    int (*fd)(const fairsem_cluster_t *);
    int (*users)(fairsem_cluster_t *, fairsem_cluster_user_t[], size_t, size_t *);
    int (*limit)(fairsem_cluster_t *, int64_t *);
    int (*remove)(fairsem_cluster_t *);
    int (*token_cancel)(fairsem_token_t *, int);
    int (*token_destroy)(fairsem_token_t *);
};

/* The library; NULL: a message has been printed. */
const struct cluster_library *cluster_library(void);

#endif
