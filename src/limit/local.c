/* SPDX-License-Identifier: MIT */
/* local.c - see local.h. */
#include "local.h"

#include "output.h"
#include "rate.h"
#include "reentrant.h"
#include "run/duration.h"
#include "wait_line.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *meaning(int error)
{
    switch (error) {
    case EBUSY:           return "commands run or wait under this name; see --force";
    case ENOENT:          return "there is no such name";
    case ENOBUFS:
    case EUSERS:          return "this name has 1024 processes, which is the maximum";
    case ENODEV:          return "the file system of this directory does not support it; see --dir";
    case ENOSYS:          return "needs Linux";
    case ENOTRECOVERABLE: return "it is damaged";
    case ENOTSUP:         return "it was made by another version";
    case ETIMEDOUT:       return "a stopped process has it locked: continue or kill that process";
    default:              return strerror(error);
    }
}

int local_result(const struct local_name *name, int error)
{
    const struct request *request = name->request;
    /* Errors whose reason may be that another user owns the file. */
    bool is_of_file = error == EPERM || error == EACCES || error == EINVAL || error == ELOOP;
    const char *owner = is_of_file ? name_owner(name->segment) : NULL;

    if (error == 0)
        return 0;
    if (owner != NULL)
        return output_failure("%s: %s belongs to %s", request->name, name->segment, owner);
    if (error == EPERM)
        return output_failure("%s: others can write to %s, or it has another link", request->name, name->segment);
    if (error == ENOTRECOVERABLE || error == ENOTSUP)
        return output_failure("%s: %s; this removes it: fairsem-limit%s%s%s --remove --force %s", request->name,
                              meaning(error), request->global ? " --global" : "",
                              request->directory != NULL ? " --dir=" : "",
                              request->directory != NULL ? request->directory : "", request->name);
    return output_failure("%s: %s", request->name, meaning(error));
}

static int own_flag(const struct request *request)
{
    return request->global ? 0 : FAIRSEM_SHARED_OWN;
}

int local_open(struct local_name *name)
{
    name_find(name->request->name, name->request->global, name->segment);
    return fairsem_shared_open(&name->handle, name->segment, own_flag(name->request), 0, NULL);
}

/* Does the name still lead to name->handle? */
static bool is_current(const struct local_name *name)
{
    struct local_name now = *name;

    if (local_open(&now) != 0)
        return false;
    fairsem_shared_close(now.handle);
    return now.handle == name->handle;
}

/* ---- Remove names that nobody uses ---- */

/* Remove the name if it is unused.  The library does not know of users that wait at the name's gate. */
static int unlink_unused(fairsem_shared_t *handle, const char *name, bool global, const char *segment, bool kept)
{
    return rate_has_users(name, global) ? EBUSY : fairsem_shared_unlink_unused(handle, segment, kept);
}

static int remove_unused(const char *name, bool global, const char *segment, bool kept)
{
    fairsem_shared_t *handle;
    int error = fairsem_shared_open(&handle, segment, global ? 0 : FAIRSEM_SHARED_OWN, 0, NULL);

    if (error == 0) {
        error = unlink_unused(handle, name, global, segment, kept);
        /*
         * Grant all requests: at limit 0, a command that opened this segment before the removal would otherwise
         * wait for ever.
         */
        if (error == 0)
            error = fairsem_shared_set_units(handle, FAIRSEM_MAX_UNITS);
        fairsem_shared_close(handle);
    }
    return error;
}

/* Remove the name if it is otherwise unused, and release the units.  Returns ENOENT if the name was gone. */
static int leave_name(const struct local_name *name)
{
    const struct request *request = name->request;
    int error = unlink_unused(name->handle, request->name, request->global, name->segment, false);

    fairsem_shared_close(name->handle);
    if (error == EBUSY)         /* the other users may have left since unlink_unused() */
        remove_unused(request->name, request->global, name->segment, false);
    return error;
}

/* Make room in a full directory: remove unused names of this user, except those with --keep. */
static void make_room(void)
{
    struct listed *list = names_list();
    char segment[SEGMENT_NAME_SIZE];

    for (const struct listed *at = list; at != NULL && *at->name != '\0'; at++) {
        /* Skip global names: another user could kill this process with SIGBUS by truncating the file. */
        if (at->global)
            continue;
        if (at->gate)
            rate_forget(at->name, false, LONGEST_INTERVAL_NS);
        else if (name_find(at->name, false, segment) == NULL)
            remove_unused(at->name, false, segment, false);
    }
    free(list);
}

