/* SPDX-License-Identifier: MIT */
/*
 * quota_linux.c - the quota of a cgroup, of version 1 or 2 (cgroups(7)); see quota.h.
 *
 * The mount points are fixed paths.  To find them in /proc/self/mountinfo, every program that uses the library
 * would have to read a line for each mount of the machine.
 *
 * All system calls are made by syscall(): it is not a cancellation point, and no other library replaces it.
 */
#if defined(__linux__)

#define _GNU_SOURCE             /* O_PATH, syscall */
#include "system/quota.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Mount points for versions 1 and 2; the first one of a row that exists is used.  In a container, the mount
 * point is the container's own cgroup.
 */
static const char *const mounts[2][2] = {
    { "sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct" },
    { "sys/fs/cgroup/unified", "sys/fs/cgroup" },
};

static int open_at(int directory, const char *path, int flags)
{
    return (int)syscall(SYS_openat, directory, path, flags | O_CLOEXEC);
}

static int open_directory(int directory, const char *path)
{
    return open_at(directory, path, O_PATH | O_DIRECTORY);
}

/* Read at most size - 1 bytes of a file, and add a null character.  An unreadable file counts as empty. */
static void read_text(int directory, const char *name, char *text, size_t size)
{
    int file = open_at(directory, name, O_RDONLY);

    memset(text, 0, size);
    if (file >= 0) {
        (void)syscall(SYS_read, file, text, size - 1);
        syscall(SYS_close, file);
    }
}

/*
 * Returns the number at *at, which `end` must follow, and moves *at behind `end`.  Returns 0 if the text is
 * different, or the number has too many digits.
 */
static int64_t number(const char **at, char end)
{
    size_t digits = strspn(*at, "0123456789");
    int64_t value = 0;

    if (digits > 18 || (*at)[digits] != end)
        return 0;
    for (; digits > 0; digits--)
        value = value * 10 + (*(*at)++ - '0');
    ++*at;
    return value;
}

static int lesser(int a, int b)
{
    return a < b ? a : b;
}

static int quota_in(int cgroup, bool unified)
{
    char text[64];
    const char *at = text;
    int64_t quota, period, cores;

    read_text(cgroup, unified ? "cpu.max" : "cpu.cfs_quota_us", text, sizeof text);
    quota = number(&at, unified ? ' ' : '\n');
    if (!unified) {
        read_text(cgroup, "cpu.cfs_period_us", text, sizeof text);
        at = text;
    }
    period = number(&at, '\n');
    if (quota == 0 || period == 0)
        return FS_NO_QUOTA;
    cores = (quota - 1) / period + 1;
    return cores < FS_NO_QUOTA ? (int)cores : FS_NO_QUOTA;
}

/* Returns the least quota of the cgroup `path` below `mount` and of all cgroups above.  Shortens `path`. */
static int least_quota(int mount, char *path, bool unified)
{
    int least = FS_NO_QUOTA;

    for (;;) {
        int cgroup = open_directory(mount, *path != '\0' ? path : ".");
        char *name = strrchr(path, '/');

        if (cgroup >= 0) {
            least = lesser(least, quota_in(cgroup, unified));
            syscall(SYS_close, cgroup);
        }
        if (*path == '\0')
            return least;
        *(name != NULL ? name : path) = '\0';
    }
}

/* `controllers` is a list with commas. */
static bool has_cpu(const char *controllers)
{
    for (;;) {
        size_t length = strcspn(controllers, ",");

        if (length == 3 && strncmp(controllers, "cpu", length) == 0)
            return true;
        if (controllers[length] == '\0')
            return false;
        controllers += length + 1;
    }
}

/* A line is NUMBER:CONTROLLERS:/PATH.  CONTROLLERS is empty in version 2, the unified hierarchy. */
static int quota_of_line(int root, char *line)
{
    char *controllers = strchr(line, ':'), *path;
    int least, mount;
    bool unified;

    path = controllers != NULL ? strstr(++controllers, ":/") : NULL;
    if (path == NULL)
        return FS_NO_QUOTA;
    *path = '\0';
    path += 2;
    unified = *controllers == '\0';
    if (!unified && !has_cpu(controllers))
        return FS_NO_QUOTA;
    mount = open_directory(root, mounts[unified][0]);
    if (mount < 0)
        mount = open_directory(root, mounts[unified][1]);
    if (mount < 0)
        return FS_NO_QUOTA;
    least = least_quota(mount, path, unified);
    syscall(SYS_close, mount);
    return least;
}

int fs_quota_cores(const char *root)
{
    char lines[8192], *line = lines, *end;
    int least = FS_NO_QUOTA, top = open_directory(AT_FDCWD, root);

    read_text(top, "proc/self/cgroup", lines, sizeof lines);
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        least = lesser(least, quota_of_line(top, line));
    }
    syscall(SYS_close, top);
    return least;
}

#else
typedef int translation_unit_not_empty;
#endif
