/* SPDX-License-Identifier: MIT */
/* turn.c - see turn.h. */
#include "turn.h"

#include "held.h"
#include "output.h"
#include "wait_line.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PROCESSES = 1024 };     /* that run or wait.  Each costs 128 bytes of memory. */

static const char *meaning(int error)
{
    switch (error) {
    case EBUSY:           return "commands run or wait under this name; see --force";
    case ENOENT:          return "there is no such name";
    case ENOBUFS:
    case EUSERS:          return "1024 processes, the most, use this name";
    case ENODEV:          return "the file system of this directory cannot hold it";
    case ENOSYS:          return "needs Linux";
    case ENOTRECOVERABLE: return "it is damaged";
    case ENOTSUP:         return "it was made by another version";
    case ETIMEDOUT:       return "a stopped process keeps it locked";
    default:              return strerror(error);
    }
}

int turn_result(const struct request *request, const char *segment, int error)
{
    /* Errors of a file that another user has put there. */
    bool is_of_file = error == EPERM || error == EACCES || error == EINVAL || error == ELOOP;
    const char *owner = is_of_file ? name_owner(segment) : NULL;

    if (error == 0)
        return 0;
    if (owner != NULL)
        return output_failure("%s: %s has made %s", request->name, owner, segment);
    if (error == EPERM)
        return output_failure("%s: others may write to %s, or it has another name", request->name, segment);
    if (error == ENOTRECOVERABLE || error == ENOTSUP)
        return output_failure("%s: %s; this removes it: fairsem-limit%s%s%s --remove --force %s", request->name,
                              meaning(error), request->global ? " --global" : "",
                              request->directory != NULL ? " --dir=" : "",
                              request->directory != NULL ? request->directory : "", request->name);
    return output_failure("%s: %s", request->name, meaning(error));
}

/* A name of this user alone: see names.h. */
static int own_flag(const struct request *request)
{
    return request->global ? 0 : FAIRSEM_SHARED_OWN;
}

/* Does the name still lead to this segment? */
static bool is_current(const struct request *request, fairsem_shared_t *handle)
{
    char segment[SEGMENT_NAME_SIZE];
    fairsem_shared_t *now;

    if (name_find(request->name, request->global, segment) != NULL
        || fairsem_shared_open(&now, segment, own_flag(request), 0, NULL) != 0)
        return false;
    fairsem_shared_close(now);
    return now == handle;
}

/* ---- Remove names that nobody uses ---- */

static int remove_unused(const char *segment, int oflag, bool kept)
{
    fairsem_shared_t *handle;
    int error = fairsem_shared_open(&handle, segment, oflag, 0, NULL);

    if (error == 0) {
        error = fairsem_shared_unlink_unused(handle, segment, kept);
        /* A command that had opened it before may join a queue in which nobody is granted anything. */
        if (error == 0)
            error = fairsem_shared_set_units(handle, FAIRSEM_MAX_UNITS);
        fairsem_shared_close(handle);
    }
    return error;
}

/* Returns ENOENT if the name was gone while this process had units. */
static int leave_name(const struct request *request, const char *segment, fairsem_shared_t *handle)
{
    int error = fairsem_shared_unlink_unused(handle, segment, false);

    fairsem_shared_close(handle);
    if (error == EBUSY)         /* perhaps one that has left since */
        remove_unused(segment, own_flag(request), false);
    return error;
}

/* The directory is full: remove the names of this user that nobody uses and that need not stay. */
static void make_room(void)
{
    struct listed *list = names_list();
    char segment[SEGMENT_NAME_SIZE];

    for (const struct listed *at = list; at != NULL && *at->name != '\0'; at++) {
        /* Not global ones: their other users could end this process, by truncating the file. */
        if (!at->global && name_find(at->name, false, segment) == NULL)
            remove_unused(segment, FAIRSEM_SHARED_OWN, false);
    }
    free(list);
}

/* ---- Take a turn ---- */

