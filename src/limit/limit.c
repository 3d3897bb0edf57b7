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
 *      tidy.h       remove the names that nobody has used for a day
 *      status.h     which processes run, and which wait
 *
 * fairsem-limit-cluster (cluster.c) does all of this for a name that etcd keeps.
 */
#include "held.h"
#include "names.h"
#include "options.h"
#include "run/command.h"
#include "status.h"
#include "tidy.h"
#include "turn.h"

#include <err.h>
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

/* The name is used, and perhaps stays for ever. */
static void mark_as_used(const struct request *request, const char *segment)
{
    int error;

    tidy_touch(segment);
    if (request->keep && (error = tidy_keep(segment)) != 0)
        warnx("%s: --keep: %s", request->name, strerror(error));
}

static bool take_turn(const struct request *request, const char *segment, fairsem_shared_t **handle,
                      int *exit_status)
{
    if (turn_take(request, segment, handle, exit_status))
        return true;
    if (*exit_status == NO_ROOM) {
        tidy_make_room();
        if (turn_take(request, segment, handle, exit_status))
            return true;
    }
    if (*exit_status == TIMED_OUT)
        status_gave_up(request, segment);
    if (*exit_status == NO_ROOM) {
        warnx("%s: %s is full, and a name takes 130 kB there: see --status, --remove and --dir",
              request->name, names_directory());
        *exit_status = OWN_FAILURE;
    }
    return false;
}

static void started(void)
{
    tidy_names(false);              /* now nobody waits for us */
}

static bool ended(struct guard *guard, int status)
{
    const struct place *place = (const struct place *)guard;

    (void)status;
    if (!turn_is_current(place->handle, place->segment))
        warnx("%s: somebody has removed this name while the command ran, and others may have run "
              "beside it", place->segment);
    tidy_touch(place->segment);
    fairsem_shared_close(place->handle);    /* so the next one need not first find that we are dead */
    return true;
}

static int run(const struct request *request, const char *segment)
{
    struct place place = { .guard = { .started = started, .ended = ended }, .segment = segment };
    struct command command;
    int exit_status = find_command(&command, request->command);

    if (exit_status != 0)
        return exit_status;
    if (request->exec) {
        take_low_descriptors();
        tidy_names(true);
    }
    if (!take_turn(request, segment, &place.handle, &exit_status))
        return exit_status;
    if (place.handle == NULL)
        return run_here(&command);
    mark_as_used(request, segment);
    if (!held_announce(segment, request->units, "")) {      /* a command inside this one would wait */
        fairsem_shared_close(place.handle);     /* leaves errno alone; a message may block */
        warn("%s", request->name);
        return OWN_FAILURE;
    }
    if (!request->exec)
        return run_as_child(&command, &place.guard);
    exit_status = turn_result(request->name, fairsem_shared_keep_on_exec(place.handle, true));
    return exit_status != 0 ? exit_status : run_here(&command);
}

static int set_limit(const struct request *request, const char *segment)
{
    int exit_status = turn_set_limit(request, segment);

    if (exit_status == 0)
        mark_as_used(request, segment);
    return exit_status;
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
        wrong = name_of_segment(request.name, request.global, segment);
    if (wrong != NULL) {
        warnx("%s: %s", request.name, wrong);
        return OWN_FAILURE;
    }
    switch (request.what) {
    case STATUS: return status_print(&request);
    case REMOVE: return turn_remove(&request, segment);
    case LIMIT:  return set_limit(&request, segment);
    default:     return run(&request, segment);
    }
}
