/* SPDX-License-Identifier: MIT */
/* children.h - forked children that check something and report to the parent. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include "suite.h"

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* For a child, which must not use ck_assert.  Its exit status is 0, or encodes the line of a failed check. */
#define CHILD_CHECK(condition)         \
    do {                               \
        if (!(condition))              \
            _exit(__LINE__ % 255 + 1); \
    } while (0)

static inline int status_of(pid_t child)
{
    int status;

    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "the child was killed by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* Kill the child, and return when it has ended. */
static inline void kill_child(pid_t child)
{
    int status;

    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
}

/* Stop the child, and return when it is stopped. */
static inline void stop_child(pid_t child)
{
    int status;

    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    ck_assert(WIFSTOPPED(status));
}

#endif
