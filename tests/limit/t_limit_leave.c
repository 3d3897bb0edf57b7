/* SPDX-License-Identifier: MIT */
/*
 * t_limit_leave.c - two users of a name leave at the same time.  Each has seen the other use the name, but the
 * name is removed.  And a signal that comes together with a grant returns the units.
 */
#define _GNU_SOURCE
#include "../shared/crowd.h"

#include "shared/layout.h"

#include "../../src/limit/process.c"
#include "../../src/run/duration.c"
#include "../../src/limit/reentrant.c"
#include "../../src/limit/names.c"
#include "../../src/limit/metrics.c"
#include "../../src/limit/output.c"
#include "../../src/limit/wait_line.c"
#include "../../src/limit/rate.c"
#include "../../src/limit/local.c"

static pid_t other;

/* The other user has a unit when this process checks for users, and is dead when this process has left. */
static void other_leaves(const char *what)
{
    if (strcmp(what, "commit &h->processes[index].state") != 0 || other == 0)
        return;
    kill_child(other);
    other = 0;
}

static void end(void *name)
{
    local_release(name);
}

static void leave_together(void (*leaves)(void *name), bool kept)
{
    const struct request request = { .name = "x", .limit = 2, .units = 1, .wait_ns = -1, .mode = 0600 };
    char where[] = "/dev/shm/fairsem-limit-leave.XXXXXX";
    struct local_name name = { .request = &request };
    int exit_status;

    ck_assert_ptr_nonnull(mkdtemp(where));
    ck_assert_ptr_null(names_set_directory(where));
    ck_assert(local_acquire(&name, &exit_status));
    if (kept)
        ck_assert_int_eq(fairsem_shared_keep_name(name.handle), 0);
    other = fork_holder(name.handle, 1);
    fs_shared_step = other_leaves;
    leaves(&name);
    fs_shared_step = NULL;
    ck_assert_int_eq(other, 0);
    ck_assert_int_eq(unlink(name.segment), kept ? 0 : -1);
    ck_assert_int_eq(rmdir(where), 0);
}

START_TEST(a_name_is_removed_if_its_users_end_together)
{
    leave_together(end, false);
}
END_TEST

START_TEST(a_name_is_removed_if_a_signal_ends_its_users_together)
{
    leave_together(leave_by_signal, false);
}
END_TEST

START_TEST(a_name_that_is_kept_stays)
{
    leave_together(end, true);
}
END_TEST

static int acquire_and_signal(void *arg, const fairsem_wait_t *how)
{
    (void)arg;
    (void)how;
    return kill(getpid(), SIGTERM);
}

static void note(void *arg)
{
    atomic_store((_Atomic int *)arg, 1);
}

/* In many rounds, the second thread finds both the end of the wait and the signal. */
START_TEST(a_signal_together_with_a_grant_returns_the_units)
{
    _Atomic int *left = share(sizeof *left);

    for (int i = 0; i < 100; i++) {
        const struct wait wait = { .name = "x", .leave_timeout_ms = -1, .acquire = acquire_and_signal, .leave = note,
                                   .arg = (void *)left };
        const fairsem_wait_t how = { 0 };
        pid_t child;
        int status;

        atomic_store(left, 0);
        if ((child = fork()) == 0) {
            signal(SIGTERM, SIG_DFL);       /* replaces Check's handler */
            _exit(wait_line(&wait, &how));
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        ck_assert_int_eq(atomic_load(left), 1);
    }
    munmap((void *)left, sizeof *left);
}
END_TEST

int main(void)
{
    RUN_SUITE("limit leave", a_name_is_removed_if_its_users_end_together,
              a_name_is_removed_if_a_signal_ends_its_users_together,
              a_name_that_is_kept_stays, a_signal_together_with_a_grant_returns_the_units);
}