static int open_or_make(const struct request *request, const char *segment,
                        fairsem_shared_t **handle)
{
    const fairsem_shared_attr_t attr = {
        .units = request->limit,
        .max_waiters = MOST_PROCESSES, .max_processes = MOST_PROCESSES,
        .flags = FAIRSEM_SHARED_NO_SPIN,    /* a command begins: microseconds do not matter */
    };
    int make = name_can_be_made(segment, request->global) ? O_CREAT : 0;

    return fairsem_shared_open(handle, segment, make | own_flag(request), request->mode, &attr);
}

/* Open the segment that has this limit, or had it before --set-limit.  Returns an exit status. */
static int open_segment(const struct request *request, char segment[SEGMENT_NAME_SIZE],
                        fairsem_shared_t **handle)
{
    fairsem_shared_stat_t stat;
    bool is_full = false;

    for (;;) {
        int error;

        name_find(request->name, request->global, segment);
        error = open_or_make(request, segment, handle);
        if (error == ENOSPC && is_full)
            return output_failure("%s: %s is full, and a name takes 130 kB there: see --status, --remove and "
                                  "--dir", request->name, names_directory(request->global));
        if (error == ENOSPC) {
            is_full = true;
            make_room();
            continue;
        }
        if (error == ENOENT && !name_can_be_made(segment, request->global))
            continue;
        if (error == ENOENT)
            return output_failure("%s: %s", names_directory(request->global), strerror(error));
        if (error != 0)
            return turn_result(request, segment, error);
        error = fairsem_shared_stat(*handle, &stat);
        if (error == 0 && (stat.capacity == request->limit || stat.initial_units == request->limit))
            return 0;
        if (error == 0)
            error = fairsem_shared_unlink_unused(*handle, segment, stat.capacity != 0);    /* 0 is for --remove */
        fairsem_shared_close(*handle);
        if (error == EBUSY && !limit_is_as_asked(request, stat.capacity))
            return OWN_FAILURE;
        if (error != 0 && error != ENOENT)
            return turn_result(request, segment, error);
    }
}

static int64_t limit_of(fairsem_shared_t *handle)
{
    fairsem_shared_stat_t stat;

    return fairsem_shared_stat(handle, &stat) == 0 ? stat.capacity : 0;
}

static struct timespec in_future(int64_t ns)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    ns += at.tv_nsec;
    at.tv_sec += (time_t)(ns / 1000000000);
    at.tv_nsec = (long)(ns % 1000000000);
    return at;
}

/* The units that a process holds. */
static int64_t units_of(void *handle, long pid, const char *said)
{
    static fairsem_shared_user_t users[MOST_USERS];
    int count = MOST_USERS;

    (void)said;
    if (fairsem_shared_users(handle, users, &count) != 0)
        return 0;
    for (int i = 0; i < count && i < MOST_USERS; i++) {
        if (users[i].place == 0 && users[i].local_pid == pid)
            return users[i].units;
    }
    return 0;
}

/*
 * 0: the units are held already, by an outer command, whose handle is another, or by this
 * process.  EAGAIN: they are not.  E2BIG: too few are.
 */
static int take_held(const struct request *request, const char *segment, fairsem_shared_t **handle)
{
    int64_t units;
    long holder = held_by(segment, units_of, *handle, &units);

    if (holder == 0)
        return EAGAIN;
    if (!held_is_enough(request, units))
        return E2BIG;
    if (holder != getpid()) {
        fairsem_shared_close(*handle);
        *handle = NULL;
    }
    return 0;
}

/* ---- Wait ---- */

struct turn {
    fairsem_shared_t     *handle;
    const struct request *request;
    const char           *segment;
};

static int acquire(void *arg, const fairsem_wait_t *how)
{
    struct turn *turn = arg;

    return fairsem_shared_acquire_with(turn->handle, turn->request->units, how);
}