/* ---- Open the segment ---- */

static int open_or_make(struct local_name *name)
{
    const struct request *request = name->request;
    const fairsem_shared_attr_t attr = {
        .units = request->limit,
        .max_waiters = PROCESSES_MAX, .max_processes = PROCESSES_MAX,
        .flags = FAIRSEM_SHARED_NO_SPIN,    /* a wake-up is short, compared with the start of a command */
    };
    int make = name_can_be_made(name->segment, request->global) ? O_CREAT : 0;
    int error = request->interval_ns != 0 ? rate_open(name) : 0;

    return error != 0 ? error : fairsem_shared_open(&name->handle, name->segment, make | own_flag(request),
                                                    request->mode, &attr);
}

/*
 * Open the segment, or make it.  If neither the current nor the initial limit of an existing segment is the
 * requested limit, replace the segment if it is unused, and fail otherwise.  Returns an exit status.
 */
static int open_segment(struct local_name *name)
{
    const struct request *request = name->request;
    fairsem_shared_stat_t stat;
    bool is_full = false;

    for (;;) {
        int error;

        name_find(request->name, request->global, name->segment);
        error = open_or_make(name);
        if (error == ENOSPC && is_full)
            return output_failure("%s: %s is full, and a name takes 170 kB there: see --status, --remove and "
                                  "--dir", request->name, names_directory(request->global));
        if (error == ENOSPC) {
            is_full = true;
            make_room();
            continue;
        }
        if (error == ENOENT && !name_can_be_made(name->segment, request->global))
            continue;
        if (error == ENOENT)
            return output_failure("%s: %s", names_directory(request->global), strerror(error));
        if (error != 0)
            return local_result(name, error);
        error = fairsem_shared_stat(name->handle, &stat);
        if (error == 0 && (stat.capacity == request->limit || stat.initial_units == request->limit))
            return 0;
        if (error == 0)         /* a name with the limit 0 stays: only --remove removes it */
            error = unlink_unused(name->handle, request->name, request->global, name->segment, stat.capacity != 0);
        fairsem_shared_close(name->handle);
        if (error == EBUSY && !limit_is_as_asked(request, stat.capacity))
            return OWN_FAILURE;
        if (error != 0 && error != ENOENT)
            return local_result(name, error);
    }
}

static int64_t limit_of(fairsem_shared_t *handle)
{
    fairsem_shared_stat_t stat;

    return fairsem_shared_stat(handle, &stat) == 0 ? stat.capacity : 0;
}

int local_users(const struct local_name *name, const fairsem_shared_user_t **users, int *count)
{
    static fairsem_shared_user_t list[2 * USERS_MAX];
    int error;

    *count = USERS_MAX;
    error = fairsem_shared_users(name->handle, list, count);
    *count = error != 0 ? 0 : *count < USERS_MAX ? *count : USERS_MAX;
    if (error == 0)
        rate_add_users(name, list, count, 2 * USERS_MAX);
    *users = list;
    return error;
}

/* Returns the units that a process holds now, or 0 if the users cannot be read. */
static int64_t units_of(void *name, long pid, const char *rest)
{
    const fairsem_shared_user_t *users;
    int count;

    (void)rest;
    if (local_users(name, &users, &count) != 0)
        return 0;
    for (int i = 0; i < count; i++) {
        if (users[i].place == 0 && users[i].local_pid == pid)
            return users[i].units;
    }
    return 0;
}

/*
 * Returns 0 if this process or an outer command already holds enough units, E2BIG if the holder has too few, or
 * EAGAIN if there is no holder.  Closes the handle if an outer command holds enough.
 */
static int acquire_reentrant(struct local_name *name)
{
    int64_t units;
    long holder = reentrant_holder(name->segment, units_of, name, &units);

    if (holder == 0)
        return EAGAIN;
    if (!reentrant_is_enough(name->request, units))
        return E2BIG;
    if (holder != getpid()) {
        fairsem_shared_close(name->handle);
        name->handle = NULL;
    }
    return 0;
}

/* ---- Wait ---- */

static int acquire(void *arg, const fairsem_wait_t *how)
{
    struct local_name *name = arg;
    int error = name->request->interval_ns != 0 ? rate_wait(name, how) : 0;

    return error != 0 ? error : fairsem_shared_acquire_with(name->handle, name->request->units, how);
}

