/* SPDX-License-Identifier: MIT */
/* quota.h - the CPU quota of this process's cgroup, as a number of cores; for system_linux.c. */
#ifndef FS_QUOTA_H
#define FS_QUOTA_H

#include <limits.h>

#define FS_NO_QUOTA INT_MAX

/*
 * Returns the least quota of this process's cgroup and of all visible cgroups above it, in cores, rounded up.
 * An error, or unexpected text, counts as no quota.  `root` is "/", or a test's own directory tree.  May
 * change errno.
 */
int fs_quota_cores(const char *root);

#endif
