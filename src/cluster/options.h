/* SPDX-License-Identifier: MIT */
/* options.h - the attributes given to fairsem_cluster_open, checked and copied. */
#ifndef CLUSTER_OPTIONS_H
#define CLUSTER_OPTIONS_H

#include <fairsem/cluster.h>

#include <stdatomic.h>

enum { FS_ENDPOINTS_MAX = 32 };

/* Size of the buffer for a password, which is the first line of its file. */
enum { FS_PASSWORD_SIZE = 4096 };

/*
 * Files of fairsem_cluster_attr_t.  The event loop never reads a file, because a file system may hang forever.
 * fairsem_cluster_open, and later a separate thread, copy the files into memory, and curl reads these copies.
 */
enum { FS_PASSWORD, FS_CA, FS_CERT, FS_KEY, FS_FILES };

struct fs_files {
    _Atomic int owners;             /* references: the handle, and the thread that reads */
    _Atomic int error;              /* 0, an errno value, or EINPROGRESS until the files are read */
    char *paths[FS_FILES];          /* NULL if not given */
    int   copies[FS_FILES];         /* file descriptors, or -1 if not given */
    char  password[FS_PASSWORD_SIZE];   /* never printed */
};

struct fs_options {
    char    *endpoints[FS_ENDPOINTS_MAX];   /* URLs, without a slash at the end */
    unsigned endpoint_count;
    char    *user;
    struct fs_files *files;
    char    *program;                       /* NULL for the name of this process */
    int64_t  limit;
    int64_t  ttl_ns;
};

/* Returns a result of fairsem_cluster_open.  The options must be zero before. */
int fs_options_read(struct fs_options *options, const fairsem_cluster_attr_t *attr);

/* Start a thread that reads the files again.  Returns the new copy, or NULL if memory runs out. */
struct fs_files *fs_files_again(const struct fs_files *files);
void fs_files_drop(struct fs_files *files);

void fs_options_free(struct fs_options *options);

#endif
