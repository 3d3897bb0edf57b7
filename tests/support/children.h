/* SPDX-License-Identifier: MIT */
/* children.h - forked children that hold the library to something. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include "suite.h"

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child asserts nothing, it reports by its exit status: 0, or the line that failed. */
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

#endif
