/* SPDX-License-Identifier: MIT */
/*
 * t_quota.c - the quota of a cgroup limits the number of cores.  Tested with a real cgroup, if this process may
 * make a cgroup, and with trees of files as on other machines.
 */
#if defined(__linux__)

#define _GNU_SOURCE         /* nftw, sched_getaffinity */
#include "children.h"
#include "suite.h"

#include "system/quota.h"
#include "system/system.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- The library counts the cores when it is loaded, and reads this quota ---- */

#define QUOTA "FAIRSEM_TEST_QUOTA"

int __real_fs_quota_cores(const char *root);
int __wrap_fs_quota_cores(const char *root);

static const char *root_when_loaded;
static int errno_when_loaded;

int __wrap_fs_quota_cores(const char *root)
{
    root_when_loaded = root;
    errno = EXDEV;
    return getenv(QUOTA) != NULL ? atoi(getenv(QUOTA)) : 1;
}

START_TEST(the_count_of_cores_is_no_more_than_the_quota)
{
    ck_assert_int_eq(fs_cpu_count(), 1);
    ck_assert_str_eq(root_when_loaded, "/");
}
END_TEST

static int allowed_by_mask(void)
{
    cpu_set_t mask;

    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : -1;
}

START_TEST(the_count_of_cores_is_no_more_than_the_affinity_mask_allows)
{
    pid_t child = fork();

    if (child == 0) {
        setenv(QUOTA, "100000", 1);
        execl("/proc/self/exe", "t_quota", "count", (char *)NULL);
        _exit(99);
    }
    ck_assert_int_eq(status_of(child), 0);
}
END_TEST

START_TEST(counting_keeps_errno)
{
    ck_assert_int_ne(errno_when_loaded, EXDEV);
}
END_TEST

/* ---- A tree of files ---- */

static char root[] = "/tmp/fairsem-quota.XXXXXX";

