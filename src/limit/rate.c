/* SPDX-License-Identifier: MIT */
/* rate.c - see rate.h. */
#include "rate.h"

#include "run/duration.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#define GATE  ((FAIRSEM_MAX_UNITS >> 1) + 1)    /* a request at the gate is for GATE + the command's units */
#define UNITS_MAX (INT64_C(1) << 40)            /* maximum of the command's units in this sum */
#define NEVER (GATE + UNITS_MAX)                /* the first capacity; after a start: NEVER + its time */
#define SLEEP_NS INT64_C(1000000000)            /* longest sleep: CLOCK_MONOTONIC stops during a suspend */

static int64_t request_at_gate(const struct request *request)
{
    return GATE + (request->units < UNITS_MAX ? request->units : UNITS_MAX);
}

/* CLOCK_BOOTTIME cannot be set, and also runs during a suspend. */
static int64_t ns_since_boot(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int open_gate(const char *name, bool global, int oflag, mode_t mode, fairsem_shared_t **gate)
{
    const fairsem_shared_attr_t attr = {
        .units = NEVER, .max_waiters = PROCESSES_MAX, .max_processes = PROCESSES_MAX,
        .flags = FAIRSEM_SHARED_NO_SPIN,
    };
    char segment[SEGMENT_NAME_SIZE];

    if (!name_of_gate(name, global, segment))
        return ENAMETOOLONG;
    return fairsem_shared_open(gate, segment, oflag | (global ? 0 : FAIRSEM_SHARED_OWN), mode,
                               oflag != 0 ? &attr : NULL);
}

int rate_open(struct local_name *name)
{
    const struct request *request = name->request;

    return name->gate != NULL ? 0 : open_gate(request->name, request->global, O_CREAT, request->mode, &name->gate);
}

void rate_leave(struct local_name *name)
{
    if (name->gate != NULL)
        fairsem_shared_close(name->gate);
    name->gate = NULL;
    name->at_front = false;
}

/* ---- Wait ---- */

static bool is_current_gate(const struct local_name *name)
{
    fairsem_shared_t *now;

    if (open_gate(name->request->name, name->request->global, 0, 0, &now) != 0)
        return false;
    fairsem_shared_close(now);
    return now == name->gate;
}

/*
 * Sleep for `ns`, at most SLEEP_NS.  If the deadline of `how` comes first, sleep until the deadline, and set
 * *is_over.  Returns ETIMEDOUT, or the error that ended the sleep.
 */
static int sleep_at_gate(int64_t ns, const fairsem_wait_t *how, bool *is_over)
{
    static fairsem_t nothing = FAIRSEM_INITIALIZER(0);
    struct timespec until = duration_in_future(ns < SLEEP_NS ? ns : SLEEP_NS);
    fairsem_wait_t shorter = *how;

    *is_over = how->deadline != NULL && (how->deadline->tv_sec < until.tv_sec
        || (how->deadline->tv_sec == until.tv_sec && how->deadline->tv_nsec <= until.tv_nsec));
    if (!*is_over)
        shorter.deadline = &until;
    return fairsem_acquire_with(&nothing, 1, &shorter);
}

static int wait_for_next_start(const struct local_name *name, const fairsem_wait_t *how)
{
    int64_t now = ns_since_boot(), next;
    fairsem_shared_stat_t stat;
    int error = fairsem_shared_stat(name->gate, &stat);
    bool is_over = false;

    if (error != 0 || stat.capacity == NEVER)
        return error;
    /* A recorded time in the future is from before the last boot, which reset the clock: use `now`. */
    next = (stat.capacity - NEVER < now ? stat.capacity - NEVER : now) + name->request->interval_ns;
    for (; now < next; now = ns_since_boot()) {
        error = sleep_at_gate(next - now, how, &is_over);
        if (error != ETIMEDOUT || is_over)
            return error;
    }
    return 0;
}

int rate_wait(struct local_name *name, const fairsem_wait_t *how)
{
    int error = 0;

    while (error == 0 && !name->at_front) {
        error = fairsem_shared_acquire_with(name->gate, request_at_gate(name->request), how);
        if (error != 0)
            return error;
        name->at_front = is_current_gate(name);
        if (!name->at_front) {
            rate_leave(name);
            error = rate_open(name);
        }
    }
    return error != 0 ? error : wait_for_next_start(name, how);
}

int rate_start(struct local_name *name)
{
    int error = 0;

    if (name->at_front)
        error = fairsem_shared_set_units(name->gate, NEVER + ns_since_boot());
    rate_leave(name);
    return error;
}

/* ---- Remove the gate ---- */

bool rate_has_users(const char *name, bool global)
{
    fairsem_shared_stat_t stat;
    fairsem_shared_t *gate;
    bool has = false;

    if (open_gate(name, global, 0, 0, &gate) != 0)
        return false;
    if (fairsem_shared_stat(gate, &stat) == 0)
        has = stat.held > stat.mine || stat.waiters > 0;
    fairsem_shared_close(gate);
    return has;
}

/* Returns 0, EBUSY if the last start was less than `interval_ns` ago, or another errno value. */
static int check_age(fairsem_shared_t *gate, int64_t interval_ns)
{
    fairsem_shared_stat_t stat;
    int64_t age;
    int error = fairsem_shared_stat(gate, &stat);

    if (error != 0 || stat.capacity == NEVER)
        return error;
    age = ns_since_boot() - (stat.capacity - NEVER);
    return age >= 0 && age < interval_ns ? EBUSY : 0;
}

int rate_forget(const char *name, bool global, int64_t interval_ns)
{
    char segment[SEGMENT_NAME_SIZE];
    fairsem_shared_t *gate;
    int error = open_gate(name, global, 0, 0, &gate);

    if (error != 0)
        return error;
    error = fairsem_shared_tryacquire(gate, GATE);      /* no command passes until the handle is closed */
    if (error == 0)
        error = check_age(gate, interval_ns);
    if (error == 0 && name_of_gate(name, global, segment))
        error = fairsem_shared_unlink_unused(gate, segment, true);
    fairsem_shared_close(gate);
    return error == EAGAIN ? EBUSY : error;
}

/* ---- Waiting processes ---- */

static bool is_listed(const fairsem_shared_user_t *users, int count, const fairsem_shared_user_t *user)
{
    for (int i = 0; i < count; i++) {
        if (users[i].pid == user->pid && users[i].local_pid == user->local_pid)
            return true;
    }
    return false;
}

void rate_add_users(const struct local_name *name, fairsem_shared_user_t *users, int *count, int most)
{
    int in_line = *count, at_gate = most - in_line, place = 0;
    fairsem_shared_t *gate;

    if (open_gate(name->request->name, name->request->global, 0, 0, &gate) != 0)
        return;
    if (fairsem_shared_users(gate, users + in_line, &at_gate) != 0)
        at_gate = 0;
    fairsem_shared_close(gate);
    for (int i = 0; i < in_line; i++)
        place += users[i].place != 0;
    for (int i = in_line; i < in_line + at_gate && i < most; i++) {
        /*
         * Skip a process that `users` lists already, and a process in rate_forget(), which holds only GATE and
         * is not a command.
         */
        if (users[i].units <= GATE || is_listed(users, in_line, &users[i]))
            continue;
        users[*count] = users[i];
        users[*count].place = ++place;
        users[(*count)++].units -= GATE;
    }
}
