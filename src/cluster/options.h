/* SPDX-License-Identifier: MIT */
/* options.h - what fairsem_cluster_open was given, checked and copied. */
#ifndef CLUSTER_OPTIONS_H
#define CLUSTER_OPTIONS_H

#include <fairsem/cluster.h>

#include <stdatomic.h>

enum { FS_ENDPOINTS_MAX = 32 };

/* Room for a password, which is the first line of its file. */
enum { FS_PASSWORD_SIZE = 4096 };

/*
 * What the files have that open was given.  A file system may hang for ever, so they are read by open, and
 * again only by a thread of its own.  curl reads copies in memory.
 */
enum { FS_PASSWORD, FS_CA, FS_CERT, FS_KEY, FS_FILES };

struct fs_files {
    _Atomic int owners;             /* a handle, the thread that reads */
    _Atomic int error;              /* of reading; EINPROGRESS: not yet */
    char *paths[FS_FILES];          /* NULL: there is no such file */
    int   copies[FS_FILES];         /* descriptors; -1: none */
    char  password[FS_PASSWORD_SIZE];   /* never printed */
};

struct fs_options {
    char    *endpoints[FS_ENDPOINTS_MAX];   /* URLs, without a slash at the end */
    unsigned endpoint_count;
    char    *user;
    struct fs_files *files;
    char    *program;                       /* NULL: that of this process */
    int64_t  limit;
    int64_t  ttl_ns;
};

/* 0 or an errno value, as fairsem_cluster_open.  The options are zero before. */
int fs_options_read(struct fs_options *options, const fairsem_cluster_attr_t *attr);

/* Begin to read the files again, and look at `error` of the result.  NULL: no memory. */
struct fs_files *fs_files_again(const struct fs_files *files);
void fs_files_drop(struct fs_files *files);

void fs_options_free(struct fs_options *options);

#endif
