/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the clock of leases: CLOCK_BOOTTIME, which goes on while the machine is suspended.
 *
 * Times are nanoseconds of CLOCK_BOOTTIME.  A test can replace fs_boot_now to make the time jump.
 */
#ifndef CLUSTER_CLOCK_H
#define CLUSTER_CLOCK_H

#include <stdint.h>

#define FS_NS_PER_S  INT64_C(1000000000)
#define FS_NS_PER_MS INT64_C(1000000)

/* Later than any time. */
#define FS_NEVER INT64_MAX

int64_t fs_boot_now(void);

/*
 * Make a timerfd readable at the time `at`.  This does not wake a suspended machine: the timerfd is readable
 * when the machine resumes.
 */
void fs_alarm_set(int alarm, int64_t at);

static inline int64_t fs_earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