static bool read_position(void *arg, struct queue_position *position)
{
    const fairsem_shared_user_t *users;
    int count;

    if (local_users(arg, &users, &count) != 0)
        return false;
    for (int i = 0; i < count; i++) {
        position->running += users[i].place == 0;
        if (users[i].place != 0 && users[i].mine != 0)
            position->number = users[i].place;
    }
    return position->number != 0;
}

static void leave_by_signal(void *arg)
{
    rate_leave(arg);
    leave_name(arg);            /* the units may have been granted just before the signal */
}

static int wait_in_line(struct local_name *name, const fairsem_wait_t *how)
{
    const struct wait wait = {
        .name = name->request->name, .exec = name->request->exec, .leave_timeout_ms = -1,
        .acquire = acquire, .position = read_position, .leave = leave_by_signal, .arg = name,
    };
    int error = name->request->interval_ns != 0 ? EAGAIN
                : fairsem_shared_tryacquire(name->handle, name->request->units);

    return error == EAGAIN ? wait_line(&wait, how) : error;
}

static bool take(struct local_name *name, int *exit_status)
{
    const struct request *request = name->request;
    struct timespec deadline = duration_in_future(request->wait_ns);
    const fairsem_wait_t how = {
        .clock = CLOCK_MONOTONIC,
        .deadline = request->wait_ns < 0 ? NULL : &deadline,
        .priority = (int)request->priority,
        .share_weight = request->share ? 1 : 0,
        .share_key = request->share_key,
    };

    while ((*exit_status = open_segment(name)) == 0) {
        int error = acquire_reentrant(name);

        if (name->handle != NULL)
            name_spare(name->segment, request->exec);
        if (error == 0)
            return true;
        *exit_status = OWN_FAILURE;
        if (error == EAGAIN) {
            error = wait_in_line(name, &how);
            if (error == 0 && is_current(name) && (error = rate_start(name)) == 0)
                return true;
            if (error == ETIMEDOUT)
                *exit_status = TIMED_OUT;
            else if (error == E2BIG)
                warnx(MORE_UNITS_THAN_LIMIT ": --set-limit has changed it", request->units,
                      request->name, limit_of(name->handle));
            else
                local_result(name, error);
        }
        if (error != 0 && name->gate != NULL) {
            rate_leave(name);
            leave_name(name);   /* removes the name if this process was its only user */
        } else {
            fairsem_shared_close(name->handle);
        }
        if (error != 0)
            return false;
    }
    return false;
}

bool local_acquire(struct local_name *name, int *exit_status)
{
    bool taken = take(name, exit_status);

    rate_leave(name);
    return taken;
}

void local_release(const struct local_name *name)
{
    int error = leave_name(name);       /* before any message, because printing may block */

    if (name->request->interval_ns != 0)
        rate_forget(name->request->name, name->request->global, name->request->interval_ns);
    if (error == ENOENT)
        warnx("%s: this name was removed while the command ran, and others may have run at the same time",
              name->segment);
}

/* ---- Names ---- */

int local_set_limit(struct local_name *name)
{
    const struct request *request = name->request;
    fairsem_shared_stat_t stat;
    bool done;
    int error;

    do {
        error = local_open(name);
        if (error != 0)
            break;
        error = fairsem_shared_stat(name->handle, &stat);
        if (error == 0)
            error = fairsem_shared_set_units(name->handle, request->limit);
        if (error == 0 && request->keep)
            error = fairsem_shared_keep_name(name->handle);
        /*
         * Repeat the change if the last user has removed the name meanwhile.  A change to the initial limit
         * without --keep is not repeated, because the next command makes the name with the initial limit.
         */
        done = error == 0 && ((request->limit == stat.initial_units && !request->keep)
                              || is_current(name));
        fairsem_shared_close(name->handle);
    } while (error == 0 && !done);
    return local_result(name, error);
}

int local_remove(const struct local_name *name)
{
    const struct request *request = name->request;
    int error, of_gate;

    if (request->force) {
        char gate[SEGMENT_NAME_SIZE];

        of_gate = name_of_gate(request->name, request->global, gate) ? fairsem_shared_unlink(gate) : ENOENT;
        error = fairsem_shared_unlink(name->segment);
        if (error == EINVAL)
            error = rmdir(name->segment) == 0 ? 0 : errno;
    } else {
        of_gate = rate_forget(request->name, request->global, 0);
        error = of_gate == EBUSY ? EBUSY : remove_unused(request->name, request->global, name->segment, true);
    }
    return error == ENOENT && of_gate == 0 ? 0 : local_result(name, error);
}
