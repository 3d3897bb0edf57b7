/* SPDX-License-Identifier: MIT */
/* options.h - what fairsem_cluster_open was given, checked and copied. */
#ifndef CLUSTER_OPTIONS_H
#define CLUSTER_OPTIONS_H

#include <fairsem/cluster.h>

enum { FS_ENDPOINTS_MAX = 32 };

struct fs_options {
    char    *endpoints[FS_ENDPOINTS_MAX];   /* URLs, without a slash at the end */
    unsigned endpoint_count;
    char    *user, *password;               /* both or neither; never printed */
    char    *password_file;
    char    *ca_file, *cert_file, *key_file;
    char    *program;                       /* NULL: that of this process */
    int64_t  limit;
    int64_t  ttl_ns;
};

/* 0 or an errno value, as fairsem_cluster_open. */
int fs_options_read(struct fs_options *options, const fairsem_cluster_attr_t *attr);
/* Read the password again.  True: it is another one. */
bool fs_options_password_has_changed(struct fs_options *options);

/* Write zeros over memory that had a password in it and is about to be freed.  NULL: nothing. */
void fs_wipe(volatile char *secret, size_t size);

void fs_options_free(struct fs_options *options);

#endif