static bool read_standing(void *arg, struct standing *standing)
{
    static fairsem_shared_user_t users[MOST_USERS];
    struct turn *turn = arg;
    int count = MOST_USERS;

    if (fairsem_shared_users(turn->handle, users, &count) != 0)
        return false;
    for (int i = 0; i < count && i < MOST_USERS; i++) {
        standing->running += users[i].place == 0;
        if (users[i].place != 0 && users[i].mine != 0)
            standing->place = users[i].place;
    }
    return standing->place != 0;
}

static void leave_by_signal(void *arg)
{
    struct turn *turn = arg;

    leave_name(turn->request, turn->segment, turn->handle);     /* it may have got its turn just before */
}

static int wait_for_turn(const struct request *request, const char *segment, fairsem_shared_t *handle,
                         const fairsem_wait_t *how)
{
    struct turn turn = { .handle = handle, .request = request, .segment = segment };
    const struct line line = {
        .name = request->name, .exec = request->exec, .patience_ms = -1,
        .acquire = acquire, .ask = read_standing, .leave = leave_by_signal, .arg = &turn,
    };
    int error = fairsem_shared_tryacquire(handle, request->units);

    return error == EAGAIN ? wait_line(&line, how) : error;
}

bool turn_take(const struct request *request, char segment[SEGMENT_NAME_SIZE], fairsem_shared_t **handle,
               int *exit_status)
{
    struct timespec deadline = in_future(request->wait_ns);
    const fairsem_wait_t how = {
        .clock = CLOCK_MONOTONIC,
        .deadline = request->wait_ns < 0 ? NULL : &deadline,
        .priority = (int)request->priority,
    };

    while ((*exit_status = open_segment(request, segment, handle)) == 0) {
        int error = take_held(request, segment, handle);

        if (*handle != NULL)
            name_spare(segment, request->exec);
        if (error == 0)
            return true;
        *exit_status = OWN_FAILURE;
        if (error == EAGAIN) {
            error = wait_for_turn(request, segment, *handle, &how);
            if (error == 0 && is_current(request, *handle))
                return true;
            if (error == ETIMEDOUT)
                *exit_status = TIMED_OUT;
            else if (error == E2BIG)
                warnx(MORE_UNITS_THAN_LIMIT ": --set-limit has changed it", request->units,
                      request->name, limit_of(*handle));
            else
                turn_result(request, segment, error);
        }
        fairsem_shared_close(*handle);
        if (error != 0)
            return false;
    }
    return false;
}

void turn_end(const struct request *request, const char *segment, fairsem_shared_t *handle)
{
    if (leave_name(request, segment, handle) == ENOENT)      /* first: a message may block */
        warnx("%s: somebody has removed this name while the command ran, and others may have run "
              "beside it", segment);
}

/* ---- Names ---- */

int turn_set_limit(const struct request *request, char segment[SEGMENT_NAME_SIZE])
{
    fairsem_shared_stat_t stat;
    fairsem_shared_t *handle;
    bool done;
    int error;

    do {
        name_find(request->name, request->global, segment);
        error = fairsem_shared_open(&handle, segment, own_flag(request), 0, NULL);
        if (error != 0)
            break;
        error = fairsem_shared_stat(handle, &stat);
        if (error == 0)
            error = fairsem_shared_set_units(handle, request->limit);
        if (error == 0 && request->keep)
            error = fairsem_shared_keep_name(handle);
        /* Its last user may have removed the name just before; or since, if the limit is the first one again. */
        done = error == 0 && ((request->limit == stat.initial_units && !request->keep)
                              || is_current(request, handle));
        fairsem_shared_close(handle);
    } while (error == 0 && !done);
    return turn_result(request, segment, error);
}

int turn_remove(const struct request *request, const char *segment)
{
    int error;

    if (!request->force)
        error = remove_unused(segment, own_flag(request), true);
    else if ((error = fairsem_shared_unlink(segment)) == EINVAL)
        error = rmdir(segment) == 0 ? 0 : errno;
    return turn_result(request, segment, error);
}