/* Write a file, and make its directories. */
static void write_file(const char *path, const char *text)
{
    char whole[300];
    FILE *file;

    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *at = whole + sizeof root; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        ck_assert(mkdir(whole, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    file = fopen(whole, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static int delete(const char *path, const struct stat *unused, int type, struct FTW *unused_too)
{
    (void)unused;
    (void)type;
    (void)unused_too;
    return remove(path);
}

struct file {
    const char *path, *text;
};

static int open_descriptors(void)
{
    int count = 0;

    for (int file = 0; file < 100; file++)
        count += fcntl(file, F_GETFD) >= 0;
    return count;
}

/* Returns the cores of a process whose /proc/self/cgroup is `cgroup`, in a tree of these files. */
static int cores_in(const char *cgroup, const struct file files[])
{
    int cores, open = open_descriptors();

    strcpy(root + sizeof root - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    write_file("proc/self/cgroup", cgroup);
    for (; files->path != NULL; files++)
        write_file(files->path, files->text);
    cores = __real_fs_quota_cores(root);
    ck_assert_int_eq(open_descriptors(), open);
    ck_assert_int_eq(nftw(root, delete, 10, FTW_DEPTH | FTW_PHYS), 0);
    return cores;
}

/* CORES(CGROUP, { PATH, TEXT }, ...) */
#define CORES(cgroup, ...) cores_in(cgroup, (const struct file[]){ __VA_ARGS__, { NULL, NULL } })

static int cores_of_max(const char *text)
{
    return CORES("0::/a\n", { "sys/fs/cgroup/a/cpu.max", text });
}

static int cores_of_version_1(const char *quota, const char *period)
{
    return CORES("4:cpu:/a\n", { "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", quota },
                 { "sys/fs/cgroup/cpu/a/cpu.cfs_period_us", period });
}

START_TEST(a_quota_is_rounded_up_to_whole_cores)
{
    ck_assert_int_eq(cores_of_max("400000 100000\n"), 4);
    ck_assert_int_eq(cores_of_max("400001 100000\n"), 5);
    ck_assert_int_eq(cores_of_max("499999 100000\n"), 5);
    ck_assert_int_eq(cores_of_max("50000 100000\n"), 1);
    ck_assert_int_eq(cores_of_max("1 1000000\n"), 1);
    ck_assert_int_eq(cores_of_max("2147483647 1\n"), INT_MAX);
    ck_assert_int_eq(cores_of_max("2147483646 1\n"), INT_MAX - 1);
    ck_assert_int_eq(cores_of_max("100000000000000000 50000000000000000\n"), 2);
    ck_assert_int_eq(cores_of_version_1("150000\n", "50000\n"), 3);
    ck_assert_int_eq(cores_of_version_1("150001\n", "50000\n"), 4);
}
END_TEST

START_TEST(anything_unexpected_is_no_quota)
{
    static const char *const texts[] = {
        "max 100000\n", "-1 100000\n", "0 100000\n", "400000 0\n", "400000 -1\n", "400000 max\n",
        "400000 100000", "400000 100000x\n", "400000x 100000\n", " 400000 100000\n", "400000  100000\n",
        "400000\n", "400000 \n", " 100000\n", "+400000 100000\n", "0x4 1\n", "", "\n", " ", "max", "4\t1\n",
        "1000000000000000000 1000000000000000000\n", "18446744073709551620 1\n", "4 18446744073709551617\n",
        "2147483648 1\n", "999999999999999999 1\n", "4294967297 1\n",
        "                                                                400000 100000\n",
        "400000 00000000000000000000000000000000000000000000000000000000000100000\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ck_assert_msg(cores_of_max(texts[i]) == FS_NO_QUOTA, "cpu.max: \"%s\"", texts[i]);
    ck_assert_int_eq(cores_of_version_1("-1\n", "100000\n"), FS_NO_QUOTA);
    ck_assert_int_eq(cores_of_version_1("200000 100000\n", "100000\n"), FS_NO_QUOTA);
    ck_assert_int_eq(cores_of_version_1("200000\n", ""), FS_NO_QUOTA);
    ck_assert_int_eq(cores_of_version_1("200000\n", "0\n"), FS_NO_QUOTA);
    ck_assert_int_eq(cores_of_version_1("", "100000\n"), FS_NO_QUOTA);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_no_quota)
{
    ck_assert_int_eq(CORES("4:cpu:/\n", { "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n" }), FS_NO_QUOTA);
    ck_assert_int_eq(CORES("4:cpu:/\n", { "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n" }), FS_NO_QUOTA);
    ck_assert_int_eq(CORES("0::/\n", { "sys/fs/cgroup/cpu.max/x", "" }), FS_NO_QUOTA);
    ck_assert_int_eq(CORES("0::/\n", { "sys/fs/cgroup", "a file" }), FS_NO_QUOTA);
    ck_assert_int_eq(CORES("0::/\n4:cpu:/\n", { "proc/none", "" }), FS_NO_QUOTA);
    ck_assert_int_eq(__real_fs_quota_cores("/no such directory"), FS_NO_QUOTA);
}
END_TEST

/* The cgroup itself has no file if the controller is not enabled for that cgroup. */
START_TEST(the_least_quota_of_the_cgroup_and_those_above_it_counts)
{
    const char *cgroup = "0::/a/b/c\n";

    ck_assert_int_eq(CORES(cgroup, { "sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n" },
                           { "sys/fs/cgroup/a/b/cpu.max", "300000 100000\n" },
                           { "sys/fs/cgroup/a/cpu.max", "max 100000\n" }), 3);
    ck_assert_int_eq(CORES(cgroup, { "sys/fs/cgroup/a/b/c/x", "" },
                           { "sys/fs/cgroup/a/b/cpu.max", "800000 100000\n" },
                           { "sys/fs/cgroup/a/cpu.max", "500000 100000\n" },
                           { "sys/fs/cgroup/cpu.max", "600000 100000\n" }), 5);
    ck_assert_int_eq(CORES(cgroup, { "sys/fs/cgroup/a/b/c/cpu.max", "200000 100000\n" },
                           { "sys/fs/cgroup/a/b/cpu.max", "400000 100000\n" }), 2);
    ck_assert_int_eq(CORES(cgroup, { "sys/fs/cgroup/a/b/c/d/cpu.max", "100000 100000\n" },
                           { "sys/fs/cgroup/a/x/cpu.max", "100000 100000\n" }), FS_NO_QUOTA);
    ck_assert_int_eq(CORES("7:cpu,cpuacct:/a/b\n",
                           { "sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n" },
                           { "sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n" },
                           { "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "400000\n" },
                           { "sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "200000\n" }), 2);
}
END_TEST

/* In a cgroup namespace the path is "/".  Without a namespace it is the host's path. */
START_TEST(a_container_sees_its_cgroup_at_the_top_of_the_mount)
{
    const struct file limit = { "sys/fs/cgroup/cpu.max", "400000 100000\n" };

    ck_assert_int_eq(CORES("0::/\n", limit), 4);
    ck_assert_int_eq(CORES("0::/system.slice/docker-1234.scope\n", limit), 4);
    ck_assert_int_eq(CORES("0::/../other\n", limit), 4);
    ck_assert_int_eq(CORES("0::/a (deleted)\n", limit), 4);
    ck_assert_int_eq(CORES("11:cpuset:/docker/1234\n4:cpu,cpuacct:/docker/1234\n0::/docker/1234\n",
                           { "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n" },
                           { "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n" }), 2);
}
END_TEST

START_TEST(the_hierarchy_that_has_the_controller_counts)
{
    const struct file quota = { "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "200000\n" };
    const struct file period = { "sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n" };

    ck_assert_int_eq(CORES("3:cpuset:/x\n2:cpuacct,cpu:/a\n1:name=systemd:/x\n0::/x\n", quota, period), 2);
    ck_assert_int_eq(CORES("2:a,cpu,b:/a\n", quota, period), 2);
    ck_assert_int_eq(CORES("3:cpuset:/a\n2:cpuacct:/a\n1:name=cpu:/a\n0::/a\n4:cp:/a\n5:cpX,x:/a\n",
                           quota, period), FS_NO_QUOTA);
    ck_assert_int_eq(CORES("4:cpu:/a\n0::/b\n", quota, period,
                           { "sys/fs/cgroup/unified/b/cpu.max", "300000 100000\n" }), 2);
    ck_assert_int_eq(CORES("4:cpu:/b\n0::/b\n", quota, period,
                           { "sys/fs/cgroup/unified/b/cpu.max", "300000 100000\n" }), 3);
    ck_assert_int_eq(CORES("4:cpu:/a\n", { "sys/fs/cgroup/cpu/a/cpu.max", "300000 100000\n" }), FS_NO_QUOTA);
    ck_assert_int_eq(CORES("0::/a\n", quota, period), FS_NO_QUOTA);
}
END_TEST

START_TEST(a_path_has_any_bytes_but_a_newline)
{
    ck_assert_int_eq(CORES("0::/a:/b c:d\n", { "sys/fs/cgroup/a:/b c:d/cpu.max", "400000 100000\n" }), 4);
    ck_assert_int_eq(CORES("4:cpu:/cpu:/a\n", { "sys/fs/cgroup/cpu/cpu:/a/cpu.cfs_quota_us", "400000\n" },
                           { "sys/fs/cgroup/cpu/cpu:/a/cpu.cfs_period_us", "100000\n" }), 4);
}
END_TEST

/* A line must end within the first 8 KiB of the file. */
START_TEST(other_text_in_the_file_of_the_process_is_skipped)
{
    const struct file limit = { "sys/fs/cgroup/a/cpu.max", "400000 100000\n" };
    static const char *const texts[] = { "", "\n", ":\n", "::\n", "0::\n", "0::a\n", "0:/a\n", "/a\n", "0::/a" };
    static char longer[9000] = "0::/a\n0::/", *line = longer + 6;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ck_assert_msg(CORES(texts[i], limit) == FS_NO_QUOTA, "\"%s\"", texts[i]);
    ck_assert_int_eq(CORES(":\n\nx\n0::/a\n", limit), 4);
    memset(line + 4, 'b', sizeof longer - 11);
    ck_assert_int_eq(CORES(longer, limit), 4);
    memset(longer, 'b', sizeof longer - 1);
    memcpy(longer + sizeof longer - 8, "\n0::/a\n", 7);
    ck_assert_int_eq(CORES(longer, limit), FS_NO_QUOTA);
}
END_TEST

/* The library may be loaded by a thread that is about to be canceled. */
static void *count_while_cancellation_is_pending(void *cores)
{
    pthread_cancel(pthread_self());
    *(int *)cores = __real_fs_quota_cores("/");
    return cores;
}

START_TEST(counting_is_not_a_cancellation_point)
{
    int cores = 0;
    pthread_t thread;
    void *result;

    ck_assert_int_eq(pthread_create(&thread, NULL, count_while_cancellation_is_pending, &cores), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, &cores);
    ck_assert_int_ge(cores, 1);
}
END_TEST

/* ---- A cgroup of this test, with half a core ---- */

static bool write_to(const char *directory, const char *name, const char *text)
{
    char path[300];
    bool written;
    int file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = open(path, O_WRONLY | O_CLOEXEC);
    written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return written;
}

/* Make a cgroup in the hierarchy with the cpu controller, of version 2 or 1, and store its path. */
static bool make_cgroup(char path[300])
{
    static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/cpu" };

    for (int i = 0; i < 2; i++) {
        snprintf(path, 300, "%s/fairsem-%ld", mounts[i], (long)getpid());
        if (mkdir(path, 0700) != 0)
            continue;
        if (i == 0 ? write_to(path, "cpu.max", "50000 100000")
                   : write_to(path, "cpu.cfs_quota_us", "50000"))
            return true;
        rmdir(path);
    }
    return false;
}

START_TEST(a_process_finds_the_quota_of_its_cgroup)
{
    char path[300];
    pid_t child;
    int status;

    if (!make_cgroup(path))
        NOT_HERE("a cgroup with a quota, which this process may not make");
    child = fork();
    if (child == 0) {
        if (!write_to(path, "cgroup.procs", "0"))
            _exit(SKIPPED);
        _exit(__real_fs_quota_cores("/"));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        NOT_HERE("a cgroup with a quota, which this process may not enter");
    ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST

int main(int argc, char **argv)
{
    (void)argv;
    errno_when_loaded = errno;
    if (argc == 2)
        return fs_cpu_count() != allowed_by_mask();
    RUN_SUITE("quota", the_count_of_cores_is_no_more_than_the_quota,
              the_count_of_cores_is_no_more_than_the_affinity_mask_allows, counting_keeps_errno,
              a_quota_is_rounded_up_to_whole_cores, anything_unexpected_is_no_quota,
              a_file_that_cannot_be_read_is_no_quota,
              the_least_quota_of_the_cgroup_and_those_above_it_counts,
              a_container_sees_its_cgroup_at_the_top_of_the_mount, the_hierarchy_that_has_the_controller_counts,
              a_path_has_any_bytes_but_a_newline, other_text_in_the_file_of_the_process_is_skipped,
              counting_is_not_a_cancellation_point, a_process_finds_the_quota_of_its_cgroup);
}

#else
#include "tried.h"

int main(void)
{
    return program_not_here("only Linux has cgroups");
}
#endif
