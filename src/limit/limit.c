/* SPDX-License-Identifier: MIT */
/*
 * limit.c - fairsem-limit(1): run a command when its turn comes.  Start reading here.
 *
 *      request.h    the command line
 *      names.h      from a name to the file of its segment
 *      local.h      wait in line; change a limit; remove a name; list running and waiting processes
 *      hold.h       hold units without a command, for the rest of a script
 *      rate.h       starts per second
 *      reentrant.h  a command inside a command of the same name
 *      wait_line.h  one wait, with signals and a progress line
 *      run/command.h   run the command
 *
 * For a name that etcd keeps, fairsem-limit executes fairsem-limit-cluster (cluster.c).
 */
#include "hold.h"
#include "local.h"
#include "names.h"
#include "output.h"
#include "reentrant.h"
#include "run/command.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * With --exec the command inherits the descriptor that holds the units.  A shell script that uses the number of
 * this descriptor itself ("exec 3> file") would close the descriptor, and so release the units.  So occupy the
 * low numbers with descriptors that exec closes.
 */
#define LOWEST_DESCRIPTOR 40

static void take_low_descriptors(void)
{
    struct rlimit limit;
    int fd;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 2 * LOWEST_DESCRIPTOR)
        return;
    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && fd < LOWEST_DESCRIPTOR - 1);
}

struct local_supervisor {
    struct supervisor  supervisor;  /* first, because ended() casts &supervisor */
    struct local_name *name;
};

static bool ended(struct supervisor *supervisor, int status)
{
    const struct local_supervisor *local = (const struct local_supervisor *)supervisor;

    (void)status;
    local_release(local->name);     /* not left to failure detection, which would delay the next command */
    return true;
}

static int run(struct local_name *name)
{
    const struct request *request = name->request;
    struct local_supervisor local = { .supervisor = { .ended = ended }, .name = name };
    struct command command;
    int exit_status = find_command(&command, request->command), error;

    if (exit_status != 0)
        return exit_status;
    if (request->exec)
        take_low_descriptors();
    if (!local_acquire(name, &exit_status))
        return local_gave_up(name, exit_status);
    if (name->handle == NULL)
        return run_here(&command);
    error = request->keep ? fairsem_shared_keep_name(name->handle) : 0;
    if (error == 0 && request->exec)
        error = fairsem_shared_keep_on_exec(name->handle, true);
    /* Without an entry in FAIRSEM_LIMIT_HELD, an inner command would wait for this command. */
    if (error == 0 && !reentrant_announce(name->segment, request->units, ""))
        error = ENOMEM;
    if (error == 0 && !request->exec)
        return run_as_child(&command, &local.supervisor);
    if (error == 0)
        command.error = command_exec(&command);
    local_release(name);        /* before the message, because printing may block */
    return error != 0 ? local_result(name, error) : command_failed(&command, command.error);
}

/*
 * fairsem-limit-cluster is a separate program, so that fairsem-limit does not load libcurl for a name of this
 * machine, and can be installed without libcurl.
 *
 * The program is searched for in three places: in the directory of fairsem-limit, as in a build directory; at
 * the installed path relative to that directory, in case the installation was moved; and at the path of `make
 * install`.  In the first two places, no other user may have write access to the program or its directory,
 * because root must not run a program of another user.  A user with write access to a parent directory can only
 * substitute another directory that passes the same check.
 */
static bool only_we_write(int directory, const char *name)
{
    struct stat st;

    return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0
        && (st.st_uid == 0 || st.st_uid == geteuid()) && (st.st_mode & S_IWOTH) == 0
        /* The group of a user other than root may write, because this group usually has no other member. */
        && ((st.st_mode & S_IWGRP) == 0 || (st.st_gid == getegid() && geteuid() != 0));
}

/*
 * Execute the program if it exists.  Returns true if the program is refused because others can write to the
 * program or its directory.
 */
static bool become_program_in(const char *path, const char *name, char **argv)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char program[sizeof "/proc/self/fd/2147483647/" + NAME_MAX];

    snprintf(program, sizeof program, "/proc/self/fd/%d/%s", directory, name);
    if (!only_we_write(directory, ".") || !only_we_write(directory, name))
        return access(program, F_OK) == 0;
    execv(program, argv);
    return false;
}

static int become_cluster_program(char **argv)
{
    static const char installed[] = FAIRSEM_CLUSTER_PROGRAM;    /* "" if the program was not built */
    static const char from_here[] = FAIRSEM_CLUSTER_FROM_HERE "/";
    const char *name = strrchr(installed, '/');
    bool refused = false;
    char path[PATH_MAX + sizeof from_here] = "";

    if (name == NULL)
        return output_failure("--cluster: this fairsem-limit was built without libfairsem-cluster");
    if (readlink("/proc/self/exe", path, PATH_MAX) > 0 && path[0] == '/') {
        char *end = strrchr(path, '/') + 1;

        *end = '\0';
        refused = become_program_in(path, name + 1, argv);
        strcpy(end, from_here);
        refused |= become_program_in(path, name + 1, argv);
    }
    execv(installed, argv);
    warn("--cluster needs libfairsem-cluster: %s", installed);
    if (refused)
        warnx("a nearer one was not run, because others can write to it or its directory");
    return OWN_FAILURE;
}

int main(int argc, char **argv)
{
    struct request request;
    struct local_name name = { .request = &request };
    const char *wrong = NULL;
    int exit_status;

    if (!options_read(argc, argv, &request, &exit_status))
        return exit_status;
    if (request.cluster.on)
        return become_cluster_program(argv);
    wrong = names_set_directory(request.directory);
    if (wrong != NULL)
        return output_failure("%s: %s", request.directory, wrong);
    if (request.name != NULL)
        wrong = name_find(request.name, request.global, name.segment);
    if (wrong != NULL)
        return output_failure("%s: %s", request.name, wrong);
    switch (request.what) {
    case STATUS: return status_print(&request);
    case REMOVE: return local_remove(&name);
    case LIMIT:  return local_set_limit(&name);
    default:     return request.hold_fd >= 0 ? hold_place(&name) : run(&name);
    }
}
