/* SPDX-License-Identifier: MIT */
/*
 * limit.c - fairsem-limit(1): run a command when it is its turn.  Start reading here.
 *
 *      options.h    the command line
 *      names.h      from a name to a segment
 *      turn.h       wait for the turn; change a limit, remove a name
 *      held.h       a command inside a command of the same name
 *      wait_line.h  one wait, with signals and a line of progress
 *      run/command.h   run the command
 *      status.h     which processes run, and which wait
 *
 * fairsem-limit-cluster (cluster.c) does all of this for a name that etcd keeps.
 */
#include "held.h"
#include "names.h"
#include "options.h"
#include "run/command.h"
#include "status.h"
#include "turn.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * A shell script uses low descriptors itself ("exec 3> file"), and would close ours, which gives
 * the units back.  So if the script has it, fill the low ones with descriptors that exec closes.
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

struct place {
    struct guard      guard;        /* first */
    fairsem_shared_t *handle;
    const char       *segment;
};

static bool take_turn(const struct request *request, char *segment, fairsem_shared_t **handle, int *exit_status)
{
    if (turn_take(request, segment, handle, exit_status))
        return true;
    if (*exit_status == NO_ROOM) {
        turn_make_room();
        if (turn_take(request, segment, handle, exit_status))
            return true;
    }
    if (*exit_status == TIMED_OUT)
        status_gave_up(request, segment);
    if (*exit_status == NO_ROOM) {
        warnx("%s: %s is full, and a name takes 130 kB there: see --status, --remove and --dir",
              request->name, names_directory(request->global));
        *exit_status = OWN_FAILURE;
    }
    return false;
}

static bool ended(struct guard *guard, int status)
{
    const struct place *place = (const struct place *)guard;

    (void)status;
    turn_end(place->segment, place->handle);    /* so the next one need not first find that we are dead */
    return true;
}

static int run(const struct request *request, char *segment)
{
    struct place place = { .guard = { .ended = ended }, .segment = segment };
    struct command command;
    int exit_status = find_command(&command, request->command), error;

    if (exit_status != 0)
        return exit_status;
    if (request->exec)
        take_low_descriptors();
    if (!take_turn(request, segment, &place.handle, &exit_status))
        return exit_status;
    if (place.handle == NULL)
        return run_here(&command);
    error = request->keep ? fairsem_shared_keep_name(place.handle) : 0;
    if (error == 0 && request->exec)
        error = fairsem_shared_keep_on_exec(place.handle, true);
    /* Without this entry a command inside this one would wait for it. */
    if (error == 0 && !held_announce(segment, request->units, ""))
        error = ENOMEM;
    if (error == 0)
        return request->exec ? run_here(&command) : run_as_child(&command, &place.guard);
    fairsem_shared_close(place.handle);         /* first: a message may block */
    return turn_result(request, segment, error);
}

/*
 * Names that etcd keeps are for fairsem-limit-cluster, which has libcurl: a name of this machine need
 * not wait until the linker has loaded that, and fairsem-limit can be installed without it.
 *
 * That program is beside this one, as in a build directory, or where `make install` has put it.  Who
 * could replace it there could replace this one, too: no variable and no directory of the caller's
 * leads to what root may run.
 */
static int become_cluster_program(char **argv)
{
    static const char installed[] = FAIRSEM_CLUSTER_PROGRAM;    /* "": it was not built */
    const char *name = strrchr(installed, '/');
    char beside[PATH_MAX + sizeof installed] = "";
    ssize_t length = readlink("/proc/self/exe", beside, PATH_MAX);

    if (name == NULL) {
        warnx("--cluster: this fairsem-limit was built without libfairsem-cluster");
        return OWN_FAILURE;
    }
    if (length > 0 && length < PATH_MAX && beside[0] == '/') {
        strcpy(strrchr(beside, '/'), name);
        execv(beside, argv);
    }
    execv(installed, argv);
    warn("--cluster needs libfairsem-cluster: %s", installed);
    return OWN_FAILURE;
}

int main(int argc, char **argv)
{
    char segment[SEGMENT_NAME_SIZE];
    struct request request;
    const char *wrong = NULL;
    int exit_status;

    if (!options_read(argc, argv, &request, &exit_status))
        return exit_status;
    if (request.cluster.on)
        return become_cluster_program(argv);
    wrong = names_set_directory(request.directory);
    if (wrong != NULL) {
        warnx("%s: %s", request.directory, wrong);
        return OWN_FAILURE;
    }
    if (request.name != NULL)
        wrong = name_find(request.name, request.global, segment);
    if (wrong != NULL) {
        warnx("%s: %s", request.name, wrong);
        return OWN_FAILURE;
    }
    switch (request.what) {
    case STATUS: return status_print(&request);
    case REMOVE: return turn_remove(&request, segment);
    case LIMIT:  return turn_set_limit(&request, segment);
    default:     return run(&request, segment);
    }
}
