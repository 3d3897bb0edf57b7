/* SPDX-License-Identifier: MIT */
/* stats_run.c - see stats_run.h. */
#define _GNU_SOURCE
#include "stats_run.h"

#include "complain.h"
#include "program.h"
#include "records_print.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fs_records *records;
static pid_t program;

/* The file exists for as long as the program runs, because its children open it, too. */
static char records_path[4096];

/*
 * Raise the limit for the size of files as far as possible in this process; the program keeps its
 * own.  If the limit is still too low, a write fails instead of killing the process.
 */
static struct rlimit limit_of_program;

static void raise_limit(void)
{
    struct rlimit highest;

    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_FSIZE, &limit_of_program) != 0)
        return;
    highest = limit_of_program;
    highest.rlim_cur = highest.rlim_max;
    setrlimit(RLIMIT_FSIZE, &highest);
}

static bool make_records(void)
{
    const char *directory = getenv("TMPDIR");
    int fd;

    if (directory == NULL || *directory == '\0')
        directory = "/tmp";
    if (snprintf(records_path, sizeof records_path, "%s/fairsem-stats-XXXXXX", directory)
        >= (int)sizeof records_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    fd = mkostemp(records_path, O_CLOEXEC);
    if (fd < 0)
        return false;
    /* Not sparse: if the file system is full, a write to the map would kill the program. */
    if ((errno = posix_fallocate(fd, 0, sizeof *records)) == 0)
        records = mmap(NULL, sizeof *records, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (records == NULL || records == MAP_FAILED) {
        unlink(records_path);
        return false;
    }
    records->version = FS_RECORDS_VERSION;
    if (setenv(FS_RECORDS_ENV, records_path, 1) == 0)
        return true;
    unlink(records_path);
    errno = ENOMEM;
    return false;
}

static void hand_on(int sig)
{
    kill(program, sig);
}

/* Die by the signal that killed the program, without a core dump of our own. */
static int end_like(int status)
{
    if (WIFSIGNALED(status)) {
        const struct rlimit none = { 0, 0 };
        sigset_t this_one;

        setrlimit(RLIMIT_CORE, &none);
        signal(WTERMSIG(status), SIG_DFL);
        sigemptyset(&this_one);
        sigaddset(&this_one, WTERMSIG(status));
        raise(WTERMSIG(status));
        sigprocmask(SIG_UNBLOCK, &this_one, NULL);
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

int stats_run(const char *path, char **argv, const char *file_name, int64_t bypass_ns, bool only_count)
{
    static const int to_hand_on[] = { SIGHUP, SIGTERM, SIGUSR1, SIGUSR2 };
    struct sigaction on_child, on_large_file;
    sigset_t all, before;
    FILE *file = stderr;
    int status;
    pid_t ended;

    if (file_name != NULL && (file = fopen(file_name, "we")) == NULL) {
        complain("%s: %s", file_name, strerror(errno));
        return OWN_FAILURE;
    }
    sigaction(SIGXFSZ, NULL, &on_large_file);
    raise_limit();
    if (!make_records()) {
        complain("no room for statistics: %s", strerror(errno));
        return OWN_FAILURE;
    }
    records->only_count = only_count;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    /* If it is ignored, waitpid fails.  The program inherits it as it was. */
    sigaction(SIGCHLD, NULL, &on_child);
    signal(SIGCHLD, SIG_DFL);
    program = fork();
    if (program == 0) {
        sigaction(SIGCHLD, &on_child, NULL);
        sigaction(SIGXFSZ, &on_large_file, NULL);
        setrlimit(RLIMIT_FSIZE, &limit_of_program);
        sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(program_become(path, argv));
    }
    if (program < 0) {
        complain("%s", strerror(errno));
        unlink(records_path);
        return OWN_FAILURE;
    }
    for (size_t i = 0; i < sizeof to_hand_on / sizeof to_hand_on[0]; i++)
        signal(to_hand_on[i], hand_on);
    /* The terminal sends these to the program, too. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    /* Others are there, too, if this is the first process of a container. */
    while ((ended = waitpid(-1, &status, 0)) != program) {
        if (ended < 0 && errno != EINTR) {
            complain("%s", strerror(errno));
            unlink(records_path);
            return OWN_FAILURE;
        }
    }
    /* Another process may soon have this process ID, so do not signal it any more. */
    sigprocmask(SIG_BLOCK, &all, NULL);
    unlink(records_path);
    if (records->processes == 0 && WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN)
        return CANNOT_RUN;      /* it was never run, and the reason has been printed */
    if (records->processes == 0)
        complain("%s did not load the interposer: it ran unfairly", path);
    records_print(file, records, path, bypass_ns);
    if (fflush(file) != 0 || ferror(file)) {
        complain("%s: %s", file_name != NULL ? file_name : "stderr", strerror(errno));
        return OWN_FAILURE;
    }
    return end_like(status);
}
