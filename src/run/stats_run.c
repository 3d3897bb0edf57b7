/* SPDX-License-Identifier: MIT */
/* stats_run.c - see stats_run.h. */
#define _GNU_SOURCE
#include "stats_run.h"

#include "records_print.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct run {
    struct supervisor     supervisor;   /* first: report() casts a pointer to it */
    const struct command *command;
    struct fs_records    *records;
    char                  path[4096];   /* file of the records, which the program and its children open */
    FILE                 *file;         /* for the report */
    const char           *file_name;
    int64_t               bypass_ns;
};

/*
 * While this process writes its own files, it raises its limit on the size of files, and ignores SIGXFSZ:
 * then a write beyond the limit fails, but does not kill the process.  The program gets the old limit.
 */
struct file_size {
    struct rlimit    limit;
    struct sigaction action;        /* of SIGXFSZ */
};

static void raise_limit(struct file_size *before)
{
    const struct sigaction ignored = { .sa_handler = SIG_IGN };
    struct rlimit highest;

    sigaction(SIGXFSZ, &ignored, &before->action);
    getrlimit(RLIMIT_FSIZE, &before->limit);
    highest = before->limit;
    highest.rlim_cur = highest.rlim_max;
    setrlimit(RLIMIT_FSIZE, &highest);
}

static void restore_limit(const struct file_size *before)
{
    setrlimit(RLIMIT_FSIZE, &before->limit);
    sigaction(SIGXFSZ, &before->action, NULL);
}

static bool make_records(struct run *run)
{
    const char *directory = getenv("TMPDIR");
    int fd;

    if (directory == NULL || *directory == '\0')
        directory = "/tmp";
    if (snprintf(run->path, sizeof run->path, "%s/fairsem-stats-XXXXXX", directory)
        >= (int)sizeof run->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    fd = mkostemp(run->path, O_CLOEXEC);
    if (fd < 0)
        return false;
    /*
     * Allocate all blocks now: if the file system became full later, a write to the map would kill the
     * program.
     */
    if ((errno = posix_fallocate(fd, 0, sizeof *run->records)) == 0)
        run->records = mmap(NULL, sizeof *run->records, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (run->records == NULL || run->records == MAP_FAILED) {
        unlink(run->path);
        return false;
    }
    run->records->version = FS_RECORDS_VERSION;
    if (setenv(FS_RECORDS_ENV, run->path, 1) == 0)
        return true;
    unlink(run->path);
    errno = ENOMEM;
    return false;
}

static bool report(struct supervisor *supervisor, int status)
{
    struct run *run = (struct run *)supervisor;
    struct file_size before;

    unlink(run->path);
    if (status == -1 || run->command->error != 0)
        return true;            /* the program was not run; the caller prints the reason */
    raise_limit(&before);
    if (run->records->processes == 0)
        warnx("%s did not load the interposer, so its semaphores were not fair", run->command->path);
    records_print(run->file, run->records, run->command->path, run->bypass_ns);
    if (fflush(run->file) == 0 && !ferror(run->file))
        return true;
    warn("%s", run->file_name != NULL ? run->file_name : "stderr");
    return false;
}

int stats_run(struct command *command, const char *file_name, int64_t bypass_ns, bool only_count)
{
    struct run run = {
        .supervisor = { .outlived = true, .ended = report },
        .command = command, .file = stderr, .file_name = file_name, .bypass_ns = bypass_ns,
    };
    struct file_size before;
    bool made;

    if (file_name != NULL && (run.file = fopen(file_name, "we")) == NULL) {
        warn("%s", file_name);
        return OWN_FAILURE;
    }
    raise_limit(&before);
    made = make_records(&run);
    restore_limit(&before);
    if (!made) {
        warn("the file for statistics cannot be made");
        return OWN_FAILURE;
    }
    run.records->only_count = only_count;
    return run_as_child(command, &run.supervisor);
}
