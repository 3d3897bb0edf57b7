/* SPDX-License-Identifier: MIT */
/* quota.h - how many cores the quota of this process's cgroup is worth; for system_linux.c. */
#ifndef FS_QUOTA_H
#define FS_QUOTA_H

#include <limits.h>

#define FS_NO_QUOTA INT_MAX

/*
 * Returns the least quota of the cgroup and of all cgroups above it that are visible, in cores, rounded
 * up.  Anything unexpected counts as no quota.  `root` is "/"; a test has a tree of its own.  May
 * change errno.
 */
int fs_quota_cores(const char *root);

#endif
