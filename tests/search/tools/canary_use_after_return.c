/* SPDX-License-Identifier: MIT */
/*
 * canary_use_after_return.c - the library is given a deadline on a stack frame that has ended; with
 * an argument, on one that has not.
 */
#include <errno.h>
#include <fairsem.h>
#include <stddef.h>

static const struct timespec *volatile deadline;

__attribute__((noinline)) static void set_deadline(void)
{
    struct timespec at = { .tv_sec = 1 };

    deadline = &at;
}

int main(int argc, char **argv)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct timespec at = { .tv_sec = 1 };

    (void)argv;
    set_deadline();
    if (argc > 1)
        deadline = &at;
    return fairsem_acquire_until(&sem, 1, CLOCK_MONOTONIC, deadline) == ETIMEDOUT ? 0 : 1;
}
